//! The `fizeau` command line: arguments in, library calls, nothing else.

mod ab;
mod args;
mod bench;
mod calibrate;
mod client;
mod compare;
mod devices;
mod embedded;
mod endpoint;
mod exit;
mod folder;
mod hardware;
mod interrupt;
mod levels;
mod merge;
mod model_config;
mod models;
mod pairs;
mod planned;
mod probe;
mod progress;
mod record;
mod report;
mod runtime;
mod say;
mod scenario;
mod serve;
mod simulate;
mod sol;
mod speed;
mod sweep;
mod tokenizer;
mod whatif;
mod workload;

use std::process::ExitCode;

use clap::{Arg, CommandFactory, FromArgMatches};
use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command};
use crate::exit::{Exit, Fail};

fn main() -> ExitCode {
    let cli = match parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let filter = EnvFilter::try_from_env("FIZEAU_LOG").unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let done = match cli.command {
        Command::Bench(args) => bench::settled(args).and_then(|args| bench::run(&args)),
        Command::Merge(args) => merge::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Ab(args) => ab::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Serve(args) => serve::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Sol(args) => sol::run(&args),
        Command::Devices(args) => devices::run(&args),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(Fail { exit, message }) => {
            eprintln!("error: {message}");
            exit.into()
        }
    }
}

/// Reads the command line. A flag that comes twice counts as it came last, as with vLLM, so that a line can be had from a
/// script and changed at its end. A negative number is a value everywhere, so that it is refused by the name of its flag.
fn parse() -> Result<Cli, clap::Error> {
    let value = |arg: Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let command =
        Cli::command().mut_subcommands(|command| command.args_override_self(true).mut_args(value));
    let matches = command.try_get_matches()?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut Cli::command()))
}

/// clap prints help and version to standard output and ends well; everything else is a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do about a closed standard output.
    let _ = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Good.into() }
}
