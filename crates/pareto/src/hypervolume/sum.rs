//! A sum that keeps what rounding would lose.

/// A running sum with the error of each addition added up beside it (Knuth's two-sum; Ogita, Rump and Oishi 2005,
/// "Accurate Sum and Dot Product"). Thousands of small volumes keep all the digits of the large one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CompensatedSum {
    sum: f64,
    error: f64,
}

impl CompensatedSum {
    pub(crate) fn new(first: f64) -> Self {
        Self { sum: first, error: 0.0 }
    }

    pub(crate) fn add(&mut self, term: f64) {
        let sum = self.sum + term;
        let of_term = sum - self.sum;
        self.error += (self.sum - (sum - of_term)) + (term - of_term);
        self.sum = sum;
    }

    pub(crate) fn total(self) -> f64 {
        self.sum + self.error
    }
}

#[cfg(test)]
mod tests {
    use super::CompensatedSum;

    #[test]
    fn small_terms_are_not_lost_beside_a_large_one() {
        let mut sum = CompensatedSum::new(1e16);
        for _ in 0..1_000 {
            sum.add(0.25);
        }
        sum.add(-1e16);
        assert_eq!(sum.total(), 250.0);
    }
}
