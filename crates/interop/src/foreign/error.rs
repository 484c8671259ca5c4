//! What can be wrong with a file of another tool.

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
    #[error("{file}: {why}")]
    Damaged {
        /// The file.
        file: String,
        /// What is wrong, and where.
        why: String,
    },
    /// A field that is needed is not there.
    #[error("{place}: the field `{field}` is missing, which a result of {tool} has")]
    Missing {
        /// The file, and which record in it.
        place: String,
        /// The field.
        field: String,
        /// Whose file it is.
        tool: &'static str,
    },
    /// A field holds what it cannot hold.
    #[error("{place}: `{field}` is {found}; {wanted} is expected")]
    Wrong {
        /// The file, and which record in it.
        place: String,
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
        Self::Damaged { file: file.to_owned(), why: why.into() }
    }
}
