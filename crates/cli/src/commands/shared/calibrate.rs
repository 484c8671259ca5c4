//! `fizeau bench --calibrate`: what this client can do at most on this machine, against the embedded server in a process of its own,
//! which ends when this one does.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fizeau::experiment::{
    CalibrationSettings, EndpointSource, Experiment, ExperimentError, PacedServer, ServerPace,
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
    let mut settings = CalibrationSettings::new(made_up, Echo::start);
    settings.text = bench::text_after(level);
    let cap = level.load.in_flight.max_concurrency.and_then(|cap| u32::try_from(cap).ok());
    let all =
        level.load.num_prompts.map_or(u32::MAX, |all| u32::try_from(all.get()).unwrap_or(u32::MAX));
    settings.streams = cap.unwrap_or(settings.streams).min(all).max(1);
    let experiment = Experiment::new(endpoint).settings(settings);
    let experiment = experiment.client(client::spec(&args.client)?);
    let _running = Waiting::for_calibration();
    Ok(runtime::single()?.block_on(experiment.run(&mut ()))?)
}

/// A running server. It ends when this is dropped, and also when this process is killed: it reads its standard input, whose
/// other end is here, to the end.
struct Echo {
    child: Child,
    _stdin: Option<ChildStdin>,
    /// Kept, so that the server can print.
    _stdout: BufReader<ChildStdout>,
    base_url: String,
}

impl Echo {
    fn start(pace: ServerPace) -> Result<Self, ExperimentError> {
        let broken = |what: &str| {
            ExperimentError::Broken(format!("--calibrate: the embedded server {what}").into())
        };
        let program = std::env::current_exe()
            .map_err(|error| broken(&format!("cannot be found: {error}")))?;
        let mut child = Command::new(program)
            .args(["serve", "--port", "0", "--until-stdin-ends"])
            .args(["--ttft-ms", &pace.ttft.to_millis().get().to_string()])
            .args(["--itl-ms", &pace.itl.to_millis().get().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| broken(&format!("does not start: {error}")))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| broken("has no output"))?;
        let mut stdout = BufReader::new(stdout);
        let base_url = base_url(&mut stdout).ok_or_else(|| broken("does not print its address"));
        let base_url = base_url.inspect_err(|_| drop(child.kill()))?;
        Ok(Self { child, _stdin: stdin, _stdout: stdout, base_url })
    }
}

impl PacedServer for Echo {
    fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        // It may be gone already.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The address, from the line that names it.
fn base_url(output: &mut impl BufRead) -> Option<String> {
    output.lines().map_while(Result::ok).find_map(|line| {
        let at = line.find("http://")?;
        line[at..].split_whitespace().next().map(str::to_owned)
    })
}
