//! Measurements of a scene, and the model's predictions of them.

use std::fmt;
use std::ops::RangeInclusive;

/// A measurement of a scene.
#[derive(Clone, Debug, PartialEq)]
pub enum Seen {
    Figures(Vec<f64>),
    Words(String),
}

/// A prediction.
#[derive(Clone, Debug)]
pub enum Predicted {
    /// Figures, each within its bounds.
    Figures(Vec<RangeInclusive<f64>>),
    Words(String),
    /// At least, or at most, this many times the first figure for the value before; any for the
    /// first value.
    Times(RangeInclusive<f64>),
    /// Anything that differs from the measurements for the other values.
    Unlike,
}

/// Measurement for a value that contradicts the given settings. It differs from others, but does
/// not show the effect of the value where it is allowed.
pub const REFUSED: &str = "refused";

impl Predicted {
    /// True if exactly these words are predicted.
    pub fn is(&self, words: &str) -> bool {
        matches!(self, Self::Words(own) if own == words)
    }

    /// True if a measurement is as predicted; `before` is the measurement for the value before.
    pub fn holds(&self, seen: &Seen, before: Option<&Seen>) -> bool {
        match (self, seen, before) {
            (Self::Figures(bounds), Seen::Figures(figures), _) => {
                bounds.len() == figures.len()
                    && bounds.iter().zip(figures).all(|(bounds, figure)| bounds.contains(figure))
            }
            (Self::Words(words), Seen::Words(seen), _) => words == seen,
            (Self::Times(_), Seen::Figures(_), None) | (Self::Unlike, ..) => true,
            (Self::Times(times), Seen::Figures(now), Some(Seen::Figures(before))) => {
                times.contains(&(now[0] / before[0]))
            }
            _ => false,
        }
    }

    /// True if no measurement can agree with both predictions.
    pub fn excludes(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Figures(one), Self::Figures(other)) => {
                let apart = |(one, other): (&RangeInclusive<f64>, &RangeInclusive<f64>)| {
                    one.end() < other.start() || other.end() < one.start()
                };
                one.len() != other.len() || one.iter().zip(other).any(apart)
            }
            (Self::Words(one), Self::Words(other)) => one != other,
            (Self::Times(times), Self::Times(_)) => !times.contains(&1.0),
            (Self::Unlike, _) | (_, Self::Unlike) => true,
            _ => std::mem::discriminant(self) != std::mem::discriminant(other),
        }
    }
}

impl fmt::Display for Predicted {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Figures(bounds) => {
                let bounds: Vec<_> = bounds.iter().map(shown_bounds).collect();
                write!(f, "{}", bounds.join(", "))
            }
            Self::Words(words) => write!(f, "\"{words}\""),
            Self::Times(times) => {
                write!(f, "{} times that under the value before", shown_bounds(times))
            }
            Self::Unlike => write!(f, "unlike the others"),
        }
    }
}

fn shown_bounds(bounds: &RangeInclusive<f64>) -> String {
    let round = |figure: &f64| (figure * 1e3).round() / 1e3;
    match (bounds.start(), bounds.end()) {
        (least, most) if least == most => round(least).to_string(),
        (least, most) if *least == -f64::MAX && *most == f64::MAX => "any".into(),
        (least, most) if most.is_infinite() => format!("at least {}", round(least)),
        (least, most) => format!("{} to {}", round(least), round(most)),
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Figures(figures) => {
                let figures: Vec<_> = figures.iter().map(f64::to_string).collect();
                write!(f, "{}", figures.join(", "))
            }
            Self::Words(words) => write!(f, "\"{words}\""),
        }
    }
}

/// A figure within `most` of its mean.
pub fn about(mean: f64, most: f64) -> Predicted {
    Predicted::Figures(vec![mean - most..=mean + most])
}

/// Figures, each with its greatest deviation.
pub fn all_about(figures: &[(f64, f64)]) -> Predicted {
    let bounds = figures.iter().map(|(mean, most)| mean - most..=mean + most);
    Predicted::Figures(bounds.collect())
}

macro_rules! figures {
    ($($number:ty),+) => {$(
        impl From<$number> for Seen {
            fn from(figure: $number) -> Self {
                Self::Figures(vec![figure as f64])
            }
        }
        impl From<Vec<$number>> for Seen {
            fn from(figures: Vec<$number>) -> Self {
                Self::Figures(figures.into_iter().map(|figure| figure as f64).collect())
            }
        }
        impl<const N: usize> From<[$number; N]> for Seen {
            fn from(figures: [$number; N]) -> Self {
                Vec::from(figures).into()
            }
        }
    )+};
}

figures!(u64, f64);

impl From<&str> for Seen {
    fn from(words: &str) -> Self {
        Self::Words(words.to_owned())
    }
}

impl From<String> for Seen {
    fn from(words: String) -> Self {
        Self::Words(words)
    }
}

/// Figures that are known to the last digit.
impl<T: Into<Seen>> From<T> for Predicted {
    fn from(exactly: T) -> Self {
        match exactly.into() {
            Seen::Figures(figures) => {
                Self::Figures(figures.into_iter().map(|figure| figure..=figure).collect())
            }
            Seen::Words(words) => Self::Words(words),
        }
    }
}
