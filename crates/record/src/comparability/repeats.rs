//! Loads that were measured more than once.

use fizeau_metrics::{ComparisonSettings, ComparisonTable, ReplyOutput, RoundFigures};

use super::level::Repeat;
use super::notes::failed_have_no_latencies;

/// The comparison of the repeats of both sides; none where a side's only run is compared with the other's, or there are too few of
/// them, which is then among the notes.
pub(super) fn by_repeats(
    baseline: &[&Repeat],
    candidate: &[&Repeat],
    notes: &mut Vec<String>,
    settings: impl Fn(ReplyOutput) -> ComparisonSettings,
) -> Option<ComparisonTable> {
    if baseline.len() + candidate.len() <= 2 {
        return None;
    }
    let figures = |side: &[&Repeat]| -> Vec<RoundFigures> {
        side.iter().map(|repeat| repeat.figures.clone()).collect()
    };
    let output = baseline.first().map_or(ReplyOutput::Tokens, |first| first.output);
    let (a, b) = (figures(baseline), figures(candidate));
    let mut settings = settings(output);
    if a.iter().chain(&b).any(RoundFigures::has_failures) {
        settings.figures = settings.figures.with_failures();
    }
    match ComparisonTable::of_runs(&a, &b, &settings) {
        Ok(table) => {
            let failed = |side: &[&Repeat]| side.iter().map(|repeat| repeat.failed).sum();
            notes.extend(failed_have_no_latencies([failed(baseline), failed(candidate)], ""));
            Some(table)
        }
        Err(few) => {
            notes.push(format!("{few}; the first run of each side is compared"));
            None
        }
    }
}

/// In how many of its runs each side kept its goals, where one was measured more than once, or that their goals are not the same; none
/// where that is not known of all.
pub(super) fn kept_goals(baseline: &[&Repeat], candidate: &[&Repeat]) -> Option<String> {
    let kept = |side: &[&Repeat]| {
        let kept = side.iter().map(|repeat| repeat.keeps_goals).collect::<Option<Vec<bool>>>()?;
        Some(format!("in {} of {} runs", kept.iter().filter(|kept| **kept).count(), kept.len()))
    };
    let is_repeated = baseline.len().max(candidate.len()) > 1;
    let (a, b) = kept(baseline).zip(kept(candidate)).filter(|_| is_repeated)?;
    let all = || baseline.iter().chain(candidate).filter_map(|repeat| repeat.goals.as_deref());
    let first = all().next()?;
    Some(match all().find(|goals| *goals != first) {
        None => format!("goals kept: A {a}, B {b}"),
        Some(other) => format!(
            "in how many runs goals were kept is not said, since the runs have different ones: {first}; and {other}"
        ),
    })
}
