//! What a tool says of some tapes.

use fizeau_core::{Tape, Usage};
use fizeau_interop::{Peer, PeerReport, PeerSettings, PeerValue};
use fizeau_metrics::GoodputGoals;

pub(crate) fn by(peer: Peer, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings::default())
}

pub(crate) fn under_cap(peer: Peer, cap: u32, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings { max_concurrency: Some(cap), ..PeerSettings::default() })
}

pub(crate) fn with_goals(peer: Peer, goals: &GoodputGoals, tapes: &[Tape]) -> PeerReport {
    peer.figures(tapes, &PeerSettings { goals: goals.clone(), ..PeerSettings::default() })
}

#[track_caller]
pub(crate) fn says(report: &PeerReport, name: &str, wanted: f64) {
    let value = report.value(name).unwrap_or_else(|| panic!("{name}: {:?}", report.get(name)));
    assert!((value - wanted).abs() < 1e-9 * wanted.abs().max(1.0), "{name}: {value} {wanted}");
}

#[track_caller]
pub(crate) fn says_nothing(report: &PeerReport, name: &str) {
    let value = report.get(name).unwrap_or_else(|| panic!("{name} is missing")).value;
    assert!(matches!(value, PeerValue::Absent(_)), "{name}: {value:?}");
}

/// The same with a usage report.
pub(crate) fn reporting(mut tape: Tape) -> Tape {
    let tokens = tape.output_tokens();
    tape.usage = Some(Usage { completion_tokens: Some(tokens), ..Usage::default() });
    tape
}
