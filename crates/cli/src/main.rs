//! The `fizeau` command line: arguments in, library calls, nothing else.

mod args;
mod bench;
mod embedded;
mod endpoint;
mod exit;
mod interrupt;
mod levels;
mod progress;
mod record;
mod runtime;
mod serve;
mod speed;
mod sweep;
mod tokenizer;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::args::{Cli, Command};
use crate::exit::{Exit, Fail};

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let filter = EnvFilter::try_from_env("FIZEAU_LOG").unwrap_or_else(|_| EnvFilter::new("error"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    let done = match cli.command {
        Command::Bench(args) => bench::run(&args),
        Command::Sweep(args) => sweep::run(&args),
        Command::Serve(args) => serve::run(&args),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(Fail { exit, message }) => {
            eprintln!("error: {message}");
            exit.into()
        }
    }
}

/// clap prints help and version to standard output and ends well; everything else is a wrong command line.
fn usage(error: &clap::Error) -> ExitCode {
    // Nothing is left to do about a closed standard output.
    let _ = error.print();
    if error.use_stderr() {
        Exit::Usage.into()
    } else {
        Exit::Good.into()
    }
}
