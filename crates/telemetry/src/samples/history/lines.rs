//! A history as lines for a file, both ways.

use std::collections::BTreeMap;

use fizeau_core::Stamp;
use serde::{Deserialize, Serialize};

use super::{Fetch, History};
use crate::exposition::{Labels, Page, Sample, SeriesName};

/// One page of one source, as a line of a file has it: what changed since the source's page before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HistoryLine {
    /// Which source.
    pub source: u32,
    #[serde(rename = "asked_ns")]
    requested: Stamp,
    #[serde(rename = "answered_ns")]
    answered: Stamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<ChangedSeries>,
    /// Why the page did not come.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    failed: Option<String>,
}

/// A metric, its labels, and its value from this page on; null where the page has none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ChangedSeries(String, BTreeMap<String, String>, Option<f64>);

impl HistoryLine {
    const fn of(source: u32, fetch: Fetch) -> Self {
        let Fetch { requested, answered } = fetch;
        Self { source, requested, answered, changed: Vec::new(), failed: None }
    }
}

impl History {
    /// A line a page, those that did not come among them, in order, as that of `source`. What was odd about pages is not in them.
    ///
    /// ```
    /// use fizeau_core::Stamp;
    /// use fizeau_telemetry::{Fetch, History, Page};
    /// let at = Stamp::from_nanos(7);
    /// let mut history = History::new();
    /// history.record(Fetch { requested: at, answered: at }, &Page::read(b"up 1\n", None)?);
    /// let lines = history.lines(0);
    /// assert_eq!(History::of_lines(lines.clone()).lines(0), lines);
    /// # Ok::<(), fizeau_telemetry::PageError>(())
    /// ```
    #[must_use]
    pub fn lines(&self, source: u32) -> Vec<HistoryLine> {
        let mut lines: Vec<_> =
            self.fetches.iter().map(|fetch| HistoryLine::of(source, *fetch)).collect();
        for (name, track) in self.names.iter().zip(&self.tracks) {
            for (page, value) in track.changes() {
                let place = page.saturating_sub(self.first_page);
                if let Some(line) = usize::try_from(place).ok().and_then(|at| lines.get_mut(at)) {
                    let labels = name.labels.iter();
                    let labels = labels.map(|(label, value)| (label.to_owned(), value.to_owned()));
                    let changed = ChangedSeries(name.metric.to_string(), labels.collect(), value);
                    line.changed.push(changed);
                }
            }
        }
        lines.extend(self.failures.iter().map(|failure| HistoryLine {
            failed: Some(failure.why.to_string()),
            ..HistoryLine::of(source, failure.fetch)
        }));
        lines.sort_by_key(|line| line.requested);
        lines
    }

    /// The history of the source whose lines these are, in order.
    #[must_use]
    pub fn of_lines(lines: impl IntoIterator<Item = HistoryLine>) -> Self {
        let (mut history, mut page) = (Self::new(), Page::default());
        for HistoryLine { requested, answered, changed, failed, .. } in lines {
            let fetch = Fetch { requested, answered };
            if let Some(why) = failed {
                history.fail(fetch, &why);
                continue;
            }
            for ChangedSeries(metric, labels, value) in changed {
                let name = SeriesName::new(metric, Labels::new(labels));
                let sample = value.map(|value| Sample { value, told_at_unix_ms: None });
                match sample {
                    Some(sample) => page.samples.insert(name, sample),
                    None => page.samples.remove(&name),
                }
            }
            history.record(fetch, &page);
        }
        history
    }
}
