//! The measured part of a level, beside the whole run.

mod throughput;

pub use throughput::WindowThroughput;

use fizeau_core::{Millis, Nanos};

use super::Metric;
use crate::series::SentRequest;
use crate::{
    Distribution, MeasuredWindow, NoWindow, PercentileResolution, Timeline, TokenCells,
    WindowChoice,
};

/// The figures of the measured part of a level: beside those of the whole run, never instead of them.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WindowedSummary {
    /// What was asked for.
    pub choice: WindowChoice,
    /// The part, or why there is none, with the evidence either way.
    pub part: Result<WindowFigures, NoWindow>,
}

/// What was measured in a part of a level.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct WindowFigures {
    /// Where it is, what was cut for it, and why.
    pub window: MeasuredWindow,
    /// How many of the requests that were sent in it completed.
    pub completed: u64,
    /// Latencies of those.
    pub metrics: WindowMetrics,
    /// Rates in it; absent where it is shorter than a cell of tokens.
    pub throughput: Option<WindowThroughput>,
}

/// Latencies of the completed requests that were sent in a window, with their intervals where they are no more than 2^17. What is pooled over gaps (ITL, ICL) has no
/// part here, since a level keeps no tapes: [`LevelSummary::of`](crate::LevelSummary::of) over the tapes that were sent in the window
/// has it.
// They are named here once more, not walked through in the catalogue: a window is looked for in every summary, each by a getter that
// the compiler sees through, and a table of all latencies would be eighteen distributions of which these six are filled.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct WindowMetrics {
    /// Send start to first token.
    pub ttft: Distribution,
    /// Intended release to first token.
    pub ttft_scheduled: Distribution,
    /// Send start to the first token that a reader would see.
    pub first_visible: Distribution,
    /// Mean pace of a request after its first event.
    pub tpot: Distribution,
    /// Send start to the last of the output.
    pub e2el: Distribution,
    /// Intended release to the last of the output.
    pub e2el_scheduled: Distribution,
}

impl WindowedSummary {
    /// The part of the level that `choice` asks for.
    pub(super) fn of(timeline: &Timeline, cells: &TokenCells, choice: WindowChoice) -> Self {
        let part = timeline.chosen(choice);
        Self { choice, part: part.map(|window| WindowFigures::of(timeline, cells, window)) }
    }

    /// The part, if there is one.
    #[must_use]
    pub fn figures(&self) -> Option<&WindowFigures> {
        self.part.as_ref().ok()
    }
}

impl WindowFigures {
    fn of(timeline: &Timeline, cells: &TokenCells, window: MeasuredWindow) -> Self {
        let requests = timeline.requests();
        let sent = requests.iter().skip(window.cut_front as usize).take(window.kept as usize);
        let sent: Vec<&SentRequest> = sent.collect();
        let completed = sent.iter().filter(|request| request.output().is_some()).count();
        let each = timeline.each_stands_for();
        let resolution = match timeline.folded() {
            None => PercentileResolution::Exact,
            Some(_) => PercentileResolution::Drawn,
        };
        Self {
            completed: (completed as f64 * each).round() as u64,
            metrics: WindowMetrics::of(&sent, resolution),
            throughput: WindowThroughput::of(timeline, cells, window.span),
            window: window.of_all(each),
        }
    }
}

impl WindowMetrics {
    /// The latency that `metric` is; none where it has no part here.
    #[must_use]
    pub const fn get(&self, metric: Metric) -> Option<&Distribution> {
        Some(match metric {
            Metric::Ttft => &self.ttft,
            Metric::TtftScheduled => &self.ttft_scheduled,
            Metric::FirstVisible => &self.first_visible,
            Metric::Tpot => &self.tpot,
            Metric::E2el => &self.e2el,
            Metric::E2elScheduled => &self.e2el_scheduled,
            _ => return None,
        })
    }

    fn of(sent: &[&SentRequest], resolution: PercentileResolution) -> Self {
        let series = |values: &mut dyn Iterator<Item = Millis>| Distribution {
            resolution,
            ..Distribution::of_series(values)
        };
        let of = |figure: fn(&SentRequest) -> Option<Nanos>| {
            let latencies = sent.iter().filter_map(|request| figure(request));
            series(&mut latencies.map(Nanos::to_millis))
        };
        Self {
            ttft: of(SentRequest::ttft),
            ttft_scheduled: of(SentRequest::ttft_scheduled),
            first_visible: of(SentRequest::visible),
            tpot: series(&mut sent.iter().filter_map(|request| request.tpot())),
            e2el: of(SentRequest::e2el),
            e2el_scheduled: of(SentRequest::e2el_scheduled),
        }
    }
}
