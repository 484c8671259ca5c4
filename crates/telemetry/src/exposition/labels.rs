//! What a series is called.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

/// The labels of a series, in order of their names, each name once. Copies share memory.
///
/// ```
/// use fizeau_telemetry::Labels;
/// let labels = Labels::new([("model_name", "tiny"), ("engine", "0")]);
/// assert_eq!(labels.get("engine"), Some("0"));
/// assert_eq!(labels.to_string(), r#"{engine="0",model_name="tiny"}"#);
/// assert_eq!(labels.without("engine"), Labels::new([("model_name", "tiny")]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Labels(Arc<[(Box<str>, Box<str>)]>);

impl Default for Labels {
    fn default() -> Self {
        Self::new::<&str, &str>([])
    }
}

impl Labels {
    /// These names with their values; of a name that stands there twice the first value counts.
    pub fn new<N: Into<Box<str>>, V: Into<Box<str>>>(
        pairs: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let mut pairs: Vec<(Box<str>, Box<str>)> =
            pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        pairs.sort_by(|left, right| left.0.cmp(&right.0));
        pairs.dedup_by(|later, first| later.0 == first.0);
        Self(pairs.into())
    }

    /// The value of the label `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(label, _)| (**label).cmp(name)).ok()?;
        self.0.get(at).map(|(_, value)| &**value)
    }

    /// Names and values, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&**name, &**value))
    }

    /// The same without the label `name`.
    #[must_use]
    pub fn without(&self, name: &str) -> Self {
        if self.get(name).is_none() {
            return self.clone();
        }
        Self(self.0.iter().filter(|(label, _)| **label != *name).cloned().collect())
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (at, (name, value)) in self.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            write!(f, "{comma}{name}={value:?}")?;
        }
        f.write_str("}")
    }
}

/// A series: the name of a metric and the labels that tell it from others of that name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SeriesName {
    /// The name as it stands on the page, with its suffix (`_total`, `_bucket`).
    pub metric: Arc<str>,
    /// What tells it from others.
    pub labels: Labels,
}

impl SeriesName {
    /// The series of `metric` with `labels`.
    #[must_use]
    pub fn new(metric: impl Into<Arc<str>>, labels: Labels) -> Self {
        Self { metric: metric.into(), labels }
    }

    /// How many bytes its texts have.
    pub(crate) fn length(&self) -> usize {
        let labels = self.labels.iter().map(|(name, value)| name.len() + value.len());
        self.metric.len() + labels.sum::<usize>()
    }
}

impl fmt::Display for SeriesName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.metric, self.labels)
    }
}

// From page to page names share memory, and need not be looked into.

impl Ord for Labels {
    fn cmp(&self, other: &Self) -> Ordering {
        match Arc::ptr_eq(&self.0, &other.0) {
            true => Ordering::Equal,
            false => self.0.cmp(&other.0),
        }
    }
}

impl PartialOrd for Labels {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SeriesName {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_metric = match Arc::ptr_eq(&self.metric, &other.metric) {
            true => Ordering::Equal,
            false => self.metric.cmp(&other.metric),
        };
        by_metric.then_with(|| self.labels.cmp(&other.labels))
    }
}

impl PartialOrd for SeriesName {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
