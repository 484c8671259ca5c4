//! What came of a level.

use fizeau_core::WarmUp;
use fizeau_metrics::{
    ClientProof, ClientWatch, Ending, Expectations, LevelSummary, LevelTally, Precision,
    PrecisionOutcome, Validity, judge,
};

use crate::drive::{Driven, Ended};

/// What came of a level. Its tapes went to the sink and the observer as they ended.
#[derive(Debug, Clone)]
pub struct LevelRun {
    /// What the tapes amount to.
    pub summary: LevelSummary,
    /// What the client saw of itself.
    pub client: ClientProof,
    /// Whether the level is to be believed, by the default thresholds and without knowing the speed of light or what a
    /// prefix cache may supply: who does judges again.
    pub validity: Validity,
    /// When it began, and why it ended.
    pub driven: Driven,
    /// What came of the warm-up.
    pub warmup: WarmUp,
    /// How well is known what was asked for, of all that was measured; empty if nothing was.
    pub precision: Vec<PrecisionOutcome>,
}

impl LevelRun {
    /// Whether the level was called off before it was done.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        matches!(self.driven.ended, Ended::Cancelled)
    }

    /// The level that `tally` was kept of.
    pub(crate) fn of(
        tally: &LevelTally,
        watch: ClientWatch,
        driven: Driven,
        warmup: WarmUp,
    ) -> Self {
        let (mut summary, client) = (tally.summary(), tally.proof(watch));
        let ending = match driven.ended {
            Ended::Cancelled => Ending::Interrupted,
            Ended::Enough | Ended::Exhausted | Ended::TimeUp => Ending::Finished,
        };
        let Driven { held_back, abandoned, .. } = driven;
        (summary.requests.held_back, summary.requests.abandoned) = (held_back, abandoned);
        let expected = Expectations { ending, held_back, abandoned, ..Expectations::default() };
        let validity = judge(&summary, &client, &expected);
        Self { summary, client, validity, driven, warmup, precision: Vec::new() }
    }

    /// The same, with what is known of what was `asked` for.
    pub(crate) fn until(self, asked: Option<&Precision>, tally: &LevelTally) -> Self {
        Self { precision: asked.map_or_else(Vec::new, |asked| tally.precision(asked)), ..self }
    }

    /// Whether all that was asked for is known well enough: the level was ended for that, or its intervals are narrow enough at
    /// its end. Where nothing was asked for, it is.
    ///
    /// What was in flight when a level was ended still counts, so that an interval may be a little wider in the end.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        let reached = self.precision.iter().all(PrecisionOutcome::is_reached);
        reached || self.driven.ended == Ended::Enough
    }
}
