//! A straight line through points.

/// The line of least squares.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line {
    pub slope: f64,
    /// Share of the variance that the line explains.
    pub r_squared: f64,
}

/// The line through `(x, y)`; nothing for fewer than two different `x`.
pub(super) fn line(points: &[(f64, f64)]) -> Option<Line> {
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let sum = |of: &dyn Fn(f64, f64) -> f64| {
        points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum::<f64>()
    };
    let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
    if points.len() < 2 || xx <= 0.0 {
        return None;
    }
    let r_squared = if yy > 0.0 { xy * xy / (xx * yy) } else { 1.0 };
    Some(Line { slope: xy / xx, r_squared })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_scatter_lowers_its_share() {
        let exact = line(&[(0.0, 1.0), (1.0, 3.0), (2.0, 5.0)]).unwrap();
        assert_eq!(exact, Line { slope: 2.0, r_squared: 1.0 });
        // Slope 1/2 by hand: sums of squares 2, 1 and 2/3.
        let rough = line(&[(0.0, 0.0), (1.0, 1.0), (2.0, 1.0)]).unwrap();
        assert!((rough.slope - 0.5).abs() < 1e-12 && (rough.r_squared - 0.75).abs() < 1e-12);
        assert_eq!(line(&[(1.0, 1.0), (1.0, 2.0)]), None);
    }
}
