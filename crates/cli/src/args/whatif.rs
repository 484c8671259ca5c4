//! The configurations of a `fizeau simulate` that gives flags several values, or several `--case`.
//!
//! Clap reads the line once with every value as it was typed; each configuration is a choice among those values, which the parser of
//! `simulate` then makes typed: see [`read`]. It takes the flags of a configuration as words, since clap's rules between flags (what goes
//! with what) hold of all of them together, and it knows no other way to be given a value.

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use fizeau::experiment::{
    GridCase, GridError, GridSetting, GridWay, RepeatedSetting, SettingGrid, listed_values,
};

use super::SimulateArgs;
use super::hints::explain;
use super::parse::ParseError;
use super::typed::TypedNames;
use crate::exit::Fail;

/// Flags of which several values, separated by commas, are several configurations. A value with a colon or an equals sign in it has
/// commas of its own (`uniform:200-300`, `experts=nvfp4,attention=bf16`) and is never a list.
const LISTED: &str = "
    model-config hardware tp pp ep dp replicas router weights kv memory-share max-num-seqs max-num-batched-tokens block-size
    num-gpu-blocks policy enable-prefix-caching no-chunked-prefill draft disaggregate power-limit random-input-len
    random-output-len random-prefix-len max-model-len request-rate burstiness max-concurrency network-delay max-waiting reserve
    bandwidth-efficiency compute-efficiency per-step per-sequence per-layer per-collective seed engine-seed
";

/// Those of them that may stand alone; the value `on` is that.
const SWITCHES: [&str; 3] = ["enable-prefix-caching", "no-chunked-prefill", "reserve"];

/// What goes with a flag, and goes where it goes.
const DEPENDENT: [(&str, &[&str]); 2] =
    [("draft", &["acceptance", "drafter"]), ("disaggregate", &["transfer"])];

/// What is for all configurations together.
const COMMON: [&str; 3] = ["case", "out", "slo"];

/// One configuration.
#[derive(Debug, Clone)]
pub(crate) struct SimulatedCase {
    /// What sets it apart: flags without their dashes, and their values.
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) args: SimulateArgs,
}

/// A flag that is given, and the values of each time that it is. It is called as it stands on the line, which may be another of its
/// names.
type Flag = GridSetting<Vec<OsString>>;

/// One configuration, as it was typed.
type Case = GridCase<Vec<OsString>>;

/// What `--help` says of several configurations.
pub(crate) fn help() -> String {
    let flags: Vec<String> = listed().map(|flag| format!("--{flag}")).collect();
    format!(
        "Flags of one of several configurations that run side by side: --case \"--tp 8\" --case \"--tp 4 --replicas 2\". Values separated \
         by commas do the same for {}: every combination is a configuration; the value none leaves the flag out, and on gives the flag \
         without a value. Without a load they run at 1, 2, 4, ... 256 in flight. docs/what-if.md has questions with their answers",
        flags.join(", ")
    )
}

/// The names of these flags.
pub(super) fn listed() -> impl Iterator<Item = &'static str> {
    LISTED.split_ascii_whitespace()
}

/// The configurations that `arguments`, `simulate` first, ask for, each read once by `simulate`. Empty where there are no lists.
///
/// # Errors
/// As [`cases`]; or if one of them is not understood.
pub(super) fn read(
    simulate: &Command,
    arguments: &[OsString],
) -> Result<Vec<SimulatedCase>, ParseError> {
    let cases = cases(simulate, arguments)?;
    let parser = simulate.clone().no_binary_name(true).bin_name("fizeau simulate");
    let names = TypedNames::on(simulate, arguments);
    let read = |(index, case): (usize, &Case)| {
        parsed(case, parser.clone(), &names).inspect_err(|error| {
            if cases.len() > 1 && error.use_stderr() {
                tell!("in configuration {} ({}):", index + 1, case.name());
            }
        })
    };
    Ok(cases.iter().enumerate().map(read).collect::<Result<_, clap::Error>>()?)
}

/// A configuration, typed by the `parser` of its flags.
fn parsed(
    case: &Case,
    mut parser: Command,
    names: &TypedNames,
) -> Result<SimulatedCase, clap::Error> {
    let matches = parser.try_get_matches_from_mut(case.values.iter().flat_map(words));
    let matches = matches.map_err(|error| explain(error, "simulate", names))?;
    let args = SimulateArgs::from_arg_matches(&matches);
    let args = args.map_err(|error| error.format(&mut parser))?;
    Ok(SimulatedCase { settings: case.settings.clone(), args })
}

/// The configurations that `arguments`, `simulate` first, ask for: every combination of the values of flags that have several, in the
/// order in which they stand, the last one changing fastest. Each `--case ARGUMENTS` is a value of its own: further arguments for one
/// configuration. The value `none` or `off` is as if the flag were not there, and `on` is the flag alone. Empty where the line is one
/// configuration as it stands, or is not understood: then its own reader says why.
///
/// # Errors
/// If they are too many to be read, two are the same, or a list makes no sense.
fn cases(simulate: &Command, arguments: &[OsString]) -> Result<Vec<Case>, Fail> {
    let typed = as_typed(simulate);
    let Ok(matches) = typed.clone().try_get_matches_from(arguments) else { return Ok(Vec::new()) };
    let (sets, flags): (Vec<Flag>, Vec<Flag>) =
        given(&typed, &matches, arguments).into_iter().partition(|flag| flag.name == "case");
    let lists: Vec<Vec<String>> = flags.iter().map(list).collect::<Result<_, _>>()?;
    // What a value says of its flag, rather than for it.
    let is_word = |value: &String| ["none", "off", "on"].contains(&value.as_str());
    let is_plain = |list: &Vec<String>| list.len() < 2 && !list.iter().any(is_word);
    if sets.is_empty() && lists.iter().all(is_plain) {
        return Ok(Vec::new());
    }
    let several = flags.iter().zip(&lists).filter(|(_, list)| list.len() > 1);
    let several: Vec<&str> = several.map(|(flag, _)| flag.name.as_str()).collect();
    let mut grid = SettingGrid::new();
    for (flag, list) in flags.iter().zip(&lists) {
        grid = match &**list {
            [] => grid.with(flag.clone()),
            list => grid.vary(list.iter().map(|value| way(flag, value)).collect()),
        };
    }
    for set in sets.iter().flat_map(|flag| flag.values.iter().flatten()) {
        grid = grid.set(read_set(&typed, &set.to_string_lossy(), &several)?);
    }
    // Where no configuration has the flag, what goes with it is a slip, of which the parser tells.
    let grid = DEPENDENT.iter().fold(grid, |grid, (flag, more)| grid.depend(flag, more));
    grid.cases().map_err(|error| match error {
        GridError::TooMany { most } => usage!(
            "these lists make more than {most} configurations: give fewer values, or name those that matter, each by a \
             --case of its own"
        ),
        error => usage!("{error}; leave one of them out"),
    })
}

/// The flag with one of its values; without it, or without a value, where the word says so.
fn way(flag: &Flag, value: &str) -> GridWay<Vec<OsString>> {
    let values = match value {
        "none" | "off" => None,
        "on" if SWITCHES.contains(&flag.name.as_str()) => Some(vec![Vec::new()]),
        value => Some(vec![vec![value.into()]]),
    };
    let setting = values.map(|values| Flag { values, ..flag.clone() });
    GridWay { label: flag.label.clone(), text: value.to_owned(), setting }
}

/// The command with each value as it is typed, and no rule between flags: a configuration is held to those.
fn as_typed(command: &Command) -> Command {
    let plain = |arg: &Arg| {
        let arg = arg.clone().required(false);
        let arg = arg.conflicts_with(Resettable::Reset).requires(Resettable::Reset);
        // A switch may be a list of `on` and `off`.
        let is_listed = arg.get_long().is_some_and(|long| listed().any(|flag| flag == long));
        // What a --case has are flags.
        let arg = if arg.get_id() == "case" { arg.allow_hyphen_values(true) } else { arg };
        let arg = match (arg.get_action(), is_listed) {
            (ArgAction::SetTrue, true) => arg.action(ArgAction::Set).num_args(0..=1),
            _ => arg,
        };
        match arg.get_action().takes_values() {
            true => arg
                .value_parser(clap::value_parser!(OsString))
                .value_delimiter(Resettable::Reset)
                .default_missing_value(Resettable::Reset)
                .allow_negative_numbers(true),
            false => arg,
        }
    };
    let typed = Command::new("simulate").args_override_self(true).disable_help_flag(true);
    typed.args(command.get_arguments().map(plain))
}

/// The flags that a line gives, in the order in which they stand.
fn given(typed: &Command, matches: &ArgMatches, line: &[OsString]) -> Vec<Flag> {
    let flag = |arg: &Arg| {
        let id = arg.get_id().as_str();
        if matches.value_source(id) != Some(ValueSource::CommandLine) {
            return None;
        }
        let place = matches.indices_of(id).and_then(|mut places| places.next()).unwrap_or_default();
        let name = arg.get_long()?.to_owned();
        let aliases = arg.get_all_aliases().unwrap_or_default();
        let label = line.iter().rev().find_map(|word| {
            let flag = word.to_str()?.strip_prefix("--")?.split('=').next()?;
            (flag == name || aliases.contains(&flag)).then(|| flag.to_owned())
        });
        let label = label.unwrap_or_else(|| name.clone());
        let repeated = match arg.get_action() {
            ArgAction::Append => RepeatedSetting::Extended,
            _ => RepeatedSetting::Replaced,
        };
        let values: Vec<Vec<OsString>> = match arg.get_action().takes_values() {
            true => matches
                .get_raw_occurrences(id)
                .into_iter()
                .flatten()
                .map(|values| values.map(OsString::from).collect())
                .collect(),
            false => vec![Vec::new()],
        };
        let text: Vec<_> = values.iter().flatten().map(|value| value.to_string_lossy()).collect();
        let text = text.join(" ");
        Some((place, Flag { name, label, text, values, repeated }))
    };
    let mut flags: Vec<(usize, Flag)> = typed.get_arguments().filter_map(flag).collect();
    flags.sort_by_key(|(place, _)| *place);
    flags.into_iter().map(|(_, flag)| flag).collect()
}

/// The further arguments of a configuration; `lists` are the flags that have several values on the line.
///
/// # Errors
/// If they would have no say, or no single one.
fn read_set(typed: &Command, set: &str, lists: &[&str]) -> Result<Vec<Flag>, Fail> {
    let wrong = |what: String| usage!("--case \"{set}\": {what}");
    let unclosed = || wrong("a quotation mark in it is not closed".to_owned());
    let words = shlex::split(set).ok_or_else(unclosed)?;
    if let Some(first) = words.first().filter(|first| !first.starts_with("--")) {
        return Err(wrong(format!(
            "{first} belongs to no flag; give flags with their values, such as --case \"--tp 4 --replicas 2\""
        )));
    }
    let command = std::iter::once(OsString::from("simulate"));
    let line: Vec<OsString> = command.chain(words.iter().map(OsString::from)).collect();
    let matches = typed.clone().try_get_matches_from(&line).map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        wrong(first.trim_start_matches("error: ").to_owned())
    })?;
    let flags = given(typed, &matches, &line);
    for Flag { name, label: spelled, .. } in &flags {
        if COMMON.contains(&name.as_str()) {
            return Err(wrong(format!(
                "--{spelled} is for all configurations together; give it outside of --case"
            )));
        }
        if lists.contains(&name.as_str()) {
            return Err(wrong(format!(
                "--{spelled} has a list of its own on this line; give its values in one of both places"
            )));
        }
    }
    Ok(flags)
}

/// The values of `flag` where it may have several, one of which each configuration has; empty where it stands as it is.
fn list(flag: &Flag) -> Result<Vec<String>, Fail> {
    let Flag { name, label, values, .. } = flag;
    let [value] = values.last().map_or(&[][..], Vec::as_slice) else { return Ok(Vec::new()) };
    let Some(text) = value.to_str().filter(|_| listed().any(|flag| flag == name)) else {
        return Ok(Vec::new());
    };
    listed_values(text).map_err(|error| usage!("--{label} {text}: {error}"))
}

/// `flag` as its parser takes it.
fn words(flag: &Flag) -> impl Iterator<Item = OsString> {
    flag.values.iter().flat_map(|values| {
        let mut word = OsString::from(format!("--{}", flag.name));
        match values.as_slice() {
            [value] => {
                word.push("=");
                word.push(value);
                vec![word]
            }
            values => [&[word], values].concat(),
        }
    })
}
