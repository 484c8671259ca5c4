//! Prometheus's text format, version 0.0.4
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format>).

use std::borrow::Cow;
use std::fmt::Write as _;

/// How the format is named to clients.
pub(in super::super) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A text that grows family by family, each with the samples of all engines, in their order. Writing to a string cannot fail, hence
/// the results dropped here.
pub(super) struct Exposition {
    text: String,
    /// What the samples of each engine are labelled with, `a="b",c="d"`.
    engines: Vec<String>,
}

/// A family's name without its program's, and what it is.
pub(super) type Family<'a> = (&'a str, &'a str);

impl Exposition {
    /// An empty one of so many engines that serve `model`.
    pub(super) fn new(engines: usize, model: &str) -> Self {
        let model = label("model_name", model);
        let labels = |engine: usize| format!("{},{model}", label("engine", &engine.to_string()));
        Self { text: String::with_capacity(16 << 10), engines: (0..engines).map(labels).collect() }
    }

    pub(super) fn gauge(&mut self, family: Family<'_>, values: impl Iterator<Item = f64>) {
        self.family(family, "gauge");
        self.values(family.0, values);
    }

    /// Its name ends with `_total`.
    pub(super) fn counter(&mut self, family: Family<'_>, values: impl Iterator<Item = f64>) {
        self.family(family, "counter");
        self.values(family.0, values);
    }

    /// Of each engine a sample for each value of a label.
    pub(super) fn by<L: ToString>(
        &mut self,
        (family, kind): (Family<'_>, &str),
        by: &str,
        values: impl Iterator<Item = impl IntoIterator<Item = (L, u64)>>,
    ) {
        self.family(family, kind);
        for (engine, values) in values.enumerate() {
            for (value, count) in values {
                self.sample(family.0, engine, Some(&label(by, &value.to_string())), count as f64);
            }
        }
    }

    /// A gauge that is 1, whose labels say what there is to say, and which has no model's name.
    pub(super) fn info<'a>(
        &mut self,
        family: Family<'_>,
        labels: impl Iterator<Item = Vec<(&'a str, String)>>,
    ) {
        self.family(family, "gauge");
        for (engine, labels) in labels.enumerate() {
            let engine = [("engine", engine.to_string())];
            let labels = labels.iter().chain(&engine).map(|(name, value)| label(name, value));
            let labels = labels.collect::<Vec<_>>().join(",");
            writeln!(self.text, "{}{{{labels}}} 1.0", family.0).ok();
        }
    }

    pub(super) fn histogram<'a>(
        &mut self,
        family: Family<'_>,
        histograms: impl Iterator<Item = Cow<'a, Histogram>>,
    ) {
        self.family(family, "histogram");
        let name = family.0;
        let [bucket, counts, sums] = ["bucket", "count", "sum"].map(|end| format!("{name}_{end}"));
        for (engine, histogram) in histograms.enumerate() {
            for (edge, count) in histogram.cumulative() {
                let edge = if edge.is_finite() { format!("{edge:?}") } else { "+Inf".to_owned() };
                self.sample(&bucket, engine, Some(&label("le", &edge)), count as f64);
            }
            let (count, sum) = histogram.total();
            self.sample(&counts, engine, None, count as f64);
            self.sample(&sums, engine, None, sum);
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    fn family(&mut self, (name, help): Family<'_>, kind: &str) {
        let help = help.replace('\\', r"\\").replace('\n', r"\n");
        write!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}\n").ok();
    }

    fn values(&mut self, name: &str, values: impl Iterator<Item = f64>) {
        for (engine, value) in values.enumerate() {
            self.sample(name, engine, None, value);
        }
    }

    fn sample(&mut self, name: &str, engine: usize, more: Option<&str>, value: f64) {
        let comma = if more.is_some() { "," } else { "" };
        let more = more.unwrap_or_default();
        let labels = self.engines.get(engine).map_or("", String::as_str);
        writeln!(self.text, "{name}{{{labels}{comma}{more}}} {value:?}").ok();
    }
}

/// `name="value"`, with the three characters escaped that have to be.
fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("{name}=\"{value}\"")
}

// Counts of values by size.

/// How many values fell below each of a few edges, in constant memory and a few nanoseconds a value.
#[derive(Debug, Clone)]
pub(super) struct Histogram {
    /// Rising, in units; a value equal to an edge counts below it.
    edges: Vec<u64>,
    /// Of each edge, the values up to it and above the one before; then those above all.
    counts: Vec<u64>,
    sum: u128,
    /// How many units are one of what is shown.
    unit: f64,
}

impl Histogram {
    /// Of times in nanoseconds, shown in seconds, with edges in seconds.
    pub(super) fn of_times(edges: &[f64]) -> Self {
        Self::new(edges.iter().map(|edge| (edge * 1e9).round() as u64).collect(), 1e9)
    }

    /// Of counts, with these edges.
    pub(super) fn of_counts_at(edges: &[u64]) -> Self {
        Self::new(edges.to_vec(), 1.0)
    }

    /// Of counts up to about `most`, with vLLM's edges: 1, 2, 5, 10, 20, 50 and so on.
    pub(super) fn of_counts(most: u64) -> Self {
        let decades = (0..u64::MAX.ilog10()).map(|power| 10_u64.pow(power));
        let edges = decades.flat_map(|decade| [1, 2, 5].map(|mantissa| mantissa * decade));
        Self::new(edges.take_while(|edge| *edge <= most).collect(), 1.0)
    }

    fn new(edges: Vec<u64>, unit: f64) -> Self {
        let counts = vec![0; edges.len() + 1];
        Self { edges, counts, sum: 0, unit }
    }

    pub(super) fn add(&mut self, value: u64) {
        let place = self.edges.partition_point(|edge| *edge < value);
        if let Some(count) = self.counts.get_mut(place) {
            *count += 1;
        }
        self.sum += u128::from(value);
    }

    /// Each edge with the number of values up to it; infinity, with all of them, last.
    pub(super) fn cumulative(&self) -> impl Iterator<Item = (f64, u64)> {
        let edges = self.edges.iter().map(|edge| *edge as f64 / self.unit);
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        edges.chain([f64::INFINITY]).zip(sums)
    }

    /// How many values there are, and all of them added up.
    pub(super) fn total(&self) -> (u64, f64) {
        (self.counts.iter().sum(), self.sum as f64 / self.unit)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_value_counts_up_to_its_edge(values in prop::collection::vec(0u64..3_000, 0..200)) {
            let mut histogram = Histogram::of_counts(1_000);
            values.iter().for_each(|value| histogram.add(*value));
            for (edge, count) in histogram.cumulative() {
                let below = values.iter().filter(|value| **value as f64 <= edge).count();
                prop_assert_eq!(count, below as u64, "up to {}", edge);
            }
            let sum = values.iter().sum::<u64>() as f64;
            prop_assert_eq!(histogram.total(), (values.len() as u64, sum));
        }
    }

    #[test]
    fn edges_are_as_asked_for() {
        let edges = |of: &Histogram| of.cumulative().map(|(edge, _)| edge).collect::<Vec<_>>();
        assert_eq!(edges(&Histogram::of_counts(25)), [1.0, 2.0, 5.0, 10.0, 20.0, f64::INFINITY]);
        let most = Histogram::of_counts(u64::MAX);
        assert!(most.edges.is_sorted() && most.edges.len() == 57);
        let times = Histogram::of_times(&[0.001, 0.3, 7_680.0]);
        assert_eq!(edges(&times), [0.001, 0.3, 7_680.0, f64::INFINITY]);
    }
}
