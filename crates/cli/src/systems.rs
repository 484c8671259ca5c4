//! `fizeau sweep --system A=URL --system B=URL`: several systems, one after the other, and the frontier of all.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Arg;

use fizeau::experiment::WallTime;

use crate::args::{ParetoArgs, SweepArgs};
use crate::exit::{Exit, Fail};
use crate::folder;
use crate::pareto;
use crate::say::say;

const FLAG: &str = "--system";

/// A command line for one of the systems.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) arguments: Vec<OsString>,
}

/// A system to be swept.
#[derive(Debug)]
pub(crate) struct System {
    pub(crate) name: String,
    pub(crate) args: SweepArgs,
}

/// The flag as `fizeau sweep --help` has it. It never gets as far as the sweep's own arguments: see [`cases`].
pub(crate) fn flag() -> Arg {
    Arg::new("system")
        .long("system")
        .value_name("NAME=URL")
        .help_heading("Endpoint")
        .help(
            "Sweep several systems one after the other with the same requests, each into a folder of its name, and say what is \
             on the frontier of each and of all; give it once for each. `fizeau pareto DIR` says it again, on other axes too",
        )
        .action(clap::ArgAction::Append)
        .conflicts_with("base_url")
}

/// The command line of each system of a `fizeau sweep` that names several; of any other none.
///
/// # Errors
/// If a system has no name or no URL, or two have one name.
pub(crate) fn cases(arguments: &[OsString]) -> Result<Vec<Case>, Fail> {
    let mut common = Vec::new();
    let mut systems: Vec<(String, String)> = Vec::new();
    if arguments.get(1).is_none_or(|command| command != "sweep") {
        return Ok(Vec::new());
    }
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = match word.to_str() {
            Some(FLAG) => words.next().map(|value| value.to_string_lossy().into_owned()),
            Some(text) => match text.strip_prefix(FLAG).and_then(|rest| rest.strip_prefix('=')) {
                Some(value) => Some(value.to_owned()),
                None => {
                    common.push(word.clone());
                    continue;
                }
            },
            None => {
                common.push(word.clone());
                continue;
            }
        };
        systems.push(system(&value.unwrap_or_default(), &systems)?);
    }
    // What a parser would say of both, it says of neither alone.
    let is_url = |word: &OsString| {
        word.to_str().is_some_and(|word| word == "--base-url" || word.starts_with("--base-url="))
    };
    if !systems.is_empty() && common.iter().any(is_url) {
        return Err(Fail::usage("--system: it names the endpoints; leave --base-url out"));
    }
    let case = |(name, url): (String, String)| {
        let own = ["--base-url".to_owned(), url].map(OsString::from);
        Case { name, arguments: common.iter().cloned().chain(own).collect() }
    };
    Ok(systems.into_iter().map(case).collect())
}

/// `NAME=URL`, where the name can be that of a folder.
fn system(text: &str, before: &[(String, String)]) -> Result<(String, String), Fail> {
    let wrong = |what: &str| {
        let example = "give NAME=URL, such as h100=http://127.0.0.1:8000";
        Err(Fail::usage(format!("{FLAG} {text}: {what}; {example}")))
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
        match crate::sweep::run(&mut args) {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

    use super::*;

    fn cases_of(line: &str) -> Result<Vec<Case>, Fail> {
        cases(&line.split(' ').map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn each_system_has_a_line_of_its_own() {
        let found =
            cases_of("fizeau sweep --isl 8 --system a=http://x:1 --system=b=http://y:2 --osl 4");
        let lines: Vec<(String, String)> = found
            .unwrap()
            .into_iter()
            .map(|case| {
                let words: Vec<String> =
                    case.arguments.iter().map(|word| word.to_str().unwrap().to_owned()).collect();
                (case.name, words.join(" "))
            })
            .collect();
        let line = |name: &str, url: &str| {
            (name.to_owned(), format!("fizeau sweep --isl 8 --osl 4 --base-url {url}"))
        };
        assert_eq!(lines, [line("a", "http://x:1"), line("b", "http://y:2")]);
        assert_eq!(cases_of("fizeau sweep --isl 8").unwrap(), []);
        assert_eq!(cases_of("fizeau bench --system a=b").unwrap(), []);
    }

    #[test]
    fn names_that_are_no_folders_are_refused() {
        for (line, said) in [
            ("fizeau sweep --system http://x:1", "it has no name"),
            ("fizeau sweep --system a/b=http://x:1", "that of a folder"),
            ("fizeau sweep --system ..=http://x:1", "that of a folder"),
            ("fizeau sweep --system a=", "it has no URL"),
            ("fizeau sweep --system", "it has no name"),
            ("fizeau sweep --system a=x --system a=y", "two systems have this name"),
            ("fizeau sweep --system a=x --base-url y", "leave --base-url out"),
        ] {
            let message = cases_of(line).unwrap_err().message;
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
