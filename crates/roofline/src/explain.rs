//! Term by term: where the time of a pass goes.

use fizeau_core::Seconds;

use crate::pass::Pass;
use crate::system::System;
use crate::timed::OperatorTime;
use crate::{LimitingResource, OperatorKind, PassTime};

/// Which pass a term belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PassPhase {
    /// The pass over a prompt.
    Prefill,
    /// A decode step of the running batch.
    Decode,
}

/// The operator or link that a term is the time of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TermKind {
    /// An operator, in all layers that have it.
    Operator(OperatorKind),
    /// Bytes on links.
    LinkBytes,
    /// Hops on links, however few the bytes.
    LinkHops,
}

impl TermKind {
    /// The name used in files: `projections`, `link_hops`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator(kind) => kind.as_str(),
            Self::LinkBytes => "link_bytes",
            Self::LinkHops => "link_hops",
        }
    }
}

/// A part of a pass's time.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PassTerm {
    /// Of which pass.
    pub phase: PassPhase,
    /// Of what.
    pub part: TermKind,
    /// The resource that it waits for, where engines cut the work as they do.
    pub limit: LimitingResource,
    /// What it takes at least, by itself: the longer of its memory and its arithmetic, perfectly spread. 0 for links.
    /// The terms overlap in the bound, so that they add up to more than it where they wait for different resources.
    pub bound: Seconds,
    /// What it is expected to take. The terms of a phase add up to the expected pass.
    pub expected: Seconds,
    /// Its part of that sum, from 0 to 1.
    pub share: f64,
}

impl System {
    /// Where the time of `pass` goes: every operator and the links; none that takes no time.
    ///
    /// ```
    /// use std::num::NonZeroU64;
    /// use fizeau_core::Tokens;
    /// use fizeau_roofline::{Deployment, Device, KnownModel, LimitingResource, UniformLoad, OperatorKind, TermKind, PassPhase, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
    /// let terms = system.pass_terms(PassPhase::Decode, &system.decode_pass(&load, 1.0));
    /// let largest = terms.iter().max_by(|a, b| a.share.total_cmp(&b.share)).ok_or("no terms")?;
    /// assert_eq!(largest.part, TermKind::Operator(OperatorKind::Dense));
    /// assert_eq!(largest.limit, LimitingResource::Weights);
    /// assert_eq!(format!("{:.0} %", largest.share * 100.0), "74 %");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn pass_terms(&self, phase: PassPhase, pass: &Pass) -> Vec<PassTerm> {
        let whole = self.expected_pass(pass);
        // Of overlapped halves only the sum is known: the operators' times are those of the whole batch.
        let (real, ideal) = self.operators();
        let mut terms: Vec<PassTerm> = Vec::new();
        for (real, ideal) in real.iter().zip(ideal) {
            let (expected, bound) = (real.time(pass), ideal.time(pass));
            let part = TermKind::Operator(real.kind());
            let term = PassTerm {
                phase,
                part,
                limit: limit_of(&expected),
                bound: Seconds::new(bound.longest()),
                expected: Seconds::new(expected.longest()),
                share: 0.0,
            };
            match terms.iter_mut().find(|known| known.part == part && known.limit == term.limit) {
                Some(known) => known.add(&term),
                None => terms.push(term),
            }
        }
        terms.extend(links(phase, &whole));
        let all = terms.iter().fold(Seconds::default(), |sum, term| sum + term.expected);
        terms.retain(|term| term.expected.get() > 0.0 || term.bound.get() > 0.0);
        for term in &mut terms {
            term.share = term.expected / all;
        }
        terms
    }
}

impl PassTerm {
    fn add(&mut self, other: &Self) {
        self.bound = self.bound + other.bound;
        self.expected = self.expected + other.expected;
    }
}

fn links(phase: PassPhase, pass: &PassTime) -> [PassTerm; 2] {
    let term = |part, expected| PassTerm {
        phase,
        part,
        limit: LimitingResource::Link,
        bound: Seconds::default(),
        expected,
        share: 0.0,
    };
    [term(TermKind::LinkBytes, pass.link), term(TermKind::LinkHops, pass.hops)]
}

fn limit_of(time: &OperatorTime) -> LimitingResource {
    if time.arithmetic() > time.memory() {
        LimitingResource::Compute
    } else if time.cache > time.weights {
        LimitingResource::Kv
    } else {
        LimitingResource::Weights
    }
}
