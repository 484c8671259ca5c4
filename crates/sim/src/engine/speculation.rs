//! Speculative decoding: how many of the tokens that were drafted are accepted.

use fizeau_roofline::Acceptance;

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
