//! A page, read.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::labels::{Labels, SeriesName};
use super::samples::PageSamples;

/// What a page declares a metric to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum MetricKind {
    /// Only grows, but for a restart.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Cumulative buckets, a sum and a count.
    Histogram,
    /// Quantiles by the server's own rule, a sum and a count.
    Summary,
    /// Labels that say something, with the value 1.
    Info,
    /// Not declared, or as something else.
    Unknown,
}

impl MetricKind {
    pub(super) fn of_word(word: &str) -> Self {
        match word {
            "counter" => Self::Counter,
            "gauge" => Self::Gauge,
            "histogram" => Self::Histogram,
            "summary" => Self::Summary,
            "info" => Self::Info,
            _ => Self::Unknown,
        }
    }
}

/// In which form a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum PageForm {
    /// Prometheus' text, in which times are in milliseconds.
    #[default]
    Text,
    /// OpenMetrics, in which times are in seconds and the last line is `# EOF`.
    OpenMetrics,
    /// The JSON array of TensorRT-LLM, an object an iteration.
    Iterations,
}

impl PageForm {
    /// The form that the header `Content-Type` names; [`PageForm::Text`] where it names none.
    #[must_use]
    pub fn of_content_type(header: Option<&str>) -> Self {
        let openmetrics =
            header.is_some_and(|header| header.contains("application/openmetrics-text"));
        if openmetrics { Self::OpenMetrics } else { Self::Text }
    }
}

/// Whether all of a page came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PageEnd {
    /// It ended as its form asks for.
    #[default]
    Whole,
    /// It stopped half way: within a line, or before the line that ends it. Whole lines before that are kept.
    CutShort,
}

/// The value of a series on a page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// The value, which may be no number or without end.
    pub value: f64,
    /// When the value was taken by the server's own wall clock, where the page says so.
    pub told_at_unix_ms: Option<i64>,
}

/// What is odd about a page that was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct PageNotes {
    /// Whether all of it came.
    pub end: PageEnd,
    /// Lines that could not be read, or were longer or had more labels than may be.
    pub unreadable_lines: u64,
    /// The first of them, cut to 80 characters.
    pub first_unreadable: Option<String>,
    /// Lines that repeat a series that was there already; the first value counts.
    pub duplicates: u64,
    /// The first series that was there twice.
    pub first_duplicate: Option<String>,
    /// Lines left out because the page had more series than may be.
    pub beyond_limit: u64,
    /// Metrics that are declared as two different kinds; the first counts.
    pub redeclared: u64,
    /// Exemplars, which are not kept.
    pub exemplars: u64,
    /// Bytes of the page.
    pub bytes: u64,
}

/// A page of metrics: each series with its value.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    /// Its form.
    pub form: PageForm,
    /// What metrics are declared to be, by the name in the declaration.
    pub kinds: BTreeMap<Arc<str>, MetricKind>,
    /// All series.
    pub samples: PageSamples,
    /// What is odd.
    pub notes: PageNotes,
}

impl Page {
    /// Reads a page that is there as a whole.
    ///
    /// ```
    /// use fizeau_telemetry::{Labels, Page};
    /// let page = Page::read(b"# TYPE up gauge\nup{job=\"a\"} 1\n", None)?;
    /// assert_eq!(page.value("up", &Labels::new([("job", "a")])), Some(1.0));
    /// assert!(Page::read(b"<html>", None).is_err());
    /// # Ok::<(), fizeau_telemetry::PageError>(())
    /// ```
    ///
    /// # Errors
    /// If it is no page of metrics, see [`PageError`].
    pub fn read(bytes: &[u8], content_type: Option<&str>) -> Result<Self, PageError> {
        let form = PageForm::of_content_type(content_type);
        let mut parser = super::PageParser::new(form, super::PageLimits::default());
        parser.feed(bytes)?;
        parser.finish()
    }

    /// The value of one series.
    #[must_use]
    pub fn value(&self, metric: &str, labels: &Labels) -> Option<f64> {
        let name = SeriesName::new(metric, labels.clone());
        self.samples.get(&name).map(|sample| sample.value)
    }
}

/// Why something is no page of metrics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PageError {
    /// Nothing came, or blanks alone.
    #[error("the page is empty; a page of metrics has at least one line")]
    Empty,
    /// A page for people.
    #[error("this is HTML; give the address of a metrics page, such as /metrics")]
    Html,
    /// JSON that is not the array of TensorRT-LLM.
    #[error(
        "this is JSON, not metrics: {start:?}; of JSON only TensorRT-LLM's array of iterations can be read"
    )]
    Json {
        /// How it begins.
        start: String,
    },
    /// Something else.
    #[error(
        "no line of this is a metric; it begins with {start:?}, and a metric looks like `name{{label=\"value\"}} 1`"
    )]
    NoMetrics {
        /// How it begins.
        start: String,
    },
    /// More bytes than may be.
    #[error("the page is longer than {limit} bytes; ask the server for fewer metrics")]
    TooLong {
        /// How many may be.
        limit: u64,
    },
}
