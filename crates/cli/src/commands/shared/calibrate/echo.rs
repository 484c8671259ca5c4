//! The embedded server in a process of its own, which ends when this one does.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use fizeau::core::Nanos;

use crate::exit::Fail;

/// How fast the server sends.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) ttft: Nanos,
    pub(super) itl: Nanos,
}

/// A running server. It ends when this is dropped, and also when this process is killed: it reads its standard input, whose
/// other end is here, to the end.
pub(super) struct Echo {
    child: Child,
    _stdin: Option<ChildStdin>,
    /// Kept, so that the server can print.
    _stdout: BufReader<ChildStdout>,
    base_url: String,
}

impl Echo {
    pub(super) fn start(pace: Pace) -> Result<Self, Fail> {
        let broken = |what: &str| Fail::broken(format!("--calibrate: the embedded server {what}"));
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
        let base_url = base_url(&mut stdout).ok_or_else(|| broken("does not say where it is"));
        let base_url = base_url.inspect_err(|_| drop(child.kill()))?;
        Ok(Self { child, _stdin: stdin, _stdout: stdout, base_url })
    }

    pub(super) fn base_url(&self) -> &str {
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
