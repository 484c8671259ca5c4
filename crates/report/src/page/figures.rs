//! The charts: what each answers, how it is read, and what it says to whoever does not see it.

mod alt_text;

use serde::Serialize;

use super::table::Table;
use crate::charts::description::ChartDescription;
use crate::{ChartLevelPosition, ChartRun};

/// A chart of a page, without its drawing.
#[derive(Debug, Serialize)]
pub(super) struct Figure {
    /// What a script knows it by.
    name: &'static str,
    /// The question that it answers.
    question: &'static str,
    /// How to read it.
    caption: String,
    /// What it shows, in words and numbers.
    said: String,
    /// The figures behind it, folded away.
    pub(super) tables: Vec<Table>,
}

/// What of a run each chart shows, in words.
const SAID: [fn(&ChartRun) -> String; 7] = [
    alt_text::frontier,
    alt_text::interactivity,
    alt_text::load,
    alt_text::quantiles,
    alt_text::itl,
    alt_text::timeline,
    alt_text::lengths,
];

/// The caption of the frontier: of what is drawn alone.
fn frontier(caption: &str, runs: &[ChartRun]) -> String {
    let any = |is: fn(&ChartRun) -> bool| runs.iter().any(is);
    let is_behind =
        |run: &ChartRun| run.levels.iter().any(|l| l.position == ChartLevelPosition::Dominated);
    let parts = [
        (any(is_behind), "Levels that another beats are hollow."),
        (any(|run| run.operating.is_some()), "The ring marks the level to run at."),
        (
            any(|run| run.light.is_some()),
            "The curves beyond it show what the hardware allows at the same numbers of requests \
             in flight, with mean latencies: the bound, which nothing beats, and what the \
             roofline model expects.",
        ),
    ];
    let parts = parts.into_iter().filter(|part| part.0).map(|part| part.1);
    [caption].into_iter().chain(parts).collect::<Vec<_>>().join(" ")
}

impl Figure {
    /// Every chart of `runs`, that of the frontier first.
    pub(super) fn all(runs: &[ChartRun]) -> [Self; 7] {
        let mut said = SAID.into_iter();
        ChartDescription::all().map(|ChartDescription { key, question, caption, .. }| Self {
            name: key,
            question,
            caption: if key == "frontier" { frontier(caption, runs) } else { caption.to_owned() },
            said: said.next().map(|said| alt_text::of(runs, said)).unwrap_or_default(),
            tables: Vec::new(),
        })
    }
}
