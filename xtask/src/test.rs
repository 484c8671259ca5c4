//! `cargo xtask test`: every check there is, in one run. All failures are shown, not just the first; only
//! what cannot be built stops the rest.

mod alone;
mod browser;
mod gate;
mod lints;

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result};

use crate::cargo::{self, Metadata, Program};
use crate::{engine, namespaces, process, ptx, shards, slurm, tidy};
use gate::{Gate, Outcome};

/// The tests and the documentation are built with every feature, so that nothing goes unchecked and
/// dependencies are compiled once; that the features are not needed is what the step `libraries alone` shows.
/// The benches stay out: they alone need criterion.
const EVERYTHING: [&str; 4] = ["--workspace", "--exclude", "fizeau-benches", "--all-features"];

/// Runs all steps, prints a table and how many tests ran.
///
/// # Errors
/// If a step could not even be tried.
pub(crate) fn run() -> Result<ExitCode> {
    if let Some(linting) = lints::this_program_with_lints()? {
        return process::become_command(linting);
    }
    let xtask = engine::this_program()?;
    let mut gate = Gate::default();
    let metadata = Metadata::read(&["--no-deps"])?;
    gate.step("format", || check(&["fmt", "--all", "--check"]));
    gate.step("tidy", || Ok(Outcome::of(tidy::is_clean()?)));
    gate.step("browser", browser::set_up);
    if gate.step("build and clippy", build) {
        tests(&mut gate);
        let programs = cargo::examples(&EVERYTHING)?;
        // Each example runs by itself, mostly on one core, and needs no cargo.
        gate.beside(
            "examples",
            || examples(&programs),
            |gate| {
                gate.step("same plans alone", || alone::same_plans(&EVERYTHING, &metadata));
                gate.step("kernels", || kernels(&programs));
            },
        );
        // Launchers, a link that was cut and loads of a few requests a second are mostly waited for: what compiles is no worse for that.
        let fizeau = metadata.program("fizeau");
        let rest = |gate: &mut Gate| {
            gate.step("docs", docs);
            gate.step("clippy of the rest", clippy);
            gate.step("libraries alone", || libraries_alone(&metadata));
        };
        let slurm = || run_under_slurm(&fizeau);
        let beside_slurm = |gate: &mut Gate| gate.beside("slurm", slurm, rest);
        let namespaces = || run_in_namespaces(&fizeau);
        let beside_namespaces =
            |gate: &mut Gate| gate.beside("namespaces", namespaces, beside_slurm);
        let table = || shards::table::hold(&fizeau).map(|()| Outcome::Passed);
        gate.beside("shard table", table, beside_namespaces);
        real_engine(&mut gate, &xtask);
    }
    Ok(gate.close())
}

/// The lints of what no test runs: the benches; or of everything, where clippy did not build the tests.
fn clippy() -> Result<Outcome> {
    let targets: &[&str] = if lints::are_on() { &["--bench", "*"] } else { &["--all-targets"] };
    let mut command = cargo::command();
    command.args(["clippy", "--workspace", "--all-features"]).args(targets);
    Ok(Outcome::of(process::succeeds(command.args(["--", "-D", "warnings"]))?))
}

/// Builds the tests and the examples, by clippy where it is there: what it finds is an error.
fn build() -> Result<Outcome> {
    let mut command = cargo::command();
    command.args(Runner::find().words()).args(EVERYTHING).arg("--no-run");
    Ok(Outcome::of(process::succeeds(&mut command)?))
}

fn docs() -> Result<Outcome> {
    let mut command = cargo::command();
    command.args(["doc", "--workspace", "--no-deps", "--all-features"]);
    Ok(Outcome::of(process::succeeds(command.env("RUSTDOCFLAGS", "-D warnings"))?))
}

/// Unit, property and integration tests, then doc tests, which nextest cannot run.
fn tests(gate: &mut Gate) {
    let mut command = cargo::command();
    command.args(Runner::find().words()).args(EVERYTHING).arg("--no-fail-fast");
    gate.counted_step("tests", &mut command);
    let mut command = cargo::command();
    command.args(["test", "--doc", "--no-fail-fast"]).args(EVERYTHING);
    gate.counted_step("doc tests", &mut command);
}

/// Each example of the libraries runs and is content.
fn examples(programs: &[Program]) -> Result<Outcome> {
    let mut outcome = Outcome::Passed;
    for example in programs {
        // Some print whole pages: what they say is shown where it tells why they failed.
        let ran = Command::new(&example.path).stdin(Stdio::null()).output();
        let ran = ran.with_context(|| format!("cannot run the example {}", example.name))?;
        let is_content = ran.status.success();
        eprintln!("example {}: {}", example.name, if is_content { "ok" } else { "FAILED" });
        if !is_content {
            eprintln!("{}", String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()));
            outcome = Outcome::Failed;
        }
    }
    Ok(outcome)
}

/// Each library builds with nothing but what it asks for itself.
fn libraries_alone(metadata: &Metadata) -> Result<Outcome> {
    let mut outcome = Outcome::Passed;
    for package in metadata.libraries() {
        let mut command = cargo::command();
        command.args(["check", "--quiet", "--no-default-features", "--package", &package.name]);
        if !process::succeeds(lints::off(&mut command))? {
            eprintln!("{} does not build alone", package.name);
            outcome = Outcome::Failed;
        }
    }
    Ok(outcome)
}

/// The kernels for GPUs by NVIDIA's assembler.
fn kernels(programs: &[Program]) -> Result<Outcome> {
    let assembler = match engine::find_python().and_then(|_| ptx::assembler()) {
        Ok(assembler) => assembler,
        Err(missing) => {
            eprintln!("!!! THE KERNELS FOR GPUS ARE NOT ASSEMBLED: {missing:#}");
            return Ok(if process::is_ci() {
                Outcome::Failed
            } else {
                Outcome::Skipped("no assembler")
            });
        }
    };
    ptx::assemble(&assembler, programs)?;
    Ok(Outcome::Passed)
}

/// The tests of the command line that are ignored elsewhere, against llama.cpp's server.
fn real_engine(gate: &mut Gate, xtask: &Path) {
    const NAME: &str = "real engine";
    if let Err(missing) = engine::find_python() {
        gate.step(NAME, || {
            eprintln!("!!! THE TESTS AGAINST A REAL ENGINE DO NOT RUN: {missing}");
            Ok(if process::is_ci() { Outcome::Failed } else { Outcome::Skipped("no Python") })
        });
        return;
    }
    let mut args: Vec<OsString> = Runner::find().words().iter().map(OsString::from).collect();
    args.extend(EVERYTHING.iter().map(OsString::from));
    args.extend(Runner::find().only_the_ignored_of_the_command_line().iter().map(OsString::from));
    let program = cargo::command().get_program().to_owned();
    match engine::around(xtask, &program, &args) {
        Ok(mut command) => gate.late_step(NAME, &mut command),
        Err(error) => {
            gate.step(NAME, || Err(error));
        }
    }
}

/// Runs of several processes under a real Slurm.
fn run_under_slurm(fizeau: &Path) -> Result<Outcome> {
    Ok(match slurm::hold(|| Ok(fizeau.to_owned()))? {
        true => Outcome::Passed,
        false if process::is_ci() => Outcome::Failed,
        false => Outcome::Skipped("no Slurm"),
    })
}

/// Runs of several processes with addresses of their own. Unlike packages, the right to make namespaces is not for a program to get: CI may
/// lack it as well.
fn run_in_namespaces(fizeau: &Path) -> Result<Outcome> {
    let is_tried = namespaces::hold(|| Ok(fizeau.to_owned()))?;
    Ok(if is_tried { Outcome::Passed } else { Outcome::Skipped("no namespaces") })
}

/// Runs a cargo command that is a check by itself.
fn check(args: &[&str]) -> Result<Outcome> {
    Ok(Outcome::of(process::succeeds(cargo::command().args(args))?))
}

/// What runs the tests: cargo-nextest where it is installed, for its speed, else cargo itself.
#[derive(Clone, Copy, Debug)]
enum Runner {
    Nextest,
    Cargo,
}

impl Runner {
    fn find() -> Self {
        let nextest = process::output_of(cargo::command().args(["nextest", "--version"]));
        if nextest.is_some() { Self::Nextest } else { Self::Cargo }
    }

    const fn words(self) -> &'static [&'static str] {
        match self {
            Self::Nextest => &["nextest", "run"],
            Self::Cargo => &["test", "--lib", "--bins", "--tests"],
        }
    }

    /// One at a time: the engine's counters are of all who ask it.
    const fn only_the_ignored_of_the_command_line(self) -> &'static [&'static str] {
        match self {
            Self::Nextest => &[
                "--no-fail-fast",
                "--run-ignored",
                "only",
                "--test-threads",
                "1",
                "-E",
                "package(fizeau-cli)",
            ],
            // Every ignored test needs the engine; the other packages have none.
            Self::Cargo => &["--no-fail-fast", "--", "--ignored", "--test-threads", "1"],
        }
    }
}
