//! What a machine really does, as pictures: a chart for each question that its rows answer.

mod collectives;
mod memory;
mod products;

use fizeau_core::{BytesPerSec, Verdict};
use fizeau_probe::{Dtype, Figure, Peak, ProbeDocument, ProbeRow};

use crate::Shown;
use crate::pictures::{CurveChart, CurvePoint, CurveSeries, CurveStyle};

/// A chart with its short name, which a file may have, and how to read it.
#[derive(Debug)]
pub(super) struct NamedChart {
    pub(super) key: &'static str,
    pub(super) chart: CurveChart,
}

/// What is drawn of a figure.
const DRAWN: &str = "Dots are the best of the samples; a whisker goes to the median.";

/// What is drawn where the best says nothing.
const TYPICAL: &str = "Dots are medians, or the closest figure that a tool reports; a whisker is the interval of the median.";

impl Shown<'_, ProbeDocument> {
    /// The charts of which there is anything: a short name such as `memory-by-size`, and an SVG file with a title, a description and
    /// colours for light and dark. Rows that are invalid are in none.
    #[must_use]
    pub fn charts(&self) -> Vec<(&'static str, String)> {
        let drawn = |named: NamedChart| Some((named.key, named.chart.file()?));
        self.named_charts().into_iter().filter_map(drawn).collect()
    }

    pub(super) fn named_charts(&self) -> Vec<NamedChart> {
        let all = [
            ("memory-by-size", memory::by_size(self)),
            ("memory-by-threads", memory::by_threads(self)),
            ("latency-by-size", memory::latency(self)),
            ("loaded-latency", memory::loaded_latency(self)),
            ("products", products::products(self)),
            ("collectives", collectives::collectives(self)),
        ];
        let named = |(key, chart): (_, Option<CurveChart>)| Some(NamedChart { key, chart: chart? });
        all.into_iter().filter_map(named).collect()
    }

    /// The machine and its devices, in a line.
    fn subject(&self) -> String {
        let models = self.devices.iter().map(|device| device.model.clone());
        let mut words = vec![self.host.node.clone()];
        words.extend(models.take(2));
        words.retain(|word| !word.is_empty());
        words.join(", ")
    }

    fn believed(&self) -> impl Iterator<Item = &ProbeRow> {
        self.rows.iter().filter(|row| row.verdict != Verdict::Invalid)
    }

    /// What a data sheet prints of the first device of which it is known, per second, and who says so.
    fn printed(&self, is_it: impl Fn(&Peak, Option<Dtype>) -> bool) -> Option<(f64, &str)> {
        let mut all = self.devices.iter().flat_map(|device| &device.specification);
        let found = all.find(|printed| is_it(&printed.peak, printed.dtype))?;
        let rate = match found.peak {
            Peak::Bandwidth(rate) | Peak::Link(rate) => rate.get(),
            Peak::Arithmetic(rate) => rate.get(),
        };
        Some((rate, &found.source))
    }
}

/// Points by the series that each belongs to, in the order in which the series come.
#[derive(Debug, Default)]
struct Gathered(Vec<(String, Vec<CurvePoint>)>);

impl Gathered {
    fn add(&mut self, series: String, point: CurvePoint) {
        match self.0.iter_mut().find(|(name, _)| *name == series) {
            Some((_, points)) => points.push(point),
            None => self.0.push((series, vec![point])),
        }
    }

    /// Gives a series its place, though nothing is known of this point.
    fn reserve(&mut self, series: String) {
        if self.0.iter().all(|(name, _)| *name != series) {
            self.0.push((series, Vec::new()));
        }
    }

    /// The series of at least so many points, each ordered along the axis and with the best of points at one place.
    fn series(self, fewest: usize, style: CurveStyle) -> Vec<CurveSeries> {
        let mut found = Vec::new();
        for (name, mut points) in self.0 {
            points.sort_by(|a, b| a.at.0.total_cmp(&b.at.0).then(b.at.1.total_cmp(&a.at.1)));
            if style == CurveStyle::Joined {
                points.dedup_by(|later, kept| later.at.0 == kept.at.0);
            }
            if points.len() >= fewest {
                let index = found.len();
                found.push(CurveSeries { name, index, style, points, levels: Vec::new() });
            }
        }
        found
    }
}

/// A point whose height is the best of a figure, with what is typical as the other end.
fn point(across: f64, figure: Figure<f64>) -> CurvePoint {
    let (best, typical) = (figure.peak(), figure.typical);
    let differs = (best / typical - 1.0).abs() > 0.002;
    let ends = differs.then(|| [best.min(typical), best.max(typical)]);
    CurvePoint { at: (across, best), ends, label: None }
}

/// A point whose height is what is typical of a figure, with where that lies: of what may not be judged by its best, since others
/// wait for the slowest.
fn typical_point(across: f64, figure: Figure<f64>) -> CurvePoint {
    CurvePoint { at: (across, figure.typical), ends: figure.typical_ci, label: None }
}

/// In GB/s.
fn giga(figure: Figure<BytesPerSec>) -> Figure<f64> {
    figure.map(|rate| rate.get() / 1e9)
}

/// `cpu ` before what is of one of several devices.
fn prefix(document: &ProbeDocument, row: &ProbeRow) -> String {
    let device = &row.measured.device;
    let is_one = document.rows.iter().all(|other| other.measured.device == *device);
    if is_one { String::new() } else { format!("{device} ") }
}

/// `1 thread`, `2 threads`.
fn threads(count: u32) -> String {
    super::fleet::counted(count as usize, "thread")
}
