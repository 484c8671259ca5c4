//! What can be wrong with a file of another tool.

use std::fmt;

/// Where something is wrong in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForeignPlace {
    /// The file.
    pub file: String,
    /// Which record in it: `record 3`; none where it is the whole file.
    pub record: Option<String>,
}

impl ForeignPlace {
    /// The whole of a file.
    pub(super) fn whole(file: &str) -> Self {
        Self { file: file.to_owned(), record: None }
    }

    /// A record of it, or a part of one: `record 3`.
    pub(super) fn at(&self, record: impl fmt::Display) -> Self {
        let within = self.record.iter().map(|whole| format!("{whole} ")).collect::<String>();
        Self { record: Some(format!("{within}{record}")), ..self.clone() }
    }
}

impl fmt::Display for ForeignPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.record.iter().try_for_each(|record| write!(f, " {record}"))
    }
}

/// Why a file could not be read, or not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ForeignError {
    /// It has the form of no tool that is known.
    #[error("{file}: its format is not known ({why}); the formats are {known}")]
    Unknown {
        /// The file.
        file: String,
        /// What it looks like.
        why: String,
        /// The names of the formats that were tried.
        known: String,
    },
    /// It has the form of another tool than was named.
    #[error("{file}: its format is {found}, not {named}; name that, or leave the format out")]
    Other {
        /// The file.
        file: String,
        /// The format that it has.
        found: &'static str,
        /// The one that was named.
        named: &'static str,
    },
    /// There is no format of that name.
    #[error("`{name}` is not a format; the formats are {known}")]
    NoFormat {
        /// What was given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// The file is damaged: no JSON, no table.
    #[error("{place}: {why}")]
    Damaged {
        /// The file, and which record in it.
        place: ForeignPlace,
        /// What is wrong, and where.
        why: String,
    },
    /// A field that is needed is not there.
    #[error("{place}: the field `{field}` is missing, which a result of {tool} has")]
    Missing {
        /// The file, and which record in it.
        place: ForeignPlace,
        /// The field.
        field: String,
        /// Whose file it is.
        tool: &'static str,
    },
    /// A field holds what it cannot hold.
    #[error("{place}: `{field}` is {found}; {wanted} is expected")]
    Wrong {
        /// The file, and which record in it.
        place: ForeignPlace,
        /// The field.
        field: String,
        /// What is there, shortened.
        found: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// It cannot be written in that form.
    #[error("cannot write {format}: {why}")]
    NotWritten {
        /// The format's name.
        format: &'static str,
        /// Why.
        why: String,
    },
}

impl ForeignError {
    /// That a file is damaged.
    pub(super) fn damaged(file: &str, why: impl Into<String>) -> Self {
        Self::Damaged { place: ForeignPlace::whole(file), why: why.into() }
    }

    /// The file that is at fault; none where it is what was asked of it.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Unknown { file, .. } | Self::Other { file, .. } => Some(file),
            Self::Damaged { place, .. }
            | Self::Missing { place, .. }
            | Self::Wrong { place, .. } => Some(&place.file),
            Self::NoFormat { .. } | Self::NotWritten { .. } => None,
        }
    }
}
