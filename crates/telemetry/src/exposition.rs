//! Pages of metrics as servers give them: Prometheus text, OpenMetrics, and the JSON array of TensorRT-LLM.
//!
//! [`PageParser`] takes a page in pieces, as they come from a socket, and never panics; its memory is bounded by [`PageLimits`].

mod book;
mod escape;
mod json;
mod labels;
mod limits;
mod line;
mod page;
mod parser;
mod samples;

#[cfg(feature = "http")]
pub(crate) use book::{SeriesBook, SharedLayouts};
pub use labels::{Labels, SeriesName};
pub use limits::PageLimits;
pub use page::{MetricKind, Page, PageEnd, PageError, PageForm, PageNotes, Sample};
pub use parser::PageParser;
pub use samples::PageSamples;
