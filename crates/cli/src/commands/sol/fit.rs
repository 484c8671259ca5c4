//! `--fit`: from measured levels to a calibration.

use std::collections::HashMap;
use std::path::Path;

use fizeau::experiment::{FitLevels, FitSources, SampleError, SystemQuery};
use fizeau::record::InvalidLevels;
use fizeau::report::CalibrationFitView;
use fizeau::roofline::{Calibration, CalibrationSample, MeasuredTable};

use crate::args::CalibrationArgs;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail, Named, read_named};
use crate::terminal::say::say;

/// So many of a file are said one by one.
const SAID: usize = 10;

/// Fits what `args` name, writes the calibration and says how good it is.
pub(super) fn run(args: &CalibrationArgs, flags: &SystemQuery<'_>) -> Result<Exit, Fail> {
    let mut sources = FitSources::new(files(&args.models)?);
    let mut levels = FitLevels::default();
    for path in &args.fit {
        let flag = format!("--fit {}", path.display());
        let is_of_passes = path.extension().is_some_and(|extension| extension == "jsonl");
        let before = levels.left_out.len();
        if path.is_dir() {
            let invalid = if args.force { InvalidLevels::Included } else { InvalidLevels::LeftOut };
            levels.add(&flag, flags.samples_of_run(path, invalid).named(&flag)?);
        } else if is_of_passes {
            levels.add(&flag, flags.samples_of_passes(path).named("--fit")?);
        } else {
            levels.add(&flag, of_table(path, &flag, &mut sources)?);
        }
        let by_rule = levels.left_out.iter().skip(before).filter(|(_, error)| error.is_by_rule());
        by_rule.take(SAID).for_each(|(flag, error)| tell!("note: {flag}: {error}: left out"));
    }
    let wrong = levels.left_out.iter().filter(|(_, error)| !error.is_by_rule());
    let wrong: Vec<String> = wrong.map(|(flag, error)| refused(flag, error)).collect();
    let fit = Calibration::fit(&levels.samples).map_err(|error| {
        let why: String =
            levels.count().iter().chain(wrong.first()).map(|why| format!("; {why}")).collect();
        usage!("--fit: {error}{why}")
    })?;
    folder::write("--out", &args.out, &fit.calibration.to_json())?;
    say(CalibrationFitView { samples: &levels.samples, fit: &fit }.text())?;
    say(format!("\nWritten to {}", args.out.display()))?;
    finish(&levels, &wrong)
}

/// The levels of a table.
fn of_table(
    path: &Path,
    flag: &str,
    sources: &mut FitSources,
) -> Result<Vec<Result<CalibrationSample, SampleError>>, Fail> {
    let text = read_named("--fit", path, "a CSV table of measured levels, or the folder of a run")?;
    let table = MeasuredTable::read(&text).named(flag)?;
    for column in &table.unknown {
        tell!("note: {flag}: column `{column}` is not read");
    }
    let unread = table.errors.iter().map(|error| Err(SampleError::Level(error.to_string())));
    Ok(unread.chain(sources.samples(&table.levels)).collect())
}

/// What is wrong with a level, and what would mend it.
fn refused(flag: &str, error: &SampleError) -> String {
    match error {
        SampleError::Model { model, .. } => {
            format!("{flag}: {error}; say where with --model {model}=FILE")
        }
        _ => format!("{flag}: {error}"),
    }
}

/// What was fitted stands, but may not be all that was asked for.
fn finish(levels: &FitLevels, wrong: &[String]) -> Result<Exit, Fail> {
    let Some(count) = levels.count() else { return Ok(Exit::Good) };
    let Some(first) = wrong.first() else {
        let is_forceable =
            |(_, error): &(_, SampleError)| matches!(error, SampleError::NotValid { .. });
        let hint = match levels.left_out.iter().any(is_forceable) {
            true => "; --force fits those that are not valid",
            false => "",
        };
        tell!("note: --fit: {count}{hint}");
        return Ok(Exit::Good);
    };
    wrong.iter().take(SAID).skip(1).for_each(|wrong| tell!("error: {wrong}"));
    Err(usage!("{count}: {first}"))
}

/// Where the models are that levels call so.
fn files(models: &[String]) -> Result<HashMap<String, String>, Fail> {
    let file = |model: &String| {
        let (name, file) =
            model.split_once('=').ok_or_else(|| usage!("--model {model}: it must be NAME=FILE"))?;
        Ok((name.to_owned(), file.to_owned()))
    };
    models.iter().map(file).collect()
}
