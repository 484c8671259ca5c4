//! Charts of an imported run.

use std::collections::BTreeMap;

use fizeau_core::LevelLoad;
use fizeau_record::{ImportedLevel, ImportedRun};

use crate::{ChartFigure, ChartFigures, ChartLevel, ChartLevelPosition, ChartRun, Shown};

impl Shown<'_, ImportedRun> {
    /// What its charts show: figures without intervals, without a speed of light and without what only tapes tell.
    #[must_use]
    pub fn charts(&self, name: &str) -> ChartRun {
        let (best, standing) = (self.frontier(), self.one_a_load());
        let is_mixed = self.levels().iter().any(|level| {
            let first = self.levels().first().map(ImportedLevel::level_load);
            first.is_some_and(|first| first.kind() != level.level_load().kind())
        });
        let tail = self.tail();
        let level = |(index, level): (usize, &ImportedLevel)| {
            let load = level.level_load();
            let is_compared = tail.is_some_and(|tail| level.figures.contains_key(tail));
            let left_out = match level.left_out() {
                Some(reason) => Some(reason.to_owned()),
                None if !standing.contains(&index) => {
                    Some("another run of this load is shown".to_owned())
                }
                None => (!is_compared).then(|| "no latency that others have".to_owned()),
            };
            ChartLevel {
                load: level.load_words(),
                label: match (load, is_mixed) {
                    _ if level.load.is_unknown => "?".to_owned(),
                    (LevelLoad::Rate(_), true) => format!("{}/s", load.number()),
                    _ => load.number(),
                },
                load_kind: level.load_kind(),
                load_value: load.value(),
                position: match (left_out.is_some(), best.contains(&index)) {
                    (true, _) => ChartLevelPosition::LeftOut,
                    (false, true) => ChartLevelPosition::Frontier,
                    (false, false) => ChartLevelPosition::Dominated,
                },
                left_out,
                verdict: "suspect",
                saturated: false,
                figures: figures(level),
                light_share: None,
                detail: None,
                steps: Vec::new(),
            }
        };
        ChartRun {
            name: name.to_owned(),
            title: self.title(),
            devices: self.levels().first().and_then(|level| level.about.devices),
            levels: self.levels().iter().enumerate().map(level).collect(),
            frontier: best,
            operating: None,
            light: None,
            goals: Vec::new(),
        }
    }
}

fn figures(level: &ImportedLevel) -> ChartFigures {
    let figure = |(name, value): (&String, &f64)| {
        let stand_in = level.greatest_for_p99.contains(name);
        (name.clone(), ChartFigure { value: *value, low: None, high: None, stand_in })
    };
    ChartFigures(level.figures.iter().map(figure).collect::<BTreeMap<_, _>>())
}
