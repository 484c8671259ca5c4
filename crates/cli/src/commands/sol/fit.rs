//! `--fit`: from measured levels to a calibration.

use std::collections::HashMap;
use std::path::Path;

use fizeau::experiment::{FitSources, SampleError, SystemQuery};
use fizeau::report::CalibrationFitView;
use fizeau::roofline::{Calibration, CalibrationSample, MeasuredTable};

use crate::args::CalibrationArgs;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail, Named, read_named};
use crate::terminal::say::say;

/// Fits what `args` name, writes the calibration and says how good it is.
pub(super) fn run(args: &CalibrationArgs, flags: &SystemQuery<'_>) -> Result<Exit, Fail> {
    let mut sources = FitSources::new(files(&args.models)?);
    let mut levels = Levels::default();
    for path in &args.fit {
        let is_of_passes = path.extension().is_some_and(|extension| extension == "jsonl");
        if path.is_dir() {
            levels.read_run(path, flags)?;
        } else if is_of_passes {
            levels.samples.extend(flags.samples_of_passes(path).named("--fit")?);
        } else {
            levels.read(path, &mut sources)?;
        }
    }
    let fit = Calibration::fit(&levels.samples).map_err(|error| levels.unusable(&error))?;
    folder::write("--out", &args.out, &fit.calibration.to_json())?;
    say(CalibrationFitView { samples: &levels.samples, fit: &fit }.text())?;
    say(format!("\nWritten to {}", args.out.display()))?;
    levels.finish()
}

/// Measured levels, and what was wrong with others.
#[derive(Default)]
struct Levels {
    samples: Vec<CalibrationSample>,
    wrong: Vec<String>,
}

/// So many bad lines are said one by one.
const SAID: usize = 10;

impl Levels {
    fn read(&mut self, path: &Path, sources: &mut FitSources) -> Result<(), Fail> {
        let flag = format!("--fit {}", path.display());
        let text = read_named("--fit", path)?;
        let table = MeasuredTable::read(&text).named(&flag)?;
        for column in &table.unknown {
            tell!("note: {flag}: column `{column}` is not read");
        }
        let wrong = table.errors.iter().map(|error| format!("{flag}: {error}"));
        self.wrong.extend(wrong);
        let mut left_out = 0;
        for (level, sample) in table.levels.iter().zip(sources.samples(&table.levels)) {
            match sample {
                Ok(sample) => self.samples.push(sample),
                Err(error @ SampleError::Doubtful { .. }) => {
                    left_out += 1;
                    if left_out <= SAID {
                        tell!("note: {flag}: {error}");
                    }
                }
                Err(error @ SampleError::Model { .. }) => {
                    let name = &level.model;
                    let remedy = format!("say where with --model {name}=FILE");
                    self.wrong.push(format!("{flag}: {error}; {remedy}"));
                }
                Err(error) => self.wrong.push(format!("{flag}: {error}")),
            }
        }
        if left_out > 0 {
            let all = table.levels.len();
            tell!("note: {flag}: {left_out} of {all} levels are left out by rule");
        }
        Ok(())
    }

    fn read_run(&mut self, folder: &Path, flags: &SystemQuery<'_>) -> Result<(), Fail> {
        let flag = format!("--fit {}", folder.display());
        for level in flags.samples_of_run(folder).named(&flag)? {
            match level {
                Ok(sample) => self.samples.push(sample),
                Err(error) => self.wrong.push(format!("{flag}: {error}")),
            }
        }
        Ok(())
    }

    fn unusable(&self, error: &dyn std::error::Error) -> Fail {
        let first = self.wrong.first().map_or_else(String::new, |first| format!("; {first}"));
        usage!("--fit: {error}{first}")
    }

    /// What was fitted stands, but is not all that was asked for.
    fn finish(self) -> Result<Exit, Fail> {
        let Some(first) = self.wrong.first() else {
            return Ok(Exit::Good);
        };
        for wrong in self.wrong.iter().take(SAID).skip(1) {
            tell!("error: {wrong}");
        }
        let (bad, all) = (self.wrong.len(), self.wrong.len() + self.samples.len());
        Err(usage!("{bad} of {all} levels could not be used: {first}"))
    }
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
