//! Levels of another tool as rows of the table.

use fizeau_core::UsdPerHour;

use super::{ExcludedLevel, LevelTable};
use crate::TableCell;
use fizeau_record::{ImportedLevel, ImportedRun};

/// A run of another tool whose levels become rows of a [`LevelTable`], with what its files do not say.
#[derive(Debug, Clone)]
pub struct ImportedTableRun<'a> {
    /// What tells it from the others, as a reader names it.
    pub name: String,
    /// Its levels.
    pub run: &'a ImportedRun,
    /// On how many devices it ran; where absent, as the file says.
    pub devices: Option<u64>,
    /// What an hour of one device costs.
    pub price: Option<UsdPerHour>,
    /// How good its output is, by whatever measure the reader has.
    pub quality: Option<f64>,
}

impl LevelTable {
    /// The same with the levels of other tools below: a row for each load, without intervals.
    #[must_use]
    pub fn with_imported(mut self, runs: &[ImportedTableRun<'_>]) -> Self {
        for run in runs {
            let standing = run.run.one_a_load();
            for (index, level) in run.run.levels().iter().enumerate() {
                if let Some(reason) = level.left_out() {
                    let (run, load) = (run.name.clone(), level.load_words());
                    self.left_out.push(ExcludedLevel { run, load, reason: reason.to_owned() });
                } else if standing.contains(&index) {
                    let row = self.heads.iter().map(|head| run.cell(level, head));
                    self.rows.push(row.collect());
                }
            }
        }
        self
    }
}

impl ImportedTableRun<'_> {
    fn cell(&self, level: &ImportedLevel, head: &str) -> TableCell<'static> {
        let (text, number) = (TableCell::text::<String>, TableCell::number);
        let load = level.level_load();
        let is_known = !level.load.is_unknown;
        match head {
            "run" => text(Some(self.name.clone())),
            "load" => text(Some(level.load_words())),
            "load_kind" => text(is_known.then(|| level.load_kind().to_owned())),
            "load_value" => number(is_known.then(|| load.value())),
            "model" => text(level.about.model.clone()),
            "devices" => number(self.devices(level)),
            "output_tps_per_device" => number(self.per_device(level)),
            "completed" => number(Some(level.counts.completed as f64)),
            "failed" => number(level.counts.failed.map(|failed| failed as f64)),
            "failed_share" => {
                let failed = level.counts.failed.filter(|_| level.sent() > 0);
                number(failed.map(|failed| failed as f64 / level.sent() as f64))
            }
            "usd_per_device_hour" => number(self.price.map(UsdPerHour::get)),
            "cost_per_million_output" => number(self.cost(level)),
            "quality" => number(self.quality),
            "greatest_for_p99" => {
                let names = level.greatest_for_p99.join(" ");
                text((!names.is_empty()).then_some(names))
            }
            // Nothing of it can be checked.
            "verdict" => TableCell::Text("suspect".into()),
            figure => number(level.figure(figure)),
        }
    }

    fn devices(&self, level: &ImportedLevel) -> Option<f64> {
        self.devices.or(level.about.devices).map(|devices| devices as f64)
    }

    fn per_device(&self, level: &ImportedLevel) -> Option<f64> {
        let devices = self.devices(level).filter(|devices| *devices > 0.0);
        Some(level.figure("output_tps")? / devices?)
    }

    fn cost(&self, level: &ImportedLevel) -> Option<f64> {
        let tps = level.figure("output_tps").filter(|tps| *tps > 0.0)?;
        Some(self.price?.get() * self.devices(level)? / 3600.0 * 1e6 / tps)
    }
}
