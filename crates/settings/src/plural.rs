//! Numbers of things in messages.

use std::fmt::Display;

/// A whole number with a comma between each three digits: `25,558`.
pub fn grouped<N: Display>(number: N) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things, as people write it: `1 block`, `3,000 blocks`.
///
/// `noun` is the singular, and gets an `s` for any other number.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(count))
}

/// The word for one thing or for any other number of them, such as `is` or `are`.
pub fn each<N: PartialEq + From<u8>>(
    count: N,
    one: &'static str,
    many: &'static str,
) -> &'static str {
    if count == N::from(1) { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::{counted, each, grouped};

    #[test]
    fn digits_are_grouped_by_three() {
        let told = [0, 12, 999, 1_000, 25_558, 100_000, 1_234_567].map(grouped::<u64>);
        let expected = ["0", "12", "999", "1,000", "25,558", "100,000", "1,234,567"];
        assert_eq!(told, expected);
    }

    #[test]
    fn only_one_is_one() {
        let told =
            [0, 1, 2, 11].map(|n: u32| format!("{} {}", counted(n, "block"), each(n, "is", "are")));
        assert_eq!(told, ["0 blocks are", "1 block is", "2 blocks are", "11 blocks are"]);
    }
}
