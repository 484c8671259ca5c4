//! What a tool tells of one operation, as it is collected.

use fizeau_core::{BytesPerSec, FlopsPerSec, Millis};

use crate::measurement::{ByteConvention, ReportedFigure, ReportedValue, SampleStatistic, Timing};

/// What a tool tells of one operation. What is absent, not finite or not above zero is left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Tells {
    reported: Vec<ReportedFigure>,
    of: Option<u64>,
}

impl Tells {
    /// Figures of that many operations each.
    pub(super) fn of(operations: Option<u64>) -> Self {
        Self { reported: Vec::new(), of: operations.filter(|count| *count > 0) }
    }

    fn add(
        mut self,
        statistic: SampleStatistic,
        value: Option<f64>,
        figure: impl Fn(f64) -> ReportedValue,
    ) -> Self {
        if let Some(value) = value.filter(|value| value.is_finite() && *value > 0.0) {
            self.reported.push(ReportedFigure { statistic, of: self.of, figure: figure(value) });
        }
        self
    }

    pub(super) fn millis(self, statistic: SampleStatistic, value: Option<f64>) -> Self {
        self.add(statistic, value, |value| ReportedValue::Time(Millis::new(value)))
    }

    pub(super) fn micros(self, statistic: SampleStatistic, value: Option<f64>) -> Self {
        self.millis(statistic, value.map(|value| value / 1e3))
    }

    pub(super) fn seconds(self, statistic: SampleStatistic, value: Option<f64>) -> Self {
        self.millis(statistic, value.map(|value| value * 1e3))
    }

    /// Bytes per second.
    pub(super) fn bandwidth(
        self,
        convention: ByteConvention,
        statistic: SampleStatistic,
        value: Option<f64>,
    ) -> Self {
        self.add(statistic, value, |rate| {
            ReportedValue::bandwidth(convention, BytesPerSec::new(rate))
        })
    }

    /// Bytes per second of a collective.
    pub(super) fn bus(self, statistic: SampleStatistic, value: Option<f64>) -> Self {
        self.add(statistic, value, |rate| ReportedValue::BusBandwidth(BytesPerSec::new(rate)))
    }

    /// Operations per second.
    pub(super) fn arithmetic(self, statistic: SampleStatistic, value: Option<f64>) -> Self {
        self.add(statistic, value, |rate| ReportedValue::Arithmetic(FlopsPerSec::new(rate)))
    }

    /// Without its figures where none of them is typical of all operations.
    pub(super) fn typical(mut self) -> Self {
        let is_typical = |reported: &ReportedFigure| reported.statistic < SampleStatistic::Best;
        if !self.reported.iter().any(is_typical) {
            self.reported.clear();
        }
        self
    }

    pub(super) fn is_empty(&self) -> bool {
        self.reported.is_empty()
    }

    pub(super) fn timing(self) -> Timing {
        Timing::of_reported(self.reported)
    }
}
