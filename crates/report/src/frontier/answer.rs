//! What was asked of a table's rows, as JSON and in words.

use fizeau_pareto::FrontierAnswer;
use fizeau_record::JsonError;
use fizeau_record::text::number;
use serde_json::{Map, Value, json};

use super::FrontierLevels;
use crate::Shown;

impl Shown<'_, FrontierAnswer> {
    /// All of it; what was not asked for is null. Of levels with what each of them is.
    ///
    /// # Errors
    /// Never, as long as memory lasts.
    pub fn to_json(&self, levels: Option<&FrontierLevels<'_>>) -> Result<String, JsonError> {
        let mut document = document(self);
        if let Some(levels) = levels {
            document.insert("points".to_owned(), levels.json(self));
        }
        serde_json::to_string(&document).map_err(JsonError::new)
    }

    /// What is of no row by itself, a line each; `row` says which row is meant.
    #[must_use]
    pub fn remarks(&self, row: impl Fn(usize) -> String) -> Vec<String> {
        remarks(self, row)
    }
}

/// All of it; what was not asked for is null.
fn document(answer: &FrontierAnswer) -> Map<String, Value> {
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
        all.insert("knee_reason".to_owned(), json!(reason.to_string()));
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

fn remarks(answer: &FrontierAnswer, point: impl Fn(usize) -> String) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(hypervolume) = answer.hypervolume {
        let none = match hypervolume {
            0.0 => "; no row is better than the reference point on every axis",
            _ => "",
        };
        lines.push(format!("hypervolume: {}{none}", number(hypervolume)));
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
