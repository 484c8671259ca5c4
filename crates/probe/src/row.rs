//! A measurement with what follows from it.

use serde::{Deserialize, Serialize};

use crate::device::{DeviceFacts, Peak};
use crate::figures::{Figure, ProbeFigures};
use crate::judge::{self, Objection, ProbeRule};
use crate::measurement::{Component, Measurement, Operation, memory_of};
use crate::shares::PeakShares;
use fizeau_core::{BytesPerSec, FlopsPerSec, Verdict};

/// A measurement with what follows from it: rates, shares of peaks, and how far to believe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeRow {
    /// What it is found by among others ([`Measurement::key`]).
    pub key: String,
    /// What was seen.
    pub measured: Measurement,
    /// Times and rates.
    pub figures: ProbeFigures,
    /// What it reached of peaks.
    pub shares: PeakShares,
    /// How far to believe it.
    pub verdict: Verdict,
    /// Why not further; empty of a valid one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objections: Vec<Objection>,
}

impl ProbeRow {
    /// `measured`, judged by what is known of its device. What it reached of the best seen is for [`ProbeRow::among`].
    pub(crate) fn of(measured: Measurement, device: Option<&DeviceFacts>) -> Self {
        let figures = ProbeFigures::of(&measured);
        let percent = |peak: Option<Peak>| Some(100.0 * rate_like(&figures, peak?)? / peak?.rate());
        let shares = PeakShares {
            percent_of_specification: percent(
                device.and_then(|device| device.specified(&measured)),
            ),
            percent_of_clock_peak: percent(device.and_then(|device| device.at_clock(&measured))),
            percent_of_best_seen: None,
        };
        let objections = judge::objections(&measured, &figures, shares, device);
        Self {
            key: measured.key(),
            verdict: judge::verdict(&objections),
            measured,
            figures,
            shares,
            objections,
        }
    }

    /// `rows` with what each reached of the best among those of its kind that are not invalid.
    pub(crate) fn among(mut rows: Vec<Self>) -> Vec<Self> {
        let best: Vec<Option<f64>> = rows.iter().map(|row| row.best_of_kind(&rows)).collect();
        for (row, best) in rows.iter_mut().zip(best) {
            let own = row.headline();
            row.shares.percent_of_best_seen = own.zip(best).map(|(own, best)| 100.0 * own / best);
        }
        rows
    }

    fn best_of_kind(&self, rows: &[Self]) -> Option<f64> {
        let alike = |other: &&Self| {
            let (own, other_seen) = (&self.measured, &other.measured);
            own.operation.component() == other_seen.operation.component()
                && own.dtype == other_seen.dtype
                && own.device == other_seen.device
                && Route::of(&own.operation) == Route::of(&other_seen.operation)
                // What a cache gives is no measure of memory.
                && (own.operation.component() != Component::Memory
                    || own.method.cache == other_seen.method.cache)
                && other.verdict != Verdict::Invalid
        };
        rows.iter().filter(alike).filter_map(Self::headline).max_by(f64::total_cmp)
    }

    /// What makes it wrong or impossible, or may do so where a check failed and nobody says at which row.
    pub(crate) fn fault(&self) -> Option<&Objection> {
        let is_fault = |objection: &&Objection| {
            objection.verdict == Verdict::Invalid || objection.rule == ProbeRule::WrongResult
        };
        self.objections.iter().find(is_fault)
    }

    /// The best rate by which rows of its component are held against each other; none of what has no rate of its component's unit.
    fn headline(&self) -> Option<f64> {
        self.rate().map(|rate| rate.peak())
    }

    /// The rate of its component: arithmetic where that is what it is about, bus bandwidth of collectives, bandwidth of memory.
    fn rate(&self) -> Option<Figure<f64>> {
        let figures = &self.figures;
        let bytes = |figure: Figure<BytesPerSec>| figure.map(BytesPerSec::get);
        match self.measured.operation.component() {
            Component::Compute | Component::Gemm | Component::Attention => {
                figures.arithmetic.map(|rate| rate.map(FlopsPerSec::get))
            }
            Component::Memory => figures.bandwidth().map(bytes),
            Component::Collective => figures.bus.or(figures.copy).map(bytes),
            Component::Latency | Component::Launch | Component::Other => None,
        }
    }

    /// How fast it is, larger being faster, by each measure that it has, the best first: the rate of its component, operations per
    /// second, and of what has neither bandwidth. Only speeds by one measure may be held against each other.
    pub(crate) fn speeds(&self) -> impl Iterator<Item = (SpeedMeasure, Figure<f64>)> {
        let by_time = self.figures.seconds().map(|time| time.inverted(|time| 1.0 / time.get()));
        // Tools have names of their own for what has a rate alone.
        let reported = self.figures.bandwidth().map(|rate| rate.map(BytesPerSec::get));
        [
            (SpeedMeasure::Rate, self.rate()),
            (SpeedMeasure::Operations, by_time),
            (SpeedMeasure::Bandwidth, reported),
        ]
        .into_iter()
        .filter_map(|(measure, speed)| Some((measure, speed?)))
    }

    /// Its speed beside that of `other`, both by the best measure that they share; none where they share none.
    pub(crate) fn speeds_beside(&self, other: &Self) -> Option<[Figure<f64>; 2]> {
        self.speeds().find_map(|(measure, own)| {
            let same = other.speeds().find(|(known, _)| *known == measure)?;
            Some([own, same.1])
        })
    }
}

/// By what a row is said to be fast, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SpeedMeasure {
    /// The rate of its component.
    Rate,
    /// How many operations a second has.
    Operations,
    /// Bytes of what has neither.
    Bandwidth,
}

/// The row's best in the unit of `peak`.
fn rate_like(figures: &ProbeFigures, peak: Peak) -> Option<f64> {
    match peak {
        Peak::Bandwidth(_) => Some(figures.bandwidth()?.peak().get()),
        Peak::Link(_) => Some(figures.bus.or(figures.copy)?.peak().get()),
        Peak::Arithmetic(_) => Some(figures.arithmetic?.peak().get()),
    }
}

/// Between which kinds of memory a copy goes: only those of one kind share their limit.
#[derive(Debug, PartialEq, Eq)]
enum Route<'a> {
    /// From a memory into the same one.
    Within,
    /// From one of that kind to another of that kind: `host`, `gpu`; and whether the other way at once too.
    Between([&'a str; 2], bool),
}

impl<'a> Route<'a> {
    /// None of what is no copy between memories.
    fn of(operation: &'a Operation) -> Option<Self> {
        let Operation::Transfer { from, to, both_ways, .. } = operation else { return None };
        let kind = |side: &'a str| memory_of(side).trim_end_matches(|c: char| c.is_ascii_digit());
        Some(match operation.is_within_one() {
            true => Self::Within,
            false => Self::Between([kind(from), kind(to)], *both_ways),
        })
    }
}
