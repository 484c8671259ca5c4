//! What is said of a value that a flag cannot have: the flag, what was given, and what would be right.

use std::any::TypeId;
use std::error::Error;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize, ParseFloatError, ParseIntError};
use std::str::FromStr;

use clap::error::{ContextKind, ErrorKind};
use clap::{Arg, Command};
use fizeau::core::{Nanos, ParseNanosError};
use fizeau::roofline::{Format, WeightChoice, WeightChoiceError};

use super::typed::{TypedNames, find};
use super::whatif::listed;

/// What a number is of by its name in a help, and an example.
const UNITS: [(&str, &str, &str); 6] = [
    ("SECONDS", " of seconds", "30"),
    ("MS", " of milliseconds", "50"),
    ("TOKENS", " of tokens", "512"),
    ("RATE", " of requests per second", "10"),
    ("LOAD", "", "16"),
    ("P,...", "", "99.9"),
];

/// A time, where a bare number is one of seconds: `30`, `30s`, `500ms`, `2m`.
pub(super) fn time(text: &str) -> Result<Nanos, ParseNanosError> {
    Nanos::parse_in(text, Nanos::from_secs(1))
}

/// Such a time, of which there has to be some.
pub(super) fn some_time(text: &str) -> Result<Nanos, String> {
    match time(text).map_err(|error| error.to_string())? {
        Nanos::ZERO => Err("give some time, such as 60s".to_owned()),
        time => Ok(time),
    }
}

/// The seconds of such a time. A bare number may be any, of which whoever uses it says what is wrong with it.
pub(super) fn seconds(text: &str) -> Result<f64, &'static str> {
    let time = || time(text).map(Nanos::as_secs_f64);
    text.trim().parse().or_else(|_| time()).map_err(|_| "give a time, such as 30, 30s or 500ms")
}

/// `KEY=VALUE`.
pub(super) fn pair(text: &str) -> Result<(String, String), &'static str> {
    let (key, value) = text.split_once('=').ok_or("write KEY=VALUE")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// Parsers of numbers within bounds: what is read, which of it is right, and what is said of the rest.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident = $read:expr, |$number:ident| $is_right:expr, $wanted:literal;)+) => {$(
        $(#[$doc])*
        pub(super) fn $name(text: &str) -> Result<f64, &'static str> {
            let read: Option<f64> = $read(text);
            read.filter(|&$number| $is_right).ok_or($wanted)
        }
    )+};
}

numbers! {
    /// A share of what there is: above 0, and at most all of it.
    part = of_all, |share| share > 0.0 && share <= 1.0, "give a share above 0 and at most 1, such as 0.9 or 90%";
    /// What an engine reaches of what a device could do. Less is a slip.
    efficiency = of_all, |share| (0.001..=1.0).contains(&share), "give a share from 0.001 to 1, such as 0.85 or 85%";
    /// A share: `3%` or `0.03`.
    share = of_all, |share| share.is_finite(), "give a share, such as 3% or 0.03";
    /// A number that is one.
    finite = plain, |number| number.is_finite(), "give a number, such as 0.5";
    /// A number above zero.
    above_zero = plain, |number| number > 0.0 && number.is_finite(), "give a number above 0, such as 512";
    /// A rate above zero, or `inf`.
    rate = plain, |rate| rate > 0.0, "give requests per second above 0, or inf for all at once";
    /// A time above zero.
    span = in_seconds, |time| time > 0.0 && time.is_finite(), "give a time above 0, such as 30, 30s or 500ms";
    /// How many times as fast.
    speed = plain, |factor| (1e-6..=1e9).contains(&factor), "give a factor from 1e-6 to 1e9; 2 is twice as fast";
    /// A number that is not below zero.
    from_zero = plain, |number| number >= 0.0 && number.is_finite(), "give a number from 0, such as 0.7";
    /// A probability.
    probability = plain, |number| (0.0..=1.0).contains(&number), "give a probability from 0 to 1, such as 0.9";
}

fn plain(text: &str) -> Option<f64> {
    text.parse().ok()
}

/// `3%` or `0.03`.
fn of_all(text: &str) -> Option<f64> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    Some(number.trim().parse::<f64>().ok()? / of)
}

fn in_seconds(text: &str) -> Option<f64> {
    seconds(text).ok()
}

/// A host's name or address.
pub(super) fn host(text: &str) -> Result<String, &'static str> {
    let is_host = !text.is_empty() && !text.contains('/');
    is_host
        .then(|| text.to_owned())
        .ok_or("give the host alone, such as 127.0.0.1; --base-url takes a whole address")
}

/// How weights are stored, as it was typed.
pub(super) fn weights(text: &str) -> Result<String, WeightChoiceError> {
    stored::<WeightChoice>(text)
}

/// How the key-value cache is stored, as it was typed.
pub(super) fn kv_cache(text: &str) -> Result<String, <Format as FromStr>::Err> {
    stored::<Format>(text)
}

/// `auto` is what the config says.
fn stored<T: FromStr>(text: &str) -> Result<String, T::Err> {
    if !text.eq_ignore_ascii_case("auto") {
        text.parse::<T>()?;
    }
    Ok(text.to_owned())
}

/// `error` of `command`, where it is about a value, as `--num-prompts abc: give a whole number`. Any other stays as it is.
pub(super) fn refused(error: clap::Error, command: &Command, names: &TypedNames) -> clap::Error {
    let said = |kind| error.get(kind).map(ToString::to_string);
    let about = said(ContextKind::InvalidArg).zip(said(ContextKind::InvalidValue));
    let (Some((arg, value)), Some(why)) = (about, error.source()) else { return error };
    let flag = arg.split([' ', '[', '=']).next().unwrap_or_default();
    let why = find(command, flag.trim_start_matches('-'))
        .and_then(|arg| number(arg, &value, why))
        .unwrap_or_else(|| why.to_string());
    let is_list = value.contains(',') && listed().any(|name| flag.strip_prefix("--") == Some(name));
    let measures = matches!(command.get_name(), "bench" | "sweep" | "search" | "ab");
    let several = match flag {
        _ if is_list && !measures => "; `fizeau simulate` takes several and compares them",
        "--max-concurrency" | "--request-rate" if is_list => "; `fizeau sweep` takes several",
        _ => "",
    };
    let flag = names.used_in(flag);
    clap::Error::raw(ErrorKind::ValueValidation, format!("{flag} {value}: {why}{several}\n"))
}

/// Which number `arg` takes, where `why` says that `value` is none of them; nothing where it says more than that.
fn number(arg: &Arg, value: &str, why: &(dyn Error + 'static)) -> Option<String> {
    let name =
        arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let known = UNITS.iter().find(|(known, ..)| *known == name);
    let (unit, example) = known.map_or(("", "0.5"), |(_, unit, example)| (*unit, *example));
    if why.is::<ParseNanosError>() && value.parse::<f64>().is_ok_and(|number| number >= 0.0) {
        return Some(format!("add a unit (ns, us, ms, s, m or h), such as {value}us"));
    }
    if why.is::<ParseFloatError>() {
        return Some(format!("give a number{unit}, such as {example}"));
    }
    let range = match why.to_string().split_once(" is not in ") {
        Some((_, range)) => {
            range.split_once("..").map(|(low, high)| match high.trim_start_matches('=') {
                // What no machine has as many of is no limit worth a word.
                high if high.len() > 10 || value.starts_with('-') => format!(" from {low}"),
                high => format!(" from {low} to {high}"),
            })?
        }
        None if !why.is::<ParseIntError>() => return None,
        None if is_of(value, "") && value.len() > 9 => {
            return Some("that is more than can be counted; give a smaller number".to_owned());
        }
        None if is_of(value, "._'eE") && !is_of(value, "") && !name.contains(",...") => {
            return Some("give a whole number in digits alone, such as 1000".to_owned());
        }
        None if is_positive(arg) => " of at least 1".to_owned(),
        None if value.starts_with('-') => " from 0".to_owned(),
        None => String::new(),
    };
    Some(match name.contains(",...") {
        true => format!("give whole numbers{range}, separated by commas, such as 1,2,4,8"),
        false => format!("give a whole number{unit}{range}"),
    })
}

/// Whether `value` begins with a digit and is of digits and `others` alone.
fn is_of(value: &str, others: &str) -> bool {
    let is_one = |char: char| char.is_ascii_digit() || others.contains(char);
    value.starts_with(|first: char| first.is_ascii_digit()) && value.chars().all(is_one)
}

/// Whether 0 is none of its values.
fn is_positive(arg: &Arg) -> bool {
    let of = arg.get_value_parser().type_id();
    let positive =
        [TypeId::of::<NonZeroU32>(), TypeId::of::<NonZeroU64>(), TypeId::of::<NonZeroUsize>()];
    positive.into_iter().any(|positive| of == positive)
}
