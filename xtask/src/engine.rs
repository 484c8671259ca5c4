//! `cargo xtask engine`: a real serving engine on the CPU, so that what is measured need not be simulated.
//!
//! It is llama.cpp's server, as the Python package `xllamacpp` carries it, or vLLM's engine for CPUs, over a tiny model of random
//! weights that a script of this repository makes. All of it lives in `target/engine/` or `target/engine-vllm/`.

mod group;
mod http;
mod recipe;
mod server;
mod setup;

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use crate::{cargo, process, sweep};
pub(crate) use recipe::EngineKind;
use recipe::Recipe;
use server::Running;
pub(crate) use setup::find_python;

/// What the server calls its model.
const MODEL: &str = "fizeau-tiny";
/// One stream, then up to four times as many as there are slots: the queue must show.
const LEVELS: &str = "1,2,4,8,16,32";

/// Runs "$@" to its end whatever signals come (they reach the command itself, which knows best), stops the
/// engine, and gives the command's exit code. A shell can do this where a Rust program without `unsafe`
/// cannot.
const RUN_THEN_STOP: &str = r#"trap : INT TERM HUP; "$@"; code=$?; "$0" engine down --engine "$FIZEAU_ENGINE_TO_STOP" >/dev/null; exit "$code""#;

/// Which engine that is.
const TO_STOP: &str = "FIZEAU_ENGINE_TO_STOP";

/// The commands of `cargo xtask engine`.
#[derive(Debug, Subcommand)]
pub(crate) enum Action {
    /// Set it up if need be, start it if it does not run, and say where it listens
    Up(Which),
    /// Stop it
    Down(Which),
    /// Run a command with FIZEAU_BASE_URL, FIZEAU_MODEL, FIZEAU_LEVELS and FIZEAU_ENGINE set to it, and for `cargo xtask sweep` what
    /// its speed of light is computed from
    Run {
        #[command(flatten)]
        which: Which,
        /// The command and its arguments, after `--`
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        command: Vec<OsString>,
    },
}

/// Which engine is meant.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Which {
    /// The engine
    #[arg(long, value_enum, default_value_t)]
    engine: EngineKind,
}

/// Carries out `action`.
///
/// # Errors
/// If there is no fit Python, or the engine cannot be installed, started or stopped.
pub(crate) fn run(action: Action) -> Result<ExitCode> {
    match action {
        Action::Up(Which { engine }) => {
            let running = up(engine.recipe())?.0;
            say_how_to_use(engine, &running);
        }
        Action::Down(Which { engine }) => {
            let stopped = server::stop(&Folder::of_target(engine.recipe())?)?;
            println!("engine: {}", if stopped { "stopped" } else { "was not running" });
        }
        Action::Run { which, command } => {
            let [program, args @ ..] = command.as_slice() else {
                return Ok(ExitCode::SUCCESS);
            };
            return process::become_command(around_engine(
                which.engine,
                &this_program()?,
                program,
                args,
            )?);
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
    around_engine(EngineKind::default(), xtask, program, args)
}

/// The same of any engine.
///
/// # Errors
/// As [`run`].
pub(crate) fn around_engine(
    kind: EngineKind,
    xtask: &Path,
    program: &OsStr,
    args: &[OsString],
) -> Result<Command> {
    let recipe = kind.recipe();
    let (running, before) = up(recipe)?;
    let mut command = match before {
        Before::Ran => Command::new(program),
        Before::Stopped => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(RUN_THEN_STOP).arg(xtask).arg(program);
            shell.env(TO_STOP, kind.to_string());
            shell
        }
    };
    command
        .args(args)
        .env("FIZEAU_BASE_URL", &running.url)
        .env("FIZEAU_MODEL", MODEL)
        .env("FIZEAU_LEVELS", LEVELS)
        .env("FIZEAU_ENGINE", recipe.what_ran());
    for (name, value) in sweep::SUBJECT.iter().zip(subject(recipe)?) {
        command.env(name, value);
    }
    Ok(command)
}

/// What the speed of light is computed from, and how the engine stores the model: the values of [`sweep::SUBJECT`].
fn subject(recipe: &'static Recipe) -> Result<[OsString; 3]> {
    Ok([
        Folder::of_target(recipe)?.path("model").join("config.json").into(),
        cargo::root().join("xtask/engine/cpu-core.toml").into(),
        recipe.storage.into(),
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

fn up(recipe: &'static Recipe) -> Result<(Running, Before)> {
    let folder = Folder::of_target(recipe)?;
    // Two at once would install into one folder and start two servers.
    let lock = fs::File::create(folder.path("lock")).context("cannot write the engine's lock")?;
    lock.lock().context("cannot lock the engine's folder")?;
    if let Some(running) = server::running(&folder) {
        return Ok((running, Before::Ran));
    }
    let python = setup::environment(&folder)?;
    setup::model(&folder, &python)?;
    Ok((server::start(&folder, &python)?, Before::Stopped))
}

fn say_how_to_use(kind: EngineKind, running: &Running) {
    println!("engine: {}", kind.recipe().what_ran());
    println!("url:    {}", running.url);
    println!("model:  {MODEL}");
    println!(
        "sweep:  FIZEAU_LEVELS={LEVELS} cargo xtask sweep --base-url {} --model {MODEL}",
        running.url
    );
    println!("stop:   cargo xtask engine down --engine {kind}");
}

/// An engine's folder below `target/`.
#[derive(Debug)]
struct Folder {
    path: PathBuf,
    recipe: &'static Recipe,
}

impl Folder {
    fn of_target(recipe: &'static Recipe) -> Result<Self> {
        let target = cargo::Metadata::read(&["--no-deps"])?.target_directory;
        let path = target.join(recipe.folder);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        Ok(Self { path, recipe })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}
