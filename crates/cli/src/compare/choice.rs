//! What `fizeau compare` and `fizeau ab` have in common: which figures are decided, and what sets the pace of a run.

use fizeau::metrics::{Figure, FigureChoice, GoodputGoals, Pace};
use fizeau::record::RunRecord;

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

#[cfg(test)]
mod tests {
    use super::{Output, figures};
    use fizeau::metrics::{Figure, FigureChoice, GoodputGoals};

    #[test]
    fn embeddings_with_goals_are_decided_over_what_they_have() {
        let goals: GoodputGoals = "e2el:50".parse().unwrap();
        let decided = |asked: &[Figure], goals, output| figures(asked, goals, output).decided;
        let of_embeddings = [Figure::P50_E2EL, Figure::P99_E2EL, Figure::RPS, Figure::GOOD_SHARE];
        assert_eq!(decided(&[], &goals, Output::None), of_embeddings);
        assert_eq!(figures(&[], &GoodputGoals::NONE, Output::Tokens), FigureChoice::usual());
        assert_eq!(decided(&[Figure::P50_TTFT], &goals, Output::None), [Figure::P50_TTFT]);
    }
}
