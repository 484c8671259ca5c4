//! What a collective takes by size: a latency and a bandwidth for each range of sizes.

use fizeau_core::{Bytes, BytesPerSec, Seconds, Verdict};
use serde::{Deserialize, Serialize};

use crate::measurement::{CollectiveOp, CollectiveRegime, CollectiveShape, Operation};
use crate::row::ProbeRow;

/// `time = alpha + bytes / beta` over the sizes from `from` to `to`, of one collective among as many ranks, by one algorithm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CollectiveFit {
    /// On what.
    pub device: String,
    /// Which collective.
    pub op: CollectiveOp,
    /// Among how many.
    pub ranks: u32,
    /// On how many nodes, where that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
    /// Whether results overwrite what was given, where that is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<bool>,
    /// By which algorithm, where it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// In which state it found its ranks, where it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regime: Option<CollectiveRegime>,
    /// The smallest message of the segment.
    #[serde(rename = "from_bytes")]
    pub from: Bytes,
    /// The largest message of the segment.
    #[serde(rename = "to_bytes")]
    pub to: Bytes,
    /// The time that no message is too small for.
    #[serde(rename = "alpha_s")]
    pub alpha: Seconds,
    /// The algorithm bandwidth that large messages tend to; absent where times do not grow with sizes.
    #[serde(rename = "beta_bytes_per_s", default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<BytesPerSec>,
    /// How many sizes it rests on.
    pub points: u32,
    /// The largest relative distance of any of them from the line.
    pub worst_residual: f64,
}

/// One size: bytes and seconds.
type Point = (f64, f64);

/// A line through points that stays above zero, and how far off it is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct FittedLine {
    alpha: f64,
    seconds_per_byte: f64,
    worst: f64,
}

/// A segment more must bring the worst residual down to this part of what it was.
const WORTH_A_SEGMENT: f64 = 0.5;
/// Residuals below this need no further segment.
const GOOD_ENOUGH: f64 = 0.05;
/// A segment rests on as many sizes at least.
const FEWEST: usize = 3;

/// The fits of all collectives among `rows`, each in as many segments as its sizes ask for.
pub(crate) fn collectives(rows: &[ProbeRow]) -> Vec<CollectiveFit> {
    let mut groups: Vec<(&str, &CollectiveShape, Vec<Point>)> = Vec::new();
    for row in rows.iter().filter(|row| row.verdict != Verdict::Invalid) {
        let Operation::Collective { shape, .. } = &row.measured.operation else { continue };
        let Some(time) = row.figures.seconds() else { continue };
        let point = (shape.message.get(), time.typical.get());
        let device = row.measured.device.as_str();
        match groups.iter_mut().find(|(on, of, _)| *on == device && alike(of, shape)) {
            Some((.., points)) => points.push(point),
            None => groups.push((device, shape, vec![point])),
        }
    }
    groups.into_iter().flat_map(|(device, shape, points)| of_group(device, shape, points)).collect()
}

/// Whether both are points of one curve: all but the size.
fn alike(a: &CollectiveShape, b: &CollectiveShape) -> bool {
    CollectiveShape { message: b.message, ..a.clone() } == *b
}

/// What an engine's collectives are expected to take, by those of `rows`: one curve for each operation and number of ranks, at each
/// size the quickest of all settings that were measured. Back to back, as a step has them, comes before what does not say, and that
/// before ranks that stood idle. On several nodes it is something else than on one: of these the curve on the fewest nodes stands.
pub(crate) fn quickest<'a>(rows: impl Iterator<Item = &'a ProbeRow>) -> Vec<QuickestFit> {
    let mut curves: Vec<(CollectiveShape, Vec<Spread>)> = Vec::new();
    for row in rows.filter(|row| row.verdict != Verdict::Invalid) {
        let Operation::Collective { shape, .. } = &row.measured.operation else { continue };
        let Some(time) = row.figures.seconds().filter(|time| time.typical.get() > 0.0) else {
            continue;
        };
        let ends = time.typical_ci.unwrap_or([time.typical; 2]).map(Seconds::get);
        let point = ((shape.message.get(), time.typical.get()), ends);
        let same = |(of, _): &&mut (CollectiveShape, _)| {
            (of.op, of.ranks, of.nodes) == (shape.op, shape.ranks, shape.nodes)
        };
        match curves.iter_mut().find(same) {
            Some((of, points)) if place(of.regime) == place(shape.regime) => {
                sooner(points, point);
            }
            Some((of, points)) if place(shape.regime) < place(of.regime) => {
                (*of, *points) = (shape.clone(), vec![point]);
            }
            Some(_) => {}
            None => curves.push((shape.clone(), vec![point])),
        }
    }
    // One size alone is no curve, and stands before none.
    curves.retain(|(_, points)| points.len() > 1);
    let others = |shape: &CollectiveShape| {
        let alike = curves
            .iter()
            .map(|(of, _)| of)
            .filter(|of| (of.op, of.ranks) == (shape.op, shape.ranks) && of.nodes != shape.nodes);
        alike.map(|of| of.nodes).collect::<Vec<_>>()
    };
    let fitted = curves.iter().filter_map(|(shape, points)| {
        let others = others(shape);
        let is_first = others.iter().all(|nodes| distance(shape.nodes) < distance(*nodes));
        let shape = CollectiveShape { algorithm: None, in_place: None, ..shape.clone() };
        let points_of = || points.iter().map(|(point, _)| *point).collect();
        let fits = is_first.then(|| of_group("", &shape, points_of()))?.into_iter();
        // It stands with the first segment, for all of them.
        let told = std::iter::once(others).chain(std::iter::repeat(Vec::new()));
        Some(fits.zip(told).map(|(fit, others)| QuickestFit::of(fit, points, others)))
    });
    fitted.flatten().collect()
}

/// A fit, and how sure it is.
#[derive(Debug)]
pub(crate) struct QuickestFit {
    pub(crate) fit: CollectiveFit,
    /// On how many nodes the same was measured too, which is left out.
    pub(crate) left_out: Vec<Option<u32>>,
    /// How far from it the medians of its sizes may lie at most, relative to it.
    pub(crate) within: f64,
    /// Where alpha lies, in seconds, among the fits that leave out one size each; none of two sizes.
    pub(crate) alpha: Option<[f64; 2]>,
    /// The same of beta, in bytes per second.
    pub(crate) beta: Option<[f64; 2]>,
}

impl QuickestFit {
    fn of(fit: CollectiveFit, points: &[Spread], left_out: Vec<Option<u32>>) -> Self {
        let within = points.iter().filter_map(|point| fit.distance(point)).fold(0.0, f64::max);
        let own = |(bytes, _): &Point| (fit.from.get()..=fit.to.get()).contains(bytes);
        let own: Vec<Point> = points.iter().map(|(point, _)| *point).filter(own).collect();
        let others = (0..own.len()).filter_map(|left_out| {
            let mut points = own.clone();
            points.remove(left_out);
            line(&points)
        });
        let others: Vec<FittedLine> = others.collect();
        let range = |value: f64, of: &dyn Fn(&FittedLine) -> f64| {
            let widened = |[low, high]: [f64; 2], one: f64| [low.min(one), high.max(one)];
            (!others.is_empty()).then(|| others.iter().map(of).fold([value; 2], widened))
        };
        let alpha = range(fit.alpha.get(), &|line| line.alpha);
        let beta = fit.beta.and_then(|beta| range(beta.get(), &|line| 1.0 / line.seconds_per_byte));
        Self { fit, left_out, within, alpha, beta }
    }
}

/// A size, and where the median of its times lies.
type Spread = (Point, [f64; 2]);

/// In the order in which numbers of nodes are preferred: one, what is not told, several.
const fn distance(nodes: Option<u32>) -> (bool, u32) {
    match nodes {
        Some(1) => (false, 0),
        None => (false, 1),
        Some(several) => (true, several),
    }
}

/// In the order in which regimes are preferred.
const fn place(regime: Option<CollectiveRegime>) -> u8 {
    match regime {
        Some(CollectiveRegime::Chained) => 0,
        None => 1,
        Some(CollectiveRegime::FreshEntry) => 2,
    }
}

/// Adds a point, or puts it in the place of a slower one of its size.
fn sooner(points: &mut Vec<Spread>, new: Spread) {
    match points.iter_mut().find(|known| known.0.0.to_bits() == new.0.0.to_bits()) {
        Some(known) if known.0.1 <= new.0.1 => {}
        Some(known) => *known = new,
        None => points.push(new),
    }
}

impl CollectiveFit {
    /// How far the ends of a size's median lie from the line, relative to it; none of a size that is another segment's.
    fn distance(&self, ((bytes, _), ends): &Spread) -> Option<f64> {
        let is_own = (self.from.get()..=self.to.get()).contains(bytes);
        let beyond = self.beta.map_or(0.0, |beta| bytes / beta.get());
        let line = self.alpha.get() + beyond;
        is_own.then(|| ends.iter().map(|end| (end / line - 1.0).abs()).fold(0.0, f64::max))
    }
}

fn of_group(device: &str, shape: &CollectiveShape, mut points: Vec<Point>) -> Vec<CollectiveFit> {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fit = |(points, line): (&[Point], FittedLine)| {
        let (first, last) = (points.first()?, points.last()?);
        Some(CollectiveFit {
            device: device.to_owned(),
            op: shape.op,
            ranks: shape.ranks,
            nodes: shape.nodes,
            in_place: shape.in_place,
            algorithm: shape.algorithm.clone(),
            regime: shape.regime,
            from: Bytes::new(first.0),
            to: Bytes::new(last.0),
            alpha: Seconds::new(line.alpha),
            beta: (line.seconds_per_byte > 0.0)
                .then(|| BytesPerSec::new(1.0 / line.seconds_per_byte)),
            points: points.len() as u32,
            worst_residual: line.worst,
        })
    };
    segments(&points).into_iter().filter_map(fit).collect()
}

/// Halves at the best place as long as that pays.
fn segments(points: &[Point]) -> Vec<(&[Point], FittedLine)> {
    let Some(whole) = line(points) else { return Vec::new() };
    let split = (FEWEST..(points.len() + 1).saturating_sub(FEWEST)).filter_map(|at| {
        let (left, right) = points.split_at(at);
        Some((at, line(left)?.worst.max(line(right)?.worst)))
    });
    match split.min_by(|a, b| a.1.total_cmp(&b.1)) {
        Some((at, worst)) if whole.worst > GOOD_ENOUGH && worst < WORTH_A_SEGMENT * whole.worst => {
            let (left, right) = points.split_at(at);
            [segments(left), segments(right)].concat()
        }
        _ => vec![(points, whole)],
    }
}

/// Least squares of relative residuals, so that small messages count as much as large ones; neither part below zero.
fn line(points: &[Point]) -> Option<FittedLine> {
    let usable =
        points.len() >= 2 && points.iter().all(|(bytes, time)| *bytes >= 0.0 && *time > 0.0);
    if !usable {
        return None;
    }
    // Minimises the sum of (alpha u + beta v - 1)^2 with u = 1/t and v = s/t.
    let sum = |term: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(bytes, time)| term(1.0 / time, bytes / time)).sum()
    };
    let (uu, uv, vv) = (sum(&|u, _| u * u), sum(&|u, v| u * v), sum(&|_, v| v * v));
    let (u, v) = (sum(&|u, _| u), sum(&|_, v| v));
    let determinant = uu * vv - uv * uv;
    let (mut alpha, mut slope) = if determinant > 1e-12 * uu * vv {
        ((u * vv - v * uv) / determinant, (v * uu - u * uv) / determinant)
    } else {
        (u / uu, 0.0)
    };
    if alpha < 0.0 {
        (alpha, slope) = (0.0, v / vv);
    } else if slope < 0.0 {
        (alpha, slope) = (u / uu, 0.0);
    }
    let residual = |(bytes, time): &Point| ((alpha + slope * bytes) / time - 1.0).abs();
    let worst = points.iter().map(residual).fold(0.0, f64::max);
    Some(FittedLine { alpha, seconds_per_byte: slope, worst })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_line_is_found_again(alpha in 1e-6_f64..1e-4, rate in 1e9_f64..1e12) {
            let points: Vec<Point> = (10..34).map(|power| 2_f64.powi(power)).map(|s| (s, alpha + s / rate)).collect();
            let found = segments(&points);
            prop_assert_eq!(found.len(), 1);
            prop_assert!((found[0].1.alpha / alpha - 1.0).abs() < 1e-6);
            prop_assert!((found[0].1.seconds_per_byte * rate - 1.0).abs() < 1e-6);
        }

        #[test]
        fn no_part_is_below_zero(times in prop::collection::vec(1e-6_f64..1.0, 2..30)) {
            let points: Vec<Point> = times.iter().enumerate().map(|(n, t)| ((1_u64 << n) as f64, *t)).collect();
            let found = segments(&points);
            prop_assert_eq!(found.iter().map(|(points, _)| points.len()).sum::<usize>(), points.len());
            prop_assert!(found.iter().all(|(_, line)| line.alpha >= 0.0 && line.seconds_per_byte >= 0.0));
        }
    }

    #[test]
    fn another_algorithm_for_large_messages_is_another_segment() {
        let time = |s: f64| if s < 2e6 { 1e-5 + s / 1e10 } else { 1e-4 + s / 4e11 };
        let points: Vec<Point> =
            (10..34).map(|power| 2_f64.powi(power)).map(|s| (s, time(s))).collect();
        let found = segments(&points);
        assert_eq!(found.len(), 2);
        assert!((found[1].1.alpha / 1e-4 - 1.0).abs() < 1e-6);
    }
}
