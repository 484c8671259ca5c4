//! The series of a page with their values.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::labels::SeriesName;
use super::page::Sample;

/// The series of a page with their values, in order of names. Pages that name the same series share the names, so that a page takes
/// little more than its values.
///
/// ```
/// use fizeau_telemetry::{Labels, PageSamples, Sample, SeriesName};
/// let name = |metric: &str| SeriesName::new(metric, Labels::default());
/// let mut samples = PageSamples::default();
/// for (metric, value) in [("b", 2.0), ("a", 1.0), ("b", 3.0)] {
///     samples.insert(name(metric), Sample { value, told_at_unix_ms: None });
/// }
/// let values: Vec<f64> = samples.iter().map(|(_, sample)| sample.value).collect();
/// assert_eq!(values, [1.0, 3.0]);
/// assert!(samples.get(&name("c")).is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageSamples {
    names: Arc<Vec<SeriesName>>,
    values: Vec<Sample>,
}

impl PageSamples {
    /// `names` are in order, each once, and have a value each.
    pub(super) const fn of_sorted(names: Arc<Vec<SeriesName>>, values: Vec<Sample>) -> Self {
        Self { names, values }
    }

    /// How many series there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of one series.
    #[must_use]
    pub fn get(&self, name: &SeriesName) -> Option<&Sample> {
        self.values.get(self.names.binary_search(name).ok()?)
    }

    /// Takes the value of a series, in place of the one that it had.
    pub fn insert(&mut self, name: SeriesName, sample: Sample) {
        match self.names.binary_search(&name) {
            Ok(at) => {
                if let Some(value) = self.values.get_mut(at) {
                    *value = sample;
                }
            }
            Err(at) => {
                Arc::make_mut(&mut self.names).insert(at, name);
                self.values.insert(at, sample);
            }
        }
    }

    /// Leaves out a series.
    pub(crate) fn remove(&mut self, name: &SeriesName) {
        if let Ok(at) = self.names.binary_search(name) {
            Arc::make_mut(&mut self.names).remove(at);
            self.values.remove(at);
        }
    }

    /// Each series with its value, in order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&SeriesName, &Sample)> {
        self.names.iter().zip(&self.values)
    }

    /// The names of all, in order.
    pub(crate) const fn names(&self) -> &Arc<Vec<SeriesName>> {
        &self.names
    }
}

impl FromIterator<(SeriesName, Sample)> for PageSamples {
    /// Of a series that is there twice the last value counts.
    fn from_iter<I: IntoIterator<Item = (SeriesName, Sample)>>(all: I) -> Self {
        let sorted: BTreeMap<SeriesName, Sample> = all.into_iter().collect();
        let (names, values) = sorted.into_iter().unzip();
        Self { names: Arc::new(names), values }
    }
}
