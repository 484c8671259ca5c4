//! The `fizeau` command line: arguments in, library calls, nothing else.

#[macro_use]
mod exit;
#[macro_use]
mod terminal;

mod args;
mod commands;

use std::ffi::OsString;
use std::process::ExitCode;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::args::{Command, ParseError, TypedNames, parse};
use crate::commands::*;
use crate::exit::{Exit, Fail};
use crate::terminal::interrupt;

fn main() -> ExitCode {
    let line: Vec<OsString> = std::env::args_os().collect();
    let asked = match parse(&line) {
        Ok(asked) => asked,
        Err(ParseError::Clap(error)) => return usage(&error),
        Err(ParseError::Cases(fail)) => return end(Err(fail), &line),
    };
    let filter = std::env::var("FIZEAU_LOG").ok().and_then(|targets| targets.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(lines).init();
    end(run(asked), &line)
}

fn run(command: Command) -> Result<Exit, Fail> {
    match command {
        Command::Bench(args) => bench::settled(args).and_then(|args| bench::run(&args)),
        Command::Merge(args) => merge::run(&args),
        Command::Sweep(args) if args.system.is_empty() => sweep::run(&args),
        Command::Sweep(args) => systems::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Calibrate(args) => calibrate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Pareto(args) => pareto::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::WhatIf(cases) => whatif::run(cases),
        Command::Models(args) => models::run(&args),
        Command::Sol(args) => sol::run(&args),
        Command::Devices(args) => devices::run(&args),
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Watch(args) => watch::run(&args),
        #[cfg(feature = "probe")]
        Command::Probe(args) => probe::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
    }
}

fn end(done: Result<Exit, Fail>, line: &[OsString]) -> ExitCode {
    match done {
        Ok(exit) => interrupt::exit_code(exit),
        Err(Fail { exit, message }) => {
            // Commands and libraries know each flag by its first name alone.
            tell!("error: {}", TypedNames::of(line).used_in(&message));
            interrupt::exit_code(exit)
        }
    }
}

/// clap prints help and version to standard output and ends well; everything else is a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do about a closed standard output.
    let _ = error.print();
    interrupt::exit_code(if error.use_stderr() { Exit::Usage } else { Exit::Good })
}
