//! The `fizeau` command line: arguments in, library calls, nothing else.

#[macro_use]
mod terminal;

mod args;
mod commands;
mod exit;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

use crate::args::whatif::{Case, cases};
use crate::args::{Cli, Command};
use crate::commands::systems::System;
use crate::commands::whatif::Asked;
use crate::commands::{
    ab, bench, compare, convert, devices, merge, models, pareto, plan, report, search, serve,
    simulate, sol, sweep, systems, whatif,
};
use crate::exit::{Exit, Fail};
use crate::terminal::interrupt;

/// What a command line asks for.
enum Wanted {
    Command(Command),
    /// A `simulate` with lists of values.
    WhatIf(Vec<Asked>),
    /// A `sweep` of several systems.
    Systems(Vec<System>),
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cases = match whatif_cases(&arguments) {
        Ok(cases) => cases,
        Err(fail) => return end(Err(fail)),
    };
    let parsed = match &*cases {
        [] => parse(&arguments),
        [case] => parse(&case.arguments()),
        cases => cases
            .iter()
            .enumerate()
            .map(asked)
            .collect::<Result<_, _>>()
            .map(|asked| Ok(Wanted::WhatIf(asked))),
    };
    let command = match parsed {
        Ok(Ok(command)) => command,
        Ok(Err(fail)) => return end(Err(fail)),
        Err(error) => return usage(&error),
    };
    let filter = EnvFilter::try_from_env("FIZEAU_LOG").unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    end(match command {
        Wanted::Command(command) => run(command),
        Wanted::WhatIf(asked) => whatif::run(asked),
        Wanted::Systems(systems) => systems::run(systems),
    })
}

fn run(command: Command) -> Result<Exit, Fail> {
    match command {
        Command::Bench(args) => bench::settled(args).and_then(|args| bench::run(&args)),
        Command::Merge(args) => merge::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Convert(args) => convert::run(&args),
        Command::Pareto(args) => pareto::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Sol(args) => sol::run(&args),
        Command::Devices(args) => devices::run(&args),
    }
}

fn end(done: Result<Exit, Fail>) -> ExitCode {
    match done {
        Ok(exit) => interrupt::exit_code(exit),
        Err(Fail { exit, message }) => {
            tell!("error: {message}");
            interrupt::exit_code(exit)
        }
    }
}

/// The configurations of a `fizeau simulate` that lists values; of any other command none.
fn whatif_cases(arguments: &[OsString]) -> Result<Vec<Case>, Fail> {
    match arguments.get(1) {
        Some(command) if command == "simulate" => {
            let command = Cli::command();
            let simulate = command.find_subcommand("simulate");
            simulate.map_or(Ok(Vec::new()), |simulate| cases(simulate, &arguments[1..]))
        }
        _ => Ok(Vec::new()),
    }
}

/// One configuration of several.
fn asked((index, case): (usize, &Case)) -> Result<Asked, clap::Error> {
    let parsed = parse(&case.arguments()).inspect_err(|error| {
        if error.use_stderr() {
            tell!("in configuration {} ({}):", index + 1, case.name());
        }
    });
    match parsed? {
        Ok(Wanted::Command(Command::Simulate(args))) => {
            Ok(Asked { settings: case.settings.clone(), args: *args })
        }
        _ => Err(Cli::command().error(ErrorKind::InvalidSubcommand, "only simulate takes lists")),
    }
}

/// What a command line asks for, or why that cannot be. A flag that comes twice counts as it came last, as with vLLM, so that a
/// line can be had from a script and changed at its end. A negative number is a value everywhere, so that it is refused by the
/// name of its flag.
fn parse(arguments: &[OsString]) -> Result<Result<Wanted, Fail>, clap::Error> {
    let value = |arg: Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let command =
        Cli::command().mut_subcommands(|command| command.args_override_self(true).mut_args(value));
    let command = command.mut_subcommand("sweep", |sweep| sweep.arg(systems::flag()));
    let matches = command.try_get_matches_from(arguments)?;
    let read =
        || Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()));
    let named = match matches.subcommand_matches("sweep").map(systems::named).transpose() {
        Ok(named) => named.unwrap_or_default(),
        Err(fail) => return Ok(Err(fail)),
    };
    let system = |(name, url): (String, String)| match read()?.command {
        Command::Sweep(args) => Ok(System::new(name, &url, *args)),
        _ => Err(Cli::command().error(ErrorKind::InvalidSubcommand, "only sweep takes --system")),
    };
    match named.is_empty() {
        true => Ok(Ok(Wanted::Command(read()?.command))),
        false => Ok(Ok(Wanted::Systems(named.into_iter().map(system).collect::<Result<_, _>>()?))),
    }
}

/// clap prints help and version to standard output and ends well; everything else is a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do about a closed standard output.
    let _ = error.print();
    interrupt::exit_code(if error.use_stderr() { Exit::Usage } else { Exit::Good })
}
