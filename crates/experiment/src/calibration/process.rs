//! A server in a process of its own.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::PacedServer;

/// A server in a process of its own, which prints its address. It ends when this is dropped, and, if it ends with its standard input, also
/// when this process is killed.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    _stdin: Option<ChildStdin>,
    /// Kept, so that the server can print.
    _stdout: BufReader<ChildStdout>,
    base_url: String,
}

impl ServerProcess {
    /// Starts it, and waits for the line that has its address.
    ///
    /// # Errors
    /// If it does not start, or prints no `http://...`.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let broken = |what: &str| io::Error::other(format!("the server {what}"));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let started = command.spawn();
        let mut child = started.map_err(|error| broken(&format!("does not start: {error}")))?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or_else(|| broken("has no output"))?;
        let mut stdout = BufReader::new(stdout);
        let base_url = base_url(&mut stdout).ok_or_else(|| broken("does not print its address"));
        let base_url = base_url.inspect_err(|_| drop(child.kill()))?;
        Ok(Self { child, _stdin: stdin, _stdout: stdout, base_url })
    }
}

impl PacedServer for ServerProcess {
    fn base_url(&self) -> &str {
        &self.base_url
    }
}

impl Drop for ServerProcess {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_says_where_it_is_before_anybody_asks_it() {
        let says = "echo serving; echo at http://127.0.0.1:1 now; cat";
        let server = ServerProcess::start(Command::new("sh").args(["-c", says])).unwrap();
        assert_eq!(server.base_url(), "http://127.0.0.1:1");
        let silent = ServerProcess::start(&mut Command::new("true")).unwrap_err();
        assert_eq!(silent.to_string(), "the server does not print its address");
    }
}
