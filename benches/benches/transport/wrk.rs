//! `wrk`, which reads the same streams and neither parses nor stamps an event: what the bytes alone cost.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fizeau::core::RequestId;
use fizeau::transport::{Backend, BodyInput, ExtraBody, Route};
use fizeau::workload::{Lengths, Plan, PlanSpec};

use crate::cores::{Core, Priority};
use crate::folder::Scratch;
use crate::process::{Running, pinned};
use crate::server::Server;
use crate::shape::{Shape, TOKENS};

/// How long it runs: enough for 1 % of its CPU time, which is told to 10 ms.
const SECONDS: u64 = 10;

/// How to get it.
pub(crate) const MISSING: &str = "wrk is not installed, so there is nothing to hold the CPU figures against:\n\
     apt-get install wrk (Debian, Ubuntu), brew install wrk (macOS), or\n\
     https://github.com/wg/wrk";

#[derive(Debug)]
pub(crate) struct Wrk {
    core: Core,
    script: PathBuf,
    /// What it posts: the body of Fizeau's own first request.
    body: Vec<u8>,
}

/// What one run of it cost.
#[derive(Debug)]
pub(crate) struct WrkRun {
    pub(crate) cpu: Duration,
    pub(crate) tokens: f64,
}

impl WrkRun {
    pub(crate) fn cpu_per_million(&self) -> f64 {
        self.cpu.as_secs_f64() / self.tokens * 1e6
    }
}

impl Wrk {
    /// None where it is not installed.
    pub(crate) fn find(core: Core, scratch: &Scratch) -> Result<Option<Self>> {
        // It prints its version and fails, which is good enough.
        if Command::new("wrk").arg("--version").output().is_err() {
            return Ok(None);
        }
        let body = body()?;
        let script = scratch.path().join("post.lua");
        fs::write(&script, lua(&body)).context("cannot write wrk's script")?;
        Ok(Some(Self { core, script, body }))
    }

    pub(crate) fn run(&self, shape: &Shape, priority: Priority, server: &Server) -> Result<WrkRun> {
        let bytes_per_token =
            if shape.is_paced() { Some(server.bytes_per_token(&self.body)?) } else { None };
        let mut command = pinned(self.core, priority, "wrk");
        command.args(["-t1", "--timeout", "60s"]).arg(format!("-d{SECONDS}s"));
        command.arg(format!("-c{}", shape.streams));
        command.arg("-s").arg(&self.script).arg(server.url());
        let finished = Running::start(&mut command)?.finish()?;
        let total = finished.stdout.lines().find_map(|line| line.strip_prefix("total "));
        let Some((requests, bytes)) = total.and_then(parse_total) else {
            bail!("wrk failed:\n{}{}", finished.stdout, finished.stderr);
        };
        // Paced, many replies are cut off at the end, so that bytes tell more. Flat out, how many bytes a token has
        // depends on how many share a chunk, but next to nothing is cut off.
        let tokens = match bytes_per_token {
            Some(per_token) => bytes / per_token,
            None => requests * TOKENS as f64,
        };
        Ok(WrkRun { cpu: finished.cpu, tokens })
    }
}

fn parse_total(line: &str) -> Option<(f64, f64)> {
    let (requests, bytes) = line.split_once(' ')?;
    Some((requests.parse().ok()?, bytes.trim().parse().ok()?))
}

/// The body of Fizeau's own first request.
pub(crate) fn body() -> Result<Vec<u8>> {
    let plan =
        Plan::new(PlanSpec { lengths: Lengths::fixed(TOKENS, TOKENS), ..PlanSpec::new(1)? })?;
    let request = plan.request(RequestId(0));
    let ask = BodyInput {
        model: "m",
        request: &request,
        backend: Backend::Vllm,
        extra: &ExtraBody::default(),
    };
    Ok(Route::Completions.dialect().body(&ask)?)
}

/// A script that posts `body` and, at the end, says what came.
fn lua(body: &[u8]) -> String {
    let body = String::from_utf8_lossy(body);
    format!(
        "wrk.method = 'POST'\n\
         wrk.path = '/v1/completions'\n\
         wrk.headers['Content-Type'] = 'application/json'\n\
         wrk.body = [==[{body}]==]\n\
         function done(summary)\n\
           io.write(string.format('total %d %d\\n', summary.requests, summary.bytes))\n\
         end\n"
    )
}
