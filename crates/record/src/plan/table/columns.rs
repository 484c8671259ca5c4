//! Which column of a table holds which figure.

use fizeau_core::spelling::edit_distance;
use fizeau_metrics::{Metric, Slo, Statistic};

use super::{LOADS, OTHERS};

/// What a column is about.
type ColumnMeaning = (Metric, Statistic);

/// The columns that hold figures of goals.
#[derive(Debug, Clone)]
pub(super) struct GoalColumns(Vec<(String, ColumnMeaning)>);

impl GoalColumns {
    /// The columns called `names`; `goodput` is good requests per second where `is_rate`, else their share.
    pub(super) fn of(names: &[&str], is_rate: bool) -> Result<Self, String> {
        let mut known: Vec<(String, ColumnMeaning)> = Vec::new();
        for name in names {
            let meaning = match *name {
                "goodput" if is_rate => Some((Metric::GoodputPerSec, Statistic::Value)),
                // A table of levels has a number of requests there; a goal of that name is for their share.
                "failed" => None,
                name => meaning(name),
            };
            let Some(meaning) = meaning else { continue };
            match known.iter().find(|(_, other)| *other == meaning) {
                Some((other, _)) => {
                    return Err(format!("columns {other} and {name} mean the same; leave one out"));
                }
                None => known.push(((*name).to_owned(), meaning)),
            }
        }
        Ok(Self(known))
    }

    /// Those of `names` that neither hold figures of goals nor anything else that is read, each with the most similar name that is read.
    pub(super) fn unused(&self, names: &[&str]) -> Vec<(String, String)> {
        let goals = self.0.iter().map(|(name, _)| name.as_str());
        let read: Vec<&str> = LOADS.into_iter().chain(OTHERS).chain(goals).collect();
        let is_read = |name: &str| {
            let end = name.strip_suffix("_low").or_else(|| name.strip_suffix("_high"));
            read.contains(&name) || end.is_some_and(|name| read.contains(&name))
        };
        let unused = names.iter().filter(|name| !is_read(name));
        let nearest = |name: &str| {
            // `rps` is short for requests_per_s.
            let initials =
                |of: &str| of.split('_').filter_map(|word| word.chars().next()).eq(name.chars());
            let by_letters = || read.iter().min_by_key(|of| edit_distance(name, of));
            read.iter().find(|of| initials(of)).or_else(by_letters).map_or("", |of| of)
        };
        unused.map(|name| ((*name).to_owned(), nearest(name).to_owned())).collect()
    }

    /// Each with what it is about.
    pub(super) fn figures(&self) -> impl Iterator<Item = (&str, ColumnMeaning)> {
        self.0.iter().map(|(name, meaning)| (name.as_str(), *meaning))
    }
}

/// What a column is about by the name of a goal: `p99_ttft_ms`, `good_share`; none of any other column.
fn meaning(column: &str) -> Option<ColumnMeaning> {
    let name = column.strip_suffix("_ms").unwrap_or(column);
    let statistics = ["mean", "p50", "median", "p90", "p95", "p999", "p99", "max"];
    let split = statistics.iter().find_map(|statistic| {
        let metric = name.strip_prefix(statistic)?.strip_prefix('_')?;
        Some(format!("{statistic} {metric}"))
    });
    let figure = split.unwrap_or_else(|| name.to_owned());
    // A goal has one sign that suits its figure.
    let slo = ["<", ">="].iter().find_map(|sign| format!("{figure}{sign}1").parse::<Slo>().ok())?;
    let goal = slo.goals.first()?;
    (goal.metric != Metric::RequestsPerSec).then_some((goal.metric, goal.statistic))
}
