//! Why a file gives no measurements.

/// Why a file gives no measurements.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasurementImportError {
    /// It has the form of no known tool.
    #[error("{file} is no result of a known tool{}. {}", torn.as_deref().unwrap_or_default(), nearest(tried))]
    NoKnownTool {
        /// The file, as it was named.
        file: String,
        /// Of a JSON document that ends too early: that it does and where, as a clause.
        torn: Option<String>,
        /// Each format that was tried, the nearest first: by how much there is of what it is known by.
        tried: Vec<FormatTried>,
    },
    /// It has the form of a tool, and no row of it is whole.
    #[error("{file} has the form of {tool}, but holds no whole row{}", after(notes))]
    NoRow {
        /// The file, as it was named.
        file: String,
        /// The tool.
        tool: String,
        /// What was found instead.
        notes: Vec<String>,
    },
}

/// A format, and why a file is none of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormatTried {
    /// The format's name.
    pub format: &'static str,
    /// What is missing.
    pub why: String,
}

/// So many formats are told with what is missing of them.
const NEAREST: usize = 3;

fn nearest(tried: &[FormatTried]) -> String {
    let (near, others) = tried.split_at(NEAREST.min(tried.len()));
    let near = near.iter().map(|tried| format!("{} ({})", tried.format, tried.why));
    let near = near.collect::<Vec<_>>().join(", ");
    format!("Nearest of what was tried: {near}, and {} others", others.len())
}

fn after(notes: &[String]) -> String {
    let separator = if notes.is_empty() { "" } else { ": " };
    format!("{separator}{}", notes.join("; "))
}
