//! Runs to files of other tools.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau::core::{Nanos, Tape};
use fizeau::interop::{ExportLevel, ExportedFile, ForeignFormats, RequestRate, VllmRun};
use fizeau::metrics::GoodputGoals;
use fizeau::record::{
    ImportedLevel, ImportedRun, RunDocument, RunFolder, StoredLevelContext, StoredRun,
};

use crate::args::ConvertArgs;
use crate::commands::report::each_tape;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(super) fn run(args: &ConvertArgs, format: &str) -> Result<Exit, Fail> {
    let format = ForeignFormats::named(format).named("--to")?;
    let [path] = args.inputs.as_slice() else {
        return Err(Fail::usage("--to: name one run at a time"));
    };
    if RunFolder::holds_whatif(path) {
        let path = path.display();
        return Err(Fail::usage(format!(
            "{path}: several configurations side by side; name one: {path}/configuration-01"
        )));
    }
    let source = match ImportedRun::read(path).map_err(Fail::usage)? {
        Some(run) => Source::figures(run)?,
        None => Source::tapes(path)?,
    };
    let levels: Vec<ExportLevel<'_>> = source.levels.iter().map(Level::as_export).collect();
    let files = format.export(&levels).map_err(Fail::usage)?;
    for written in place(&files, &args.out)? {
        say(written.display())?;
    }
    Ok(Exit::Good)
}

/// The levels of a run, with all that is exported of them.
struct Source {
    levels: Vec<Level>,
}

struct Level {
    name: String,
    run: VllmRun,
    dataset: String,
    goals: GoodputGoals,
    tapes: Vec<Tape>,
    epoch_unix: Option<Nanos>,
    imported: Option<ImportedLevel>,
}

impl Source {
    fn tapes(path: &Path) -> Result<Self, Fail> {
        let run = StoredRun::open(path).map_err(Fail::usage)?;
        let document = run.document();
        let name = run.document_path().display().to_string();
        let goals: GoodputGoals =
            document.goodput.join(" ").parse().named(&format!("{name}: goodput"))?;
        let ranks = ranks(document);
        let mut levels = Vec::new();
        for stored in run.levels() {
            let mut tapes = Vec::new();
            each_tape(stored, |tape| tapes.push(tape))?;
            if tapes.is_empty() {
                let path = stored.path().display();
                return Err(Fail::usage(format!("{path}: no request ended in it")));
            }
            let of = StoredLevelContext::read(&run, stored).map_err(Fail::usage)?;
            let own = VllmRun::of(&of.setup, &of.asked, of.cap);
            levels.push(Level {
                name: stored.name().to_owned(),
                run: VllmRun { date: compact(&own.date), metadata: ranks.clone(), ..own },
                dataset: document.setup.workload.dataset.clone(),
                goals: goals.clone(),
                tapes,
                epoch_unix: document.epoch_unix_ns.map(Nanos::from_nanos),
                imported: ImportedLevel::read(stored.path()).map_err(Fail::usage)?,
            });
        }
        Ok(Self { levels })
    }

    /// What another tool's file had, which can be written again in its own form alone.
    fn figures(run: ImportedRun) -> Result<Self, Fail> {
        let (setup, single) = (run.setup(), run.levels().len() == 1);
        let level = |(index, imported): (usize, ImportedLevel)| Level {
            name: if single { String::new() } else { format!("level-{:02}", index + 1) },
            run: VllmRun {
                date: compact(imported.about.date.as_deref().unwrap_or("undated")),
                backend: setup.endpoint.backend.clone(),
                label: imported.about.label.clone(),
                model_id: setup.endpoint.model.clone(),
                tokenizer_id: None,
                metadata: Vec::new(),
                request_rate: imported
                    .load
                    .requests_per_s
                    .map_or(RequestRate::Unlimited, RequestRate::Limited),
                burstiness: 1.0,
                max_concurrency: imported.load.max_in_flight,
            },
            dataset: setup.workload.dataset.clone(),
            goals: GoodputGoals::default(),
            tapes: Vec::new(),
            epoch_unix: None,
            imported: Some(imported),
        };
        Ok(Self { levels: run.into_levels().into_iter().enumerate().map(level).collect() })
    }
}

impl Level {
    fn as_export(&self) -> ExportLevel<'_> {
        ExportLevel {
            name: &self.name,
            run: self.run.clone(),
            dataset: &self.dataset,
            goals: &self.goals,
            tapes: &self.tapes,
            epoch_unix: self.epoch_unix,
            imported: self.imported.as_ref(),
        }
    }
}

/// How the model lay on its devices, by vLLM's flags: its sweeps plot throughput by device from these. Groups of attention are
/// replicas to vLLM.
fn ranks(run: &RunDocument) -> Vec<(String, String)> {
    let Some(deployed) = &run.speed_of_light else { return Vec::new() };
    [
        ("tensor_parallel_size", deployed.tp),
        ("pipeline_parallel_size", deployed.pp),
        ("data_parallel_size", deployed.dp.saturating_mul(deployed.replicas)),
    ]
    .map(|(name, degree)| (name.to_owned(), degree.to_string()))
    .into()
}

/// `2026-11-20T18:45:00Z` as `20261120-184500`, as vLLM dates its results; anything else as it is.
fn compact(date: &str) -> String {
    let digits: String = date.chars().filter(char::is_ascii_digit).take(14).collect();
    match (date.get(10..11), digits.len()) {
        (Some("T"), 14) => format!("{}-{}", &digits[..8], &digits[8..]),
        _ => date.to_owned(),
    }
}

/// Writes them: a single one to `out` itself unless that is a folder, several into it. Nothing that is there is written over.
fn place(files: &[ExportedFile], out: &Path) -> Result<Vec<PathBuf>, Fail> {
    let is_folder = out.is_dir() || out.to_string_lossy().ends_with('/');
    let paths: Vec<PathBuf> = match files {
        [_] if !is_folder => vec![out.to_owned()],
        files => files.iter().map(|file| out.join(&file.name)).collect(),
    };
    if let Some(taken) = paths.iter().find(|path| path.exists()) {
        let taken = taken.display();
        return Err(Fail::usage(format!("--out: {taken} is there already; name another place")));
    }
    for (path, file) in paths.iter().zip(files) {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).named("--out")?;
        }
        fs::write(path, &file.bytes).named(&format!("--out: {}", path.display()))?;
    }
    Ok(paths)
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn dates_are_written_as_vllm_writes_them() {
        assert_eq!(compact("2026-11-20T18:45:00Z"), "20261120-184500");
        assert_eq!(compact("2026-08-01T12:00:00"), "20260801-120000");
        assert_eq!(compact("not recorded"), "not recorded");
    }
}
