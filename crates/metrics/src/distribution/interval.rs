//! Which order statistics enclose a percentile.

use statrs::distribution::{Binomial, Discrete};

/// What is left outside the interval on each side, at most: 95 % inside.
const TAIL: f64 = 0.025;

/// The ranks, from 0, of the two order statistics of a sample of `n` that enclose its quantile `q` with a
/// probability of at least 95 %; none if the sample does not reach far enough on either side.
///
/// The number of values at or below the true quantile is binomial with n and q. The rank from below is the
/// greatest j with P(B <= j) <= 0.025, the one from above the least j with P(B <= j) >= 0.975: W. J. Conover,
/// "Practical Nonparametric Statistics", section on confidence intervals for a quantile.
pub(super) fn enclosing_ranks(n: u64, q: f64) -> Option<(u64, u64)> {
    let binomial = Binomial::new(q, n).ok()?;
    let mean = n as f64 * q;
    // Eight deviations below the mean less than 1e-14 is left out. Summing from there keeps its precision for
    // any n; a distribution function by continued fraction does not.
    let mut j = (mean - 8.0 * (mean * (1.0 - q)).sqrt()).max(0.0) as u64;
    let odds = q / (1.0 - q);
    let mut mass = binomial.pmf(j);
    let mut below = mass;
    let mut low = None;
    while j < n {
        if below <= TAIL {
            low = Some(j);
        }
        if below >= 1.0 - TAIL {
            return low.map(|low| (low, j));
        }
        mass *= (n - j) as f64 / (j + 1) as f64 * odds;
        below += mass;
        j += 1;
    }
    None
}

/// The same where each value is worth only one in `inflation` independent ones: the ranks of a sample of as many as those
/// are worth, at the same places of the greater one, moved outwards to whole ranks.
pub(super) fn enclosing_ranks_of_series(n: u64, q: f64, inflation: f64) -> Option<(u64, u64)> {
    let worth = ((n as f64 / inflation) as u64).min(n);
    let (low, high) = enclosing_ranks(worth, q)?;
    // Rank j from 1 of m independent values lies, on average, where a share of j / (m + 1) is below.
    let stretch = (n + 1) as f64 / (worth + 1) as f64;
    let below = ((low + 1) as f64 * stretch).floor() as u64;
    let above = ((high + 1) as f64 * stretch).ceil() as u64;
    Some((below.saturating_sub(1), above.saturating_sub(1).min(n - 1)))
}

#[cfg(test)]
mod tests {
    use super::{enclosing_ranks, enclosing_ranks_of_series};

    #[test]
    fn ranks_of_a_series_are_the_plain_ones_stretched() {
        assert_eq!(enclosing_ranks_of_series(1000, 0.99, 1.0), Some((982, 996)));
        // 100 independent values have (39, 60): 40 / 101 and 61 / 101 of 401.
        assert_eq!(enclosing_ranks_of_series(400, 0.5, 4.0), Some((157, 242)));
        assert_eq!(enclosing_ranks_of_series(400, 0.99, 4.0), None);
    }

    /// Golden values: exact rational sums of the binomial (Python's `fractions`) for n up to 1000, SciPy's
    /// `binom.ppf` (`ppf(0.025) - 1` and `ppf(0.975)`) beyond.
    #[test]
    fn ranks_are_those_of_the_binomial() {
        let golden = [
            (5, 0.5, None),
            (6, 0.5, Some((0, 5))),
            (20, 0.5, Some((5, 14))),
            (100, 0.5, Some((39, 60))),
            (100, 0.9, Some((83, 95))),
            (100, 0.99, None),
            (367, 0.99, None),
            (368, 0.99, Some((359, 367))),
            (1000, 0.99, Some((982, 996))),
            (1000, 0.999, None),
            (100_000, 0.5, Some((49_689, 50_310))),
            (100_000, 0.99, Some((98_937, 99_061))),
            (1_000_000, 0.5, Some((499_019, 500_980))),
            (1_000_000, 0.9, Some((899_411, 900_588))),
            (1_000_000, 0.999, Some((998_937, 999_061))),
        ];
        for (n, q, ranks) in golden {
            assert_eq!(enclosing_ranks(n, q), ranks, "n {n}, q {q}");
        }
    }

    #[test]
    fn an_empty_sample_has_no_ranks() {
        assert_eq!(enclosing_ranks(0, 0.5), None);
    }
}
