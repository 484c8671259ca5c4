//! Answers as CSV and as JSON.

use fizeau::interop::Table;
use serde_json::{Map, Value, json};

use super::answer::Answer;

/// The rows on a frontier as they came, or with layers all rows, with a column for each answer that differs from row to row.
pub(super) fn csv(table: &Table, answer: &Answer) -> String {
    let rows = answer.shown();
    let mut more = Vec::new();
    let mut add = |name: &str, fields: Vec<String>| {
        // A column of the table itself keeps its name.
        let free = if table.heads().iter().any(|head| head == name) { "pareto_" } else { "" };
        more.push((format!("{free}{name}"), fields));
    };
    if let Some(layers) = &answer.layers {
        add("layer", layers.iter().map(ToString::to_string).collect());
    }
    if answer.by.is_some() {
        let own = answer.on_any();
        let place = |row: &usize| match answer.is_on_frontier(*row) {
            true => "all".to_owned(),
            false if own.binary_search(row).is_ok() => "own".to_owned(),
            false => String::new(),
        };
        add("frontier", rows.iter().map(place).collect());
    }
    if answer.undecided.is_some() {
        let place = |row: &usize| match answer.is_on_frontier(*row) {
            true if answer.is_undecided(*row) => "undecided".to_owned(),
            true => "frontier".to_owned(),
            false => "dominated".to_owned(),
        };
        add("standing", rows.iter().map(place).collect());
    }
    table.to_csv(&rows, &more)
}

/// All of it; what was not asked for is null.
pub(super) fn document(answer: &Answer) -> Map<String, Value> {
    let mut all = Map::new();
    all.insert("frontier".to_owned(), json!(answer.frontier));
    all.insert("layers".to_owned(), json!(answer.layer_lists()));
    all.insert("hypervolume".to_owned(), json!(answer.hypervolume));
    let knee = answer.knee.as_ref();
    let found = knee.and_then(|knee| knee.as_ref().ok());
    all.insert("knee".to_owned(), json!(found.map(|knee| knee.index)));
    if let Some(confidence) = found.and_then(|knee| knee.confidence) {
        all.insert("knee_confidence".to_owned(), json!(confidence));
    }
    if let Some(Err(reason)) = knee {
        all.insert("knee_reason".to_owned(), json!(reason));
    }
    if let Some(undecided) = &answer.undecided {
        all.insert("undecided".to_owned(), json!(undecided));
    }
    if let Some(by) = &answer.by {
        let by: Map<String, Value> =
            by.iter().map(|(value, rows)| (value.clone(), json!(rows))).collect();
        all.insert("by".to_owned(), Value::Object(by));
    }
    all
}

/// What is of no row by itself, a line each.
pub(super) fn remarks(answer: &Answer, point: impl Fn(usize) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(hypervolume) = answer.hypervolume {
        lines.push(format!("hypervolume: {hypervolume}"));
    }
    match &answer.knee {
        Some(Ok(knee)) => {
            let confidence = knee.confidence.map_or_else(String::new, |share| {
                format!(" ({:.0} % of frontiers drawn within the intervals agree)", 100.0 * share)
            });
            lines.push(format!("knee: {}{confidence}", point(knee.index)));
        }
        Some(Err(reason)) => lines.push(format!("no knee: {reason}")),
        None => {}
    }
    lines
}
