//! What was reached of the speed of light, level by level and phase by phase; and its curve as figures.

use super::table::{Cell, Head, Row, Table};
use crate::Shown;
use crate::speed_of_light_table::{COLUMNS, LightColumn, note};
use crate::{ChartCurvePoint, ChartRun};
use fizeau_record::SweepReport;
use fizeau_record::text::{duration_ms, supported};

/// What was reached of it; none where there is no speed of light.
pub(super) fn table(report: &SweepReport) -> Option<Table> {
    let head = |column: LightColumn| match column.is_words() {
        true => Head::words(column.head),
        false => Head::figure(column.head, column.group),
    };
    let row = |row: [String; 9]| {
        let cells = row.into_iter().zip(COLUMNS);
        Row::plain(cells.map(|(cell, column)| match column.is_words() {
            true => Cell::left(cell),
            false => Cell::text(cell),
        }))
    };
    let said = |words: Option<String>| words.map(|words| format!("{words}."));
    let sheet = said(Shown(report).data_sheet_words());
    let calibrated = said(Shown(report).calibrated_words());
    let rows = Shown(report).light_rows().into_iter().map(row);
    let notes = [format!("{}.", note(&[]))].into_iter().chain(sheet).chain(calibrated);
    Table::new("Speed of light", COLUMNS.map(head), rows).noting(notes).unless_empty()
}

/// The curves of bound and expectation as a table; none where no run has them.
pub(super) fn curve(runs: &[ChartRun]) -> Vec<Table> {
    let table = |run: &ChartRun| {
        let light = run.light.as_ref()?;
        let heads = [
            ("in flight", ""),
            ("bound", "requests/s"),
            ("bound", "E2EL"),
            ("expected", "requests/s"),
            ("expected", "E2EL"),
        ];
        let row = |point: &ChartCurvePoint| {
            let expected =
                light.expected.iter().find(|other| other.concurrency == point.concurrency);
            let both = |point: Option<&ChartCurvePoint>| match point {
                Some(point) => [supported(point.requests_per_s, None), duration_ms(point.e2el_ms)],
                None => ["-".to_owned(), "-".to_owned()],
            };
            let [bound, latency] = both(Some(point));
            let [rate, time] = both(expected);
            Row::plain([point.concurrency.to_string(), bound, latency, rate, time].map(Cell::text))
        };
        let name = if run.name.is_empty() { String::new() } else { format!(" of {}", run.name) };
        let heads = heads.map(|(head, unit)| Head::figure(head, unit));
        let label = format!("The speed of light as figures{name}");
        let table = Table::new(label, heads, light.bound.iter().map(row));
        Some(table.noting(["Mean latencies at so many requests in flight."]))
    };
    runs.iter().filter_map(table).collect()
}
