//! From a line to what it asks for.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, FromArgMatches};

use super::hints::explain;
use super::typed::{TypedFlag, TypedNames, typed};
use super::{Cli, Command, command, whatif};
use crate::exit::Fail;

/// Why a line is not carried out.
#[derive(Debug)]
pub(crate) enum ParseError {
    /// It is wrong, or it asks for help.
    Clap(clap::Error),
    /// Its configurations make no sense.
    Cases(Fail),
}

impl From<clap::Error> for ParseError {
    fn from(error: clap::Error) -> Self {
        Self::Clap(error)
    }
}

impl From<Fail> for ParseError {
    fn from(fail: Fail) -> Self {
        Self::Cases(fail)
    }
}

/// What a line asks for, or why that cannot be. A flag that comes twice counts as it came last, as with vLLM, so that a
/// line can be obtained from a script and changed at its end; what takes several values, such as goals, required rows and --levels, adds up. A negative number is a value everywhere, so that it is refused by the
/// name of its flag.
pub(crate) fn parse(line: &[OsString]) -> Result<Command, ParseError> {
    let value = |arg: Arg| match arg.get_action().takes_values() && !arg.is_positional() {
        true => arg.allow_negative_numbers(true),
        false => arg,
    };
    let mut all =
        command().mut_subcommands(|command| command.args_override_self(true).mut_args(value));
    let name = line.get(1).map(|name| name.to_string_lossy()).unwrap_or_default();
    if let Some(command) = all.find_subcommand(&*name) {
        once(command, line)?;
    }
    if let ("simulate", Some(simulate)) = (&*name, all.find_subcommand("simulate")) {
        let mut cases = whatif::read(simulate, &line[1..])?;
        if cases.len() > 1 {
            return Ok(Command::WhatIf(cases));
        }
        if let Some(case) = cases.pop() {
            return Ok(Command::Simulate(Box::new(case.args)));
        }
    }
    let matches = all.try_get_matches_from_mut(line);
    let matches = matches.map_err(|error| explain(error, &name, &TypedNames::of(line)))?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command()))?;
    let mut asked = cli.command;
    let target = match &mut asked {
        Command::Bench(bench) => Some(&mut bench.target),
        Command::Sweep(sweep) => Some(&mut sweep.measure.target),
        Command::Search(search) => Some(&mut search.measure.target),
        Command::Calibrate(calibrate) => Some(&mut calibrate.target),
        _ => None,
    };
    if let Some((target, (_, given))) = target.zip(matches.subcommand()) {
        target.is_url_typed = is_typed(given, "base_url");
        target.settle()?;
    }
    if let (Command::Report(report), Some((name, given))) = (&mut asked, matches.subcommand()) {
        let flags = all.find_subcommand(name).into_iter().flat_map(clap::Command::get_arguments);
        let flags = flags.filter(|flag| is_typed(given, flag.get_id().as_str()));
        report.typed = flags.filter_map(|flag| Some(format!("--{}", flag.get_long()?))).collect();
    }
    Ok(asked)
}

/// Refuses what is no change at the end of a line but a slip: a flag by two of its names, and a second list in place of a first.
fn once(command: &clap::Command, line: &[OsString]) -> Result<(), Fail> {
    let mut given: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for TypedFlag { flag, name, value } in typed(command, line) {
        // Others add up.
        if !matches!(flag.get_action(), ArgAction::Set) {
            continue;
        }
        let text = format!("--{name} {value}");
        match given.insert(flag.get_id().as_str(), (name, text.clone())) {
            Some((other, before)) if other != name => {
                bail!("{before} and {text} are one flag by two names: give one of them");
            }
            Some((_, before)) if before != text && is_list(flag) => {
                bail!("{before} and {text}: give one list with all of them");
            }
            _ => {}
        }
    }
    Ok(())
}

/// Whether its value is a list.
fn is_list(flag: &Arg) -> bool {
    let names = flag.get_value_names().unwrap_or_default();
    names.iter().any(|name| name.ends_with(",...") || name == "PAIRS")
}

/// Whether the line itself has the flag, and not the environment.
fn is_typed(given: &ArgMatches, flag: &str) -> bool {
    given.value_source(flag) == Some(ValueSource::CommandLine)
}
