//! The same load on several configurations of a simulated engine, side by side.

mod answer;
mod common;
mod document;

pub use answer::ChosenLevel;
pub(crate) use document::WHAT_IF;
pub use document::{VariantDocument, WhatIfDocument};

use fizeau_core::LevelLoad;
use fizeau_metrics::{Slo, Verdict};
use fizeau_pareto::{Objective, frontier};

use crate::{
    FrontierPosition, JsonError, LevelReport, LevelStatus, RunSetup, SweepReport, TailLatency,
};

/// What several configurations would do with the same load: a frontier for each, the one of all together, and where each is to run
/// for the goals.
///
/// The frontier of all is of output tokens per second and device (more is better) against the 99th percentile of end-to-end
/// latency (less is better), so that configurations of different size may be compared. A [`WhatIfDocument`] is made of it, which
/// is `whatif.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIf {
    setup: RunSetup,
    variants: Vec<WhatIfVariant>,
    slo: Option<Slo>,
    frontier: Vec<VariantLevel>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct WhatIfVariant {
    /// What sets it apart from the others: flags and their values, in the order in which they were given.
    pub settings: Vec<(String, String)>,
    /// How many devices it takes, at least 1; absent where nothing ran.
    pub devices: Option<u64>,
    /// What came of it, or why nothing did.
    pub outcome: Result<SweepReport, NotRunReason>,
}

/// Why nothing came of a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRunReason {
    /// It cannot run, for this reason, in plain words.
    Impossible(String),
    /// Somebody ended the command before its turn came.
    Interrupted,
}

impl std::fmt::Display for NotRunReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Impossible(reason) => write!(f, "cannot run: {reason}"),
            Self::Interrupted => f.write_str("not run: interrupted"),
        }
    }
}

/// A level of a configuration, by their indices.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VariantLevel {
    /// Which configuration.
    pub variant: usize,
    /// Which of its levels.
    pub level: usize,
}

impl WhatIf {
    /// `variants` side by side; each sweep has been judged by `slo` itself. `setup` is what all have in common.
    #[must_use]
    pub fn new(setup: RunSetup, variants: Vec<WhatIfVariant>, slo: Option<Slo>) -> Self {
        let frontier = best(&variants);
        Self { setup, variants, slo, frontier }
    }

    /// What all have in common.
    #[must_use]
    pub const fn setup(&self) -> &RunSetup {
        &self.setup
    }

    /// The configurations, in the order given.
    #[must_use]
    pub fn variants(&self) -> &[WhatIfVariant] {
        &self.variants
    }

    /// The goals; none where there are none.
    #[must_use]
    pub const fn slo(&self) -> Option<&Slo> {
        self.slo.as_ref()
    }

    /// That the goals were assumed, and which; nothing where somebody gave them.
    #[must_use]
    pub fn assumed_goals(&self) -> Option<String> {
        self.variants.iter().filter_map(WhatIfVariant::sweep).find_map(SweepReport::assumed_goals)
    }

    /// The levels that no other level of any configuration beats, by rising latency.
    #[must_use]
    pub fn frontier(&self) -> &[VariantLevel] {
        &self.frontier
    }

    /// The worst verdict of all that ran; invalid if none did.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let ran = self.variants.iter().filter_map(WhatIfVariant::sweep);
        ran.map(SweepReport::verdict).max().unwrap_or(Verdict::Invalid)
    }

    /// Whether what ran is to be believed, and some configuration keeps the goals, where somebody gave any.
    #[must_use]
    pub fn passes(&self) -> bool {
        let is_asked = self.slo.is_some() && self.assumed_goals().is_none();
        let mut ran = self.variants.iter().filter_map(WhatIfVariant::sweep);
        let mut is_met = || ran.any(|sweep| sweep.operating_point().level().is_some());
        self.verdict() != Verdict::Invalid && (!is_asked || is_met())
    }

    /// Whether each configuration that can run did so to its end.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let is_whole = |sweep: &SweepReport| {
            let mut levels = sweep.levels().iter();
            sweep.unmeasured().is_empty() && levels.all(|at| at.status == LevelStatus::Finished)
        };
        self.variants.iter().all(|variant| match &variant.outcome {
            Ok(sweep) => is_whole(sweep),
            Err(reason) => *reason != NotRunReason::Interrupted,
        })
    }

    /// The file `whatif.json`.
    ///
    /// # Errors
    /// None that is expected: all of it is plain data.
    pub fn to_json(&self) -> Result<String, JsonError> {
        JsonError::pretty(&WhatIfDocument::try_from(self)?)
    }

    /// All loads of all configurations, each once, rising.
    #[must_use]
    pub fn loads(&self) -> Vec<LevelLoad> {
        let sweeps = self.variants.iter().filter_map(WhatIfVariant::sweep);
        let levels = sweeps.flat_map(SweepReport::levels);
        let mut loads = fizeau_core::distinct(levels.map(|level| level.load));
        loads.sort_by(|a, b| a.value().total_cmp(&b.value()));
        loads
    }
}

impl WhatIfVariant {
    /// Its settings in a line: `tp 2, weights fp8`; `as given` where nothing sets it apart.
    #[must_use]
    pub fn name(&self) -> String {
        if self.settings.is_empty() {
            return "as given".to_owned();
        }
        let setting = |(flag, value): &(String, String)| format!("{flag} {value}");
        self.settings.iter().map(setting).collect::<Vec<_>>().join(", ")
    }

    /// Why it cannot run, after its name; none where it ran, or was never tried.
    #[must_use]
    pub fn impossible(&self) -> Option<String> {
        match self.outcome.as_ref().err()? {
            NotRunReason::Impossible(why) => Some(format!("{}: {why}", self.name())),
            _ => None,
        }
    }

    /// What came of it, if it ran.
    #[must_use]
    pub fn sweep(&self) -> Option<&SweepReport> {
        self.outcome.as_ref().ok()
    }

    /// Output tokens per second and device at a level.
    #[must_use]
    pub fn per_device(&self, level: &LevelReport) -> f64 {
        level.summary.throughput.output_tokens_per_s.get() / self.devices.unwrap_or(1).max(1) as f64
    }

    /// The levels that may be compared with others, with their indices.
    pub fn compared(&self) -> impl Iterator<Item = (usize, &LevelReport)> {
        let placed = self.sweep().into_iter().flat_map(SweepReport::with_positions).enumerate();
        placed.filter_map(|(index, (level, place))| match place {
            FrontierPosition::LeftOut { .. } => None,
            _ => Some((index, level)),
        })
    }
}

/// The levels that no other beats.
fn best(variants: &[WhatIfVariant]) -> Vec<VariantLevel> {
    let mut spots = Vec::new();
    let mut points = Vec::new();
    for (variant, of) in variants.iter().enumerate() {
        for (level, report) in of.compared() {
            if let Some(tail) = TailLatency::of(&report.summary.metrics.e2el) {
                spots.push(VariantLevel { variant, level });
                points.push([of.per_device(report), tail.ms()]);
            }
        }
    }
    // Only a NaN makes a point unfit; then there is no frontier.
    let best = frontier(&points, &[Objective::Maximize, Objective::Minimize]).unwrap_or_default();
    let mut best: Vec<(f64, VariantLevel)> = best
        .into_iter()
        .filter_map(|index| Some((points.get(index)?[1], *spots.get(index)?)))
        .collect();
    best.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    best.into_iter().map(|(_, spot)| spot).collect()
}

/// The letter that stands for a configuration in tables and charts: A to Z, then AA, AB, ...
pub fn variant_letter(index: usize) -> String {
    let last = char::from(b'A' + (index % 26) as u8);
    match index / 26 {
        0 => last.to_string(),
        before => format!("{}{last}", variant_letter(before - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::variant_letter;

    #[test]
    fn letters_go_on_as_in_a_spreadsheet() {
        assert_eq!(
            [0, 25, 26, 27, 701, 702].map(variant_letter),
            ["A", "Z", "AA", "AB", "ZZ", "AAA"]
        );
    }
}
