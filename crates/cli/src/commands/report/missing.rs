//! The levels that a run's files tell of and of which there are no tapes.

use fizeau::core::LevelLoad;
use fizeau::core::PerSec;
use fizeau::experiment::load_point;
use fizeau::record::{LevelReport, LoadPoint, Unmeasured};
use fizeau::record::{StoredRun, level_folder};
use serde_json::Value;

use crate::commands::shared::planned::Planned;

/// The loads that `run` was to measure, and of which it has no level: never measured, as `sweep.json` or the lack of it has it,
/// or lost since.
pub(super) fn of(
    run: &StoredRun,
    levels: &[LevelReport],
    sweep: Option<&Value>,
) -> Vec<Unmeasured> {
    // One level of a sweep misses none of the others.
    if run.document_path().parent() != Some(run.path()) {
        return Vec::new();
    }
    // The sweep itself knows why.
    let said = sweep.and_then(|sweep| sweep.get("unmeasured")?.as_array());
    let mut missing: Vec<Unmeasured> = said.into_iter().flatten().filter_map(never).collect();
    for (load, folder) in planned(run).into_iter().chain(measured(sweep)) {
        let is_known = missing.iter().any(|known| known.load == load);
        let is_there = run.levels().iter().any(|level| level.name() == folder);
        if is_known || is_there {
            continue;
        }
        let is_one_of_several = levels.iter().any(|level| level.load == load);
        missing.push(match (run.path().join(&folder).is_dir(), sweep) {
            // A sweep that did not live to tell of itself may never have come so far.
            (false, None) if is_one_of_several => continue,
            (false, None) => Unmeasured::never(load, None),
            (is_folder, _) => Unmeasured::lost(load, lost(&folder, is_folder, is_one_of_several)),
        });
    }
    missing
}

fn lost(folder: &str, is_folder: bool, is_one_of_several: bool) -> String {
    let what = if is_folder { "has no tapes.jsonl" } else { "is not there" };
    match is_one_of_several {
        true => format!("of one of its runs the folder {folder} {what}"),
        false => format!("its folder {what}"),
    }
}

/// The levels of the curve that `run.json` and the levels' own folders tell of, but for later visits to a load.
fn planned(run: &StoredRun) -> Vec<(LoadPoint, String)> {
    let all = Planned::all(run.document()).into_iter();
    let first = all.filter(|planned| planned.visit == 0 && planned.role.is_none());
    let named = |planned: Planned| {
        let load = planned.load?;
        Some((load_point(load), level_folder(load, 0, None)))
    };
    first.filter_map(named).collect()
}

/// The levels that `sweep.json` has figures of.
fn measured(sweep: Option<&Value>) -> Vec<(LoadPoint, String)> {
    let levels = sweep.and_then(|sweep| sweep.get("levels")?.as_array()).into_iter().flatten();
    let named = |level: &Value| {
        let folder = level.get("folder")?.as_str()?;
        LevelLoad::of_folder(folder)?;
        Some((load(level.get("load")?)?, folder.to_owned()))
    };
    levels.filter_map(named).collect()
}

/// A load that `sweep.json` says was never measured.
fn never(said: &Value) -> Option<Unmeasured> {
    let reason = said.get("reason").and_then(Value::as_str).map(str::to_owned);
    Some(Unmeasured::never(load(said)?, reason))
}

fn load(said: &Value) -> Option<LoadPoint> {
    let slots = said.get("concurrency").and_then(Value::as_u64);
    let slots = slots.and_then(|slots| u32::try_from(slots).ok()).map(LoadPoint::Concurrency);
    let rate = said.get("requests_per_s").and_then(Value::as_f64).map(PerSec::new);
    slots.or_else(|| rate.map(LoadPoint::Rate))
}
