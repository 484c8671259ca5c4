//! Every figure that servers, devices and the client's host tell of a level, once: how people read it, and what programs get of it.

mod devices;
mod light;
mod server;
mod speculation;
mod wording;

use fizeau_record::LevelTelemetry;

use crate::TableCell;
pub(crate) use wording::shown;
pub(super) use wording::whole;

/// A figure of a level.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TelemetryFigure {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    text: FigureText,
    exports: &'static [TelemetryExport],
}

/// What people are shown of it.
#[derive(Debug, Clone, Copy)]
enum FigureText {
    /// What programs get, `12 / 16`, numbers in these words; a `-` for what is not known beside the first.
    Each(fn(f64) -> String),
    /// The same where all of it is known.
    All(fn(f64) -> String),
    /// Words of its own.
    Own(fn(&LevelTelemetry) -> Option<String>),
}

/// What programs get of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TelemetryExport {
    /// The column of the table of levels, with its unit.
    pub(crate) column: &'static str,
    /// The metric for monitoring, in base units.
    pub(crate) metric: &'static str,
    /// What it is, in a sentence.
    pub(crate) about: &'static str,
    value: ExportValue,
}

/// What a column holds, and a metric.
#[derive(Debug, Clone, Copy)]
enum ExportValue {
    /// A number in the column's unit, and what it is multiplied with to be in base units.
    Number { of: fn(&LevelTelemetry) -> Option<f64>, to_base: f64 },
    /// Several numbers that a label tells apart: a metric has a series of each, a column all of them in one cell, `name=number`.
    Labelled { label: &'static str, of: fn(&LevelTelemetry) -> Vec<(String, f64)> },
    /// A word: a metric that is always 1 has it as its label.
    Word { label: &'static str, of: fn(&LevelTelemetry) -> Option<String> },
}

use ExportValue::{Labelled, Number, Word};
use FigureText::{All, Each, Own};

impl TelemetryFigure {
    /// What is shown of it; none where nobody said it.
    pub(crate) fn shown(&self, said: &LevelTelemetry) -> Option<String> {
        let each = |text| self.exports.iter().map(move |export| export.words(said, text));
        let words: Vec<String> = match self.text {
            Own(of) => return of(said),
            All(text) => each(text).collect::<Option<_>>()?,
            Each(text) => {
                each(text).next()??;
                each(text).map(|words| words.unwrap_or_else(|| "-".to_owned())).collect()
            }
        };
        Some(words.join(" / "))
    }
}

const fn figure(
    [name, unit]: [&'static str; 2],
    text: FigureText,
    exports: &'static [TelemetryExport],
) -> TelemetryFigure {
    TelemetryFigure { name, unit, text, exports }
}

const fn export(
    [column, metric]: [&'static str; 2],
    about: &'static str,
    value: ExportValue,
) -> TelemetryExport {
    TelemetryExport { column, metric, about, value }
}

const fn plain(of: fn(&LevelTelemetry) -> Option<f64>) -> ExportValue {
    Number { of, to_base: 1.0 }
}

/// A time in milliseconds, of which the metric is in seconds.
const fn ms(of: fn(&LevelTelemetry) -> Option<f64>) -> ExportValue {
    Number { of, to_base: 1e-3 }
}

/// A clock, of which the metric is in hertz.
const fn megahertz(of: fn(&LevelTelemetry) -> Option<f64>) -> ExportValue {
    Number { of, to_base: MEGA }
}

/// Hertz of a megahertz.
const MEGA: f64 = 1e6;

/// A value in base units, with the label that its metric has besides.
pub(crate) type TelemetrySeries = (Option<(&'static str, String)>, f64);

impl TelemetryExport {
    /// Whether its column holds words.
    pub(crate) const fn is_text(&self) -> bool {
        !matches!(self.value, Number { .. })
    }

    /// The field of its column.
    pub(crate) fn cell(&self, said: Option<&LevelTelemetry>) -> TableCell<'static> {
        match self.value {
            Number { of, .. } => TableCell::number(said.and_then(of)),
            Word { of, .. } => TableCell::text(said.and_then(of)),
            Labelled { of, .. } => {
                let each = said.map(of).unwrap_or_default();
                let each: Vec<String> =
                    each.iter().map(|(name, number)| format!("{name}={number}")).collect();
                TableCell::text((!each.is_empty()).then(|| each.join(" ")))
            }
        }
    }

    /// Its value in words.
    fn words(&self, said: &LevelTelemetry, number: fn(f64) -> String) -> Option<String> {
        match self.value {
            Number { of, .. } => of(said).map(number),
            Word { of, .. } => of(said),
            Labelled { of, .. } => {
                let each = of(said);
                let each = each.iter().map(|(name, value)| format!("{name} {}", number(*value)));
                let each: Vec<String> = each.collect();
                (!each.is_empty()).then(|| each.join(", "))
            }
        }
    }

    /// The values of its metric.
    pub(crate) fn series(&self, said: &LevelTelemetry) -> Vec<TelemetrySeries> {
        match self.value {
            Number { of, to_base } => {
                of(said).map(|number| (None, number * to_base)).into_iter().collect()
            }
            Labelled { label, of } => {
                of(said).into_iter().map(|(name, number)| (Some((label, name)), number)).collect()
            }
            Word { label, of } => {
                of(said).map(|word| (Some((label, word)), 1.0)).into_iter().collect()
            }
        }
    }
}

/// All that there is of a level, in order; what nobody said is left out.
pub(crate) fn figures() -> impl Iterator<Item = &'static TelemetryFigure> {
    let all = [server::FIGURES, speculation::FIGURES, light::FIGURES, devices::FIGURES];
    all.into_iter().flatten()
}

/// What programs get, in order.
pub(crate) fn exported() -> impl Iterator<Item = &'static TelemetryExport> {
    figures().flat_map(|figure| figure.exports)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{exported, figures};

    /// What `-v` shows, tables and monitoring have too, under a name of its own.
    #[test]
    fn each_figure_has_columns_and_metrics_that_no_other_has() {
        assert!(figures().all(|figure| !figure.exports.is_empty()));
        let columns: BTreeSet<&str> = exported().map(|of| of.column).collect();
        let metrics: BTreeSet<&str> = exported().map(|of| of.metric).collect();
        assert_eq!([columns.len(), metrics.len()], [exported().count(); 2]);
        assert!(exported().all(|of| of.metric.starts_with("fizeau_") && of.about.ends_with('.')));
    }
}
