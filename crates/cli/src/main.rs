//! The `fizeau` command line: arguments in, library calls, nothing else.

#[macro_use]
mod terminal;

mod args;
mod commands;
mod exit;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, FromArgMatches};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use crate::args::whatif::{Case, cases};
use crate::args::{Cli, Command, command, explain};
#[cfg(feature = "probe")]
use crate::commands::probe;
use crate::commands::whatif::Configuration;
use crate::commands::{
    ab, bench, compare, convert, devices, diagnose, merge, models, pareto, plan, report, search,
    serve, simulate, sol, sweep, systems, watch, whatif,
};
use crate::exit::{Exit, Fail};
use crate::terminal::interrupt;

/// What a command line asks for.
enum ParsedCommand {
    Command(Command),
    /// A `simulate` with lists of values.
    WhatIf(Vec<Configuration>),
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let cases = match whatif_cases(&arguments) {
        Ok(cases) => cases,
        Err(fail) => return end(Err(fail)),
    };
    let parsed = match &*cases {
        [] => parse(&arguments).map(ParsedCommand::Command),
        [case] => parse(&case.arguments()).map(ParsedCommand::Command),
        cases => cases
            .iter()
            .enumerate()
            .map(configuration)
            .collect::<Result<_, _>>()
            .map(ParsedCommand::WhatIf),
    };
    let wanted = match parsed {
        Ok(wanted) => wanted,
        Err(error) => return usage(&error),
    };
    let filter = std::env::var("FIZEAU_LOG").ok().and_then(|targets| targets.parse().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    tracing_subscriber::registry().with(filter).with(lines).init();
    end(match wanted {
        ParsedCommand::Command(command) => run(command),
        ParsedCommand::WhatIf(asked) => whatif::run(asked),
    })
}

fn run(command: Command) -> Result<Exit, Fail> {
    match command {
        Command::Bench(args) => bench::settled(args).and_then(|args| bench::run(&args)),
        Command::Merge(args) => merge::run(&args),
        Command::Sweep(args) if args.system.is_empty() => sweep::run(&args),
        Command::Sweep(args) => systems::run(&args),
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
        Command::Diagnose(args) => diagnose::run(&args),
        Command::Watch(args) => watch::run(&args),
        #[cfg(feature = "probe")]
        Command::Probe(args) => probe::run(&args),
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
        Some(name) if name == "simulate" => {
            let command = command();
            let simulate = command.find_subcommand("simulate");
            simulate.map_or(Ok(Vec::new()), |simulate| cases(simulate, &arguments[1..]))
        }
        _ => Ok(Vec::new()),
    }
}

/// One configuration of several.
fn configuration((index, case): (usize, &Case)) -> Result<Configuration, clap::Error> {
    let parsed = parse(&case.arguments()).inspect_err(|error| {
        if error.use_stderr() {
            tell!("in configuration {} ({}):", index + 1, case.name());
        }
    });
    match parsed? {
        Command::Simulate(args) => {
            Ok(Configuration { settings: case.settings.clone(), args: *args })
        }
        _ => Err(command().error(ErrorKind::InvalidSubcommand, "only simulate takes lists")),
    }
}

/// What a command line asks for, or why that cannot be. A flag that comes twice counts as it came last, as with vLLM, so that a
/// line can be obtained from a script and changed at its end. A negative number is a value everywhere, so that it is refused by the
/// name of its flag.
fn parse(arguments: &[OsString]) -> Result<Command, clap::Error> {
    let value = |arg: Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let all = command().mut_subcommands(|command| command.args_override_self(true).mut_args(value));
    let matches = all.try_get_matches_from(arguments).map_err(|error| {
        let name = arguments.get(1).map(|name| name.to_string_lossy());
        explain(error, &name.unwrap_or_default())
    })?;
    let cli = Cli::from_arg_matches(&matches);
    cli.map(|cli| cli.command).map_err(|error| error.format(&mut command()))
}

/// clap prints help and version to standard output and ends well; everything else is a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do about a closed standard output.
    let _ = error.print();
    interrupt::exit_code(if error.use_stderr() { Exit::Usage } else { Exit::Good })
}
