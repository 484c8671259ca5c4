//! A level without what nobody saw of it.

use fizeau_core::Millis;
use fizeau_metrics::{Distribution, Metric, MetricTable, Verdict, VerdictConcern, VerdictReason};

use super::LevelReport;
use crate::{ImportUnknowns, UnknownFact};

impl LevelReport {
    /// The same without the figures that its tapes have only because a tape has a value for everything: another tool measured, and
    /// its file does not tell. What that is, `unseen` says from then on.
    #[must_use]
    pub fn with_unseen(mut self, mut unseen: ImportUnknowns) -> Self {
        let has_plan = has_plan(&self.summary.metrics);
        if !has_plan {
            unseen.not_known.push(UnknownFact::new(
                "when each request ought to have left",
                "not in the file, so lateness and latencies from schedule are not known",
            ));
        }
        withhold(&unseen, &mut self.summary.metrics, has_plan);
        if let Some(part) = self.summary.windowed.part.as_mut().ok().filter(|_| !has_plan) {
            clear([&mut part.metrics.ttft_scheduled, &mut part.metrics.e2el_scheduled]);
        }
        if let Some(arrivals) = self.summary.arrivals.as_mut().filter(|_| !has_plan) {
            arrivals.intended = fizeau_metrics::GapSummary::default();
        }
        let jitter = &mut self.summary.jitter;
        if unseen.has_no_itl() {
            (jitter.itl_std, jitter.itl_tail_ratio) = (None, None);
        }
        if unseen.has_no_gaps() {
            (jitter.zero_gap_share, jitter.merged_gap_share) = (None, None);
        }
        if let Some(detail) = self.detail.as_mut().filter(|_| unseen.has_no_itl()) {
            detail.shape.quantiles.clear(Metric::Itl);
            for bin in &mut detail.shape.timeline.bins {
                (bin.itl_p50, bin.itl_p99, bin.itl_max) = (None, None, None);
            }
        }
        for fact in unseen.not_known().iter().filter(|fact| fact.is_contradiction()) {
            let text = format!("the file contradicts itself: {}", fact.why);
            self.validity.add(VerdictReason::new(Verdict::Suspect, VerdictConcern::Client, text));
        }
        self.unseen = Some(Box::new(unseen));
        self
    }
}

/// Takes out of `metrics` what nobody saw.
fn withhold(unseen: &ImportUnknowns, metrics: &mut MetricTable, has_plan: bool) {
    let MetricTable { release_lateness, send_delay, connection_wait, .. } = metrics;
    clear([release_lateness, send_delay, connection_wait]);
    if !has_plan {
        let MetricTable { ttft_scheduled, e2el_scheduled, send_lateness, .. } = metrics;
        clear([ttft_scheduled, e2el_scheduled, send_lateness]);
    }
    if unseen.has_no_itl() {
        clear([&mut metrics.itl]);
    }
    if unseen.has_no_gaps() {
        clear([&mut metrics.icl]);
    }
}

fn clear<const N: usize>(all: [&mut Distribution; N]) {
    all.into_iter().for_each(|of| *of = Distribution::default());
}

/// Whether any request left at another instant than it ought to have.
fn has_plan(metrics: &MetricTable) -> bool {
    metrics.send_lateness.max.is_some_and(|most| most > Millis::new(0.0))
}
