//! An imported run as a folder: where its levels have tapes, one like any other.

use std::num::NonZeroU32;
use std::path::Path;

use fizeau::core::LevelLoad;
use fizeau::core::TapeSink as _;
use fizeau::metrics::LevelHistograms;
use fizeau::record::{Checklist, LevelReport, LoadPoint};
use fizeau::record::{ImportedLevel, ImportedRun};
use fizeau::record::{RunFolder, level_folder};
use serde_json::{Value, json};

use fizeau::report::Shown;

use crate::args::PhysicsArgs;
use crate::commands::report::Stored;
use crate::commands::shared::folder::Claim;
use crate::commands::shared::imported::SCHEMA;
use crate::exit::{Fail, Named};

/// Writes the folder of a run.
pub(super) fn run(run: &ImportedRun, path: &Path) -> Result<(), Fail> {
    let claim = Claim::new(path)?;
    let folder = claim.folder();
    let names = names(run);
    folder.write_json("run.json", &document(run, &names)?).map_err(Fail::broken)?;
    let has_tapes = run.has_tapes();
    for (level, (name, _)) in run.levels().iter().zip(&names) {
        let folder = match name.as_str() {
            "" => folder.clone(),
            name => folder.level(name).map_err(Fail::broken)?,
        };
        let document = with_schema(level)?;
        folder.write_json("imported.json", &document).map_err(Fail::broken)?;
        if has_tapes {
            tapes(level, &folder)?;
        }
    }
    match has_tapes {
        true => summaries(folder),
        false => {
            folder.write_text("report.html", &Shown(run).page()).map_err(Fail::broken).map(drop)
        }
    }
}

/// The folder of each level and how often its load came before; without a name for a single one.
fn names(run: &ImportedRun) -> Vec<(String, u32)> {
    if run.levels().len() == 1 {
        return vec![(String::new(), 0)];
    }
    let mut names: Vec<(String, u32)> = Vec::new();
    for (index, level) in run.levels().iter().enumerate() {
        if level.load.is_unknown && !run.has_tapes() {
            names.push((format!("load-unknown-{:02}", index + 1), 0));
            continue;
        }
        let load = load(level);
        // Two rates may have one name: a name has three decimals.
        let free = (0..).map(|visit| (level_folder(load, visit, None), visit));
        let free = free
            .take(run.levels().len() + 1)
            .find(|(name, _)| names.iter().all(|(taken, _)| taken != name));
        names.extend(free);
    }
    names
}

fn load(level: &ImportedLevel) -> LevelLoad {
    match level.load_point() {
        LoadPoint::Rate(rate) => LevelLoad::Rate(rate),
        LoadPoint::Concurrency(slots) => {
            LevelLoad::Concurrency(NonZeroU32::new(slots).unwrap_or(NonZeroU32::MIN))
        }
    }
}

fn with_schema(level: &ImportedLevel) -> Result<Value, Fail> {
    let mut document = serde_json::to_value(level).map_err(Fail::broken)?;
    document["schema"] = SCHEMA.into();
    Ok(document)
}

/// `run.json`: what is known of what was asked, and where it comes from.
fn document(run: &ImportedRun, names: &[(String, u32)]) -> Result<Value, Fail> {
    let first = run.levels().first();
    let has_tapes = run.has_tapes();
    let is_closed = run.levels().iter().all(|level| level.load.requests_per_s.is_none());
    let level = |(level, (_, visit)): (&ImportedLevel, &(String, u32))| {
        json!({
            "load": (has_tapes || !level.load.is_unknown).then(|| load(level)),
            "visit": visit,
            "requests": level.sent(),
            "max_in_flight": level.load.max_in_flight,
            "arrivals": level.asked().arrivals,
        })
    };
    let levels: Vec<Value> = run.levels().iter().zip(names).map(level).collect();
    let mean = first.and_then(|level| level.figure("prompt_tokens"));
    Ok(json!({
        "schema": "fizeau.run/1",
        "tapes_schema": "fizeau.tapes/1",
        "version": env!("CARGO_PKG_VERSION"),
        "imported": {
            "name": run.name(),
            "source": first.map(|level| &level.source),
            "has_tapes": has_tapes,
        },
        "setup": serde_json::to_value(run.setup()).map_err(Fail::broken)?,
        // No plan is known. These are held against each other where runs are compared.
        "plan": {
            "arrivals": if is_closed { "closed_loop" } else { "open" },
            "dataset": {"name": first.and_then(|level| level.about.dataset.as_ref())},
        },
        "lengths": {"input": {"mean": mean}},
        "levels": levels,
        "timeouts": {},
        "goodput": [],
    }))
}

/// The tapes of a level, and what is known of it beside them.
fn tapes(level: &ImportedLevel, folder: &RunFolder) -> Result<(), Fail> {
    let mut file = folder.tapes().map_err(Fail::broken)?;
    for tape in &level.tapes {
        file.record(tape).map_err(Fail::broken)?;
    }
    file.flush().map_err(Fail::broken)?;
    let source = &level.source;
    let note = format!(
        "imported from {} of {}: what its file does not tell is in imported.json",
        source.file, source.tool
    );
    let mut notes = vec![note];
    if level.load.is_unknown {
        notes.push(
            "the load is not in its file: that all requests left at once stands for it".to_owned(),
        );
    }
    // As much of a summary as a level is read by; what the tapes amount to takes its place.
    let summary = json!({
        "schema": "fizeau.summary/1",
        "status": "finished",
        "load": level.load_point(),
        "asked": level.asked(),
        "validity": {"notes": notes},
    });
    folder.write_json("summary.json", &summary).map_err(Fail::broken).map(drop)
}

/// What the tapes amount to, computed as `fizeau report` does.
fn summaries(folder: &RunFolder) -> Result<(), Fail> {
    let path = folder.path();
    let stored = Stored::read(path, &[], &PhysicsArgs::default())?;
    for level in &stored.levels {
        let own = match &level.folder {
            Some(name) => RunFolder::again(path.join(name)),
            None => folder.clone(),
        };
        // One of a sweep has no list of its own.
        let list = || Checklist::of(&stored.setup, std::slice::from_ref(level));
        let checklist = level.folder.is_none().then(list);
        let report = LevelReport { checklist, ..level.clone() };
        own.write_json("summary.json", &report).map_err(Fail::broken)?;
        histograms(&own, level)?;
    }
    if stored.levels.iter().any(|level| level.folder.is_some()) {
        folder.write_json("sweep.json", &stored.report()).map_err(Fail::broken)?;
    }
    Ok(())
}

fn histograms(folder: &RunFolder, level: &LevelReport) -> Result<(), Fail> {
    let run = fizeau::record::StoredRun::open(folder.path()).map_err(Fail::usage)?;
    let mut histograms = LevelHistograms::default();
    for stored in run.levels() {
        for tape in stored.tapes().map_err(Fail::usage)? {
            histograms.add(&tape.map_err(Fail::usage)?);
        }
    }
    // Gaps that are made up are in no figure.
    if level.unseen.as_ref().is_some_and(|unseen| unseen.has_no_gaps()) {
        histograms.itl = fizeau::metrics::LatencyHistogram::default();
    }
    let duration = level.summary.throughput.duration.to_nanos().unwrap_or_default();
    let name = folder.path().display().to_string();
    folder.write_histograms(&histograms, duration).named(&name)
}
