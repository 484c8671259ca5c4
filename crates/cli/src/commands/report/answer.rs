//! What an A/B run came to, as its `ab.json` has it.

use fizeau::record::{FigureDifference, StoredRun};

use crate::exit::Fail;
use crate::terminal::say::{printable, say};

/// The answer of each figure that was decided, and where the rest of it is; nothing of any other run.
pub(super) fn show(run: &StoredRun) -> Result<(), Fail> {
    if run.document().ab.is_none() {
        return Ok(());
    }
    let Some(document) = run.ab().map_err(Fail::usage)? else {
        return say("An A/B run that did not come to its end: there is no ab.json");
    };
    let name = run.path().join("ab.json");
    say(format!("An A/B run; what its rounds come to, from {}:", name.display()))?;
    let Some(comparison) = &document.comparison else {
        let reason = document.comparison_reason.unwrap_or_default();
        return say(format!("  no answer: {}", printable(&reason)));
    };
    say(format!("  {:<22}{:>10}{:>10}{:>11}  answer", "figure", "A", "B", "change"))?;
    let mut decided = comparison.figures.iter().filter(|figure| figure.decided);
    decided.try_for_each(|figure| say(row(figure)))
}

fn row(of: &FigureDifference) -> String {
    let number =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let change = of.tested.as_ref().and_then(|tested| tested.change);
    let change =
        change.map_or_else(|| "-".to_owned(), |change| format!("{:+.2} %", 100.0 * change));
    let answer = of.answer.as_deref().or(of.answer_reason.as_deref());
    let name = format!("{} {}", printable(&of.figure), printable(&of.unit));
    let (a, b) = (number(of.baseline), number(of.candidate));
    let answer = printable(answer.unwrap_or("-"));
    format!("  {name:<22}{a:>10}{b:>10}{change:>11}  {answer}")
}
