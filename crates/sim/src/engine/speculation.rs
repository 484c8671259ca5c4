//! Speculative decoding: how many of the tokens that were drafted are accepted.

use fizeau_roofline::Acceptance;

use crate::chance::{DrawnFor, drawn, share};
use crate::serve::JobId;

/// Drafts of a fixed length, verified in one step: the sequence gets the tokens that are accepted and the one after them.
///
/// What drafting costs is the affair of the step time ([`crate::StepLoad::drafted_tokens`]).
#[derive(Debug, Clone, PartialEq)]
pub struct EngineDrafts {
    /// Tokens of a draft, at least 1.
    pub length: u32,
    /// How likely each is accepted, by its position.
    pub acceptance: Acceptance,
}

impl EngineDrafts {
    /// How many tokens of a job's draft number `cycle` are accepted, from 0 to the length: each with the probability of its
    /// position if those before it were. Depends on the arguments alone, so that a job's luck is the same whatever runs beside it.
    ///
    /// ```
    /// use fizeau_roofline::Acceptance;
    /// use fizeau_sim::{EngineDrafts, JobId};
    /// let drafts = EngineDrafts { length: 3, acceptance: Acceptance::uniform(0.8)? };
    /// let mean = (0..10_000).map(|cycle| drafts.accepted(7, JobId(0), cycle)).sum::<u32>() as f64 / 1e4;
    /// // 0.8 + 0.64 + 0.512 on average.
    /// assert!((mean - 1.952).abs() < 0.05);
    /// # Ok::<(), fizeau_roofline::AcceptanceError>(())
    /// ```
    #[must_use]
    pub fn accepted(&self, seed: u64, job: JobId, cycle: u64) -> u32 {
        let luck = share(drawn(drawn(DrawnFor::Drafts.stream(seed), job.0), cycle));
        let mut reached = 1.0;
        for position in 1..=self.length {
            reached *= self.acceptance.at(position);
            if luck >= reached {
                return position - 1;
            }
        }
        self.length
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1849),
            failure_persistence: None,
            cases: 64,
            ..ProptestConfig::default()
        })]

        /// As many as the acceptance says, within five standard errors.
        #[test]
        fn the_mean_is_the_acceptances(
            each in prop::collection::vec(0.0..=1.0_f64, 1..5), length in 1u32..7, seed in any::<u64>(), job in any::<u64>(),
        ) {
            let acceptance = Acceptance::per_position(&each).unwrap();
            let drafts = EngineDrafts { length, acceptance };
            let draws: Vec<f64> =
                (0..4_000).map(|cycle| drafts.accepted(seed, JobId(job), cycle).into()).collect();
            let count = draws.len() as f64;
            let mean = draws.iter().sum::<f64>() / count;
            let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / count;
            let expected = drafts.acceptance.tokens(length) - 1.0;
            let allowed = 5.0 * (variance / count).sqrt() + 5.0 * f64::from(length) / count;
            prop_assert!((mean - expected).abs() <= allowed, "{mean} {expected} {allowed}");
        }

        /// Luck is a job's own, and its cycles'.
        #[test]
        fn other_jobs_have_other_luck(seed in any::<u64>(), job in 0..u64::MAX) {
            let drafts = EngineDrafts { length: 8, acceptance: Acceptance::uniform(0.5).unwrap() };
            let of = |seed, job| (0..64).map(|cycle| drafts.accepted(seed, JobId(job), cycle)).collect::<Vec<_>>();
            prop_assert_eq!(of(seed, job), of(seed, job));
            prop_assert_ne!(of(seed, job), of(seed, job + 1));
            prop_assert_ne!(of(seed, job), of(seed.wrapping_add(1), job));
        }
    }

    #[test]
    fn certain_drafts_are_certain() {
        let of = |probability| EngineDrafts {
            length: 4,
            acceptance: Acceptance::uniform(probability).unwrap(),
        };
        for cycle in 0..100 {
            assert_eq!(of(1.0).accepted(1, JobId(2), cycle), 4);
            assert_eq!(of(0.0).accepted(1, JobId(2), cycle), 0);
        }
    }
}
