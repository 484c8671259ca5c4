//! Flags by the names that were typed, where they have several.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command};

/// A flag as it stands on a line.
pub(super) struct TypedFlag<'a> {
    pub(super) flag: &'a Arg,
    /// By which of its names, without dashes.
    pub(super) name: &'a str,
    /// What stands behind it.
    pub(super) value: &'a str,
}

/// The flags of `command` that `line` has, in order.
pub(super) fn typed<'a>(command: &'a Command, line: &'a [OsString]) -> Vec<TypedFlag<'a>> {
    let words: Vec<&str> = line.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let flag = |(at, word): (usize, &&'a str)| {
        let typed = word.strip_prefix("--")?;
        let (name, value) = match typed.split_once('=') {
            Some(named) => named,
            None => (typed, words.get(at + 1).copied().unwrap_or_default()),
        };
        Some(TypedFlag { flag: find(command, name)?, name, value })
    };
    words.iter().enumerate().take_while(|(_, word)| **word != "--").filter_map(flag).collect()
}

/// The flag of `command`, or of one below it, that has this name among its names.
pub(super) fn find<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let has_name = |arg: &&Arg| {
        let aliases = arg.get_all_aliases().unwrap_or_default();
        arg.get_long() == Some(name) || aliases.contains(&name)
    };
    let own = command.get_arguments().find(has_name);
    own.or_else(|| command.get_subcommands().find_map(|below| find(below, name)))
}

/// The flags of a line that are typed by another of their names than the first, so that what is said of them can name them as whoever
/// typed them does.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TypedNames {
    /// The first name of each, and the one that was typed.
    names: Vec<(String, String)>,
    /// What says where the server is in place of --base-url.
    address: Option<&'static str>,
}

impl TypedNames {
    /// Those of a whole line.
    pub(crate) fn of(line: &[OsString]) -> Self {
        let name = line.get(1).map(|name| name.to_string_lossy()).unwrap_or_default();
        let all = super::command();
        all.find_subcommand(&*name).map_or_else(Self::default, |command| Self::on(command, line))
    }

    /// Those of a `line` of `command`.
    pub(super) fn on(command: &Command, line: &[OsString]) -> Self {
        let all = typed(command, line);
        let names = all.iter().filter_map(|typed| Some((typed.flag.get_long()?, typed.name)));
        let (first, others): (Vec<_>, Vec<_>) = names.partition(|(first, name)| first == name);
        // What stands there by both names is not told apart by one of them.
        let others =
            others.into_iter().filter(|other| !first.iter().any(|(name, _)| *name == other.0));
        let names = others.map(|(first, name)| (format!("--{first}"), format!("--{name}")));
        let is_typed = |flag: &str| all.iter().any(|typed| typed.name == flag);
        let has_url = find(command, "base-url").is_some() && !is_typed("base-url");
        let address = ["--host", "--port"].into_iter().find(|flag| has_url && is_typed(&flag[2..]));
        Self { names: names.collect(), address }
    }

    /// `text` with these names; another command's line (`fizeau ...`) in it has names of its own.
    pub(crate) fn used_in(&self, text: &str) -> String {
        // Behind its beginning that flag is what would be right.
        if let Some((address, rest)) = self.address.zip(text.strip_prefix("--base-url")) {
            return format!("{address}{}", self.used_in(rest));
        }
        let pieces = text.split('`').enumerate().map(|(at, piece)| {
            let is_line = at % 2 == 1 && piece.starts_with("fizeau ");
            let names = if is_line { &[][..] } else { &*self.names };
            names.iter().fold(piece.to_owned(), |text, (first, name)| renamed(&text, first, name))
        });
        pieces.collect::<Vec<_>>().join("`")
    }

    /// `error` with these names, where it has not been written out yet.
    pub(super) fn used_in_error(&self, mut error: clap::Error) -> clap::Error {
        for kind in [ContextKind::InvalidArg, ContextKind::PriorArg] {
            let named = match error.get(kind) {
                Some(ContextValue::String(flag)) => ContextValue::String(self.used_in(flag)),
                Some(ContextValue::Strings(flags)) => {
                    ContextValue::Strings(flags.iter().map(|flag| self.used_in(flag)).collect())
                }
                _ => continue,
            };
            error.insert(kind, named);
        }
        error
    }
}

/// `text` with the flag `to` wherever it has the flag `from`, and not where it has one that only begins so.
fn renamed(text: &str, from: &str, to: &str) -> String {
    let mut parts = text.split(from);
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
        all.push_str(if goes_on { from } else { to });
        all.push_str(part);
    }
    all
}
