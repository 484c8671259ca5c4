//! What `fizeau compare` and `fizeau ab` have in common: which figures are decided, and what sets the pace of a run.

use fizeau::harness::RunRecord;
use fizeau::metrics::{Figure, FigureChoice, GoodputGoals, Pace};

/// What the replies were made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Output {
    Tokens,
    /// Embeddings.
    None,
}

/// Those that were asked for; else the usual ones that such replies have, and the good share where there are goals.
pub(crate) fn figures(asked: &[Figure], goals: &GoodputGoals, output: Output) -> FigureChoice {
    if !asked.is_empty() {
        return FigureChoice::only(asked.iter().copied());
    }
    let usual = match output {
        Output::Tokens => FigureChoice::usual(),
        Output::None => FigureChoice::without_tokens(),
    };
    if goals.is_empty() { usual } else { usual.with_goals() }
}

/// As the plan of the run has it.
pub(crate) fn pace(record: &RunRecord) -> Pace {
    match record.text("plan.arrivals").as_deref() {
        Some("closed_loop") => Pace::ClosedLoop,
        Some("all_at_once") => Pace::AllAtOnce,
        _ => Pace::OpenLoop,
    }
}
