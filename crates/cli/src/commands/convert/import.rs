//! Files of other tools to runs.

use std::collections::HashSet;
use std::path::PathBuf;

use fizeau::interop::{ForeignFile, ForeignFormat, ForeignFormats, plain_name};
use fizeau::record::ImportedRun;

use super::{files, write};
use crate::args::ConvertArgs;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::{printable, say};

pub(super) fn run(args: &ConvertArgs) -> Result<Exit, Fail> {
    let form = args.from.as_deref().map(ForeignFormats::named).transpose().named("--from")?;
    let read = files::read(&args.inputs)?;
    let files = recognised(&read, form)?;
    let levels = ForeignFormats::import(files, form).map_err(Fail::usage)?;
    if levels.iter().all(|level| level.left_out().is_some()) {
        let place = levels.first().map_or("the files", |level| level.source.file.as_str());
        return Err(Fail::usage(format!("{place}: no request completed in any of it")));
    }
    let runs = ImportedRun::of_levels(levels);
    let folders = folders(&runs, args);
    // Before the first is written, so that none is if one cannot be.
    for folder in &folders {
        if folder.join("run.json").exists() {
            return Err(Fail::usage(format!(
                "--out: {} already holds a run; name another folder or remove it",
                folder.display()
            )));
        }
    }
    for (run, folder) in runs.into_iter().zip(folders) {
        let words = said(&run);
        let page = match run.has_tapes() {
            true => format!("; `fizeau report {}` writes its page", folder.display()),
            false => String::new(),
        };
        write::run(&run, &folder)?;
        say(format!("{}: {words}{page}", folder.display()))?;
    }
    Ok(Exit::Good)
}

/// The files of known forms. One that was named itself must be one; what else lies in a folder is passed over, and said, if it
/// is whole: of one that was cut off nobody knows what it was.
fn recognised<'a>(
    read: &'a [files::File],
    form: Option<&'static dyn ForeignFormat>,
) -> Result<Vec<ForeignFile<'a>>, Fail> {
    let (mut files, mut passed, mut has_runs) = (Vec::new(), Vec::new(), false);
    for own in read {
        let file = ForeignFile::new(&own.name, &own.bytes);
        match (form, ForeignFormats::of(&file)) {
            (Some(form), _) if own.is_named || form.recognises(&file) => files.push(file),
            (None, Ok(format)) => {
                has_runs |= format.key() == "vllm-sweep" && !is_table(&file);
                files.push(file);
            }
            (None, Err(error)) if own.is_named => return Err(Fail::usage(error)),
            _ => {
                file.check_whole().map_err(Fail::usage)?;
                passed.push(own.name.as_str());
            }
        }
    }
    // The table of a sweep has its runs once more.
    if has_runs {
        files.retain(|file| !is_table(file));
    }
    if files.is_empty() {
        let names = ForeignFormats::names();
        return Err(Fail::usage(format!(
            "{}: none of {} files has a form that is known; known are {names}",
            passed.first().copied().unwrap_or_default(),
            passed.len()
        )));
    }
    if let [first, ..] = passed.as_slice() {
        let others = match passed.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        tell!("note: passed over, of no form that is known: {first}{others}");
    }
    Ok(files)
}

fn is_table(file: &ForeignFile<'_>) -> bool {
    file.file_name().ends_with(".csv")
}

/// Where each run goes: a single one to `--out` itself.
fn folders(runs: &[ImportedRun], args: &ConvertArgs) -> Vec<PathBuf> {
    if runs.len() == 1 {
        return vec![args.out.clone()];
    }
    let mut taken = HashSet::new();
    let mut folder = |run: &ImportedRun| {
        let name = plain_name(run.name()).unwrap_or_else(|| "imported".to_owned());
        let numbered = (2..).map(|n| format!("{name}-{n}"));
        let free = std::iter::once(name.clone()).chain(numbered);
        let free = free.take(runs.len() + 1).find(|name| taken.insert(name.clone()));
        args.out.join(free.unwrap_or(name))
    };
    runs.iter().map(&mut folder).collect()
}

/// What was found, in a line.
fn said(run: &ImportedRun) -> String {
    let levels = match run.levels() {
        [_] => "1 level".to_owned(),
        many => format!("{} levels", many.len()),
    };
    let tool = run.levels().first().map_or("", |level| level.source.tool.as_str());
    let holds = match run.has_tapes() {
        true => "with tapes",
        false => "figures alone",
    };
    let words = format!("{levels} of {}, measured by {tool}; {holds}", run.title());
    printable(&words)
}
