//! Measures this machine within the seconds that are given (8), the components that are named (all), and prints a line a row.

use std::error::Error;
use std::time::Instant;

use fizeau_core::{Clock, Nanos, Stamp};
use fizeau_probe::{
    Component, CpuBackend, KeepGoing, MeasuredDevice, ProbeBackend, ProbeDocument, ProbeEvent,
    ProbeRow, run_trials, usual_trials,
};

struct FromNow(Instant);

impl Clock for FromNow {
    fn now(&self) -> Stamp {
        Stamp::from_nanos(self.0.elapsed().as_nanos() as u64)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let seconds = words.next().map_or(Ok(8), |word| word.parse())?;
    let named: Vec<String> = words.collect();
    let mut backend = CpuBackend::new();
    let wanted = Component::ALL.into_iter().filter(|component| {
        named.is_empty() || named.iter().any(|name| name == component.as_str())
    });
    let trials = usual_trials(&backend, wanted);
    let (clock, mut measured) = (FromNow(Instant::now()), Vec::new());
    let outcome = run_trials(
        &mut backend,
        &trials,
        (&clock, Nanos::from_secs(seconds)),
        &mut measured,
        |event| {
            if let ProbeEvent::NotAvailable { trial, reason } = event {
                println!("{}: {reason}", trial.operation);
            }
            KeepGoing::Yes
        },
    )?;
    let took = clock.now().saturating_since(Stamp::EPOCH);
    let document = ProbeDocument::new(backend.host(), backend.devices(), measured);
    println!("{}; {outcome:?} in {:.1} s", document.devices[0].model, took.as_secs_f64());
    for level in &document.plateaus {
        let (from, to) = (level.from.get() / 1024.0, level.to.get() / 1024.0);
        println!("{} {}: {from} to {to} KiB, {:.3e}", level.curve, level.level, level.value);
    }
    match MeasuredDevice::of(&document, "cpu") {
        Ok(measured) => println!("{}", measured.toml),
        Err(error) => println!("no device file: {error}"),
    }
    for row in &document.rows {
        println!("{}", line(row));
    }
    Ok(())
}

fn line(row: &ProbeRow) -> String {
    let figures = &row.figures;
    let mut parts = vec![format!("{:74}", row.measured.subject())];
    let rate = figures.stream.map(|rate| (rate.typical.get(), rate.peak().get()));
    parts.extend(
        rate.map(|(typical, best)| format!("{:6.2} (best {:6.2}) GB/s", typical / 1e9, best / 1e9)),
    );
    let flops = figures
        .arithmetic
        .filter(|_| rate.is_none() || row.measured.operation.component() != Component::Memory);
    parts.extend(flops.map(|rate| {
        format!("{:7.2} (best {:7.2}) GFLOP/s", rate.typical.get() / 1e9, rate.peak().get() / 1e9)
    }));
    if row.measured.operation.component() == Component::Latency {
        parts.extend(figures.time.map(|time| {
            format!("{:6.2} (best {:6.2}) ns", time.typical.get() * 1e6, time.peak().get() * 1e6)
        }));
        let beside = row.measured.circumstances.beside;
        parts.extend(beside.map(|rate| format!("beside {:.2} GB/s", rate.get() / 1e9)));
    }
    let percent = row.shares.percent_of_clock_peak;
    parts.extend(percent.map(|percent| format!("{percent:.1} % of the clock's peak")));
    let clock = row.measured.circumstances.clock_after;
    parts.extend(clock.map(|clock| format!("{:.2} GHz", clock.get() / 1e9)));
    parts.push(row.verdict.as_str().to_owned());
    parts.extend(row.objections.iter().map(|objection| format!("{:?}", objection.rule)));
    parts.join("  ")
}
