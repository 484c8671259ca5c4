//! What to type instead of a flag that a command has not: of other tools, of other commands, and of older versions.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::typed::TypedNames;

/// Commands, flags that they have not, and what to type. Each flag in the last column is one that these commands have, unless it
/// stands within `...` behind the name of another command. `OPERAND` is whatever is no flag and stands in no row by itself, `TOO_FEW`
/// stands for operands that are missing. In the rows of `-` the second column has commands of other tools.
const HINTS: &str = include_str!("hints.txt");

/// The columns of each row.
fn rows() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    HINTS.lines().filter_map(|row| {
        let (commands, rest) = row.split_once(" | ")?;
        let (flags, hint) = rest.split_once(" | ")?;
        Some((commands, flags, hint))
    })
}

/// `error`, with what to type where `command` has not the flag that was typed, or the flag cannot have that value; flags are named as
/// they were typed.
pub(super) fn explain(error: clap::Error, command: &str, names: &TypedNames) -> clap::Error {
    without_far(names.used_in_error(hinted(error, command, names)))
}

fn hinted(mut error: clap::Error, command: &str, names: &TypedNames) -> clap::Error {
    if error.kind() == ErrorKind::ValueValidation {
        let all = super::command();
        return super::values::refused(error, all.find_subcommand(command).unwrap_or(&all), names);
    }
    if error.kind() == ErrorKind::InvalidSubcommand {
        return match hint("-", command) {
            Some(hint) => suggesting(error, ContextKind::SuggestedSubcommand, hint),
            None => error,
        };
    }
    let typed = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    let typed = match error.kind() {
        ErrorKind::UnknownArgument if typed.starts_with('-') => typed.as_str(),
        ErrorKind::UnknownArgument => "OPERAND",
        // Of `fizeau bench serve`, where something else stands in place of `serve`.
        ErrorKind::InvalidValue if typed == "[SERVE]" => "OPERAND",
        ErrorKind::TooFewValues => "TOO_FEW",
        _ => return error,
    };
    // What stands in place of an operand may be another tool's word.
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
    let Some(hint) = hint(command, &value).or_else(|| hint(command, typed)) else {
        // That what was typed is no flag but a value is never what was meant.
        error.remove(ContextKind::Suggested);
        return error;
    };
    error.remove(ContextKind::ValidValue);
    // It names the flag that looks most alike.
    error.remove(ContextKind::Usage);
    suggesting(error, ContextKind::SuggestedArg, hint)
}

/// `error` without what looks alike to clap alone, for which the same letters anywhere will do.
fn without_far(mut error: clap::Error) -> clap::Error {
    for (typed, alike) in [
        (ContextKind::InvalidArg, ContextKind::SuggestedArg),
        (ContextKind::InvalidValue, ContextKind::SuggestedValue),
        (ContextKind::InvalidSubcommand, ContextKind::SuggestedSubcommand),
    ] {
        let typed = error.get(typed).map(ToString::to_string).unwrap_or_default();
        let is_far = |word: &String| !is_near(&typed, word);
        let all_far = match error.get(alike) {
            Some(ContextValue::String(word)) => is_far(word),
            Some(ContextValue::Strings(words)) => words.iter().all(is_far),
            _ => false,
        };
        if all_far {
            error.remove(alike);
            // It names the flag that looks most alike.
            error.remove(ContextKind::Usage);
        }
    }
    error
}

/// Whether one word begins with the other, or both begin and end alike over half of the longer one.
fn is_near(typed: &str, suggested: &str) -> bool {
    let [typed, suggested] = [typed, suggested].map(|word| word.trim_start_matches('-').as_bytes());
    let alike = |(a, b): &(&u8, &u8)| a == b;
    let ahead = typed.iter().zip(suggested).take_while(alike).count();
    let shorter = typed.len().min(suggested.len());
    let behind = typed.iter().rev().zip(suggested.iter().rev()).take_while(alike).count();
    let both = ahead + behind.min(shorter - ahead);
    (ahead == shorter && shorter > 1) || 2 * both >= typed.len().max(suggested.len())
}

/// `error` with `hint` in place of what looks most alike.
fn suggesting(mut error: clap::Error, alike: ContextKind, hint: &'static str) -> clap::Error {
    error.remove(alike);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint.into()]));
    error
}

fn hint(command: &str, typed: &str) -> Option<&'static str> {
    let has = |words: &str, word: &str| words.split(' ').any(|one| one == word);
    let is_it =
        |(commands, flags, _): &(&str, &str, &str)| has(commands, command) && has(flags, typed);
    rows().find(is_it).map(|(_, _, hint)| hint)
}
