//! What nobody saw of a level that another tool measured, though its tapes have a value for it.

use fizeau_core::{Millis, Tape};
use fizeau_metrics::{Distribution, MetricTable};
use serde::{Deserialize, Serialize};

use crate::{LevelReport, SweepReport};

/// What is not known of a level with tapes since another tool measured it. It serializes as the list `not_known` of `summary.json`.
///
/// A tape has a value for everything, and a file of another tool does not: what stands there in its place is in no figure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unseen {
    #[serde(skip)]
    tool: String,
    not_known: Vec<NotKnown>,
}

/// What the list of a file calls the gaps between tokens, and where not even those between chunks are known.
const ITL: &str = "itl";
/// What a file's list calls the instants of tokens.
pub(crate) const GAPS: &str = "when each token came";

impl Unseen {
    /// Of a level that `tool` measured, of which so much is not known.
    #[must_use]
    pub const fn new(tool: String, not_known: Vec<NotKnown>) -> Self {
        Self { tool, not_known }
    }

    /// Who measured.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What is not known, with the reasons.
    #[must_use]
    pub fn not_known(&self) -> &[NotKnown] {
        &self.not_known
    }

    /// Whether it is not known when each token came: tapes have them evenly between the first and the last.
    #[must_use]
    pub fn has_no_gaps(&self) -> bool {
        self.says(GAPS)
    }

    /// Whether the gaps between tokens are not known; those between chunks may be.
    #[must_use]
    pub fn has_no_itl(&self) -> bool {
        self.says(ITL) || self.has_no_gaps()
    }

    fn says(&self, what: &str) -> bool {
        self.not_known.iter().any(|known| known.what == what)
    }

    /// Whether the column of that name of a request's row holds what nobody saw.
    #[must_use]
    pub fn hides(&self, column: &str, tape: &Tape) -> bool {
        // Where the file has no such instant, a tape has that of the sending.
        let has_no_plan = tape.marks.send_start == Some(tape.marks.intended);
        match column {
            "session"
            | "turn"
            | "endpoint"
            | "asked_output_tokens"
            | "connection"
            | "stamps"
            | "released_at_ms"
            | "send_end_at_ms"
            | "first_byte_at_ms"
            | "release_lateness_ms"
            | "send_delay_ms"
            | "connection_wait_ms" => true,
            "intended_at_ms" | "ttft_scheduled_ms" | "e2el_scheduled_ms" | "send_lateness_ms" => {
                has_no_plan
            }
            "first_event_tokens" => self.says(ITL),
            "longest_gap_ms" => self.has_no_gaps(),
            "text_bytes" => tape.arrivals.iter().all(|arrival| arrival.bytes == 0),
            _ => false,
        }
    }

    /// Takes out of `metrics` what nobody saw.
    fn withhold(&self, metrics: &mut MetricTable, has_plan: bool) {
        let MetricTable { release_lateness, send_delay, connection_wait, .. } = metrics;
        clear([release_lateness, send_delay, connection_wait]);
        if !has_plan {
            let MetricTable { ttft_scheduled, e2el_scheduled, send_lateness, .. } = metrics;
            clear([ttft_scheduled, e2el_scheduled, send_lateness]);
        }
        if self.has_no_itl() {
            clear([&mut metrics.itl]);
        }
        if self.has_no_gaps() {
            clear([&mut metrics.icl]);
        }
    }
}

fn clear<const N: usize>(all: [&mut Distribution; N]) {
    all.into_iter().for_each(|of| *of = Distribution::default());
}

/// Something that cannot be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotKnown {
    /// What.
    pub what: String,
    /// Why.
    pub why: String,
}

impl NotKnown {
    /// That `what` is not known, because of `why`.
    #[must_use]
    pub fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into() }
    }

    /// Whether it is the load, alone or with more.
    #[must_use]
    pub fn names_load(&self) -> bool {
        self.what == "the load" || self.what.starts_with("the load,")
    }
}

impl LevelReport {
    /// The same without the figures that its tapes have only because a tape has a value for everything: another tool measured, and
    /// its file does not tell. What that is, `unseen` says from then on.
    #[must_use]
    pub fn with_unseen(mut self, mut unseen: Unseen) -> Self {
        let has_plan = has_plan(&self.summary.metrics);
        if !has_plan {
            unseen.not_known.push(NotKnown::new(
                "when each request ought to have left",
                "not in the file: no lateness, and no latency from then on",
            ));
        }
        unseen.withhold(&mut self.summary.metrics, has_plan);
        if let Some(part) = self.summary.windowed.part.as_mut().ok().filter(|_| !has_plan) {
            clear([&mut part.metrics.ttft_scheduled, &mut part.metrics.e2el_scheduled]);
        }
        if let Some(arrivals) = self.summary.arrivals.as_mut().filter(|_| !has_plan) {
            arrivals.intended = fizeau_metrics::Gaps::default();
        }
        let jitter = &mut self.summary.jitter;
        if unseen.has_no_itl() {
            (jitter.itl_std, jitter.itl_tail_ratio) = (None, None);
        }
        if unseen.has_no_gaps() {
            jitter.zero_gap_share = None;
        }
        if let Some(detail) = self.detail.as_mut().filter(|_| unseen.has_no_itl()) {
            detail.shape.quantiles.itl.clear();
            for bin in &mut detail.shape.course.bins {
                (bin.itl_p50, bin.itl_p99, bin.itl_max) = (None, None, None);
            }
        }
        self.unseen = Some(Box::new(unseen));
        self
    }
}

impl SweepReport {
    /// What is not known of some level since another tool measured it, with the reasons, each once.
    #[must_use]
    pub fn not_known(&self) -> Vec<&NotKnown> {
        let mut all = Vec::new();
        let levels = self.levels().iter().filter_map(|level| level.unseen.as_deref());
        for known in levels.flat_map(Unseen::not_known) {
            if !all.contains(&known) {
                all.push(known);
            }
        }
        all
    }

    /// Who measured, where another tool did each level.
    #[must_use]
    pub fn measured_by(&self) -> Option<&str> {
        let all = self.levels().iter();
        let tools = all.map(|level| level.unseen.as_deref().map(Unseen::tool));
        tools.reduce(|first, tool| first.filter(|_| tool.is_some())).flatten()
    }
}

/// Whether any request left at another instant than it ought to have.
fn has_plan(metrics: &MetricTable) -> bool {
    metrics.send_lateness.max.is_some_and(|most| most > Millis::new(0.0))
}
