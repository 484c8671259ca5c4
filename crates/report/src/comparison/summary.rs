//! What a comparison comes to, in a sentence.

use crate::Shown;
use fizeau_metrics::Answer;
use fizeau_record::RunComparison;

/// What all levels of a comparison say together.
pub(crate) enum Told {
    /// Nothing, since no figure could be tested.
    Untested,
    /// No figure differs.
    NoDifference,
    /// The figures that are worse, and those that are better, each with its level; none without a figure.
    Answers(Vec<(&'static str, Vec<String>)>),
}

/// What is said of [`Told::Untested`].
pub(crate) const NO_ANSWER: &str = "No answer: no figure could be tested";

/// What is said of [`Told::NoDifference`].
pub(crate) fn no_difference(candidate: &str) -> String {
    format!("{candidate} against A: no detectable difference")
}

impl Shown<'_, RunComparison> {
    pub(crate) fn told(&self) -> Told {
        let of = |answer: Answer| -> Vec<String> {
            let figures = self.levels.iter().flat_map(|level| {
                let at = match level.name.as_str() {
                    "" => String::new(),
                    name => format!(" at {name}"),
                };
                level.table.answered(answer).map(move |figure| format!("{}{at}", figure.label()))
            });
            figures.collect()
        };
        let told = [("worse", of(Answer::Worse)), ("better", of(Answer::Better))];
        let told: Vec<_> = told.into_iter().filter(|(_, figures)| !figures.is_empty()).collect();
        let tested: usize = self.levels.iter().map(|level| level.table.family_size()).sum();
        match (tested, told.is_empty()) {
            (0, _) => Told::Untested,
            (_, true) => Told::NoDifference,
            (_, false) => Told::Answers(told),
        }
    }

    /// `B is worse in p99 TTFT at concurrency 8.`, of a run that is called `candidate`.
    pub(crate) fn sentence(&self, candidate: &str) -> String {
        match self.told() {
            Told::Untested => format!("{NO_ANSWER}."),
            Told::NoDifference => format!("{}.", no_difference(candidate)),
            Told::Answers(answers) => {
                let told = answers.into_iter();
                let told = told.map(|(word, figures)| format!("{word} in {}", figures.join(", ")));
                let told: Vec<String> = told.collect();
                format!("{candidate} is {}.", told.join(", and "))
            }
        }
    }
}
