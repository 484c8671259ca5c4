//! `--fit`: from measured levels to a calibration.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use fizeau::experiment::{FitSources, SampleError, SystemQuery};
use fizeau::report::CalibrationFitView;
use fizeau::roofline::{Calibration, CalibrationSample, MeasuredTable};

use crate::args::CalibrationArgs;
use crate::commands::shared::{calibration, folder};
use crate::exit::{Exit, Fail, Named, read_named};
use crate::terminal::say::say;

/// Fits what `args` name, writes the calibration and says how good it is.
pub(super) fn run(args: &CalibrationArgs, flags: &SystemQuery<'_>) -> Result<Exit, Fail> {
    let mut sources = FitSources::new(files(&args.models)?);
    let mut levels = Levels::default();
    for path in &args.fit {
        let is_of_passes = path.extension().is_some_and(|extension| extension == "jsonl");
        if path.is_dir() {
            levels.read_run(path, flags, args.force)?;
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

/// Measured levels, and why others are left out.
#[derive(Default)]
struct Levels {
    samples: Vec<CalibrationSample>,
    /// How many for each reason.
    left_out: BTreeMap<String, usize>,
    /// Whether a level is left out that `--force` would fit.
    is_forceable: bool,
    /// What has to be mended for the rest to be fitted.
    wrong: Vec<String>,
}

/// So many of a file are said one by one.
const SAID: usize = 10;

impl Levels {
    fn read(&mut self, path: &Path, sources: &mut FitSources) -> Result<(), Fail> {
        let flag = format!("--fit {}", path.display());
        let text =
            read_named("--fit", path, "a CSV table of measured levels, or the folder of a run")?;
        let table = MeasuredTable::read(&text).named(&flag)?;
        for column in &table.unknown {
            tell!("note: {flag}: column `{column}` is not read");
        }
        for error in &table.errors {
            self.wrong.push(format!("{flag}: {error}"));
            *self.left_out.entry(SampleError::UNUSABLE.to_owned()).or_default() += 1;
        }
        let each = sources.samples(&table.levels).into_iter().zip(&table.levels);
        let each = each.map(|(sample, level)| {
            let remedy = match &sample {
                Err(SampleError::Model { .. }) => {
                    format!("; say where with --model {}=FILE", level.model)
                }
                _ => String::new(),
            };
            (sample, remedy)
        });
        self.take(&flag, each);
        Ok(())
    }

    fn read_run(
        &mut self,
        folder: &Path,
        flags: &SystemQuery<'_>,
        force: bool,
    ) -> Result<(), Fail> {
        let flag = format!("--fit {}", folder.display());
        let levels = flags.samples_of_run(folder, calibration::invalid(force)).named(&flag)?;
        self.take(&flag, levels.into_iter().map(|sample| (sample, String::new())));
        Ok(())
    }

    /// Takes levels, each with what would mend it.
    fn take(
        &mut self,
        flag: &str,
        each: impl Iterator<Item = (Result<CalibrationSample, SampleError>, String)>,
    ) {
        let mut said = 0;
        for (sample, remedy) in each {
            let error = match sample {
                Ok(sample) => {
                    self.samples.push(sample);
                    continue;
                }
                Err(error) => error,
            };
            *self.left_out.entry(error.reason()).or_default() += 1;
            self.is_forceable |= matches!(error, SampleError::NotValid { .. });
            if !error.is_by_rule() {
                self.wrong.push(format!("{flag}: {error}{remedy}"));
            } else if said < SAID {
                said += 1;
                tell!("note: {flag}: {error}: left out");
            }
        }
    }

    /// `5 of 70 levels are left out: 3 invalid, 2 contradicts its series`; none where all are fitted.
    fn count(&self) -> Option<String> {
        let out: usize = self.left_out.values().sum();
        let mut reasons: Vec<_> = self.left_out.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        let reasons: Vec<_> =
            reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        let all = out + self.samples.len();
        let is_one = if out == 1 { "is" } else { "are" };
        (out > 0)
            .then(|| format!("{out} of {all} levels {is_one} left out: {}", reasons.join(", ")))
    }

    fn unusable(&self, error: &dyn std::error::Error) -> Fail {
        let count = self.count().map_or_else(String::new, |count| format!("; {count}"));
        let first = self.wrong.first().map_or_else(String::new, |first| format!("; {first}"));
        usage!("--fit: {error}{count}{first}")
    }

    /// What was fitted stands, but may not be all that was asked for.
    fn finish(self) -> Result<Exit, Fail> {
        let Some(count) = self.count() else { return Ok(Exit::Good) };
        let Some(first) = self.wrong.first() else {
            let hint =
                if self.is_forceable { "; --force fits those that are not valid" } else { "" };
            tell!("note: --fit: {count}{hint}");
            return Ok(Exit::Good);
        };
        for wrong in self.wrong.iter().take(SAID).skip(1) {
            tell!("error: {wrong}");
        }
        Err(usage!("{count}: {first}"))
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
