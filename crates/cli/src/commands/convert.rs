//! `fizeau convert`: other tools' files to runs, and runs to other tools' files.

use std::collections::BTreeSet;
use std::path::Path;

use fizeau::interop::{ExportSource, ExportedFile, ForeignFormats, ImportError};
use fizeau::record::text::plain;
use fizeau::record::{ImportedRun, RunFolder, StoredRun};
use fizeau::report::Shown;

use crate::args::{ConvertArgs, SpeedOfLightArgs};
use crate::commands::report;
use crate::commands::report::note_cut;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(crate) fn run(args: &ConvertArgs) -> Result<Exit, Fail> {
    match &args.to {
        Some(format) => export(args, format),
        None => import(args),
    }
}

// Runs to files of other tools.

fn export(args: &ConvertArgs, format: &str) -> Result<Exit, Fail> {
    let format = ForeignFormats::named(format).named("--to")?;
    let [path] = args.inputs.as_slice() else {
        bail!("--to: name one run at a time");
    };
    let source = ExportSource::read(path).map_err(Fail::usage)?;
    source.cut().iter().for_each(|(level, cut)| note_cut(level, Some(*cut)));
    let levels = source.levels();
    let files = format.export(&levels).map_err(Fail::usage)?;
    let unsaid: BTreeSet<String> = levels.iter().flat_map(|level| level.unsaid(format)).collect();
    unsaid.iter().for_each(|unsaid| tell!("note: {}", plain(unsaid)));
    for written in ExportedFile::write_all(&files, &args.out).named("--out")? {
        say(written.display())?;
    }
    Ok(Exit::Good)
}

// Files of other tools to runs.

fn import(args: &ConvertArgs) -> Result<Exit, Fail> {
    let form = args.from.as_deref().map(ForeignFormats::named).transpose().named("--from")?;
    let imported = ForeignFormats::import_paths(&args.inputs, form).map_err(|error| {
        let remedy = match &error {
            ImportError::OwnRun { .. } => "; --to FORMAT writes it in the form of another tool",
            _ => "",
        };
        usage!("{error}{remedy}")
    })?;
    if let [first, others @ ..] = imported.passed_over.as_slice() {
        let others = match others.len() {
            0 => String::new(),
            many => format!(" and {many} more"),
        };
        tell!("note: skipped, since their format is not known: {first}{others}");
    }
    let folders = imported.folders(&args.out);
    // Before the first is written, so that none is if one cannot be.
    folders.iter().try_for_each(|folder| RunFolder::check_free(folder)).named("--out")?;
    for (run, folder) in imported.runs.into_iter().zip(folders) {
        let page = match run.has_tapes() {
            true => format!("; `fizeau report {}` writes its page", folder.display()),
            false => String::new(),
        };
        write(&run, &folder)?;
        for fact in run.not_known().into_iter().filter(|fact| fact.is_contradiction()) {
            tell!("finding: {}: {}", folder.display(), plain(&fact.why));
        }
        say(format!("{}: {}{page}", folder.display(), plain(&run.words())))?;
    }
    for error in &imported.refused {
        tell!("not imported: {error}");
    }
    Ok(Exit::missed(!imported.refused.is_empty()))
}

/// Writes the folder of a run: where its levels have tapes, one like any other.
fn write(run: &ImportedRun, path: &Path) -> Result<(), Fail> {
    let folder = folder::claim(path)?;
    run.write(&folder).map_err(Fail::broken)?;
    match run.has_tapes() {
        true => {
            let stored = StoredRun::open(folder.path()).map_err(Fail::usage)?;
            let reader = report::reader(&stored, &[], &SpeedOfLightArgs::default())?;
            reader.write_summaries().map_err(Fail::broken)
        }
        false => {
            folder.write_text("report.html", &Shown(run).page()).map_err(Fail::broken).map(drop)
        }
    }
}
