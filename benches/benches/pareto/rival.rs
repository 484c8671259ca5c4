//! The Python package moocore, in a process of its own that waits for requests, so that its start is not counted.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result};
use fizeau_benches::environment;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const LOCK: &str = "benches/pareto/requirements.lock";
const SCRIPT: &str = "benches/pareto/moocore_calls.py";

/// Running, and ready for requests.
#[derive(Debug)]
pub(crate) struct Rival {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    versions: String,
}

#[derive(Debug, Deserialize)]
struct Versions {
    moocore: String,
    numpy: String,
}

/// What a function of moocore took and gave.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Called {
    pub(crate) seconds: f64,
    pub(crate) value: f64,
}

impl Rival {
    /// Installs moocore below `target/` unless it is there, and starts it.
    pub(crate) fn start() -> Result<Self> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("moocore");
        let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join(LOCK);
        let python = environment("moocore", &folder, &lock).map_err(anyhow::Error::msg)?;
        let mut command = Command::new(python);
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().context("cannot start moocore's Python")?;
        let requests = process.stdin.take().context("no way to ask moocore")?;
        let answers = BufReader::new(process.stdout.take().context("no way to hear moocore")?);
        let mut rival = Self { process, requests, answers, versions: String::new() };
        // What cannot be imported is found out here, and not amid the cases.
        let Versions { moocore, numpy } = rival.answer()?;
        rival.versions = format!("moocore {moocore}, numpy {numpy}");
        Ok(rival)
    }

    /// What it is.
    pub(crate) fn versions(&self) -> &str {
        &self.versions
    }

    /// Has it read `figures`, points of so many `axes`.
    pub(crate) fn load(&mut self, figures: &[f64], axes: usize) -> Result<()> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("points.f64");
        let bytes: Vec<u8> = figures.iter().flat_map(|figure| figure.to_le_bytes()).collect();
        fs::write(&path, bytes).context("cannot write the points for moocore")?;
        let loaded = self.ask::<Value>(&json!({ "load": path, "axes": axes }));
        fs::remove_file(&path).ok();
        loaded.map(|_| ())
    }

    /// Calls `function` on what was loaded.
    pub(crate) fn call(&mut self, function: &str, keywords: &Value) -> Result<Called> {
        self.ask(&json!({ "call": function, "keywords": keywords }))
    }

    fn ask<T: DeserializeOwned>(&mut self, request: &Value) -> Result<T> {
        writeln!(self.requests, "{request}").context("moocore has ended")?;
        self.answer()
    }

    fn answer<T: DeserializeOwned>(&mut self) -> Result<T> {
        let mut answer = String::new();
        self.answers.read_line(&mut answer).context("moocore has ended")?;
        serde_json::from_str(&answer).context("moocore failed (see above for its reason)")
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}
