//! Whether the client's latencies move when the server's page is read: off and on in turns, against a server with exact times.

use std::num::{NonZeroU32, NonZeroU64};

use anyhow::Result;
use fizeau::core::{Nanos, Tokens};
use fizeau::experiment::{AbSettings, Experiment, RoundCount, TelemetrySpec, WorkloadSpec};
use fizeau::report::{Shown, Verbosity};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Server, ServerConfig};
use fizeau::transport::{Backend, Target};
use fizeau::workload::{Length, Lengths};

const ROUNDS: u32 = 8;
const STREAMS: u32 = 8;

pub(crate) fn run() -> Result<()> {
    let engine = FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5));
    let server = Server::bind(([127, 0, 0, 1], 0).into(), ServerConfig::new(engine))?.spawn()?;
    let target = Target::new(&server.base_url(), Backend::Vllm, "m")?;
    let mut workload = WorkloadSpec::default();
    workload.requests = NonZeroU64::new(160);
    let short = Length::Fixed(Tokens::new(32));
    workload.lengths = Lengths::Independent { input: short.clone(), output: short };
    let mut settings = AbSettings::new(target.clone(), workload, RoundCount::new(ROUNDS)?);
    settings.names = ["not scraped".to_owned(), "scraped".to_owned()].map(Some);
    settings.max_in_flight = NonZeroU32::new(STREAMS);
    settings.settle = Nanos::from_millis(200);
    settings.figures = vec!["p99 ttft".parse()?, "p99 itl".parse()?];
    // Ten times as often as by default.
    let mut telemetry = TelemetrySpec::default();
    telemetry.interval = Nanos::from_millis(100);
    let experiment = Experiment::new(target).settings(settings).telemetry(telemetry);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(experiment.run(&mut ()))?;
    println!("{}", Shown(&report).text(Verbosity::Full));
    Ok(())
}
