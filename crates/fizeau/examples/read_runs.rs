//! Two stored runs: may they be compared, and what does each figure say?
//! `cargo run -p fizeau --example read_runs -- BEFORE AFTER`; without arguments two runs of the fixtures.

use std::error::Error;
use std::path::PathBuf;

use fizeau::metrics::ComparedFigure;
use fizeau::record::{Comparability, CompareOptions, ComparisonReport, StoredRun};

fn folders() -> [PathBuf; 2] {
    let fixture = |name: &str| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs")).join(name)
    };
    let mut given = std::env::args_os().skip(1).map(PathBuf::from);
    match (given.next(), given.next()) {
        (Some(before), Some(after)) => [before, after],
        _ => [fixture("ab/a-01"), fixture("ab/b-01")],
    }
}

/// One figure in a line: its name, both sides, and the answer.
fn line(row: &ComparedFigure) -> String {
    let side =
        |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.2}"));
    let answer = match &row.tested {
        Ok(tested) => tested.decision.as_ref().map_or("beside", |of| of.answer.as_str()).to_owned(),
        Err(why) => why.to_string(),
    };
    let (figure, before, after) = (row.figure.to_string(), side(row.baseline), side(row.candidate));
    format!("{figure:<20} {before:>10} {after:>10}  {answer}")
}

fn main() -> Result<(), Box<dyn Error>> {
    let folders = folders();
    let [before, after] = [StoredRun::open(&folders[0])?, StoredRun::open(&folders[1])?];
    for run in [&before, &after] {
        let report = run.report()?;
        println!(
            "{}: {} levels, {}",
            run.path().display(),
            report.levels().len(),
            report.verdict().as_str()
        );
    }
    let comparability = Comparability::of(&before, &after);
    for field in &comparability.must_agree {
        println!("they differ in {}", field.field);
    }
    if !comparability.is_given() {
        return Ok(());
    }
    let report = ComparisonReport::of_runs(&folders, &CompareOptions::default())?;
    report.tables().flat_map(|table| &table.rows).for_each(|row| println!("{}", line(row)));
    println!(
        "{}",
        if report.passes() { "nothing is worse" } else { "worse, or too little to tell" }
    );
    Ok(())
}
