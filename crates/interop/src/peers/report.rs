//! The figures of one tool as a list.

use super::sample::Column;
use super::{Peer, PeerTerm};

/// What a tool would have reported.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PeerReport {
    /// Which tool.
    pub peer: Peer,
    /// Its figures, in its own order.
    pub figures: Vec<PeerFigure>,
    /// What its rates are made of and its report does not have, with what it is a figure of.
    pub intermediate: Vec<(PeerTerm, PeerFigure)>,
}

/// One figure of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PeerFigure {
    /// The tool's own name. Where its file nests objects the keys are joined by dots; a number of a whole table
    /// row has the column first.
    pub name: String,
    /// The figure.
    pub value: PeerValue,
    /// The tool's own unit.
    pub unit: PeerUnit,
    /// Our name for the figure, where we have one for the same thing: [`OwnFigures`](super::OwnFigures) has ours. By the tool's own
    /// definition it can be another number.
    pub ours: Option<&'static str>,
    /// Which statistic of a sample it is; none of a count or a rate of the whole run.
    pub statistic: Option<PeerStatistic>,
}

/// Which statistic of a sample a figure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerStatistic {
    /// The mean.
    Mean,
    /// The standard deviation, squares divided by n: numpy's default.
    Std,
    /// The smallest value.
    Min,
    /// The greatest value.
    Max,
    /// The percentile of so many percent, by the tool's rule; 50 is the median.
    Percentile(u8),
    /// How many values there are.
    Count,
}

/// A figure, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PeerValue {
    /// It is absent, for this reason.
    Absent(&'static str),
    /// A finite number.
    Known(f64),
}

/// In what a tool counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerUnit {
    /// Things: requests, tokens.
    Count,
    /// Milliseconds.
    Millis,
    /// Nanoseconds.
    Nanos,
    /// Of a hundred.
    Percent,
    /// Things a second.
    PerSecond,
    /// Of one.
    Share,
    /// Seconds.
    Seconds,
}

impl PeerUnit {
    /// The unit as a table has it: `ms`, `/s`; nothing for plain numbers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Count | Self::Share => "",
            Self::Millis => "ms",
            Self::Nanos => "ns",
            Self::Percent => "%",
            Self::PerSecond => "/s",
            Self::Seconds => "s",
        }
    }
}

impl PeerValue {
    /// The number, if there is one.
    #[must_use]
    pub const fn get(self) -> Option<f64> {
        match self {
            Self::Absent(_) => None,
            Self::Known(value) => Some(value),
        }
    }
}

impl From<f64> for PeerValue {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Known(value) } else { Self::Absent("no time passed") }
    }
}

impl From<u64> for PeerValue {
    fn from(count: u64) -> Self {
        Self::Known(count as f64)
    }
}

impl<V: Into<Self>> From<Option<V>> for PeerValue {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Absent("no request has one"), V::into)
    }
}

impl PeerReport {
    /// The figure of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PeerFigure> {
        self.figures.iter().find(|figure| figure.name == name)
    }

    /// The number of this name; none too where it is absent.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<f64> {
        self.get(name)?.value.get()
    }
}

/// Figures as they are put together.
#[derive(Debug, Default)]
pub(super) struct Sheet {
    figures: Vec<PeerFigure>,
    intermediate: Vec<(PeerTerm, PeerFigure)>,
}

impl Sheet {
    pub(super) fn into_report(self, peer: Peer) -> PeerReport {
        PeerReport { peer, figures: self.figures, intermediate: self.intermediate }
    }

    /// The time that its rates are over, which it does not report.
    pub(super) fn duration(&mut self, seconds: impl Into<PeerValue>) {
        self.intermediate(PeerTerm::Duration, PeerUnit::Seconds, seconds.into());
    }

    /// How many output tokens its rates count, which it does not report.
    pub(super) fn tokens(&mut self, count: u64) {
        self.intermediate(PeerTerm::Tokens, PeerUnit::Count, count.into());
    }

    fn intermediate(&mut self, concept: PeerTerm, unit: PeerUnit, value: PeerValue) {
        let name = "not reported, but in its rates".to_owned();
        let ours = Some(concept.own_name());
        self.intermediate.push((concept, PeerFigure { name, value, unit, ours, statistic: None }));
    }

    /// A figure of the whole run that is ours by another name.
    pub(super) fn ours(
        &mut self,
        name: impl Into<String>,
        unit: PeerUnit,
        value: impl Into<PeerValue>,
        ours: &'static str,
    ) {
        self.push(name.into(), unit, value.into(), Some(ours), None);
    }

    /// A figure of the whole run that we have no name for.
    pub(super) fn put(
        &mut self,
        name: impl Into<String>,
        unit: PeerUnit,
        value: impl Into<PeerValue>,
    ) {
        self.push(name.into(), unit, value.into(), None, None);
    }

    /// A figure that the tool has and we cannot tell.
    pub(super) fn absent(&mut self, name: impl Into<String>, unit: PeerUnit, reason: &'static str) {
        self.put(name, unit, PeerValue::Absent(reason));
    }

    /// A statistic of a sample.
    pub(super) fn of(
        &mut self,
        column: &Column<'_>,
        statistic: PeerStatistic,
        name: impl Into<String>,
    ) {
        self.of_as(column, statistic, name, |value| value);
    }

    /// The same, made over by the tool: rounded, or a zero for nothing.
    pub(super) fn of_as(
        &mut self,
        column: &Column<'_>,
        statistic: PeerStatistic,
        name: impl Into<String>,
        made_over: impl FnOnce(Option<f64>) -> Option<f64>,
    ) {
        let value = made_over(column.statistic(statistic));
        let unit = match statistic {
            PeerStatistic::Count => PeerUnit::Count,
            _ => column.unit,
        };
        self.push(name.into(), unit, value.into(), column.ours, Some(statistic));
    }

    fn push(
        &mut self,
        name: String,
        unit: PeerUnit,
        value: PeerValue,
        ours: Option<&'static str>,
        statistic: Option<PeerStatistic>,
    ) {
        self.figures.push(PeerFigure { name, value, unit, ours, statistic });
    }
}
