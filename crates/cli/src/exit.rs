//! How a command ends.

use std::fmt::Display;
use std::path::Path;
use std::str::FromStr;

use fizeau::harness::Cancel;
use fizeau::record::StoredError;
use fizeau::record::text::unreadable;

/// How a command ends; the numbers are part of the command line's contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, and the measurement is to be believed.
    Good = 0,
    /// Done, but the verdict is invalid, a goal that was asked for was missed, or a result could not be written.
    Missed = 1,
    /// The command line or a file was wrong; nothing was sent.
    Usage = 2,
    /// The endpoint, or the device that was asked for, could not be used.
    Endpoint = 3,
    /// Another shard of the run did not come, or is gone.
    PeerMissing = 4,
    /// The shards are not of one run; nothing was sent.
    Mismatch = 5,
    /// A shard could not begin when it was agreed.
    LateStart = 6,
    /// Interrupted; what was measured is written and marked. Of another signal than Ctrl-C it is 128 and its number.
    Interrupted = 130,
}

impl Exit {
    /// Of a run that was measured, and missed what was asked of it, or not.
    pub(crate) fn of(cancel: &Cancel, is_missed: bool) -> Self {
        match is_missed {
            _ if cancel.is_cancelled() => Self::Interrupted,
            _ => Self::missed(is_missed),
        }
    }

    /// Of what missed what was asked of it, or not.
    pub(crate) const fn missed(is_missed: bool) -> Self {
        if is_missed { Self::Missed } else { Self::Good }
    }
}

/// A command that could not be carried out.
#[derive(Debug)]
pub(crate) struct Fail {
    pub(crate) exit: Exit,
    /// One line: what was wrong, where, and what would be right.
    pub(crate) message: String,
}

impl Display for Fail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Fail {}

impl Fail {
    pub(crate) fn new(exit: Exit, message: impl Display) -> Self {
        // The system's number for an error says nothing that its words do not.
        let message = message.to_string();
        let mut parts = message.split(" (os error ");
        let first = parts.next().unwrap_or_default().to_owned();
        let behind = |part: &str| part.split_once(')').map_or("", |(_, rest)| rest).to_owned();
        Self { exit, message: parts.fold(first, |all, part| all + &behind(part)) }
    }

    /// The command line or a file is wrong.
    pub(crate) fn usage(message: impl Display) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// The endpoint, or a device that was asked for, cannot be used.
    pub(crate) fn endpoint(message: impl Display) -> Self {
        Self::new(Exit::Endpoint, message)
    }

    /// Something broke in the midst of a run; what was written stays.
    pub(crate) fn broken(message: impl Display) -> Self {
        Self::new(Exit::Missed, message)
    }
}

/// A wrong command line or file, as `format!` says it.
macro_rules! usage {
    ($($words:tt)*) => { $crate::exit::Fail::usage(format!($($words)*)) };
}

/// What broke in the midst of a run, likewise.
macro_rules! broken {
    ($($words:tt)*) => { $crate::exit::Fail::broken(format!($($words)*)) };
}

/// Returns that the command line or a file is wrong.
macro_rules! bail {
    ($($words:tt)*) => { return Err(usage!($($words)*)) };
}

/// The same, where something holds.
macro_rules! refuse_if {
    ($wrong:expr, $($words:tt)*) => { if $wrong { bail!($($words)*) } };
}

/// Refuses the first of `flags` that is given, for the reason that `why` makes of it.
pub(crate) fn refuse_given(
    flags: &[(bool, &str)],
    why: impl FnOnce(&str) -> String,
) -> Result<(), Fail> {
    let given = flags.iter().find(|(is_given, _)| *is_given);
    given.map_or(Ok(()), |(_, flag)| Err(Fail::usage(why(flag))))
}

impl From<StoredError> for Fail {
    fn from(error: StoredError) -> Self {
        Self::usage(error)
    }
}

/// The text of the file `path`, which `flag` names and which is to be `what`.
pub(crate) fn read_named(flag: &str, path: &Path, what: &str) -> Result<String, Fail> {
    std::fs::read_to_string(path)
        .map_err(|error| unread(&format!("{flag} {}", path.display()), what, &error))
}

/// That a file cannot be read, which `named` says and which is to be `what`.
pub(crate) fn unread(named: &str, what: &str, error: &std::io::Error) -> Fail {
    usage!("{named}: {}; give {what}", unreadable(error))
}

/// What the text of a flag says, where it is given.
pub(crate) fn parsed<T: FromStr>(text: &Option<String>) -> Result<Option<T>, T::Err> {
    text.as_deref().map(str::parse).transpose()
}

/// Puts what was being looked at before what was wrong with it.
pub(crate) trait Named<T> {
    /// `name: error`, as a wrong command line.
    fn named(self, name: &str) -> Result<T, Fail>;

    /// `flag value: error`, where the error says the value itself.
    fn given_as(self, flag: &str) -> Result<T, Fail>;
}

impl<T, E: Display> Named<T> for Result<T, E> {
    fn named(self, name: &str) -> Result<T, Fail> {
        self.map_err(|error| Fail::usage(format!("{name}: {error}")))
    }

    fn given_as(self, flag: &str) -> Result<T, Fail> {
        self.map_err(|error| Fail::usage(format!("{flag} {error}")))
    }
}
