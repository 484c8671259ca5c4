//! Other tools' figures of the same tapes, beside ours.

use fizeau_record::{PeerComparison, PeerRow};

use super::{OwnFigures, PeerFigure, PeerReport, PeerUnit, PeerValue};

/// The figures of `report`, beside those of `own`: both of the same tapes.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
/// use fizeau_interop::{OwnFigures, Peer, PeerSettings, beside_ours};
///
/// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
/// let mut tape = Tape::sent_at(ms(0));
/// tape.arrivals.push(Arrival::tokens(ms(20), 8, Channel::Visible));
/// tape.arrivals.push(Arrival::tokens(ms(40), 2, Channel::Visible));
///
/// let settings = PeerSettings::default();
/// let own = OwnFigures::of([&tape], &settings);
/// let both = beside_ours(&Peer::AiPerf.figures([&tape], &settings), &own);
/// let row = &both.figures[both.figures.iter().position(|row| row.name == "inter_token_latency.avg").unwrap()];
/// assert_eq!((row.value, row.ours_value), (Some(20.0 / 9.0), Some(Some(10.0))));
/// ```
#[must_use]
pub fn beside_ours(report: &PeerReport, own: &OwnFigures) -> PeerComparison {
    let both = |figure: &PeerFigure| {
        let ours = figure.ours.zip(own.comparable(figure));
        PeerRow {
            ours: ours.map(|(name, _)| name.to_owned()),
            ours_value: ours.map(|(_, value)| value.get()),
            ours_value_reason: ours.and_then(|(_, value)| reason(value)),
            ..row(figure)
        }
    };
    PeerComparison {
        tool: report.peer.key().to_owned(),
        version: report.peer.version().to_owned(),
        figures: report.figures.iter().map(both).collect(),
    }
}

/// A figure without ours beside it.
pub(super) fn row(figure: &PeerFigure) -> PeerRow {
    // An empty text would say nothing.
    let unit = match figure.unit {
        PeerUnit::Count => "count",
        PeerUnit::Share => "share",
        unit => unit.as_str(),
    };
    PeerRow {
        name: figure.name.clone(),
        unit: unit.to_owned(),
        value: figure.value.get(),
        value_reason: reason(figure.value),
        ours: None,
        ours_value: None,
        ours_value_reason: None,
    }
}

fn reason(value: PeerValue) -> Option<String> {
    match value {
        PeerValue::Absent(reason) => Some(reason.to_owned()),
        PeerValue::Known(_) => None,
    }
}
