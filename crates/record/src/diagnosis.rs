//! Why a level is slower than its bound: the way from what a data sheet allows to what was measured, cause by cause.

mod collectives;
mod decode;
mod document;
mod first_token;
mod level;
mod silicon;
mod try_first;
mod waterfall;

pub use document::{DiagnosedFigure, DiagnosisDocument, LevelDiagnosis};
pub use silicon::{OtherDevice, ProbeWay, ProbedSilicon};
pub use try_first::TryFirst;
pub use waterfall::{SlowdownCause, Waterfall, WaterfallStep};

use std::cmp::Reverse;
use std::num::NonZeroU32;

use fizeau_core::{LevelLoad, Verdict};
use fizeau_metrics::{VerdictConcern, VerdictReason};
use fizeau_roofline::System;

use crate::LevelReport;
use crate::text::by_reason;
use level::LevelFacts;

/// What a diagnosis is made of.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Diagnosed<'a> {
    /// The levels of a run. The one with the fewest requests in flight shows what a step costs where nothing queues.
    pub levels: &'a [LevelReport],
    /// The model on devices as their vendor prints them; as a probe found them, where no data sheet of them is known.
    pub system: &'a System,
    /// The same devices as they were measured; none where nobody did.
    pub probed: Option<&'a ProbedSilicon>,
    /// What becomes of levels that are invalid.
    pub invalid: InvalidLevels,
}

/// What becomes of levels that are invalid, where a run is explained or constants are fitted on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum InvalidLevels {
    /// They are left out: what their figures consist of says nothing of the server.
    #[default]
    LeftOut,
    /// They count as if they were valid; an explanation says that they are not.
    Included,
}

impl<'a> Diagnosed<'a> {
    /// These levels against the devices of `system` alone.
    #[must_use]
    pub const fn new(levels: &'a [LevelReport], system: &'a System) -> Self {
        Self { levels, system, probed: None, invalid: InvalidLevels::LeftOut }
    }

    /// With what a probe found of the same devices.
    #[must_use]
    pub const fn with_probe(self, probed: Option<&'a ProbedSilicon>) -> Self {
        Self { probed, ..self }
    }

    /// With levels that are invalid treated so.
    #[must_use]
    pub const fn with_invalid(self, invalid: InvalidLevels) -> Self {
        Self { invalid, ..self }
    }

    /// The way from bound to measurement, level by level, in their order.
    #[must_use]
    pub fn diagnose(&self, model: &str) -> DiagnosisDocument {
        let (mut facts, mut left_out) = (Vec::new(), Vec::new());
        for level in self.levels {
            let known = match self.why_invalid(level) {
                Some(why) => Err(why),
                None => LevelFacts::of(level, self.system),
            };
            match known {
                Ok(known) => facts.push(known),
                Err(reason) => left_out.push((reason, level.load.to_string())),
            }
        }
        let is_sound = |facts: &&LevelFacts<'_>| facts.report.validity.verdict != Verdict::Invalid;
        // Requests at a rate meet one another now and then; a closed loop of one never does.
        let meets =
            |facts: &LevelFacts<'_>| facts.report.load != LevelLoad::Concurrency(NonZeroU32::MIN);
        let lightest = facts
            .iter()
            .filter(is_sound)
            .min_by(|a, b| meets(a).cmp(&meets(b)).then(a.in_flight.total_cmp(&b.in_flight)));
        let levels = facts
            .iter()
            .map(|facts| LevelDiagnosis {
                load: facts.report.load,
                folder: facts.report.folder.clone(),
                in_flight: facts.in_flight,
                decoding: facts.decoding,
                input_tokens: facts.load.input_tokens,
                output_tokens: facts.load.output_tokens,
                doubts: doubts(facts.report),
                beyond_bound: facts.report.speed_of_light.violation().map(ToString::to_string),
                ttft: first_token::diagnose(self, facts, lightest).into(),
                tpot: decode::diagnose(self, facts, lightest).into(),
            })
            .collect();
        DiagnosisDocument::new(model, self, levels, by_reason(left_out))
    }

    /// Why a level is left out as invalid; none where it is not.
    fn why_invalid(&self, level: &LevelReport) -> Option<String> {
        // One that is faster than the hardware allows is said to be that.
        let is_out = self.invalid == InvalidLevels::LeftOut
            && level.validity.verdict == Verdict::Invalid
            && level.speed_of_light.violation().is_none();
        let invalid = level.validity.reasons.iter();
        let why = invalid.filter(|reason| reason.verdict == Verdict::Invalid);
        let why: Vec<&str> = why.map(|reason| VerdictReason::headline(&reason.text)).collect();
        is_out.then(|| format!("it is invalid ({})", why.join("; ")))
    }

    /// What the bound is made of.
    fn bound(&self) -> SlowdownCause {
        match self.system.device().is_probed() {
            true => SlowdownCause::AsProbed,
            false => SlowdownCause::DataSheet,
        }
    }

    /// What was measured of the devices themselves, and not of what joins them alone.
    pub(crate) fn measured(&self) -> Option<&ProbedSilicon> {
        self.probed.filter(|probed| probed.is_measured())
    }

    /// The devices to compute with: as measured where somebody did, else as printed.
    pub(crate) fn silicon(&self) -> &System {
        self.probed.map_or(self.system, ProbedSilicon::system)
    }
}

/// What speaks against a level's figures, the worst first: `suspect: replies were read late`.
fn doubts(level: &LevelReport) -> Vec<String> {
    let reasons = level.validity.reasons.iter();
    // What is beyond the bound is said by itself.
    let reasons = reasons.filter(|reason| reason.about != VerdictConcern::SpeedOfLight);
    let mut reasons: Vec<&VerdictReason> = reasons.collect();
    reasons.sort_by_key(|reason| Reverse(reason.verdict));
    let words = |reason: &VerdictReason| {
        format!("{}: {}", reason.verdict.as_str(), VerdictReason::headline(&reason.text))
    };
    let undecided = level.speed_of_light.undecided().map(ToString::to_string);
    undecided.into_iter().chain(reasons.into_iter().map(words)).collect()
}
