//! `cargo xtask engine`: a real serving engine on the CPU, so that what is measured need not be simulated.
//!
//! It is llama.cpp's server, as the Python package `xllamacpp` carries it, over a tiny model of random
//! weights that a script of this repository makes. All of it lives in `target/engine/`.

mod http;
mod server;
mod setup;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::Subcommand;

use crate::{cargo, process, sweep};
use server::Running;
pub(crate) use setup::find_python;

/// What the server calls its model.
const MODEL: &str = "fizeau-tiny";
/// One stream, then up to four times as many as there are slots: the queue must show.
const LEVELS: &str = "1,2,4,8,16,32";
const LOCK: &str = include_str!("../engine/requirements.lock");

/// Runs "$@" to its end whatever signals come (they reach the command itself, which knows best), stops the
/// engine, and gives the command's exit code. A shell can do this where a Rust program without `unsafe`
/// cannot.
const RUN_THEN_STOP: &str =
    r#"trap : INT TERM HUP; "$@"; code=$?; "$0" engine down >/dev/null; exit "$code""#;

/// The commands of `cargo xtask engine`.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Set it up if need be, start it if it does not run, and say where it listens
    Up,
    /// Stop it
    Down,
    /// Run a command with FIZEAU_BASE_URL, FIZEAU_MODEL, FIZEAU_LEVELS and FIZEAU_ENGINE set to it, and for `cargo xtask sweep` what
    /// its speed of light is computed from
    Run {
        /// The command and its arguments, after `--`
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// Carries out `action`.
///
/// # Errors
/// If there is no fit Python, or the engine cannot be installed, started or stopped.
pub(crate) fn run(action: Action) -> Result<ExitCode> {
    match action {
        Action::Up => say_how_to_use(&up()?.0),
        Action::Down => {
            let stopped = server::stop(&Folder::of_target()?)?;
            println!("engine: {}", if stopped { "stopped" } else { "was not running" });
        }
        Action::Run { command } => {
            let [program, args @ ..] = command.as_slice() else {
                return Ok(ExitCode::SUCCESS);
            };
            return process::become_command(around(&this_program()?, program, args)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Brings the engine up and returns `program` with `args` as a command that is told where it is. If it was
/// not running before, `xtask` will stop it after the command.
///
/// # Errors
/// As [`run`].
pub(crate) fn around(xtask: &Path, program: &OsStr, args: &[OsString]) -> Result<Command> {
    let (running, before) = up()?;
    let mut command = match before {
        Before::Ran => Command::new(program),
        Before::Stopped => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(RUN_THEN_STOP).arg(xtask).arg(program);
            shell
        }
    };
    command
        .args(args)
        .env("FIZEAU_BASE_URL", &running.url)
        .env("FIZEAU_MODEL", MODEL)
        .env("FIZEAU_LEVELS", LEVELS)
        .env("FIZEAU_ENGINE", description());
    for (name, value) in sweep::SUBJECT.iter().zip(subject()?) {
        command.env(name, value);
    }
    Ok(command)
}

/// What the speed of light is computed from, and how the engine stores the model: the values of [`sweep::SUBJECT`].
fn subject() -> Result<[OsString; 3]> {
    Ok([
        Folder::of_target()?.path("model").join("config.json").into(),
        cargo::root().join("xtask/engine/cpu-core.toml").into(),
        "weights f32, KV cache f16".into(),
    ])
}

/// The path of this program. To be asked before anything is built: once cargo has put a new xtask in its place,
/// Linux calls the old one deleted.
///
/// # Errors
/// If the system does not say.
pub(crate) fn this_program() -> Result<PathBuf> {
    env::current_exe().context("cannot tell which program this is")
}

/// Whether the engine ran before we wanted it.
#[derive(Debug)]
enum Before {
    Ran,
    Stopped,
}

fn up() -> Result<(Running, Before)> {
    let folder = Folder::of_target()?;
    // Two at once would install into one folder and start two servers.
    let lock = fs::File::create(folder.path("lock")).context("cannot write target/engine/lock")?;
    lock.lock().context("cannot lock target/engine/lock")?;
    if let Some(running) = server::running(&folder) {
        return Ok((running, Before::Ran));
    }
    let python = setup::environment(&folder)?;
    setup::model(&folder, &python)?;
    Ok((server::start(&folder, &python)?, Before::Stopped))
}

fn say_how_to_use(running: &Running) {
    println!("engine: {}", description());
    println!("url:    {}", running.url);
    println!("model:  {MODEL}");
    println!(
        "sweep:  FIZEAU_LEVELS={LEVELS} cargo xtask sweep --base-url {} --model {MODEL}",
        running.url
    );
    println!("stop:   cargo xtask engine down");
}

/// One line for a report: what ran.
fn description() -> String {
    format!("llama.cpp server (xllamacpp {}), 8 slots, 12.6 M random weights", version(LOCK))
}

/// The pinned version of xllamacpp.
fn version(lock: &str) -> &str {
    let pinned = lock.lines().find_map(|line| line.strip_prefix("xllamacpp=="));
    pinned.and_then(|rest| rest.split_whitespace().next()).unwrap_or("of unknown version")
}

/// `target/engine/`.
#[derive(Debug)]
struct Folder(PathBuf);

impl Folder {
    fn of_target() -> Result<Self> {
        let folder = cargo::Metadata::read(&["--no-deps"])?.target_directory.join("engine");
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Self(folder))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_locked_one() {
        assert_eq!(version("gguf==1\nxllamacpp==2026.1.2 \\\n    --hash=sha256:00"), "2026.1.2");
        assert!(version(LOCK).starts_with("20"), "{}", version(LOCK));
    }

    #[test]
    fn the_lock_pins_and_hashes_and_names_no_index() {
        let mut hashed = true;
        for line in LOCK.lines().filter(|line| !line.starts_with('#')) {
            if line.starts_with(' ') {
                assert!(line.trim().starts_with("--hash=sha256:"), "{line}");
                hashed = true;
            } else {
                assert!(hashed, "no hash before: {line}");
                assert!(line.contains("==") && line.ends_with('\\'), "not pinned: {line}");
                hashed = false;
            }
        }
        assert!(hashed);
        assert!(!LOCK.contains("://"));
    }
}
