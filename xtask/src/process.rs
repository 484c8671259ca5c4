//! Running other programs.

use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;

use anyhow::{Context, Result};

use crate::Counts;

/// Replaces this process by `command`, so that signals and the exit code are the command's own affair.
///
/// # Errors
/// If the program cannot be started.
#[cfg(unix)]
pub(crate) fn become_command(mut command: Command) -> Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", name(&command)))
}

/// Runs `command` and passes its exit code on: the nearest thing to replacing this process that there is
/// here.
///
/// # Errors
/// If the program cannot be started.
#[cfg(not(unix))]
pub(crate) fn become_command(mut command: Command) -> Result<ExitCode> {
    let status = command.status().with_context(|| format!("cannot run {}", name(&command)))?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Whether `command` ended well; its output goes where ours goes.
///
/// # Errors
/// If the program cannot be started.
pub(crate) fn succeeds(command: &mut Command) -> Result<bool> {
    let status = command.status().with_context(|| format!("cannot run {}", name(command)))?;
    Ok(status.success())
}

/// What `command` printed, or none if it failed; it prints nothing here.
pub(crate) fn output_of(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Whether this is a run of continuous integration, where what is not tried has failed.
pub(crate) fn is_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Runs a test runner: shows what it prints and adds up its closing lines. The first value is whether it
/// ended well.
///
/// # Errors
/// If the program cannot be started or its output not be read.
pub(crate) fn count_tests(command: &mut Command) -> Result<(bool, Counts)> {
    if io::stderr().is_terminal() {
        // It sees a pipe and would drop its colours, though a terminal is behind us.
        command.env("CARGO_TERM_COLOR", "always");
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot run {}", name(command)))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (out, err) = thread::scope(|scope| {
        let err = scope.spawn(|| stderr.map(|pipe| forward(pipe, io::stderr())));
        let out = stdout.map(|pipe| forward(pipe, io::stdout()));
        (out, err.join().unwrap_or_default())
    });
    let status = child.wait().with_context(|| format!("{} was lost", name(command)))?;
    let mut counts = Counts::default();
    for part in [out, err].into_iter().flatten() {
        counts =
            counts + part.with_context(|| format!("cannot read what {} prints", name(command)))?;
    }
    Ok((status.success(), counts))
}

/// Copies lines from `pipe` to `to` as they come, and counts on the way.
fn forward(pipe: impl Read, mut to: impl Write) -> io::Result<Counts> {
    let mut pipe = BufReader::new(pipe);
    let mut line = Vec::new();
    let mut counts = Counts::default();
    while pipe.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        counts = counts + Counts::of_line(&String::from_utf8_lossy(&line)).unwrap_or_default();
        line.clear();
    }
    Ok(counts)
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarding_keeps_every_byte_and_counts() {
        let printed =
            b"a\xff\ntest result: ok. 2 passed; 1 failed; 3 ignored; 0 measured\nno line end";
        let mut copy = Vec::new();
        let counts = forward(&printed[..], &mut copy).unwrap();
        assert_eq!(copy, printed);
        assert_eq!(counts, Counts { passed: 2, failed: 1, skipped: 3 });
    }
}
