//! What is wrong with the pages of one source.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::samples::History;
use crate::vocabulary::{Exporter, MetricMeaning, entries, meaning_of};
use crate::window::Window;

/// What is wrong with the pages of one source, so that some of what they should say is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "trouble")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum PageTrouble {
    /// Pages of devices or of a host did not come while the window lasted.
    Missing {
        /// How many.
        missing: u64,
        /// How many did.
        #[serde(alias = "came")]
        answered: u64,
        /// Why the last of them did not.
        why: String,
    },
    /// Pages stopped half way.
    CutShort {
        /// How many.
        pages: u64,
    },
    /// Pages told earlier times than the page before them.
    ClockWentBack {
        /// How many.
        pages: u64,
    },
    /// Values are no finite numbers.
    NotNumbers {
        /// How many, all pages together.
        values: u64,
    },
    /// Series stand on a page more than once.
    Duplicates {
        /// How many lines too many a page has.
        lines: u64,
        /// The first of them.
        first: String,
    },
    /// Lines cannot be read.
    Unreadable {
        /// How many a page has.
        lines: u64,
        /// The first of them.
        first: String,
    },
    /// Pages name more series than are kept.
    LeftOut {
        /// How many values were left out.
        values: u64,
    },
    /// No name on the page is known.
    Unknown,
    /// The page of an engine does not say what it should.
    #[serde(alias = "untold")]
    NotReported {
        /// Whose page it is.
        exporter: Exporter,
        /// What is missing.
        what: String,
    },
}

impl PageTrouble {
    /// All that is wrong with the pages of `history`, of which those of `window` count.
    #[must_use]
    pub fn of(history: &History, window: Window) -> Vec<Self> {
        let some = |count: u64| (count > 0).then_some(count);
        let all = [
            missing(history, window),
            some(history.cut_short()).map(|pages| Self::CutShort { pages }),
            some(history.left_out()).map(|values| Self::LeftOut { values }),
            not_reported(history),
        ];
        Self::of_lines(history).chain(all.into_iter().flatten()).collect()
    }

    /// What is wrong with the lines of pages that came, whenever they did.
    pub(crate) fn of_lines(history: &History) -> impl Iterator<Item = Self> {
        let some = |count: u64| (count > 0).then_some(count);
        let notes = history.first_notes();
        let first = |line: &Option<String>| line.clone().unwrap_or_default();
        let duplicates =
            notes.and_then(|notes| Some((some(notes.duplicates)?, first(&notes.first_duplicate))));
        let unreadable = notes.and_then(|notes| {
            Some((some(notes.unreadable_lines)?, first(&notes.first_unreadable)))
        });
        let all = [
            some(history.clock_went_back()).map(|pages| Self::ClockWentBack { pages }),
            some(history.not_numbers()).map(|values| Self::NotNumbers { values }),
            duplicates.map(|(lines, first)| Self::Duplicates { lines, first }),
            unreadable.map(|(lines, first)| Self::Unreadable { lines, first }),
        ];
        all.into_iter().flatten()
    }
}

/// Pages that did not come; of engines that is told of all of them together.
fn missing(history: &History, window: Window) -> Option<PageTrouble> {
    if Exporter::of_history(history).is_some_and(Exporter::is_engine) {
        return None;
    }
    let is_within = |at: fizeau_core::Stamp| window.from <= at && at <= window.to;
    let failed = || history.failures().iter().filter(|failure| is_within(failure.fetch.requested));
    let why = failed().next_back()?.why.to_string();
    let answered = history.fetches().filter(|fetch| is_within(fetch.requested)).count() as u64;
    Some(PageTrouble::Missing { missing: failed().count() as u64, answered, why })
}

/// Names change from version to version: what a page is wanted for may stand there under another.
fn not_reported(history: &History) -> Option<PageTrouble> {
    history.fetches().next()?;
    let Some(exporter) = Exporter::of_history(history) else {
        // Names whose values are no numbers may be known ones, and that is told by itself.
        return (history.not_numbers() == 0).then_some(PageTrouble::Unknown);
    };
    let wanted = MetricMeaning::GenerationTokens;
    // Not every engine counts tokens, and of Dynamo its front end alone.
    let counts = entries().any(|entry| entry.exporter == exporter && entry.meaning == wanted)
        && (exporter != Exporter::Dynamo || Exporter::is_front_end(history));
    let is_told = |metric: &str| meaning_of(metric).is_some_and(|entry| entry.meaning == wanted);
    (counts && !history.metrics().into_iter().any(is_told))
        .then(|| PageTrouble::NotReported { exporter, what: wanted.words().to_owned() })
}

impl fmt::Display for PageTrouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { missing, answered, why } => write!(
                f,
                "{missing} of {} pages did not come, and nothing is known of that time: {why}",
                missing.saturating_add(*answered)
            ),
            Self::CutShort { pages } => {
                write!(f, "pages that stopped half way: {pages}; the rest of each is missing")
            }
            Self::ClockWentBack { pages } => write!(
                f,
                "pages that tell an earlier time than the page before: {pages}; only this machine's clock is used"
            ),
            Self::NotNumbers { values } => {
                write!(f, "values that are no finite numbers: {values}; they are left out")
            }
            Self::Duplicates { lines, first } => write!(
                f,
                "lines that repeat a series of the same page: {lines}, the first of them {first}; the first value counts"
            ),
            Self::Unreadable { lines, first } => {
                write!(f, "lines that cannot be read: {lines}, the first of them {first:?}")
            }
            Self::LeftOut { values } => {
                write!(f, "the pages name more series than are kept; values left out: {values}")
            }
            Self::Unknown => f.write_str(
                "no name on this page is known: it belongs to no known engine or exporter, or the names have changed",
            ),
            Self::NotReported { exporter, what } => {
                write!(f, "the metrics page of {} has no known series for {what}", exporter.name())
            }
        }
    }
}
