//! What an engine tells of its drafts.

use fizeau_record::LevelTelemetry;
use fizeau_record::text::percent;

use super::ExportValue::Labelled;
use super::FigureText::{Each, Own};
use super::wording::{numbers, of};
use super::{TelemetryFigure, export, figure, plain, whole};

#[rustfmt::skip] // A figure is a row, and what programs get of it are three lines.
pub(super) static FIGURES: &[TelemetryFigure] = &[
    figure(["drafted tokens accepted", ""], Own(|said| of(said)?.accepted_share().map(percent)), &[
        export(["server_accepted_share", "fizeau_server_accepted_draft_tokens_ratio"],
            "The share of drafted tokens that was accepted, 0 to 1.",
            plain(|said| of(said)?.accepted_share())),
        export(["server_drafts", "fizeau_server_drafts"],
            "Rounds of drafting.",
            plain(|said| Some(of(said)?.drafts.as_ref()?.figure.delta))),
    ]),
    figure(["the same by position in the draft", ""], Each(whole), &[
        export(["server_accepted_by_position", "fizeau_server_accepted_draft_tokens_by_position"],
            "Drafted tokens that were accepted, by their position in the draft, from 0.",
            Labelled { label: "position", of: by_position }),
    ]),
];

fn by_position(said: &LevelTelemetry) -> Vec<(String, f64)> {
    of(said).map(|server| numbers(&server.accepted_by_position)).unwrap_or_default()
}
