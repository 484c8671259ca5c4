//! A stored run for other programs: tables, metrics, and where to send them.

use std::fs::File;
use std::io;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use fizeau::core::Nanos;
use fizeau::experiment::WallTime;
use fizeau::interop::ExtraTallies;
use fizeau::record::{NamedRun, StoredRun};
use fizeau::report::{Exposition, LevelTable, RequestRow};
use fizeau::transport::{MonotonicClock, PushProtocol, PushTarget};

use super::{ReportRequest, level, note_cut};
use crate::args::ReportArgs;
use crate::commands::shared::endpoint;
use crate::exit::Fail;
use crate::terminal::runtime;

/// Everything for other programs that `args` ask for.
pub(super) fn run(asked: &ReportRequest<'_>, args: &ReportArgs) -> Result<(), Fail> {
    one_to_the_screen(args)?;
    let args = &args.export;
    let run = asked.reader.run();
    // What cannot be sent is said before anything is read.
    let targets = args.push.iter().map(|url| PushTarget::parse(url)).collect::<Result<Vec<_>, _>>();
    let targets = targets.map_err(|error| usage!("--push {error}"))?;
    if let Some(file) = &args.requests_csv {
        requests_csv(run, file)?;
    }
    #[cfg(not(feature = "parquet"))]
    if let Some(folder) = &args.parquet {
        bail!(
            "--parquet {}: this fizeau was built without Parquet; build it with `--features parquet`, or take --csv and \
             --requests-csv",
            folder.display()
        );
    }
    #[cfg(feature = "parquet")]
    if let Some(folder) = &args.parquet {
        parquet_requests(run, folder)?;
    }
    let wants_levels = args.csv.is_some() || args.parquet.is_some();
    if !wants_levels && args.prometheus.is_none() && targets.is_empty() {
        return Ok(());
    }
    let levels = level::read(level::all(asked, ExtraTallies::default())?);
    let read = asked.reader.together(levels).map_err(Fail::usage)?;
    let (name, report) = (NamedRun::at(run.path()).name, read.clone().report());
    if wants_levels {
        let table = LevelTable::of_run(&read, &report, &name);
        if let Some(file) = &args.csv {
            Sink::open(file)?.write_whole(&table.to_csv())?;
        }
        #[cfg(feature = "parquet")]
        if let Some(folder) = &args.parquet {
            parquet_levels(&table, folder)?;
        }
    }
    let exposition = Exposition::of(&report, &name);
    if let Some(file) = &args.prometheus {
        Sink::open(file)?.write_whole(&exposition.to_prometheus())?;
    }
    for target in targets {
        send(&target, &exposition, &name)?;
    }
    Ok(())
}

/// Sends the metrics of the run with that name.
fn send(target: &PushTarget, exposition: &Exposition, run: &str) -> Result<(), Fail> {
    let body = match target.protocol() {
        PushProtocol::Pushgateway => exposition.to_prometheus(),
        PushProtocol::Otlp => {
            let now = WallTime::epoch_unix_ns(&MonotonicClock::new());
            exposition.to_otlp(Nanos::from_nanos(now))
        }
    };
    let sent = runtime::single()?.block_on(target.send(run, body, endpoint::proxy()));
    sent.map_err(|error| broken!("--push {target}: {error}"))?;
    tell!("sent to {}", target.address(run));
    Ok(())
}

/// Two tables on one screen would be neither, nor a table and a report.
pub(super) fn one_to_the_screen(args: &ReportArgs) -> Result<(), Fail> {
    let export = &args.export;
    let files = [
        ("--csv", &export.csv),
        ("--requests-csv", &export.requests_csv),
        ("--prometheus", &export.prometheus),
    ];
    let to_screen = files.into_iter().filter(|(_, file)| file.as_deref().is_some_and(is_screen));
    let flags: Vec<&str> = to_screen.map(|(flag, _)| flag).collect();
    match flags.as_slice() {
        [first, second, ..] => Err(usage!(
            "{first} and {second} both go to standard output: name a file for one, {second}=FILE"
        )),
        [flag] if args.is_shown() => Err(usage!(
            "{flag} and the report both go to standard output: name a file for the table, {flag}=FILE"
        )),
        _ => Ok(()),
    }
}

// Every request of a run, one by one.

/// Every request goes to `each`, in the order of the levels and of their ends.
fn each_row(
    run: &StoredRun,
    each: impl FnMut(&RequestRow<'_>) -> Result<(), Fail>,
) -> Result<(), Fail> {
    RequestRow::each_of(run, |level, cut| note_cut(level.path(), Some(cut)), each)
}

/// All of them as comma-separated values.
fn requests_csv(run: &StoredRun, file: &Path) -> Result<(), Fail> {
    let mut sink = Sink::open(file)?;
    sink.line(&RequestRow::csv_head())?;
    each_row(run, |row| sink.line(&row.csv()))?;
    sink.write_whole("")
}

// Tables as Parquet, where this program was built with it.

#[cfg(feature = "parquet")]
fn parquet_requests(run: &StoredRun, folder: &Path) -> Result<(), Fail> {
    use fizeau::report::RequestsParquet;
    let (path, file) = create(&folder.join("requests.parquet"))?;
    let broken = |error| broken!("{}: {error}", path.display());
    let mut table = RequestsParquet::new(file).map_err(broken)?;
    each_row(run, |row| table.add(row).map_err(broken))?;
    table.finish().map(drop).map_err(broken)
}

#[cfg(feature = "parquet")]
fn parquet_levels(table: &LevelTable, folder: &Path) -> Result<(), Fail> {
    let (path, file) = create(&folder.join("levels.parquet"))?;
    let written = table.to_parquet(file).map(drop);
    written.map_err(|error| broken!("{}: {error}", path.display()))
}

// Standard output, or a file.

/// Where a table goes.
pub(super) struct Sink {
    name: String,
    to: Box<dyn Write>,
}

/// Whether it is standard output.
fn is_screen(file: &Path) -> bool {
    file == Path::new("-")
}

impl Sink {
    pub(super) fn open(file: &Path) -> Result<Self, Fail> {
        let (name, to): (String, Box<dyn Write>) = if is_screen(file) {
            ("standard output".to_owned(), Box::new(io::stdout()))
        } else {
            let (path, file) = create(file)?;
            (path.display().to_string(), Box::new(file))
        };
        Ok(Self { name, to: Box::new(BufWriter::new(to)) })
    }

    /// Writes a line, and what is before it when it suits. A reader who has seen enough (`| head`) is nothing to fail over.
    fn line(&mut self, line: &str) -> Result<(), Fail> {
        let written = writeln!(self.to, "{line}");
        self.written(written)
    }

    /// Writes `text` and all before it.
    pub(super) fn write_whole(mut self, text: &str) -> Result<(), Fail> {
        let written = self.to.write_all(text.as_bytes()).and_then(|()| self.to.flush());
        self.written(written)
    }

    fn written(&self, written: io::Result<()>) -> Result<(), Fail> {
        match written {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(broken!("{}: {error}", self.name))
            }
            _ => Ok(()),
        }
    }
}

/// A new file, in a folder that is made if need be.
fn create(path: &Path) -> Result<(PathBuf, File), Fail> {
    let wrong = |error: io::Error| usage!("{}: {error}", path.display());
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(wrong)?;
    }
    Ok((path.to_owned(), File::create(path).map_err(wrong)?))
}
