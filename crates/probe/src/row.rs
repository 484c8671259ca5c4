//! A measurement with what follows from it.

use serde::{Deserialize, Serialize};

use crate::device::{DeviceFacts, Peak};
use crate::figures::{Figure, ProbeFigures};
use crate::judge::{self, Objection, ProbeRule};
use crate::measurement::{Component, Measurement};
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

    /// The best rate by which rows of its component are held against each other; none of what has no rate.
    fn headline(&self) -> Option<f64> {
        match self.measured.operation.component() {
            Component::Latency | Component::Launch | Component::Other => None,
            _ => Some(self.speed()?.peak()),
        }
    }

    /// How fast it is, larger being faster: arithmetic where that is what it is about, bus bandwidth of collectives, bandwidth of
    /// memory; else operations per second, and where no time is told bandwidth.
    pub(crate) fn speed(&self) -> Option<Figure<f64>> {
        let figures = &self.figures;
        let bytes = |figure: Figure<BytesPerSec>| figure.map(BytesPerSec::get);
        let rate = match self.measured.operation.component() {
            Component::Compute | Component::Gemm | Component::Attention => {
                figures.arithmetic.map(|rate| rate.map(FlopsPerSec::get))
            }
            Component::Memory => figures.bandwidth().map(bytes),
            Component::Collective => figures.bus.or(figures.copy).map(bytes),
            Component::Latency | Component::Launch | Component::Other => None,
        };
        let by_time = || Some(figures.seconds()?.inverted(|time| 1.0 / time.get()));
        // Tools have names of their own for what has a rate alone.
        let told = || Some(figures.bandwidth()?.map(BytesPerSec::get));
        rate.or_else(by_time).or_else(told)
    }
}

/// The row's best in the unit of `peak`.
fn rate_like(figures: &ProbeFigures, peak: Peak) -> Option<f64> {
    match peak {
        Peak::Bandwidth(_) => Some(figures.bandwidth()?.peak().get()),
        Peak::Link(_) => Some(figures.bus.or(figures.copy)?.peak().get()),
        Peak::Arithmetic(_) => Some(figures.arithmetic?.peak().get()),
    }
}
