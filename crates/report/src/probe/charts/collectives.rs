//! The chart of collectives: algorithm bandwidth, bus bandwidth and time by the size of the message.

use fizeau_probe::{CollectiveRegime, Figure, Operation, Peak, ProbeDocument, ProbeRow};

use super::{Gathered, TYPICAL, giga, typical_point};
use crate::Shown;
use crate::pictures::{CurveAxis, CurveChart, CurveLimit, CurvePanel, CurveStyle};
use crate::probe::cells;

/// What of a row goes up.
type Height = fn(&ProbeRow) -> Option<Figure<f64>>;

/// Collectives by size: three panels, of which one without points is left out.
pub(super) fn collectives(of: &Shown<'_, ProbeDocument>) -> Option<CurveChart> {
    let link = of.printed(|peak, _| matches!(peak, Peak::Link(_)));
    let limit = link.map(|(rate, source)| CurveLimit {
        at: rate / 1e9,
        text: format!("data sheet, link: {} GB/s ({source})", cells::figure(rate / 1e9)),
    });
    let panels: [(&str, Height, Vec<CurveLimit>); 3] = [
        ("Algorithm bandwidth, GB/s", |row| row.figures.copy.map(giga), Vec::new()),
        ("Bus bandwidth, GB/s", |row| row.figures.bus.map(giga), limit.into_iter().collect()),
        ("Time, us", |row| Some(row.figures.time?.map(|time| time.get() * 1e3)), Vec::new()),
    ];
    let panels = panels.into_iter().filter_map(|(title, height, limits)| {
        let mut gathered = Gathered::default();
        for row in of.believed() {
            let Some((name, bytes)) = name(row) else { continue };
            // A series without this figure keeps its colour in every panel by having a place in each.
            match height(row) {
                Some(figure) => gathered.add(name, typical_point(bytes, figure)),
                None => gathered.reserve(name),
            }
        }
        let series = gathered.series(0, CurveStyle::Joined);
        let is_empty = series.iter().all(|series| series.points.is_empty());
        (!is_empty).then(|| CurvePanel {
            across: CurveAxis::Sizes("Message".to_owned()),
            up: CurveAxis::Suited(title.to_owned()),
            series,
            limits,
        })
    });
    let panels: Vec<CurvePanel> = panels.collect();
    let first = panels.first()?;
    Some(CurveChart {
        title: "Collectives by the size of the message".to_owned(),
        subtitle: of.subject(),
        description: super::memory::described("Collectives by size", &first.series),
        panels,
        notes: vec![
            TYPICAL.to_owned(),
            "Algorithm bandwidth is the message over the time; bus bandwidth is what the slowest link carries."
                .to_owned(),
        ],
    })
}

/// Which series a collective belongs to, and the size of its message.
fn name(row: &ProbeRow) -> Option<(String, f64)> {
    let Operation::Collective { shape, .. } = &row.measured.operation else { return None };
    let place = shape.in_place.map(|own| if own { "in place" } else { "out of place" });
    let dtype = row.measured.dtype.map(|dtype| dtype.to_string());
    let said = [shape.algorithm.as_deref(), shape.regime.map(CollectiveRegime::as_str), place];
    let said = said.into_iter().flatten().map(str::to_owned).chain(dtype);
    let said: String = said.map(|word| format!(", {word}")).collect();
    Some((format!("{} of {}{said}", shape.op, shape.ranks), shape.message.get()))
}
