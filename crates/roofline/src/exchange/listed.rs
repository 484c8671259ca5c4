//! The collectives of a pass, told one by one.

use fizeau_core::{Bytes, Seconds};

use super::{Exchanges, Repeated};
use crate::Collective;
use crate::collective::GroupCollective;
use crate::pass::Pass;

/// A collective that a pass has, as often as it has it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PassCollective {
    /// Which.
    pub collective: Collective,
    /// Among how many devices.
    pub ranks: u32,
    /// The size of one, as [`Collective`] counts it; of an all-to-all among experts what one rank sends of its tokens, once each.
    pub bytes: Bytes,
    /// How many the pass has.
    pub times: f64,
    /// What all of them take.
    pub time: Seconds,
    /// How far from that what was measured at this size may lie, relative to it; none where it follows from links.
    pub within: Option<f64>,
}

impl PassCollective {
    pub(super) fn of(
        (collective, ranks): (Collective, u32),
        (by, bytes): (&GroupCollective, f64),
        times: f64,
    ) -> Self {
        let time = (by.at(bytes) * times).total();
        let bytes_of_one = Bytes::new(bytes);
        Self { collective, ranks, bytes: bytes_of_one, times, time, within: by.within(bytes) }
    }
}

impl Exchanges {
    pub(crate) fn listed(&self, pass: &Pass) -> Vec<PassCollective> {
        if pass.tokens() <= 0.0 {
            return Vec::new();
        }
        let (tokens, samples) = self.busiest_group(pass);
        let one = |of: &Repeated, count: f64| {
            let kind = (of.collective, of.ranks);
            let told = || PassCollective::of(kind, (&of.levels, of.bytes * count), of.times);
            (of.times > 0.0).then(told)
        };
        let of_tokens = self.of_tokens.iter().filter_map(|of| one(of, tokens));
        let experts = self.experts.iter().flat_map(|of| of.listed(tokens, pass.tokens()));
        of_tokens.chain(one(&self.of_samples, samples)).chain(experts).collect()
    }
}
