//! The engine as a process: start, find again, stop.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::{Folder, MODEL, group, http, setup::Python};
use crate::{cargo, process};

const STOP_WITHIN: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A server that answers.
#[derive(Debug)]
pub(crate) struct Running {
    /// `http://127.0.0.1:PORT`.
    pub(crate) url: String,
}

/// The server that an earlier command left running, if it still does and is well.
pub(crate) fn running(folder: &Folder) -> Option<Running> {
    alive(folder)?;
    let url = fs::read_to_string(folder.path("url")).ok()?;
    http::is_healthy(&url).then_some(Running { url })
}

/// Starts the server, in a process group of its own so that a Ctrl-C meant for us leaves it to be stopped in
/// order.
///
/// # Errors
/// If it does not come up; the end of its log is in the message.
pub(crate) fn start(folder: &Folder, python: &Python) -> Result<Running> {
    // One that runs but does not answer is in the way.
    stop(folder)?;
    let url = folder.path("url");
    let log = fs::File::create(folder.path("log")).context("cannot write the engine's log")?;
    let mut command = Command::new(&python.program);
    command
        .arg(cargo::root().join("xtask/engine").join(folder.recipe.server_script))
        .arg(folder.path("model").join(folder.recipe.model_file))
        .arg(MODEL)
        .arg(&url)
        .stdin(Stdio::null())
        .stdout(log.try_clone().context("cannot write the engine's log")?)
        .stderr(log);
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().context("cannot start the engine")?;
    fs::write(folder.path("pid"), child.id().to_string())?;
    if comes_up(folder, &mut child) {
        return Ok(Running { url: fs::read_to_string(url)? });
    }
    stop(folder)?;
    // Reaped, so that no zombie stays for as long as we live.
    let _ = child.wait();
    let log = fs::read_to_string(folder.path("log")).unwrap_or_default();
    bail!(
        "the engine did not start; its log, target/{}/log, ends with\n{}",
        folder.recipe.folder,
        last_lines(&log, 12)
    )
}

/// Waits until the server answers, or has ended, or has taken too long.
fn comes_up(folder: &Folder, child: &mut Child) -> bool {
    let began = Instant::now();
    while began.elapsed() < folder.recipe.starts_within {
        if running(folder).is_some() {
            return true;
        }
        if !matches!(child.try_wait(), Ok(None)) {
            return false;
        }
        thread::sleep(LOOK_EVERY);
    }
    false
}

/// Stops the server and all that it started; false if nothing of it was running. It is asked to end; what still runs after some seconds,
/// as vLLM may that is loading, is killed.
///
/// # Errors
/// If it lives on in spite of being killed.
pub(crate) fn stop(folder: &Folder) -> Result<bool> {
    let Some(pid) = alive(folder) else {
        forget(folder);
        return Ok(false);
    };
    let group = format!("-{pid}");
    for (signal, whom) in [("-TERM", &pid), ("-KILL", &group)] {
        process::succeeds(Command::new("kill").args([signal, "--", whom]).stderr(Stdio::null()))?;
        let began = Instant::now();
        while began.elapsed() < STOP_WITHIN {
            if group::command_lines(&pid).is_empty() {
                forget(folder);
                return Ok(true);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
    bail!("the engine, process group {pid}, cannot be stopped")
}

/// The number of our server's process and of the group that it leads, if any process of that group lives. A number alone proves
/// nothing (they are used again), so a command line must name our script or our folder.
fn alive(folder: &Folder) -> Option<String> {
    let pid = fs::read_to_string(folder.path("pid")).ok()?;
    pid.parse::<u32>().ok()?;
    let path = folder.path("").display().to_string();
    let ours = |line: &String| line.contains(folder.recipe.server_script) || line.contains(&path);
    group::command_lines(&pid).iter().any(ours).then_some(pid)
}

fn forget(folder: &Folder) {
    for name in ["pid", "url"] {
        // Gone already is as good.
        let _ = fs::remove_file(folder.path(name));
    }
}

fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_of_a_log() {
        assert_eq!(last_lines("a\nb\nc\n", 2), "b\nc");
        assert_eq!(last_lines("a\n", 2), "a");
        assert_eq!(last_lines("", 2), "");
    }
}
