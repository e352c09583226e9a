//! Means of times as text, as reports show them.

/// A time with three digits: `85.3 µs`.
pub fn duration(ns: f64) -> String {
    let scale = ["ns", "µs", "ms", "s"];
    let (mut amount, mut place) = (ns, 0);
    while amount.abs() >= 999.5 && place + 1 < scale.len() {
        (amount, place) = (amount / 1e3, place + 1);
    }
    let digits = match amount.abs() {
        _ if place == 0 => 0,
        amount if amount < 9.995 => 2,
        amount if amount < 99.95 => 1,
        _ => 0,
    };
    format!("{amount:.digits$} {}", scale[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_fitting_unit() {
        let told = [0.0, 812.4, 85_312.0, 9_996_000.0, 3.5e6, 2.1e10, 6e11].map(duration);
        assert_eq!(told, ["0 ns", "812 ns", "85.3 µs", "10.0 ms", "3.50 ms", "21.0 s", "600 s"]);
    }
}
