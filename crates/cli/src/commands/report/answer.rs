//! What an A/B run came to, as its `ab.json` has it.

use fizeau::record::StoredRun;
use serde_json::Value;

use crate::exit::{Fail, Named};
use crate::terminal::say::{printable, say};

/// The answer of each figure that was decided, and where the rest of it is; nothing of any other run.
pub(super) fn show(run: &StoredRun) -> Result<(), Fail> {
    if run.document().ab.is_none() {
        return Ok(());
    }
    let path = run.path().join("ab.json");
    let name = path.display().to_string();
    let text = match std::fs::read(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return say("An A/B run that did not come to its end: there is no ab.json");
        }
        read => read.named(&name)?,
    };
    let document: Value = serde_json::from_slice(&text).named(&name)?;
    if document["schema"] != "fizeau.ab/1" {
        return Err(Fail::usage(format!("{name}: its schema is not fizeau.ab/1")));
    }
    say(format!("An A/B run; what its rounds come to, from {name}:"))?;
    if let Some(reason) = document["comparison_reason"].as_str() {
        return say(format!("  no answer: {}", printable(reason)));
    }
    let figures = document["comparison"]["figures"].as_array();
    let decided = figures.into_iter().flatten().filter(|figure| figure["decided"] == true);
    say(format!("  {:<22}{:>10}{:>10}{:>11}  answer", "figure", "A", "B", "change"))?;
    decided.map(row).try_for_each(say)
}

fn row(figure: &Value) -> String {
    let number = |name: &str| {
        figure[name].as_f64().map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"))
    };
    let change = figure["change"].as_f64();
    let change =
        change.map_or_else(|| "-".to_owned(), |change| format!("{:+.2} %", 100.0 * change));
    let answer = figure["answer"].as_str().or_else(|| figure["answer_reason"].as_str());
    let text = |name: &str| printable(figure[name].as_str().unwrap_or_default());
    let name = format!("{} {}", text("figure"), text("unit"));
    let (a, b) = (number("baseline"), number("candidate"));
    let answer = printable(answer.unwrap_or("-"));
    format!("  {name:<22}{a:>10}{b:>10}{change:>11}  {answer}")
}
