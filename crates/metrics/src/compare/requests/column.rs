//! From requests to the series of one figure.

use fizeau_core::Stamp;

use super::{ComparedRequests, LATENCIES, Missing, Pairing, Row};
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
        let series = |values| Series { values, seconds: Vec::new() };
        let is_paired = self.pairing == Pairing::ByNumber;
        Both { what, baseline: series(a), candidate: series(b), is_paired }.with_values()
    }

    /// What came with each request and the time since the one before ended, in the order in which they ended. All requests
    /// of a run count, with partners or without: its rate is a figure of the whole.
    fn rates(&self, of: impl Fn(&Row) -> u64) -> Result<Both, Missing> {
        let series = |requests: &ComparedRequests| {
            let mut rows: Vec<&Row> = requests.rows.iter().collect();
            rows.sort_by_key(|row| (row.end, row.number));
            let mut last = requests.start.unwrap_or(Stamp::EPOCH);
            let mut since = |row: &&Row| {
                let gap = row.end.saturating_since(last);
                last = last.max(row.end);
                gap.as_secs_f64()
            };
            let seconds: Vec<f64> = rows.iter().map(&mut since).collect();
            Series { values: rows.iter().map(|row| of(row) as f64).collect(), seconds }
        };
        let (baseline, candidate) = (series(self.whole.0), series(self.whole.1));
        let as_many = baseline.values.len() == candidate.values.len();
        let is_paired = self.pairing == Pairing::ByNumber && as_many;
        Both { what: What::Rate, baseline, candidate, is_paired }.with_values()
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
