//! Numbers of things in messages.

use std::fmt::Display;

/// A number of things, as people write it: `1 block`, `3 blocks`.
///
/// `noun` is the singular, and gets an `s` for any other number.
pub fn counted<N: Display + PartialEq + From<u8>>(count: N, noun: &str) -> String {
    let plural = if count == N::from(1) { "" } else { "s" };
    format!("{count} {noun}{plural}")
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
    use super::{counted, each};

    #[test]
    fn only_one_is_one() {
        let told =
            [0, 1, 2, 11].map(|n: u32| format!("{} {}", counted(n, "block"), each(n, "is", "are")));
        assert_eq!(told, ["0 blocks are", "1 block is", "2 blocks are", "11 blocks are"]);
    }
}
