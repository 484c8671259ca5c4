//! `fizeau sweep --system A=URL --system B=URL`: several systems, one after the other, and the frontier of all.

use std::path::PathBuf;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};

use fizeau::experiment::WallTime;

use crate::args::{ParetoArgs, SweepArgs};
use crate::commands::pareto;
use crate::commands::shared::folder;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;

const ID: &str = "system";

/// A system to be swept.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) name: String,
    pub(crate) args: SweepArgs,
}

/// The flag as `fizeau sweep --help` has it. A search has the sweep's own arguments, and not this one.
pub(crate) fn flag() -> Arg {
    Arg::new(ID)
        .long(ID)
        .value_name("NAME=URL")
        .help_heading("Endpoint")
        .help(
            "Sweep several systems one after the other with the same requests, each into a folder of its name, and say what is \
             on the frontier of each and of all; give it once for each. `fizeau pareto DIR` says it again, on other axes too",
        )
        .action(clap::ArgAction::Append)
}

/// The name and URL of each system that the matches of a `fizeau sweep` have.
///
/// # Errors
/// If a system has no name or no URL, two have one name, or an endpoint is named besides.
pub(crate) fn named(sweep: &ArgMatches) -> Result<Vec<(String, String)>, Fail> {
    let mut systems: Vec<(String, String)> = Vec::new();
    for text in sweep.get_many::<String>(ID).into_iter().flatten() {
        systems.push(system(text, &systems)?);
    }
    // A URL of the environment is nobody's wish for this line.
    let is_typed = sweep.value_source("base_url") == Some(ValueSource::CommandLine);
    match is_typed && !systems.is_empty() {
        true => Err(Fail::usage("--system: it names the endpoints; leave --base-url out")),
        false => Ok(systems),
    }
}

/// `NAME=URL`, where the name can be that of a folder.
fn system(text: &str, before: &[(String, String)]) -> Result<(String, String), Fail> {
    let wrong = |what: &str| {
        let example = "give NAME=URL, such as h100=http://127.0.0.1:8000";
        Err(Fail::usage(format!("--{ID} {text}: {what}; {example}")))
    };
    let Some((name, url)) = text.split_once('=') else { return wrong("it has no name") };
    let is_plain = |c: char| c.is_alphanumeric() || "-_.+ ".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return wrong("its name is to be that of a folder");
    }
    if url.is_empty() {
        return wrong("it has no URL");
    }
    match before.iter().any(|(other, _)| other == name) {
        true => wrong("two systems have this name"),
        false => Ok((name.to_owned(), url.to_owned())),
    }
}

impl System {
    /// With the flags that all have, at a URL of its own.
    pub(crate) fn new(name: String, url: &str, mut args: SweepArgs) -> Self {
        args.endpoint.base_url = url.split(',').map(str::to_owned).collect();
        Self { name, args }
    }
}

/// Sweeps each, and says what is on the frontier. A system that cannot be used does not keep the others from their turn.
pub(crate) fn run(systems: Vec<System>) -> Result<Exit, Fail> {
    let given = systems.first().and_then(|system| system.args.verdict.out.clone());
    let out: PathBuf = given.unwrap_or_else(|| folder::by_default(WallTime::now(), "sweep"));
    if out.join("run.json").exists() {
        return Err(Fail::usage(format!("--out: {} already holds a run", out.display())));
    }
    let mut worst = Exit::Good;
    let mut is_any = false;
    for System { name, mut args } in systems {
        args.verdict.out = Some(out.join(&name));
        say(format!("{name}:"))?;
        match crate::commands::sweep::run(&args) {
            Ok(Exit::Interrupted) => return Ok(Exit::Interrupted),
            Ok(exit) => {
                is_any = true;
                worst = if worst == Exit::Good { exit } else { worst };
            }
            Err(fail) if fail.exit == Exit::Usage => return Err(fail),
            Err(fail) => {
                tell!("error: {name}: {fail}");
                worst = fail.exit;
            }
        }
    }
    if is_any {
        say("")?;
        let inputs = vec![out.display().to_string()];
        pareto::run(&ParetoArgs { inputs, ..ParetoArgs::default() })?;
    }
    Ok(worst)
}
