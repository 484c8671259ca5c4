//! Folders of runs as one table.

use std::path::Path;

use fizeau::core::UsdPerHour;
use fizeau::record::text::wrap;
use fizeau::record::{ImportedRun, LevelReport, NamedRun, ReadRun};
use fizeau::report::{ImportedTableRun, LevelTable, TableRun};
use fizeau::roofline::{HourlyRate, PriceOrigin, System};

use crate::args::price::hour;
use crate::args::{ParetoRunArgs, PhysicsArgs};
use crate::commands::report;
use crate::exit::{Fail, Named};
use crate::terminal::say::printable;

/// Runs and their names.
pub(super) struct Folders {
    runs: Vec<NamedRun>,
}

/// The folders that `inputs` name, each `[NAME=]DIR`; none where they are files.
pub(super) fn named(inputs: &[String]) -> Result<Option<Folders>, Fail> {
    let taken: Vec<(Option<&str>, &str)> = inputs.iter().map(|input| taken_apart(input)).collect();
    let is_folder = |path: &str| Path::new(path).is_dir();
    let is_missing = |path: &&str| *path != "-" && !Path::new(path).exists();
    let folders = taken.iter().filter(|(_, path)| is_folder(path)).count();
    let missing = taken.iter().map(|(_, path)| *path).find(is_missing);
    if let Some(path) = missing.filter(|_| folders > 0 || taken.len() == 1) {
        return Err(Fail::usage(format!("{path}: there is no such folder or file")));
    }
    match folders {
        0 => return Ok(None),
        all if all == inputs.len() => {}
        _ => {
            let file = taken.iter().find(|(_, path)| !is_folder(path)).map_or("", |(_, path)| path);
            return Err(Fail::usage(format!(
                "{file} is not a folder; name either one table or folders of runs"
            )));
        }
    }
    let mut runs = Vec::new();
    for (name, path) in taken {
        runs.extend(NamedRun::within(Path::new(path), name).named(path)?);
    }
    Ok(Some(Folders { runs: NamedRun::distinct(runs) }))
}

/// A name and a path; what is there as it stands has no name.
fn taken_apart(input: &str) -> (Option<&str>, &str) {
    match input.split_once('=') {
        Some((name, path)) if !Path::new(input).exists() && !name.is_empty() => (Some(name), path),
        _ => (None, input),
    }
}

impl Folders {
    pub(super) fn names(&self) -> Vec<&str> {
        self.runs.iter().map(|run| run.name.as_str()).collect()
    }

    /// The levels of all runs; says whose price is taken if that matters.
    pub(super) fn table(&self, args: &ParetoRunArgs, is_priced: bool) -> Result<LevelTable, Fail> {
        let quality = self.values("--quality", &args.quality, ValueTarget::One, number)?;
        let devices = self.values("--devices", &args.devices, ValueTarget::One, count)?;
        let prices = self.values("--gpu-hour", &args.gpu_hour, ValueTarget::Any, |text| {
            hour(text).map(|rate| rate.low)
        })?;
        let sources = self.runs.iter().map(|run| FolderContent::read(&run.path));
        let sources: Vec<FolderContent> = sources.collect::<Result<_, _>>()?;
        let (mut runs, mut imported) = (Vec::new(), Vec::new());
        for (index, (NamedRun { name, .. }, source)) in self.runs.iter().zip(&sources).enumerate() {
            let quality = quality.get(index).copied().flatten();
            let devices = devices.get(index).copied().flatten();
            let price = prices.get(index).copied().flatten();
            match source {
                FolderContent::Own { levels, stored } => {
                    let run = TableRun::of_read(stored, levels, name);
                    let published = || published(run.system?, name, is_priced);
                    let price = price.or_else(published);
                    let devices = devices.or(run.devices);
                    runs.push(TableRun { price, devices, quality, ..run });
                }
                FolderContent::Imported(run) => {
                    let name = name.clone();
                    imported.push(ImportedTableRun { name, run, devices, price, quality });
                }
            }
        }
        Ok(LevelTable::new(&runs).with_imported(&imported))
    }

    /// What is given for each run, as `NAME=VALUE`, whose values `parse` reads.
    fn values<T: Copy>(
        &self,
        flag: &str,
        given: &[String],
        whom: ValueTarget,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Result<Vec<Option<T>>, Fail> {
        let mut values = vec![None; self.runs.len()];
        let wrong = |text: &str, why: &str| Fail::usage(format!("{flag} {text}: {why}"));
        for text in given {
            // A name may have an equals sign of its own.
            let (name, value) = match text.rsplit_once('=') {
                Some((name, value)) => (Some(name), value),
                None => (None, text.as_str()),
            };
            let value = parse(value.trim()).map_err(|why| wrong(text, &why))?;
            let is_meant = |run: &str| name.map_or(whom == ValueTarget::Any, |name| name == run);
            let meant: Vec<bool> = self.names().iter().map(|run| is_meant(run)).collect();
            if !meant.contains(&true) {
                let names = self.names().join(", ");
                return Err(wrong(text, &format!("give NAME=VALUE, where NAME is one of {names}")));
            }
            for (place, _) in values.iter_mut().zip(meant).filter(|(_, meant)| *meant) {
                *place = Some(value);
            }
        }
        Ok(values)
    }
}

/// What lies in a folder.
enum FolderContent {
    /// A run with tapes, and those of its levels that are compared.
    Own { levels: Vec<LevelReport>, stored: Box<ReadRun> },
    /// Figures of another tool.
    Imported(ImportedRun),
}

impl FolderContent {
    fn read(path: &Path) -> Result<Self, Fail> {
        if let Some(run) = ImportedRun::read(path).map_err(Fail::usage)? {
            return Ok(Self::Imported(run));
        }
        let stored = Box::new(report::read(path, &[], &PhysicsArgs::default())?);
        Ok(Self::Own { levels: stored.one_a_load(), stored })
    }
}

/// ValueTarget a value without a name is for.
#[derive(Clone, Copy, PartialEq)]
enum ValueTarget {
    /// It must have a name.
    One,
    /// All of them.
    Any,
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| "give a number".to_owned())
}

fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "give a whole number of at least 1".to_owned())
}

/// The device's published price, and whose it is.
fn published(system: &System, run: &str, is_said: bool) -> Option<UsdPerHour> {
    let rate = HourlyRate::lowest_published(system.device()).ok()?;
    let price = rate.low;
    if let (PriceOrigin::Published { kind, source, date }, true) = (&rate.origin, is_said) {
        let note = format!(
            "note: {run}: {} US dollars a device and hour: the lowest of {kind}, {source}, \
             {date}; this is not an offer, give your own price with --gpu-hour",
            price.get()
        );
        tell!("{}", wrap(&printable(&note), 80));
    }
    Some(price)
}
