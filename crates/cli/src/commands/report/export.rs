//! A stored run for other programs: tables, metrics, and where to send them.

mod parquet;
mod requests;
mod sink;

use fizeau::core::Nanos;
use fizeau::experiment::WallTime;
use fizeau::interop::ExtraTallies;
use fizeau::record::NamedRun;
use fizeau::report::{Exposition, LevelTable};
use fizeau::transport::{MonotonicClock, PushProtocol, PushTarget};

use super::{ReportRequest, level};
use crate::args::ExportArgs;
use crate::commands::shared::endpoint;
use crate::exit::{Exit, Fail};
use crate::terminal::runtime;
pub(super) use sink::Sink;

/// Everything that `args` ask for.
pub(super) fn run(asked: &ReportRequest<'_>, args: &ExportArgs) -> Result<Exit, Fail> {
    one_to_the_screen(args)?;
    let run = asked.reader.run();
    // What cannot be sent is said before anything is read.
    let targets = args.push.iter().map(|url| PushTarget::parse(url)).collect::<Result<Vec<_>, _>>();
    let targets = targets.map_err(|error| usage!("--push {error}"))?;
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
    let levels = level::read(level::all(asked, ExtraTallies::default())?);
    let read = asked.reader.together(levels).map_err(Fail::usage)?;
    let (name, report) = (NamedRun::at(run.path()).name, read.clone().report());
    if wants_levels {
        let table = LevelTable::of_run(&read, &report, &name);
        if let Some(file) = &args.csv {
            Sink::open(file)?.write_whole(&table.to_csv())?;
        }
        if let Some(folder) = &args.parquet {
            parquet::levels(&table, folder)?;
        }
    }
    let exposition = Exposition::of(&report, &name);
    if let Some(file) = &args.prometheus {
        Sink::open(file)?.write_whole(&exposition.to_prometheus())?;
    }
    for target in targets {
        send(&target, &exposition, &name)?;
    }
    Ok(Exit::Good)
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
    let sent = runtime::single()?.block_on(target.send(run, body, endpoint::proxy()?));
    sent.map_err(|error| broken!("--push {target}: {error}"))?;
    tell!("sent to {}", target.address(run));
    Ok(())
}

/// Two tables on one screen would be neither.
fn one_to_the_screen(args: &ExportArgs) -> Result<(), Fail> {
    let files = [("--csv", &args.csv), ("--requests-csv", &args.requests_csv)];
    let files = files.into_iter().chain([("--prometheus", &args.prometheus)]);
    let to_screen = files.filter(|(_, file)| file.as_deref().is_some_and(sink::is_screen));
    let flags: Vec<&str> = to_screen.map(|(flag, _)| flag).collect();
    match flags.as_slice() {
        [first, second, ..] => Err(usage!(
            "{first} and {second} both go to standard output: name a file for one, {second}=FILE"
        )),
        _ => Ok(()),
    }
}
