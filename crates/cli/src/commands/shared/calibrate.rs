//! `fizeau bench --calibrate`: what this client can do at most on this machine, against the embedded server in a process of its own,
//! which ends when this one does.

use std::num::NonZeroU32;
use std::process::Command;

use fizeau::experiment::{
    CalibrationSettings, EndpointSource, Experiment, ExperimentError, ServerPace, ServerProcess,
};
use fizeau::record::ClientCalibration;

use crate::args::BenchArgs;
use crate::commands::bench;
use crate::commands::shared::{client, workload};
use crate::exit::Fail;
use crate::terminal::progress::Waiting;
use crate::terminal::runtime;

/// Whether a run is asked for beside the calibration: an endpoint or a model is named.
pub(crate) const fn has_run(args: &BenchArgs) -> bool {
    let (target, endpoint) = (&args.target, &args.endpoint);
    !target.base_url.is_empty()
        || target.names_host()
        || endpoint.model.is_some()
        || endpoint.served_model_name.is_some()
}

/// Measures the ceiling for requests of the shape that `args` ask for, with connections as `endpoint` has them.
pub(crate) fn run(
    args: &BenchArgs,
    endpoint: impl Into<EndpointSource>,
) -> Result<ClientCalibration, Fail> {
    let level = &args.level;
    let made_up = workload::made_up(&level.workload)?;
    let mut settings = CalibrationSettings::new(made_up, serve);
    settings.text = bench::text_after(level);
    let cap = level.load.in_flight.max_concurrency.map(NonZeroU32::get);
    let all =
        level.load.num_prompts.map_or(u32::MAX, |all| u32::try_from(all.get()).unwrap_or(u32::MAX));
    settings.streams = cap.unwrap_or(settings.streams).min(all).max(1);
    let experiment = Experiment::new(endpoint).settings(settings);
    let experiment = experiment.client(client::spec(&args.client)?);
    let _running = Waiting::on("calibrating, about 15 s".to_owned());
    Ok(runtime::single()?.block_on(experiment.run(&mut ()))?)
}

/// This program as a server that ends with its standard input, so that it ends too when this process is killed.
fn serve(pace: ServerPace) -> Result<ServerProcess, ExperimentError> {
    let broken = |error| ExperimentError::Broken(format!("--calibrate: {error}").into());
    let mut command = Command::new(std::env::current_exe().map_err(broken)?);
    command.args(["serve", "--port", "0", "--until-stdin-ends"]);
    command.args(["--ttft-ms", &pace.ttft.to_millis().get().to_string()]);
    command.args(["--itl-ms", &pace.itl.to_millis().get().to_string()]);
    ServerProcess::start(&mut command).map_err(broken)
}
