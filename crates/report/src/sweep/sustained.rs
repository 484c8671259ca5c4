//! Whether the operating point could be kept up, in words.

use fizeau_core::{Estimate, Millis};
use fizeau_record::text::{number, supported};
use fizeau_record::{GoalResult, LevelReport, SweepReport, requests_interval};

use crate::Shown;

impl Shown<'_, SweepReport> {
    /// What came of it in a sentence, and how each goal came out; nothing without one.
    pub(crate) fn sustained_words(&self) -> Vec<String> {
        let Some(sustained) = self.sustained() else { return Vec::new() };
        let run = sustained.run();
        let level = self.level_of_sustained().map(|(_, level)| level);
        let beside = |own: Option<String>, level: Option<String>| match (own, level) {
            (Some(own), Some(level)) => format!("{own} (short level: {level})"),
            (Some(own), None) => own,
            (None, _) => "-".to_owned(),
        };
        let rate = |of: &LevelReport| {
            supported(of.summary.throughput.requests_per_s.get(), requests_interval(&of.summary))
        };
        let rate = beside(Some(rate(run)), level.map(rate));
        let ms = |tail: Estimate<Millis>| {
            let ends = tail.interval().map(|ends| (ends.low.get(), ends.high.get()));
            format!("{} ms", supported(tail.value().get(), ends))
        };
        let tail =
            beside(run.p99_e2el().map(ms), level.and_then(|level| self.tail_at(level)).map(ms));
        let holds = match (run.left_out(), sustained.holds()) {
            (Some(reason), _) => reason,
            (None, false) if run.is_saturated() => {
                "the queue grew to the end, so that this load cannot be kept up".to_owned()
            }
            (None, true) if sustained.goals().is_empty() => "no goal was given".to_owned(),
            (None, true) => "the goals hold".to_owned(),
            (None, false) => "the goals do not hold".to_owned(),
        };
        let seconds = number(run.summary.throughput.duration.get());
        let head = format!(
            "Sustained: {} for {seconds} s: {rate} requests/s, p99 E2EL {tail}; {holds}",
            run.load
        );
        let words = match self.is_simulated() {
            true => GoalResult::words_simulated,
            false => GoalResult::words,
        };
        let goals = sustained.goals().iter().map(|goal| format!("  {}", words(goal)));
        std::iter::once(head).chain(goals).collect()
    }
}
