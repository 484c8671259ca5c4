//! From requests to the series of one figure.

use fizeau_core::Stamp;

use super::{ComparedRequests, LATENCIES, Missing, Pace, Pairing, Row};
use crate::compare::{Figure, Side, Untested};
use crate::{Metric, Percent, Statistic};

/// The requests that figures are read from.
pub(super) struct Columns<'a> {
    pub(super) pairing: Pairing,
    /// In order of sending; where they are paired, those that have partners, each at its partner's place.
    pub(super) paired: (&'a [&'a Row], &'a [&'a Row]),
    pub(super) whole: (&'a ComparedRequests, &'a ComparedRequests),
}

/// The series of one figure on both sides.
#[derive(Debug)]
pub(super) struct Both {
    pub(super) what: What,
    pub(super) baseline: Series,
    pub(super) candidate: Series,
    /// Whether both have as many values, of which those at the same place belong together.
    pub(super) is_paired: bool,
}

/// What a figure is of its series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum What {
    /// The mean of values.
    Mean,
    /// A percentile of values.
    Percentile(Percent),
    /// A sum of values over a sum of time.
    Rate,
}

/// One value for each request.
#[derive(Debug, Default)]
pub(super) struct Series {
    pub(super) values: Vec<f64>,
    /// Of a rate, the time that each took in seconds; else nothing.
    pub(super) seconds: Vec<f64>,
    /// What the variance of a rate has besides, as a share of its square: the chance in how a run ends.
    pub(super) of_the_end: f64,
}

impl Columns<'_> {
    /// The series of `figure`.
    pub(super) fn of(&self, figure: Figure) -> Result<Both, Missing> {
        let metric = figure.metric();
        if let Some(place) = LATENCIES.iter().position(|known| *known == metric) {
            let what = what(figure.statistic())
                .ok_or(Missing { values: (None, None), why: Untested::NeedsRounds })?;
            return self.values(what, |row| row.latencies.get(place).copied().flatten());
        }
        match metric {
            Metric::GoodShare => {
                self.goals()?;
                self.values(What::Mean, |row| Some(f64::from(u8::from(row.is_good))))
            }
            Metric::GoodputPerSec => {
                self.goals()?;
                self.rates(|row| u64::from(row.is_good))
            }
            Metric::RequestsPerSec => self.rates(|row| u64::from(row.is_complete)),
            Metric::OutputTokensPerSec => self.rates(|row| row.output_tokens),
            // Pooled over tokens.
            _ => Err(Missing { values: (None, None), why: Untested::NeedsRounds }),
        }
    }

    fn goals(&self) -> Result<(), Missing> {
        let without = |requests: &ComparedRequests| requests.goals.is_empty();
        match (without(self.whole.0), without(self.whole.1)) {
            (true, _) => Err(Missing::side(Side::Baseline)),
            (_, true) => Err(Missing::side(Side::Candidate)),
            _ => Ok(()),
        }
    }

    /// A value for each request that has one; of pairs those of which both have.
    fn values(&self, what: What, of: impl Fn(&Row) -> Option<f64>) -> Result<Both, Missing> {
        let (a, b) = self.paired;
        let (a, b): (Vec<f64>, Vec<f64>) = match self.pairing {
            Pairing::ByNumber => a.iter().zip(b).filter_map(|(a, b)| of(a).zip(of(b))).unzip(),
            Pairing::None => {
                let all = |rows: &[&Row]| rows.iter().filter_map(|row| of(row)).collect();
                (all(a), all(b))
            }
        };
        let series = |values| Series { values, ..Series::default() };
        let is_paired = self.pairing == Pairing::ByNumber;
        Both { what, baseline: series(a), candidate: series(b), is_paired }.with_values()
    }

    /// What came with each request, and its share of the time. All requests of a run count, with partners or without: its rate
    /// is a figure of the whole.
    fn rates(&self, of: impl Fn(&Row) -> u64) -> Result<Both, Missing> {
        let (a, b) = (self.whole.0.timed(), self.whole.1.timed());
        // Both in order of sending, or both in order of ends: then the same places hold about the same requests.
        let alike = a.len() == b.len() && self.whole.0.pace == self.whole.1.pace;
        let is_paired = self.pairing == Pairing::ByNumber && alike;
        let series = |timed: Vec<(&Row, f64)>, requests: &ComparedRequests| {
            let (values, seconds) =
                timed.into_iter().map(|(row, seconds)| (of(row) as f64, seconds)).unzip();
            Series { values, seconds, of_the_end: requests.of_the_end() }
        };
        let (baseline, candidate) = (series(a, self.whole.0), series(b, self.whole.1));
        Both { what: What::Rate, baseline, candidate, is_paired }.with_values()
    }
}

impl ComparedRequests {
    /// All requests, each with its share of the run's time, in seconds.
    fn timed(&self) -> Vec<(&Row, f64)> {
        match self.pace {
            Pace::ClosedLoop => {
                let all: f64 = self.rows.iter().map(Row::held).sum();
                let scale = if all > 0.0 { self.seconds() / all } else { 0.0 };
                self.by_sending().into_iter().map(|row| (row, row.held() * scale)).collect()
            }
            Pace::OpenLoop => {
                let mut rows: Vec<&Row> = self.rows.iter().collect();
                rows.sort_by_key(|row| (row.number.0, row.end, row.number));
                let mut last = (usize::MAX, Stamp::EPOCH);
                let mut since = |row: &Row| {
                    let round = row.number.0;
                    if last.0 != round {
                        let span = self.spans.get(round).copied().flatten();
                        last = (round, span.map_or(row.end, |(first, _)| first));
                    }
                    let gap = row.end.saturating_since(last.1);
                    last.1 = row.end;
                    gap.as_secs_f64()
                };
                rows.into_iter().map(|row| (row, since(row))).collect()
            }
        }
    }

    /// The variance of a closed loop's rate by chance at its end, where slots idle until the last is done, as a share of the
    /// square of the rate.
    ///
    /// If `c` slots end anywhere within a request's time `x`, they idle for a time with a variance of about `c x^2 / 12` in
    /// all, of the `n x` that all requests take. Where times vary, the one under way at the end is longer than most: `1 +
    /// cv^2` times.
    fn of_the_end(&self) -> f64 {
        let (n, seconds) = (self.rows.len() as f64, self.seconds());
        let all: f64 = self.rows.iter().map(Row::held).sum();
        if self.pace == Pace::OpenLoop || all <= 0.0 || seconds <= 0.0 {
            return 0.0;
        }
        let squares: f64 = self.rows.iter().map(|row| row.held().powi(2)).sum();
        let longer = squares * n / (all * all);
        let rounds = self.spans.iter().flatten().count().max(1) as f64;
        (all / seconds) / 12.0 * longer * longer * rounds / (n * n)
    }
}

impl Row {
    /// How long it held its slot, in seconds.
    fn held(&self) -> f64 {
        self.end.saturating_since(self.intended).as_secs_f64()
    }
}

/// What a statistic is of single requests; none for a greatest value.
fn what(statistic: Statistic) -> Option<What> {
    let percent = match statistic {
        Statistic::Mean => return Some(What::Mean),
        Statistic::P50 => Percent::P50,
        Statistic::P90 => Percent::P90,
        Statistic::P95 => Percent::P95,
        Statistic::P99 => Percent::P99,
        Statistic::P999 => Percent::P999,
        Statistic::Max | Statistic::Value => return None,
    };
    Some(What::Percentile(percent))
}

impl Both {
    /// Refuses what has no value at all on a side.
    fn with_values(self) -> Result<Self, Missing> {
        let is_empty = |series: &Series| {
            series.values.is_empty()
                || self.what == What::Rate && series.seconds.iter().sum::<f64>() <= 0.0
        };
        match (is_empty(&self.baseline), is_empty(&self.candidate)) {
            (true, _) => Err(Missing::side(Side::Baseline)),
            (_, true) => Err(Missing::side(Side::Candidate)),
            _ => Ok(self),
        }
    }
}
