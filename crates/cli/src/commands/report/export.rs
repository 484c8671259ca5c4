//! A stored run for other programs: tables, metrics, and where to send them.

mod parquet;
mod push;
mod requests;
mod sink;

use fizeau::record::SpeedOfLightReference;
use fizeau::record::StoredRun;
use fizeau::record::SweepReport;
use fizeau::report::{Exposition, LevelTable, TableRun};

use super::{Asked, level::Level, read_levels};
use crate::args::ExportArgs;
use crate::exit::{Exit, Fail};
pub(super) use sink::Sink;

/// Everything that `args` ask for.
pub(super) fn run(asked: &Asked<'_>, args: &ExportArgs) -> Result<Exit, Fail> {
    one_to_the_screen(args)?;
    let run = asked.reader.run();
    // What cannot be sent is said before anything is read.
    let targets: Vec<push::Target> =
        args.push.iter().map(|url| push::Target::of(url)).collect::<Result<_, _>>()?;
    if let Some(file) = &args.requests_csv {
        requests::csv(run, file)?;
    }
    if let Some(folder) = &args.parquet {
        parquet::requests(run, folder)?;
    }
    let wants_levels = args.csv.is_some() || args.parquet.is_some();
    if !wants_levels && args.prometheus.is_none() && targets.is_empty() {
        return Ok(Exit::Good);
    }
    let whole = Whole::read(asked)?;
    if wants_levels {
        let table = whole.table();
        if let Some(file) = &args.csv {
            Sink::open(file)?.write_whole(&table.to_csv())?;
        }
        if let Some(folder) = &args.parquet {
            parquet::levels(&table, folder)?;
        }
    }
    let exposition = Exposition::of(&whole.report, &whole.name);
    if let Some(file) = &args.prometheus {
        Sink::open(file)?.write_whole(&exposition.to_prometheus())?;
    }
    for target in targets {
        target.send(&exposition, &whole.name)?;
    }
    Ok(Exit::Good)
}

/// Two tables on one screen would be neither.
fn one_to_the_screen(args: &ExportArgs) -> Result<(), Fail> {
    let files = [("--csv", &args.csv), ("--requests-csv", &args.requests_csv)];
    let files = files.into_iter().chain([("--prometheus", &args.prometheus)]);
    let to_screen = files.filter(|(_, file)| file.as_deref().is_some_and(sink::is_screen));
    let flags: Vec<&str> = to_screen.map(|(flag, _)| flag).collect();
    match flags.as_slice() {
        [first, second, ..] => Err(Fail::usage(format!(
            "{first} and {second} both go to standard output: name a file for one, {second}=FILE"
        ))),
        _ => Ok(()),
    }
}

/// The run with all its levels.
struct Whole {
    /// The name of its folder.
    name: String,
    report: SweepReport,
    devices: Option<u64>,
    /// The model on its devices, where they are known.
    reference: Option<SpeedOfLightReference>,
    /// Every level, with each run of a load that was measured more than once.
    levels: Vec<fizeau::record::LevelReport>,
}

impl Whole {
    fn read(asked: &Asked<'_>) -> Result<Self, Fail> {
        let mut read = asked.together(read_levels(Level::all(asked)?))?;
        let (reference, levels) = (read.reference.take(), read.levels.clone());
        let report = read.report();
        let devices = report.devices();
        Ok(Self { name: name_of(asked.reader.run()), report, devices, reference, levels })
    }

    fn table(&self) -> LevelTable {
        let system = self.reference.as_ref().map(|reference| reference.reference().system);
        LevelTable::of_all(&[TableRun {
            name: self.name.clone(),
            setup: self.report.setup(),
            levels: &self.levels,
            system,
            devices: self.devices.or_else(|| system.map(|of| of.deployment().devices())),
            price: self.report.price().map(|price| price.low),
            quality: None,
        }])
    }
}

/// The last part of the folder's path, whatever way it was named.
fn name_of(run: &StoredRun) -> String {
    let whole = run.path().canonicalize();
    let last = whole.as_deref().unwrap_or_else(|_| run.path()).file_name();
    let last = last.map(|name| name.to_string_lossy().into_owned());
    last.unwrap_or_else(|| run.path().display().to_string())
}
