//! The levels that a run's files tell of and of which there are no tapes.

use super::LevelAhead;
use super::sweep;
use crate::{LevelReport, StoredRun, SweepDocument, Unmeasured, level_folder};
use fizeau_core::LevelLoad;

/// The loads that `run` was to measure, and of which it has no level: never measured, as `sweep.json` or the lack of it has it,
/// or lost since.
pub(super) fn of(
    run: &StoredRun,
    levels: &[LevelReport],
    stored: Option<&SweepDocument>,
) -> Vec<Unmeasured> {
    // One level of a sweep misses none of the others, and a level that is a run by itself has none.
    let is_alone = run.levels().iter().any(|level| level.name().is_empty());
    if is_alone || run.document_path().parent() != Some(run.path()) {
        return Vec::new();
    }
    // The sweep itself knows why; but of what was measured since, when it was gone on with.
    let mut missing = stored.map(|sweep| sweep.unmeasured.clone()).unwrap_or_default();
    missing.retain(|one| one.is_lost || levels.iter().all(|level| level.load != one.load));
    let measured = stored.into_iter().flat_map(sweep::measured);
    for (load, folder) in planned(run).into_iter().chain(measured) {
        let is_known = missing.iter().any(|known| known.load == load);
        let is_there = run.levels().iter().any(|level| level.name() == folder);
        if is_known || is_there {
            continue;
        }
        let is_one_of_several = levels.iter().any(|level| level.load == load);
        missing.push(match (run.path().join(&folder).is_dir(), stored) {
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
        true => format!("the folder {folder} of one of its runs {what}"),
        false => format!("its folder {what}"),
    }
}

/// The levels of the curve that `run.json` and the levels' own folders tell of, but for later visits to a load.
fn planned(run: &StoredRun) -> Vec<(LevelLoad, String)> {
    let all = LevelAhead::all(run.document()).into_iter();
    let first = all.filter(|ahead| ahead.visit == 0 && ahead.role.is_none());
    let named = |ahead: LevelAhead| {
        let load = ahead.load?;
        Some((load, level_folder(load, 0, None)))
    };
    first.filter_map(named).collect()
}
