//! Speculative decoding: how many of the tokens that were drafted are accepted.

use std::hash::Hasher;

use fizeau_roofline::Acceptance;

use super::hash::NumberHasher;
use crate::job::JobId;

/// Drafts of a fixed length, verified in one step: the sequence gets the tokens that are accepted and the one after them.
///
/// What drafting costs is the affair of the step time ([`crate::StepLoad::drafted_tokens`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Drafts {
    /// Tokens of a draft, at least 1.
    pub length: u32,
    /// How likely each is accepted, by its position.
    pub acceptance: Acceptance,
}

impl Drafts {
    /// How many tokens of a job's draft number `cycle` are accepted: the same for the same seed.
    pub(super) fn accepted(&self, seed: u64, job: JobId, cycle: u64) -> u32 {
        let mut hasher = NumberHasher::default();
        [seed, job.0, cycle].into_iter().for_each(|number| hasher.write_u64(number));
        // The upper 53 bits, as a number from 0 to below 1.
        let chance = (hasher.finish() >> 11) as f64 / (1u64 << 53) as f64;
        let reached = |n: u32| self.acceptance.tokens(n) - self.acceptance.tokens(n - 1);
        (1..=self.length).take_while(|&n| chance < reached(n)).count() as u32
    }
}
