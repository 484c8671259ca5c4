//! Going on with a sweep that was broken off.

use std::path::Path;

use fizeau::experiment::ResumedLevels;
use fizeau::record::{Engine, RunDocument, Setup, StoredRun};

use crate::args::SweepArgs;
use crate::exit::Fail;

/// Fields of `run.json` that the sweep must have as it had them.
const SAME: [&str; 14] = [
    "setup.endpoint",
    "setup.engine",
    "setup.workload",
    "setup.model_config",
    "setup.hardware",
    "setup.deployment",
    "plan",
    "lengths",
    "levels",
    "sampling",
    "timeouts",
    "goodput",
    "speed_of_light",
    "time",
];

/// What is finished of `run`.
pub(super) fn read(run: &StoredRun) -> Result<ResumedLevels, Fail> {
    let resumed = ResumedLevels::read(run).map_err(Fail::usage)?;
    for name in resumed.cut() {
        tell!("note: {name}: its tapes.jsonl is cut in mid-line, so that it is measured again");
    }
    Ok(resumed)
}

/// The sweep to go on with, whose prompts `args` then ask for; none if none is named.
pub(super) fn settle(args: &mut SweepArgs) -> Result<Option<StoredRun>, Fail> {
    let Some(path) = args.time.resume.as_deref() else { return Ok(None) };
    let run = open(path)?;
    let first = run.written().levels.first();
    if first.is_none_or(|level| level.load.is_none()) {
        let path = path.display();
        return Err(Fail::usage(format!(
            "--resume: {path} holds no sweep that can be gone on with"
        )));
    }
    // A salt that nobody chose was drawn: the prompts of a second one would be others.
    let salt = run.written().salt().filter(|salt| *salt != 0);
    if args.workload.salt.is_none() && !args.workload.reuse_prompts {
        args.workload.salt = salt;
    }
    Ok(Some(run))
}

/// A sweep that goes on is the one that was begun: when, and by which command line.
pub(super) fn begun_by(run: &StoredRun, setup: &mut Setup) {
    let begun = &run.written().setup;
    setup.started.clone_from(&begun.started);
    setup.command_line.clone_from(&begun.command_line);
}

fn open(path: &Path) -> Result<StoredRun, Fail> {
    StoredRun::open(path).map_err(|error| Fail::usage(format!("--resume: {error}")))
}

/// Refuses to go on with `run` as another sweep than it was, and names the first field that differs.
pub(super) fn check(run: &StoredRun, now: &RunDocument) -> Result<(), Fail> {
    // The embedded engine listens elsewhere each time.
    let is_embedded = matches!(now.setup.engine, Engine::Simulated { .. });
    let mut differing = run.written().fields().differing(&now.fields(), &SAME).into_iter();
    let first = differing.find(|found| !(is_embedded && found.field == "setup.endpoint.base_url"));
    let Some(first) = first else { return Ok(()) };
    let shown = |value: Option<&String>| value.map_or("nothing", |value| value).to_owned();
    Err(Fail::usage(format!(
        "--resume: {} is {} there and {} now: give the flags that the sweep was begun with",
        first.field,
        shown(first.one.as_ref()),
        shown(first.other.as_ref())
    )))
}
