//! What a comparison comes to, in a sentence.

use crate::Shown;
use fizeau_metrics::{ComparisonAnswer, LevelFigure};
use fizeau_record::RunComparison;

/// What all levels of a comparison say together.
pub(crate) enum SummaryLine {
    /// Nothing, since no figure could be tested.
    Untested,
    /// No figure differs.
    NoDifference,
    /// The figures that are worse, and those that are better, each with its level; none without a figure.
    Answers(Vec<(&'static str, Vec<String>)>),
}

/// What is said of [`SummaryLine::Untested`].
pub(crate) const NO_ANSWER: &str = "No answer: no figure could be tested";

/// What is said where latencies are better and more requests fail.
pub(crate) const FEWER_COMPLETED: &str = "More requests fail there, and latencies are of those that completed alone: they are no improvement";

/// What is said of [`SummaryLine::NoDifference`].
pub(crate) fn no_difference(candidate: &str) -> String {
    format!("{candidate} against A: no detectable difference")
}

impl Shown<'_, RunComparison> {
    pub(crate) fn summary_line(&self) -> SummaryLine {
        let of = |answer: ComparisonAnswer| -> Vec<String> {
            let figures = self.levels.iter().flat_map(|level| {
                let at = match level.name.as_str() {
                    "" => String::new(),
                    name => format!(" at {name}"),
                };
                level.table.answered(answer).map(move |figure| format!("{}{at}", figure.label()))
            });
            figures.collect()
        };
        let told =
            [("worse", of(ComparisonAnswer::Worse)), ("better", of(ComparisonAnswer::Better))];
        let told: Vec<_> = told.into_iter().filter(|(_, figures)| !figures.is_empty()).collect();
        let tested: usize = self.levels.iter().map(|level| level.table.family_size()).sum();
        match (tested, told.is_empty()) {
            (0, _) => SummaryLine::Untested,
            (_, true) => SummaryLine::NoDifference,
            (_, false) => SummaryLine::Answers(told),
        }
    }

    /// Whether more requests fail at a level where a latency looks better.
    pub(crate) fn fails_more(&self) -> bool {
        self.levels.iter().any(|level| {
            let of = |answer| level.table.answered(answer);
            let fails = of(ComparisonAnswer::Worse).any(|of| of == LevelFigure::FAILED_SHARE);
            fails && of(ComparisonAnswer::Better).any(|of| of.metric.is_latency())
        })
    }

    /// `B is worse in p99 TTFT at concurrency 8.`, of a run that is called `candidate`.
    pub(crate) fn sentence(&self, candidate: &str) -> String {
        match self.summary_line() {
            SummaryLine::Untested => format!("{NO_ANSWER}."),
            SummaryLine::NoDifference => format!("{}.", no_difference(candidate)),
            SummaryLine::Answers(answers) => {
                let told = answers.into_iter();
                let told = told.map(|(word, figures)| format!("{word} in {}", figures.join(", ")));
                let told: Vec<String> = told.collect();
                let told = format!("{candidate} is {}.", told.join(", and "));
                if self.fails_more() { format!("{told} {FEWER_COMPLETED}.") } else { told }
            }
        }
    }
}
