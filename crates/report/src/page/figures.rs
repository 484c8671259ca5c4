//! The charts: what each answers, how it is read, and what it says to whoever does not see it.

mod said;

use serde::Serialize;

use super::table::Table;
use crate::{ChartPlace, ChartRun};

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

/// A chart: its name, its question, how it is read, and what of a run it shows in words.
type Chart = (&'static str, &'static str, &'static str, fn(&ChartRun) -> String);

const CHARTS: [Chart; 7] = [
    (
        "frontier",
        "How much throughput at which latency?",
        "Right and down is better. The line joins the levels that no other beats. Boxes are 95 % intervals.",
        said::frontier,
    ),
    (
        "interactivity",
        "How fast for one user, how much from a device?",
        "Right and up is better: what a user sees against what a device gives. A user's speed is 1 / p50 TPOT.",
        said::interactivity,
    ),
    (
        "load",
        "What does more load do?",
        "Latency over the requests that were served per second: where the line turns up, requests wait. Where it turns back, \
         more was sent than can be served.",
        said::load,
    ),
    (
        "quantiles",
        "How bad is the tail?",
        "How many requests were no slower than that. The axis of shares is spread towards its end: each step to the right is \
         ten times as rare.",
        said::quantiles,
    ),
    (
        "itl",
        "Do prefills disturb decoding?",
        "Gaps between tokens over time: median, 99th percentile and the longest. Behind them the requests that waited for \
         their first token: where both rise together, prefills hold decoding up.",
        said::itl,
    ),
    (
        "course",
        "Was it steady while it was measured?",
        "Requests in flight and output tokens per second over time. The shaded part is the one that the figures of the steady \
         state are of.",
        said::course,
    ),
    (
        "lengths",
        "What does a longer prompt cost?",
        "Each dot is a request: tokens of its prompt, and the time to its first token.",
        said::lengths,
    ),
];

/// The caption of the frontier: of what is drawn alone.
fn frontier(caption: &str, runs: &[ChartRun]) -> String {
    let any = |is: fn(&ChartRun) -> bool| runs.iter().any(is);
    let is_behind = |run: &ChartRun| run.levels.iter().any(|l| l.place == ChartPlace::Dominated);
    let parts = [
        (any(is_behind), "Levels that another beats are hollow."),
        (any(|run| run.operating.is_some()), "The ring is the level to run at."),
        (
            any(|run| run.light.is_some()),
            "The curves ahead of it are what the hardware allows at the same numbers of requests in flight, of mean latencies: the \
             bound, which nothing beats, and what physics leads one to expect.",
        ),
    ];
    let parts = parts.into_iter().filter(|part| part.0).map(|part| part.1);
    [caption].into_iter().chain(parts).collect::<Vec<_>>().join(" ")
}

impl Figure {
    /// Every chart of `runs`, that of the frontier first.
    pub(super) fn all(runs: &[ChartRun]) -> [Self; 7] {
        CHARTS.map(|(name, question, caption, said)| Self {
            name,
            question,
            caption: if name == CHARTS[0].0 { frontier(caption, runs) } else { caption.to_owned() },
            said: said::of(runs, said),
            tables: Vec::new(),
        })
    }
}
