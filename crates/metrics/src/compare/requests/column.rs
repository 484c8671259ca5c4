//! From requests to the series of one figure.

use fizeau_core::Stamp;

use super::{ComparedRequests, RequestPairing, RequestValues, UntestedFigure};
use crate::compare::{ComparisonSide, LevelFigure, UntestedReason};
use crate::{LoadPacing, Metric, Percent, Statistic};

/// The requests that figures are read from.
pub(super) struct RequestColumns<'a> {
    pub(super) pairing: RequestPairing,
    /// In order of sending; where they are paired, those that have partners, each at its partner's place.
    pub(super) paired: (&'a [&'a RequestValues], &'a [&'a RequestValues]),
    pub(super) whole: (&'a ComparedRequests, &'a ComparedRequests),
}

/// The series of one figure on both sides.
#[derive(Debug)]
pub(super) struct BothSeries {
    pub(super) what: SeriesFigure,
    pub(super) baseline: FigureSeries,
    pub(super) candidate: FigureSeries,
    /// Whether both have as many values, of which those at the same place belong together.
    pub(super) is_paired: bool,
    /// How many requests were in flight, on the side with more of them.
    pub(super) in_flight: f64,
}

/// What a figure is of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum SeriesFigure {
    /// The mean of values.
    Mean,
    /// A percentile of values.
    Percentile(Percent),
    /// A sum of values over a sum of time.
    Rate,
}

/// One value for each request.
#[derive(Debug, Default)]
pub(super) struct FigureSeries {
    pub(super) values: Vec<f64>,
    /// Of a rate, the time that each took in seconds; else nothing.
    pub(super) seconds: Vec<f64>,
}

impl RequestColumns<'_> {
    /// The series of `figure`.
    pub(super) fn of(&self, figure: LevelFigure) -> Result<BothSeries, UntestedFigure> {
        let metric = figure.metric;
        if let Some(place) = Metric::series().position(|known| known == metric) {
            let what = what(figure.statistic)
                .ok_or(UntestedFigure { values: (None, None), why: UntestedReason::NeedsRounds })?;
            return self.values(what, |row| row.latencies.get(place).copied().flatten());
        }
        match metric {
            Metric::GoodShare => {
                self.goals()?;
                self.shares(|row| row.is_good)
            }
            Metric::FailedShare => self.shares(|row| !row.is_complete),
            Metric::GoodputPerSec => {
                self.goals()?;
                self.rates(|row| u64::from(row.is_good))
            }
            Metric::RequestsPerSec => self.rates(|row| u64::from(row.is_complete)),
            Metric::OutputTokensPerSec => self.rates(|row| row.output_tokens),
            // Pooled over tokens.
            _ => Err(UntestedFigure { values: (None, None), why: UntestedReason::NeedsRounds }),
        }
    }

    /// A share of those that the client did not call off.
    fn shares(&self, of: impl Fn(&RequestValues) -> bool) -> Result<BothSeries, UntestedFigure> {
        let value = |row: &RequestValues| (!row.is_cancelled).then(|| f64::from(u8::from(of(row))));
        self.values(SeriesFigure::Mean, value)
    }

    fn goals(&self) -> Result<(), UntestedFigure> {
        let without = |requests: &ComparedRequests| requests.goals.is_empty();
        match (without(self.whole.0), without(self.whole.1)) {
            (true, _) => Err(UntestedFigure::side(ComparisonSide::Baseline)),
            (_, true) => Err(UntestedFigure::side(ComparisonSide::Candidate)),
            _ => Ok(()),
        }
    }

    /// A value for each request that has one; of pairs those of which both have.
    fn values(
        &self,
        what: SeriesFigure,
        of: impl Fn(&RequestValues) -> Option<f64>,
    ) -> Result<BothSeries, UntestedFigure> {
        let (a, b) = self.paired;
        let whole = (&self.whole.0.rows, &self.whole.1.rows);
        let has_any = |rows: &[RequestValues]| rows.iter().any(|row| of(row).is_some());
        for (rows, side) in
            [(whole.0, ComparisonSide::Baseline), (whole.1, ComparisonSide::Candidate)]
        {
            if !has_any(rows) {
                return Err(UntestedFigure::side(side));
            }
        }
        let (a, b): (Vec<f64>, Vec<f64>) = match self.pairing {
            RequestPairing::ByNumber => {
                a.iter().zip(b).filter_map(|(a, b)| of(a).zip(of(b))).unzip()
            }
            RequestPairing::None => {
                let all = |rows: &[&RequestValues]| rows.iter().filter_map(|row| of(row)).collect();
                (all(a), all(b))
            }
        };
        if a.is_empty() || b.is_empty() {
            return Err(UntestedFigure { values: (None, None), why: UntestedReason::NoPairs });
        }
        let series = |values| FigureSeries { values, ..FigureSeries::default() };
        let is_paired = self.pairing == RequestPairing::ByNumber;
        let in_flight = self.in_flight();
        Ok(BothSeries { what, baseline: series(a), candidate: series(b), is_paired, in_flight })
    }

    fn in_flight(&self) -> f64 {
        self.whole.0.in_flight().max(self.whole.1.in_flight())
    }

    /// What came with each request, and its share of the time. All requests of a run count, with partners or without: its rate
    /// is a figure of the whole.
    fn rates(&self, of: impl Fn(&RequestValues) -> u64) -> Result<BothSeries, UntestedFigure> {
        let (baseline, candidate) = self.whole;
        let (Some(a), Some(b)) = (baseline.timed(), candidate.timed()) else {
            let rate = |requests: &ComparedRequests| requests.rate(&of);
            let values = (rate(baseline), rate(candidate));
            return Err(UntestedFigure { values, why: UntestedReason::NeedsRounds });
        };
        // Both in order of sending, or both in order of ends: then the same places hold about the same requests.
        let alike = a.len() == b.len() && baseline.pace == candidate.pace;
        let is_paired = self.pairing == RequestPairing::ByNumber && alike;
        let series = |timed: Vec<(&RequestValues, f64)>| {
            let (values, seconds) =
                timed.into_iter().map(|(row, seconds)| (of(row) as f64, seconds)).unzip();
            FigureSeries { values, seconds }
        };
        BothSeries {
            what: SeriesFigure::Rate,
            baseline: series(a),
            candidate: series(b),
            is_paired,
            // The schedule makes the gaps of an open loop, not what is in flight.
            in_flight: match baseline.pace {
                LoadPacing::OpenLoop => 1.0,
                LoadPacing::ClosedLoop | LoadPacing::AllAtOnce => self.in_flight(),
            },
        }
        .with_time()
    }
}

impl ComparedRequests {
    /// The requests that make the rate, each with its share of the time in seconds; none if the rate hangs on the few requests
    /// that end last.
    fn timed(&self) -> Option<Vec<(&RequestValues, f64)>> {
        let mut rows = self.by_sending();
        if self.pace == LoadPacing::OpenLoop {
            rows.sort_by_key(|row| (row.number.0, row.end, row.number));
        }
        let rounds = rows.chunk_by(|one, next| one.number.0 == next.number.0);
        let timed: Option<Vec<Vec<(&RequestValues, f64)>>> = rounds
            .map(|round| match self.pace {
                LoadPacing::AllAtOnce => None,
                LoadPacing::ClosedLoop => shares_of_slots(round),
                LoadPacing::OpenLoop => Some(gaps(round)),
            })
            .collect();
        timed.map(|rounds| rounds.into_iter().flatten().collect())
    }

    /// From the first release to the last end; absent if that is no time.
    fn rate(&self, of: impl Fn(&RequestValues) -> u64) -> Option<f64> {
        let sum = self.rows.iter().map(of).sum::<u64>() as f64;
        Some(sum / self.seconds()).filter(|rate| rate.is_finite())
    }
}

/// The time that each held its slot, over how many slots there are: what the requests of a round take if no slot idles. At the
/// end of a run slots do, until the last request is done: how long is chance, and the more slots the more of it.
///
/// The slots are counted where they are full, from when the most requests were first in flight until the last was sent; none
/// if that is no time.
fn shares_of_slots<'a>(round: &[&'a RequestValues]) -> Option<Vec<(&'a RequestValues, f64)>> {
    let sorted = |of: fn(&RequestValues) -> Stamp| {
        let mut stamps: Vec<Stamp> = round.iter().map(|row| of(row)).collect();
        stamps.sort_unstable();
        stamps
    };
    let (starts, ends) = (sorted(|row| row.intended), sorted(|row| row.end));
    let (mut over, mut most, mut full) = (ends.iter().peekable(), 0, Stamp::EPOCH);
    let mut ended = 0_usize;
    for (begun, start) in starts.iter().enumerate() {
        while over.next_if(|end| *end <= start).is_some() {
            ended += 1;
        }
        let in_flight = (begun + 1).saturating_sub(ended);
        if in_flight > most {
            (most, full) = (in_flight, *start);
        }
    }
    let last = *starts.last()?;
    let within = |row: &&RequestValues| {
        row.end.min(last).saturating_since(row.intended.max(full)).as_secs_f64()
    };
    let slots = round.iter().map(within).sum::<f64>() / last.saturating_since(full).as_secs_f64();
    (slots.is_finite() && slots > 0.0)
        .then(|| round.iter().map(|row| (*row, row.held() / slots)).collect())
}

/// The time since the end before. The first end has none before it, and is left out.
fn gaps<'a>(ends: &[&'a RequestValues]) -> Vec<(&'a RequestValues, f64)> {
    let pairs = ends.iter().zip(ends.iter().skip(1));
    pairs.map(|(last, row)| (*row, row.end.saturating_since(last.end).as_secs_f64())).collect()
}

impl RequestValues {
    /// How long it held its slot, in seconds.
    fn held(&self) -> f64 {
        self.end.saturating_since(self.intended).as_secs_f64()
    }
}

/// What a statistic is of single requests; none for a greatest value.
fn what(statistic: Statistic) -> Option<SeriesFigure> {
    let percent = match statistic {
        Statistic::Mean => return Some(SeriesFigure::Mean),
        Statistic::P50 => Percent::P50,
        Statistic::P90 => Percent::P90,
        Statistic::P95 => Percent::P95,
        Statistic::P99 => Percent::P99,
        Statistic::P999 => Percent::P999,
        Statistic::Max | Statistic::Value => return None,
    };
    Some(SeriesFigure::Percentile(percent))
}

impl BothSeries {
    /// Refuses a rate over no time.
    fn with_time(self) -> Result<Self, UntestedFigure> {
        let is_empty = |series: &FigureSeries| series.seconds.iter().sum::<f64>() <= 0.0;
        match (is_empty(&self.baseline), is_empty(&self.candidate)) {
            (true, _) => Err(UntestedFigure::side(ComparisonSide::Baseline)),
            (_, true) => Err(UntestedFigure::side(ComparisonSide::Candidate)),
            _ => Ok(self),
        }
    }
}
