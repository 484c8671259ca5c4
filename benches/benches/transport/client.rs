//! `fizeau bench` as a process.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use fizeau::core::Tape;
use serde::Deserialize;

use crate::cores::{Core, Priority};
use crate::folder::Scratch;
use crate::process::{Finished, Running, pinned};
use crate::shape::{Shape, TOKENS};

/// The program under test.
#[derive(Debug)]
pub(crate) struct Client {
    program: PathBuf,
    core: Core,
    /// Whether it takes `--threads`.
    threads: bool,
}

/// One run of it.
#[derive(Debug)]
pub(crate) struct ClientRun {
    pub(crate) finished: Finished,
    pub(crate) summary: Summary,
    /// Where its tapes are, until the next run.
    tapes: PathBuf,
}

/// `summary.json`, as much of it as is used here.
#[derive(Debug, Deserialize)]
pub(crate) struct Summary {
    pub(crate) validity: Validity,
    pub(crate) requests: Requests,
    pub(crate) tokens: Tokens,
    pub(crate) metrics: Metrics,
    pub(crate) throughput: Throughput,
    pub(crate) jitter: Jitter,
    pub(crate) client: Proof,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Jitter {
    /// Of the gaps between events, those lost because several were read at once, too late.
    pub(crate) merged_gap_share: Option<f64>,
}

/// What the client saw of itself.
#[derive(Debug, Deserialize)]
pub(crate) struct Proof {
    pub(crate) run_delay_share: Option<f64>,
    pub(crate) steal_share: Option<f64>,
    pub(crate) headroom: Option<Headroom>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Headroom {
    pub(crate) file_descriptors: Option<Need>,
    pub(crate) ports: Option<Need>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Need {
    pub(crate) needed: u64,
    pub(crate) limit: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Validity {
    pub(crate) verdict: String,
    pub(crate) reasons: Vec<Reason>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Reason {
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Requests {
    pub(crate) failed: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Tokens {
    pub(crate) output: u64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Metrics {
    pub(crate) ttft_ms: Spread,
    pub(crate) tpot_ms: Spread,
    pub(crate) send_lateness_ms: Spread,
    /// Only where the kernel stamped.
    pub(crate) read_lag_ms: Option<Spread>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Spread {
    pub(crate) mean: Option<f64>,
    pub(crate) p99: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Throughput {
    pub(crate) output_tokens_per_s: f64,
}

impl Client {
    pub(crate) fn new(program: &Path, core: Core) -> Result<Self> {
        let help = Command::new(program).args(["bench", "--help"]).output();
        let help = help.with_context(|| format!("cannot run {}", program.display()))?;
        let threads = String::from_utf8_lossy(&help.stdout).contains("--threads");
        Ok(Self { program: program.to_owned(), core, threads })
    }

    /// All requests of `shape`, against the server at `url`.
    pub(crate) fn run(
        &self,
        shape: &Shape,
        priority: Priority,
        url: &str,
        scratch: &Scratch,
    ) -> Result<ClientRun> {
        let folder = scratch.fresh("run")?;
        ClientRun::of(&mut self.command(shape, priority, url, &folder), &folder)
    }

    /// `fizeau bench` against the server at `url`, as `flags` ask.
    pub(crate) fn bench(
        &self,
        flags: &[&str],
        priority: Priority,
        url: &str,
        scratch: &Scratch,
    ) -> Result<ClientRun> {
        let folder = scratch.fresh("run")?;
        let mut command = self.command_to(priority, url, &folder);
        ClientRun::of(command.args(flags), &folder)
    }

    /// `fizeau simulate`, as `flags` ask.
    pub(crate) fn simulate(
        &self,
        flags: &[&str],
        priority: Priority,
        scratch: &Scratch,
    ) -> Result<ClientRun> {
        let folder = scratch.fresh("simulated")?;
        let mut command = pinned(self.core, priority, &self.program.to_string_lossy());
        command.arg("simulate").args(flags).arg("--out").arg(&folder);
        ClientRun::of(&mut command, &folder)
    }

    /// What runs all requests of `shape`, into `folder`.
    pub(crate) fn command(
        &self,
        shape: &Shape,
        priority: Priority,
        url: &str,
        folder: &Path,
    ) -> Command {
        let mut command = self.command_to(priority, url, folder);
        command.args(["--num-warmups", "0"]);
        let numbers = [
            ("--random-input-len", TOKENS),
            ("--random-output-len", TOKENS),
            ("--num-prompts", shape.requests()),
            ("--max-concurrency", shape.streams),
        ];
        for (flag, number) in numbers {
            command.arg(flag).arg(number.to_string());
        }
        command
    }

    fn command_to(&self, priority: Priority, url: &str, folder: &Path) -> Command {
        let mut command = pinned(self.core, priority, &self.program.to_string_lossy());
        command.args(["bench", "--base-url", url, "--model", "m"]);
        if self.threads {
            command.args(["--threads", "1"]);
        }
        command.arg("--out").arg(folder);
        for name in
            ["FIZEAU_BACKEND", "FIZEAU_API_KEY", "OPENAI_API_KEY", "http_proxy", "HTTP_PROXY"]
        {
            command.env_remove(name);
        }
        command
    }
}

impl ClientRun {
    /// Runs `command`, whose run goes to `folder`.
    pub(crate) fn of(command: &mut Command, folder: &Path) -> Result<Self> {
        let finished = Running::start(command)?.finish()?;
        // 1 is a verdict that is not `valid`, which the table will show.
        if !matches!(finished.code, Some(0 | 1)) {
            bail!("fizeau failed:\n{}{}", finished.stdout, finished.stderr);
        }
        let path = folder.join("summary.json");
        let file = File::open(&path).with_context(|| format!("no {}", path.display()))?;
        let summary = serde_json::from_reader(BufReader::new(file));
        let summary = summary.with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Self { finished, summary, tapes: folder.join("tapes.jsonl") })
    }

    /// The tapes, one by one.
    pub(crate) fn tapes(&self) -> Result<impl Iterator<Item = Result<Tape>> + use<>> {
        let path = &self.tapes;
        let file = File::open(path).with_context(|| format!("no {}", path.display()))?;
        let tape = |line: std::io::Result<String>| -> Result<Tape> {
            serde_json::from_str(&line?).context("tapes.jsonl has a line that is no tape")
        };
        Ok(BufReader::new(file).lines().map(tape))
    }

    /// CPU seconds of the whole process per million tokens that came.
    pub(crate) fn cpu_per_million(&self) -> f64 {
        self.finished.cpu.as_secs_f64() / self.summary.tokens.output as f64 * 1e6
    }
}
