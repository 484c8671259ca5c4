//! What an engine tells of its drafts.

use fizeau_record::LevelTelemetry;
use fizeau_record::text::percent;

use super::wording::{by_name, numbers, of, whole};
use super::{TelemetryFigure, export, labelled};

pub(super) static FIGURES: &[TelemetryFigure] = &[
    TelemetryFigure::new(
        "drafted tokens accepted",
        "",
        |said| of(said)?.accepted_share().map(percent),
        &[
            export(
                ["server_accepted_share", "fizeau_server_accepted_draft_tokens_ratio"],
                "The share of drafted tokens that was accepted, 0 to 1.",
                |said| of(said)?.accepted_share(),
            ),
            export(["server_drafts", "fizeau_server_drafts"], "Rounds of drafting.", |said| {
                Some(of(said)?.drafts.as_ref()?.figure.delta)
            }),
        ],
    ),
    TelemetryFigure::new(
        "the same by position in the draft",
        "",
        |said| by_name(&by_position(said), whole),
        &[labelled(
            [
                "server_accepted_by_position",
                "fizeau_server_accepted_draft_tokens_by_position",
                "position",
            ],
            "Drafted tokens that were accepted, by their position in the draft, from 0.",
            by_position,
        )],
    ),
];

fn by_position(said: &LevelTelemetry) -> Vec<(String, f64)> {
    of(said).map(|server| numbers(&server.accepted_by_position)).unwrap_or_default()
}
