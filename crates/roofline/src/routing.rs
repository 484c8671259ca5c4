//! How tokens choose experts.

mod table;

use std::str::FromStr;
use std::sync::Arc;

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

/// How rare a pass must be that reads fewer experts than [`fewest`] says: one in a million.
const RARE: f64 = 1e-6;

/// The fewest of `count` experts that are read for `tokens` in passes of at most so many, where each token chooses `per_token` for itself
/// and all sets of so many equally often. A pass that reads fewer for its tokens is one in a million.
///
/// How many experts were read after each token is a Markov chain, as what a token adds is hypergeometric. Fewer tokens read more a
/// token on average, but chance has more room among them, so that passes of any size are looked at.
pub(crate) fn fewest(count: f64, per_token: f64, tokens: f64) -> f64 {
    let (count, per_token) = (count as usize, per_token as usize);
    if per_token >= count {
        return count as f64;
    }
    let arrivals = arrivals(count, per_token);
    let mut odds = vec![0.0; count + 1];
    odds[per_token] = 1.0;
    let tokens = tokens.max(1.0);
    let most = tokens.ceil() as u64;
    let mut a_token = per_token as f64;
    for so_far in 2..=most {
        for read in (0..=count).rev() {
            let before = odds[..=read].iter().rev();
            odds[read] = arrivals[read].iter().zip(before).map(|(new, odds)| new * odds).sum();
        }
        let read = quantile(&odds);
        // All are read from here on.
        let passed = if read == count { most } else { so_far };
        a_token = a_token.min(read as f64 / passed as f64);
        if passed == most {
            break;
        }
    }
    (tokens * a_token).max(per_token as f64)
}

/// The least number than which fewer are rare.
fn quantile(odds: &[f64]) -> usize {
    let mut below = 0.0;
    let is_rare = |odds: &&f64| {
        below += **odds;
        below < RARE
    };
    odds.iter().take_while(is_rare).count()
}

/// For each number of experts that are read after a token, how likely it is that `n` of that token's are new, by `n`.
fn arrivals(count: usize, per_token: usize) -> Vec<Vec<f64>> {
    let factorials = (1..=count).scan(0.0, |sum: &mut f64, n| {
        *sum += (n as f64).ln();
        Some(*sum)
    });
    let factorials: Vec<f64> = std::iter::once(0.0).chain(factorials).collect();
    // The logarithm of how many ways there are to choose `some` of `all`.
    let ways = |all: usize, some: usize| match all.checked_sub(some) {
        Some(rest) => factorials[all] - factorials[some] - factorials[rest],
        None => f64::NEG_INFINITY,
    };
    let likely = |read: usize, new: usize| {
        let before = read - new;
        (ways(count - before, new) + ways(before, per_token - new) - ways(count, per_token)).exp()
    };
    let after =
        |read: usize| (0..=per_token.min(read)).map(|new| likely(read, new)).collect::<Vec<_>>();
    (0..=count).map(after).collect()
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

    /// Of tokens that choose for themselves, whether among all experts or first four of eight groups, as DeepSeek's router does.
    #[test]
    fn draws_read_more_than_the_fewest_and_exact_odds_agree_with_their_mean() {
        // Of n tosses of a coin one of 2^(n - 1) series shows one side alone: up to 20 it may be.
        assert_eq!([20.0, 40.0].map(|tokens| fewest(2.0, 1.0, tokens)), [1.0, 2.0]);
        assert_eq!(fewest(4.0, 4.0, 9.0), 4.0);
        let mut state = 9_u64;
        let mut draw = |below: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for (count, per_token, tokens, groups) in
            [(128, 4, 64, 1), (128, 8, 8, 1), (256, 8, 64, 8), (256, 8, 16, 8), (8, 2, 4, 1)]
        {
            let least = fewest(count as f64, per_token as f64, tokens as f64);
            let mean = Coverage::new(ExpertRouting::Expected, count as f64, per_token as f64);
            assert!(least >= per_token as f64 && least < mean.of(tokens as f64), "{least}");
            for _ in 0..300 {
                let mut read = vec![false; count];
                for _ in 0..tokens {
                    let mut allowed: Vec<usize> = (0..groups).collect();
                    while allowed.len() > groups.div_ceil(2) {
                        allowed.swap_remove(draw(allowed.len()));
                    }
                    let mut free: Vec<usize> =
                        (0..count).filter(|n| allowed.contains(&(n * groups / count))).collect();
                    for _ in 0..per_token {
                        read[free.swap_remove(draw(free.len()))] = true;
                    }
                }
                let read = read.iter().filter(|read| **read).count() as f64;
                assert!(read >= least, "{count} {per_token} {tokens}: {read} < {least}");
            }
        }
    }

    /// More tokens read no fewer, and no more a token; never more than are expected.
    #[test]
    fn the_fewest_rise_with_tokens_and_fall_a_token() {
        for (count, per_token) in [(128.0, 4.0), (128.0, 8.0), (256.0, 8.0), (32.0, 4.0)] {
            let mean = Coverage::new(ExpertRouting::Expected, count, per_token);
            let mut last = (0.0, f64::INFINITY);
            for tokens in [1.0, 1.5, 2.0, 3.0, 8.0, 16.0, 63.5, 64.0, 128.0, 256.0, 5000.0] {
                let least = fewest(count, per_token, tokens);
                assert!(least + 1e-9 >= last.0 && least / tokens <= last.1 + 1e-9, "{tokens}");
                assert!(least <= mean.of(tokens) + 1e-9, "{tokens}: {least}");
                last = (least, least / tokens);
            }
            assert_eq!((fewest(count, per_token, 1.0), last.0), (per_token, count));
        }
        assert_eq!([16.0, 64.0].map(|tokens| fewest(128.0, 4.0, tokens).round()), [37.0, 95.0]);
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
    }
}
