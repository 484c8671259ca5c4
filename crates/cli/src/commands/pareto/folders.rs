//! Folders of runs as one table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fizeau::core::UsdPerHour;
use fizeau::record::ImportedRun;
use fizeau::record::{LevelReport, ReadRun, SweepReport};
use fizeau::report::{ImportedTableRun, LevelTable, TableRun};
use fizeau::roofline::{HourlyRate, Origin, System};
use serde_json::Value;

use super::is_folder;
use super::text::wrapped;
use crate::args::{ParetoRunArgs, PhysicsArgs};
use crate::commands::report;
use crate::exit::{Fail, Named};
use fizeau::record::is_level_folder;

/// Runs and their names.
pub(super) struct Folders {
    runs: Vec<(String, PathBuf)>,
}

/// The folders that `inputs` name, each `[NAME=]DIR`; none where they are files.
pub(super) fn named(inputs: &[String]) -> Result<Option<Folders>, Fail> {
    let taken: Vec<(Option<&str>, &str)> = inputs.iter().map(|input| taken_apart(input)).collect();
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
                "{file}: no folder; name either one table or folders of runs"
            )));
        }
    }
    let mut runs = Vec::new();
    for (name, path) in taken {
        runs.extend(within(name, Path::new(path))?);
    }
    // Two folders of one name are told apart by where they are.
    let names: Vec<String> = runs.iter().map(|(name, _)| name.clone()).collect();
    for (name, path) in &mut runs {
        if names.iter().filter(|other| *other == name).count() > 1 {
            *name = path.display().to_string();
        }
    }
    Ok(Some(Folders { runs }))
}

/// A name and a path; what is there as it stands has no name.
fn taken_apart(input: &str) -> (Option<&str>, &str) {
    match input.split_once('=') {
        Some((name, path)) if !Path::new(input).exists() && !name.is_empty() => (Some(name), path),
        _ => (None, input),
    }
}

/// The runs in a folder: itself, or each folder in it that is one, as a what-if has them.
fn within(name: Option<&str>, path: &Path) -> Result<Vec<(String, PathBuf)>, Fail> {
    let is_run = |path: &Path| path.join("run.json").is_file();
    let own = |path: &Path| {
        let whole = path.canonicalize();
        let last = whole.as_deref().unwrap_or(path).file_name();
        last.map_or_else(|| path.display().to_string(), |last| last.to_string_lossy().into_owned())
    };
    let flag = path.display().to_string();
    let mut inside: Vec<PathBuf> = Vec::new();
    if !is_run(path) {
        for entry in std::fs::read_dir(path).named(&flag)? {
            inside.push(entry.named(&flag)?.path());
        }
        inside.retain(|path| is_run(path));
        inside.sort();
    }
    if inside.is_empty() {
        return Ok(vec![(name.map_or_else(|| own(path), str::to_owned), path.to_owned())]);
    }
    let settings = settings(path);
    let called = |path: &PathBuf| {
        let own = own(path);
        let own = settings.get(&own).cloned().unwrap_or(own);
        name.map_or_else(|| own.clone(), |name| format!("{name}: {own}"))
    };
    Ok(inside.into_iter().map(|path| (called(&path), path)).collect())
}

/// What sets the configurations of a what-if apart, by the names of their folders.
fn settings(path: &Path) -> BTreeMap<String, String> {
    let text = std::fs::read_to_string(path.join("whatif.json")).unwrap_or_default();
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    let words = |(index, variant): (usize, &Value)| {
        let settings = variant["settings"].as_object()?.iter();
        let words =
            settings.map(|(flag, value)| format!("{flag} {}", value.as_str().unwrap_or("")));
        let words = words.collect::<Vec<_>>().join(", ");
        Some((format!("configuration-{:02}", index + 1), words))
    };
    let variants = document["variants"].as_array().into_iter().flatten();
    variants.enumerate().filter_map(words).filter(|(_, words)| !words.is_empty()).collect()
}

impl Folders {
    pub(super) fn names(&self) -> Vec<&str> {
        self.runs.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// The levels of all runs; says whose price is taken if that matters.
    pub(super) fn table(&self, args: &ParetoRunArgs, is_priced: bool) -> Result<LevelTable, Fail> {
        let quality = self.values("--quality", &args.quality, Whom::One)?;
        let devices = self.values("--devices", &args.devices, Whom::One)?;
        let prices = self.values("--gpu-hour", &args.gpu_hour, Whom::Any)?;
        let mut sources = Vec::new();
        for (_, path) in &self.runs {
            sources.push(Source::read(path)?);
        }
        let (mut runs, mut imported) = (Vec::new(), Vec::new());
        for (index, ((name, _), source)) in self.runs.iter().zip(&sources).enumerate() {
            let value = |of: &[Option<f64>]| of.get(index).copied().flatten();
            let (levels, stored) = match source {
                Source::Own { levels, stored } => (levels, stored),
                Source::Imported(run) => {
                    imported.push(ImportedTableRun {
                        name: name.clone(),
                        run,
                        devices: value(&devices).map(count).transpose()?,
                        price: value(&prices).map(given).transpose()?,
                        quality: value(&quality),
                    });
                    continue;
                }
            };
            let system = stored.reference.as_ref().map(|reference| reference.reference().system);
            let price = match value(&prices) {
                Some(price) => Some(given(price)?),
                None => system
                    .and_then(|system| published(system, name, is_priced))
                    .map(|rate| rate.low),
            };
            runs.push(TableRun {
                name: name.clone(),
                setup: &stored.setup,
                levels,
                system,
                devices: match value(&devices) {
                    Some(devices) => Some(count(devices)?),
                    None => system.map(|system| system.deployment().devices()),
                },
                price,
                quality: value(&quality),
            });
        }
        Ok(LevelTable::new(&runs).with_imported(&imported))
    }

    /// The number that is given for each run, as `NAME=VALUE`.
    fn values(&self, flag: &str, given: &[String], whom: Whom) -> Result<Vec<Option<f64>>, Fail> {
        let mut values = vec![None; self.runs.len()];
        let wrong = |text: &str| {
            let names = self.names().join(", ");
            Fail::usage(format!("{flag} {text}: give NAME=NUMBER, where NAME is one of {names}"))
        };
        for text in given {
            // A name may have an equals sign of its own.
            let (name, value) = match text.rsplit_once('=') {
                Some((name, value)) => (Some(name), value),
                None => (None, text.as_str()),
            };
            let value: f64 = value.trim().parse().map_err(|_| wrong(text))?;
            let is_meant = |run: &str| name.map_or(whom == Whom::Any, |name| name == run);
            let meant: Vec<bool> = self.names().iter().map(|run| is_meant(run)).collect();
            if !value.is_finite() || !meant.contains(&true) {
                return Err(wrong(text));
            }
            for (place, _) in values.iter_mut().zip(meant).filter(|(_, meant)| *meant) {
                *place = Some(value);
            }
        }
        Ok(values)
    }
}

/// What lies in a folder.
enum Source {
    /// A run with tapes, and those of its levels that are compared.
    Own { levels: Vec<LevelReport>, stored: Box<ReadRun> },
    /// Figures of another tool.
    Imported(ImportedRun),
}

impl Source {
    fn read(path: &Path) -> Result<Self, Fail> {
        if let Some(run) = ImportedRun::read(path).map_err(Fail::usage)? {
            return Ok(Self::Imported(run));
        }
        let stored = Box::new(report::read(path, &[], &PhysicsArgs::default())?);
        Ok(Self::Own { levels: one_a_load(&stored), stored })
    }
}

/// The levels of a sweep as its own table has them: of a load that was measured more than once the run that stands for all,
/// since the luckiest of its runs is no configuration of its own. Levels of any other kind of run are all kept.
fn one_a_load(stored: &ReadRun) -> Vec<LevelReport> {
    let is_level_folder =
        |level: &LevelReport| level.folder.as_deref().is_some_and(is_level_folder);
    match stored.levels.iter().all(is_level_folder) {
        true => {
            let levels = stored.levels.clone();
            SweepReport::of_runs(stored.setup.clone(), levels, None).levels().to_vec()
        }
        false => stored.levels.clone(),
    }
}

/// Whom a value without a name is for.
#[derive(Clone, Copy, PartialEq)]
enum Whom {
    /// It must have a name.
    One,
    /// All of them.
    Any,
}

fn count(devices: f64) -> Result<u64, Fail> {
    match devices.fract() == 0.0 && devices >= 1.0 {
        true => Ok(devices as u64),
        false => Err(Fail::usage(format!("--devices: {devices}; give a whole number from 1 up"))),
    }
}

fn given(price: f64) -> Result<UsdPerHour, Fail> {
    HourlyRate::given(UsdPerHour::new(price)).named("--gpu-hour").map(|rate| rate.low)
}

/// The device's published price, and whose it is.
fn published(system: &System, run: &str, is_said: bool) -> Option<HourlyRate> {
    let rate = HourlyRate::lowest_published(system.device()).ok()?;
    if let (Origin::Published { kind, source, date }, true) = (&rate.origin, is_said) {
        let price = rate.low.get();
        let note = format!(
            "note: {run}: {price} US dollars a device and hour: the lowest of {kind}, {source}, {date}; no offer, --gpu-hour says \
             yours"
        );
        tell!("{}", wrapped(&note));
    }
    Some(rate)
}
