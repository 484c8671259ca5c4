//! The whole of a level over time.

use fizeau_core::{Nanos, Tape, Tokens};

use crate::series::end_of;
use crate::{CountSeries, PeakRate, TimeSpan, Timeline, TokenCells};

/// The windows of the peak rate are about as long.
const PEAK_OVER: Nanos = Nanos::from_secs(1);

/// What was going on from the first release to the last end, each value weighted by how long it held. Nothing is put into buckets:
/// the counts change at events and nowhere else.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct OccupancyOverTime {
    /// Requests from send start to end. The mean times the duration is the sum of their times in flight (Little's law).
    pub in_flight: Occupancy,
    /// Those of them that waited for their first token.
    pub prefilling: Occupancy,
    /// Those of them that had it.
    pub decoding: Occupancy,
    /// Requests from their intended instant to their end: what a cap holds back is in it.
    pub due: Occupancy,
    /// The mean number of tokens in flight: prompts of all requests in flight, and what has come of their outputs. Absent if the
    /// length of a prompt is unknown. A peak would take the tapes in order.
    pub tokens_in_flight: Option<f64>,
    /// The most output tokens per second, over windows of about a second made of whole cells. Never below
    /// the mean over the whole run.
    pub peak_output_tokens: PeakRate,
    /// How finely tokens are known by time.
    pub cell: Nanos,
}

/// How many of something were going on, weighted by time.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Occupancy {
    /// The mean.
    pub mean: f64,
    /// What was not exceeded half of the time.
    pub p50: u64,
    /// What was not exceeded 90 % of the time.
    pub p90: u64,
    /// The most at any instant.
    pub peak: u64,
}

/// What it takes of the tapes, in any order.
#[derive(Debug, Clone, Default)]
pub(super) struct OverTimeTally {
    pub(super) cells: TokenCells,
    /// Sum of tokens times the nanoseconds that they were in flight.
    held: u128,
    prompt_unknown: bool,
}

impl OverTimeTally {
    /// Takes in a tape of the load, with so many tokens.
    pub(super) fn add(&mut self, tape: &Tape, tokens: Tokens) {
        self.cells.add_tape(tape);
        let (Some(sent), Some(end)) = (tape.marks.send_start, end_of(tape)) else {
            return;
        };
        let time = |from| end.saturating_since(from).as_nanos();
        let held = |tokens: u64, from| u128::from(tokens) * u128::from(time(from));
        match tape.input_tokens() {
            Some(prompt) => self.held += held(prompt.get(), sent),
            None => self.prompt_unknown = true,
        }
        let came = tape.arrivals.iter().map(|a| (u64::from(a.tokens), a.at.max(sent)));
        // No more than if all tokens had come at once. Hardly a reply is so long that this takes more than 64 bits.
        self.held += match tokens.get().checked_mul(time(sent)) {
            Some(_) => came.map(|(tokens, at)| tokens * time(at)).sum::<u64>().into(),
            None => came.map(|(tokens, at)| held(tokens, at)).sum::<u128>(),
        };
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: &Self) {
        self.cells.merge(&other.cells);
        self.held += other.held;
        self.prompt_unknown |= other.prompt_unknown;
    }

    /// What was going on in `whole`, the level's time; none if that has no length.
    pub(super) fn summary(
        &self,
        timeline: &Timeline,
        whole: TimeSpan,
    ) -> Option<OccupancyOverTime> {
        let length = whole.length().as_nanos();
        Some(OccupancyOverTime {
            in_flight: occupancy(&timeline.in_flight(), whole)?,
            prefilling: occupancy(&timeline.prefilling(), whole)?,
            decoding: occupancy(&timeline.decoding(), whole)?,
            due: occupancy(&timeline.due(), whole)?,
            tokens_in_flight: (!self.prompt_unknown).then(|| self.held as f64 / length as f64),
            peak_output_tokens: self.cells.peak(whole, PEAK_OVER)?,
            cell: self.cells.cell(),
        })
    }
}

fn occupancy(series: &CountSeries, whole: TimeSpan) -> Option<Occupancy> {
    let held = series.over(whole);
    Some(Occupancy {
        mean: held.mean()?,
        p50: held.quantile(0.5)?,
        p90: held.quantile(0.9)?,
        peak: held.peak()?,
    })
}
