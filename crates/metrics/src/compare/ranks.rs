//! Ranks with ties shared.

/// The ranks of values, doubled so that a tie's mean rank is whole, and what the ties are.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ranks {
    /// Twice the rank of each value, in the order given; the least value has rank 1.
    pub(super) doubled: Vec<u64>,
    /// How many values share each rank that more than one has.
    pub(super) ties: Vec<u64>,
}

impl Ranks {
    /// Equal values get the mean of the ranks that they take up.
    pub(super) fn of(values: &[f64]) -> Self {
        let mut order: Vec<(usize, f64)> =
            values.iter().map(|value| value + 0.0).enumerate().collect();
        order.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let mut doubled = vec![0; values.len()];
        let mut ties = Vec::new();
        let mut before = 0u64;
        for equal in order.chunk_by(|a, b| a.1 == b.1) {
            let n = equal.len() as u64;
            for &(index, _) in equal {
                if let Some(rank) = doubled.get_mut(index) {
                    *rank = 2 * before + n + 1;
                }
            }
            if n > 1 {
                ties.push(n);
            }
            before += n;
        }
        Self { doubled, ties }
    }

    /// The sum of t^3 - t over the ties, of which a rank test's variance must be relieved.
    pub(super) fn tie_term(&self) -> f64 {
        self.ties.iter().map(|&t| t as f64).map(|t| t * t * t - t).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Ranks;

    #[test]
    fn ties_share_their_mean_rank() {
        let ranks = Ranks::of(&[3.0, 1.0, -0.0, 3.0, 0.0, 3.0]);
        assert_eq!(ranks.doubled, [10, 6, 3, 10, 3, 10]);
        assert_eq!(ranks.ties, [2, 3]);
        assert_eq!(ranks.tie_term(), 6.0 + 24.0);
    }
}
