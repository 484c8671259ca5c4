//! How tokens choose experts.

mod fewest;
mod table;

use std::str::FromStr;
use std::sync::Arc;

pub(crate) use fewest::fewest;

/// How the tokens of a pass choose among the experts of a layer, which decides how many of them are read.
///
/// The bound always takes [`ExpertRouting::Strict`]; the expectation takes what [`crate::System::with_routing`] says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum ExpertRouting {
    /// All tokens choose the same `k` experts: the fewest that can be.
    Strict,
    /// Each token chooses for itself, all experts equally often: `E (1 - (1 - k / E)^T)` of them are read.
    #[default]
    Expected,
    /// Each token chooses for itself, expert number `i` with a weight of `i^-alpha`: fewer are read the larger
    /// `alpha`, 0 being [`ExpertRouting::Expected`]. Not above 0 counts as 0.
    Skewed(f64),
}

/// A text that is no way to choose experts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}`: it must be even, strict, or skewed:ALPHA with ALPHA from 0 to {MOST_SKEWED}")]
pub struct ExpertRoutingError(String);

/// Beyond it all tokens choose the same experts.
const MOST_SKEWED: f64 = 100.0;

impl FromStr for ExpertRouting {
    type Err = ExpertRoutingError;

    /// Of `even`, `strict` or `skewed:ALPHA`.
    fn from_str(text: &str) -> Result<Self, ExpertRoutingError> {
        let alpha = text.strip_prefix("skewed:").and_then(|alpha| alpha.parse::<f64>().ok());
        match (text, alpha) {
            ("even", _) => Ok(Self::Expected),
            ("strict", _) => Ok(Self::Strict),
            (_, Some(alpha)) if (0.0..=MOST_SKEWED).contains(&alpha) => Ok(Self::Skewed(alpha)),
            _ => Err(ExpertRoutingError(text.to_owned())),
        }
    }
}

/// How many distinct experts a number of tokens reads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Coverage {
    /// So many, whatever the tokens.
    Fixed(f64),
    /// `E` experts, each chosen by a token with the same probability.
    Even { count: f64, missed: f64 },
    /// The probability of each that a token does not choose it.
    Each(Arc<[f64]>),
    /// Looked up.
    Table(table::CoverageTable),
}

impl Coverage {
    pub(crate) fn new(routing: ExpertRouting, count: f64, per_token: f64) -> Self {
        match routing {
            ExpertRouting::Strict => Self::Fixed(per_token),
            ExpertRouting::Skewed(alpha) if alpha > 0.0 => {
                let chosen = inclusion(count as usize, per_token, alpha);
                Self::Each(chosen.into_iter().map(|p| 1.0 - p).collect())
            }
            ExpertRouting::Expected | ExpertRouting::Skewed(_) => {
                Self::Even { count, missed: 1.0 - per_token / count }
            }
        }
    }

    /// Distinct experts that `tokens` read, a mean. A pass that has fewer than one token on average still has one
    /// when it has any.
    pub(crate) fn of(&self, tokens: f64) -> f64 {
        let tokens = tokens.max(1.0);
        match self {
            Self::Fixed(count) => *count,
            Self::Even { count, missed } => count * (1.0 - missed.powf(tokens)),
            Self::Table(table) => table.of(tokens),
            Self::Each(missed) => missed.iter().map(|missed| 1.0 - missed.powf(tokens)).sum(),
        }
    }
}

/// How likely a token is to choose each of `count` experts, `per_token` in all, weighted `i^-alpha` and at most 1.
fn inclusion(count: usize, per_token: f64, alpha: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=count).map(|i| (i as f64).powf(-alpha)).collect();
    let mut certain = 0;
    // The first ones that would be chosen more than once are chosen always; the rest share what is left.
    loop {
        let left: f64 = weights.iter().skip(certain).sum();
        let wanted = per_token - certain as f64;
        let share = |weight: &f64| wanted * weight / left;
        let over = weights.get(certain).is_some_and(|weight| share(weight) > 1.0);
        if over {
            certain += 1;
            continue;
        }
        let rest = weights.iter().skip(certain).map(share);
        return std::iter::repeat_n(1.0, certain).chain(rest).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected distinct experts, worked by hand from the formula.
    #[test]
    fn spot_values() {
        let touched = |count: f64, k: f64, tokens: f64| {
            format!("{:.1}", Coverage::new(ExpertRouting::Expected, count, k).of(tokens))
        };
        assert_eq!(touched(128.0, 8.0, 1.0), "8.0");
        assert_eq!(touched(128.0, 8.0, 8.0), "51.6");
        assert_eq!(touched(128.0, 8.0, 32.0), "111.8");
        assert_eq!(touched(128.0, 8.0, 64.0), "125.9");
        assert_eq!(touched(256.0, 8.0, 32.0), "163.3");
        assert_eq!(touched(256.0, 8.0, 128.0), "251.6");
        assert_eq!(touched(128.0, 4.0, 16.0), "51.0");
        assert_eq!(touched(128.0, 4.0, 64.0), "111.2");
        assert_eq!(touched(384.0, 8.0, 64.0), "284.2");
        assert_eq!(touched(512.0, 10.0, 32.0), "239.6");
    }

    #[test]
    fn a_skew_is_from_0_to_100() {
        let read = |text: &str| text.parse::<ExpertRouting>().ok();
        assert_eq!(read("skewed:0"), Some(ExpertRouting::Skewed(0.0)));
        assert_eq!(read("skewed:100"), Some(ExpertRouting::Skewed(100.0)));
        assert_eq!(["skewed:-0.1", "skewed:100.1", "skewed", "evenly"].map(read), [None; 4]);
        // Without a skew each is chosen alike, and nobody is left out twice.
        let even = Coverage::new(ExpertRouting::Skewed(0.0), 4.0, 1.0);
        assert_eq!([even.of(1.0), even.of(2.0), even.of(0.1)], [1.0, 1.75, 1.0]);
    }

    #[test]
    fn skew_lowers_coverage_down_to_the_strict() {
        let of = |routing, tokens| Coverage::new(routing, 128.0, 8.0).of(tokens);
        for tokens in [1.0, 2.5, 16.0, 300.0] {
            let mut last = of(ExpertRouting::Expected, tokens);
            assert!((of(ExpertRouting::Skewed(0.0), tokens) - last).abs() < 1e-9);
            for alpha in [0.1, 0.5, 1.0, 2.0, 5.0] {
                let skewed = of(ExpertRouting::Skewed(alpha), tokens);
                assert!(skewed <= last + 1e-9, "{tokens} tokens, {alpha}: {skewed} > {last}");
                assert!(skewed >= of(ExpertRouting::Strict, tokens) - 1e-9);
                last = skewed;
            }
        }
    }

    #[test]
    fn a_token_chooses_its_experts_and_no_more() {
        for alpha in [0.3, 1.0, 3.0] {
            let chosen = inclusion(64, 6.0, alpha);
            assert!((chosen.iter().sum::<f64>() - 6.0).abs() < 1e-9);
            assert!(chosen.iter().all(|p| (0.0..=1.0).contains(p)));
        }
        assert_eq!(inclusion(4, 4.0, 2.0), [1.0; 4]);
        // Of weights 1, 1/2, 1/3 the first would be chosen 12/11 times for two: it is certain, and the others share one.
        let shares = inclusion(3, 2.0, 1.0);
        assert!(shares.iter().zip([1.0, 0.6, 0.4]).all(|(one, other)| (one - other).abs() < 1e-12));
    }
}
