//! A report of your own, in Markdown, from the data that all of ours are made of.

use fizeau::core::{Arrival, Channel, LoadKind, Nanos, Stamp, Tape};
use fizeau::record::{LevelReport, RunSetup, SweepReport};
use fizeau::report::ReportSink;

/// Takes a report down as a table.
#[derive(Default)]
struct Markdown(String);

impl ReportSink for Markdown {
    type Error = std::convert::Infallible;

    fn report(&mut self, report: &SweepReport) -> Result<(), Self::Error> {
        self.0 = "| load | requests/s | p50 TTFT, ms | verdict |\n|---|--:|--:|---|\n".to_owned();
        for level in report.levels() {
            let rate = level.summary.throughput.requests_per_s.get();
            let ttft = level.summary.metrics.ttft.p50.value();
            let ttft = ttft.map_or_else(|| "-".to_owned(), |p50| format!("{:.1}", p50.get()));
            let (load, verdict) = (level.load.to_string(), level.validity.verdict);
            self.0 += &format!("| {load} | {rate:.1} | {ttft} | {verdict:?} |\n");
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let at = |k: u64| Stamp::EPOCH + Nanos::from_millis(20 * k);
    let mut tapes: Vec<Tape> = (0..100).map(|k| Tape::sent_at(at(k))).collect();
    for (tape, k) in tapes.iter_mut().zip(1..) {
        tape.arrivals.push(Arrival::tokens(at(k), 1, Channel::Visible));
    }
    let level = LevelReport::of_tapes(LoadKind::Concurrency.at(1.0), &tapes);
    let mut markdown = Markdown::default();
    markdown.report(&SweepReport::new(RunSetup::default(), vec![level], None))?;
    println!("{}", markdown.0);
    assert!(markdown.0.contains("| concurrency 1 | 50.0 | 20.0 |"), "{}", markdown.0);
    Ok(())
}
