//! What several charts have in common: inks, titles, keys and notes.

use super::ink::Ink;
use super::render::TICK;
use super::sheet::{DotShape, KeyEntry, Sign, Stroke};
use super::text::fitted;
use crate::charts::description::{ChartDescription, ChartLine};
use crate::{ChartDetail, ChartGoal, ChartLevel, ChartLevelPosition, ChartRun};

/// Whether what the hardware could do is the same for all of several runs, as it is on the same hardware.
fn is_one_light(runs: &[ChartRun]) -> bool {
    runs.iter().zip(runs.iter().skip(1)).all(|(one, next)| one.light == next.light)
}

/// The colour of what a run's hardware could do; none where an earlier run has the same curves.
pub(super) fn light_ink(runs: &[ChartRun], index: usize) -> Option<Ink> {
    match (is_one_light(runs), index) {
        (true, 0) => Some(Ink::Light),
        (true, _) => None,
        (false, index) => Some(Ink::Series(index)),
    }
}

/// What was measured, in a line.
pub(super) fn subtitle(runs: &[ChartRun]) -> String {
    match runs {
        [run] if run.name.is_empty() => run.title.clone(),
        [run] => format!("{}: {}", run.name, run.title),
        [first, rest @ ..] if rest.iter().all(|run| run.title == first.title) => {
            first.title.clone()
        }
        _ => format!("{} runs side by side", runs.len()),
    }
}

/// Milliseconds or seconds, whichever reads better, and how many milliseconds that is.
pub(super) fn latency_unit(values_ms: impl IntoIterator<Item = f64>) -> (&'static str, f64) {
    let greatest = values_ms.into_iter().fold(0.0, f64::max);
    if greatest >= 1e4 { ("s", 1e3) } else { ("ms", 1.0) }
}

/// The goals that limit `figure`, each once.
pub(super) fn goals<'a>(
    runs: &'a [ChartRun],
    figure: &str,
) -> impl Iterator<Item = &'a ChartGoal> + use<'a> {
    let figure = figure.to_owned();
    let of = |run: &'a ChartRun| run.goals.iter();
    let mut seen: Vec<&str> = Vec::new();
    runs.iter().flat_map(of).filter(move |goal| {
        let is_new = goal.figure == figure && !seen.contains(&goal.text.as_str());
        seen.push(&goal.text);
        is_new
    })
}

/// The colours of runs; nothing where there is one.
pub(super) fn run_key(runs: &[ChartRun]) -> Vec<KeyEntry> {
    if runs.len() == 1 {
        return Vec::new();
    }
    let entry = |(index, run): (usize, &ChartRun)| {
        let sign = Sign::Line(Stroke::solid(Ink::Series(index)));
        let name = if run.name.is_empty() { &run.title } else { &run.name };
        KeyEntry::new(sign, name.clone())
    };
    runs.iter().enumerate().map(entry).collect()
}

/// The curves of what could be.
pub(super) fn light_key(runs: &[ChartRun]) -> Vec<KeyEntry> {
    let ink = if is_one_light(runs) { Ink::Light } else { Ink::Soft };
    let has = |of: fn(&crate::ChartSpeedOfLight) -> &crate::ChartCurve| {
        runs.iter().filter_map(|run| run.light.as_ref()).any(|light| of(light).len() > 1)
    };
    let [frontier, ..] = ChartDescription::all();
    let all = [
        (has(|light| &light.bound), frontier.line("bound")),
        (has(|light| &light.expected), frontier.line("expected")),
        (has(|light| &light.calibrated), frontier.line("calibrated")),
    ];
    let there = all.into_iter().filter(|(is_there, _)| *is_there);
    let entry =
        |line: ChartLine| KeyEntry::new(Sign::Line(Stroke::thin(ink, line.dash)), line.name);
    there.map(|(_, line)| entry(line)).collect()
}

/// What the labels of levels are.
pub(super) fn labels_note(runs: &[ChartRun]) -> String {
    let kinds = || runs.iter().flat_map(|run| &run.levels).map(|level| level.load_kind);
    let (rates, concurrency) =
        (kinds().any(|kind| kind == "requests_per_s"), kinds().any(|kind| kind == "concurrency"));
    let what = match (rates, concurrency) {
        (true, true) => "concurrency, or the rate that was asked for (/s)",
        (true, false) => "the rate that was asked for, in requests per second",
        (false, true) => "concurrency",
        (false, false) => "the load, where it is known",
    };
    format!("Labels: {what}.")
}

/// The levels that are not drawn.
pub(super) fn left_out_note(runs: &[ChartRun]) -> Option<String> {
    levels_note(runs, "Not compared", |level| level.position == ChartLevelPosition::LeftOut)
}

/// `what`, and the levels that it is true of, if there are any.
pub(super) fn levels_note(
    runs: &[ChartRun],
    what: &str,
    is_so: fn(&ChartLevel) -> bool,
) -> Option<String> {
    let of = |run: &ChartRun| {
        let levels = run.levels.iter().filter(|level| is_so(level));
        let labels: Vec<&str> = levels.map(|level| level.label.as_str()).collect();
        let whose = match run.name.as_str() {
            "" => String::new(),
            name => format!(" of {}", fitted(name, TICK, 300.0)),
        };
        (!labels.is_empty()).then(|| format!("{}{whose}", labels.join(", ")))
    };
    let found: Vec<String> = runs.iter().filter_map(of).collect();
    (!found.is_empty()).then(|| format!("{what}: {}.", found.join("; ")))
}

/// The level whose tapes are shown: the one to run at, else the highest that may be compared, else the highest; of those whose
/// tapes were read.
pub(super) fn shown(run: &ChartRun) -> Option<(&ChartLevel, &ChartDetail)> {
    let operating = run.operating.and_then(|index| run.levels.get(index));
    let compared =
        run.levels.iter().rev().filter(|level| level.position != ChartLevelPosition::LeftOut);
    let all = operating.into_iter().chain(compared).chain(run.levels.iter().rev());
    let mut all = all.filter_map(|level| Some((level, level.detail.as_ref()?)));
    all.next()
}

/// Which level that is, after what was measured.
pub(super) fn subtitle_at(runs: &[ChartRun]) -> String {
    let own = subtitle(runs);
    match runs {
        [run] => match shown(run) {
            Some((level, _)) => format!("{own}, at {}", at(run, level)),
            None => own,
        },
        _ => own,
    }
}

/// A level in words, and whether it is the one to run at.
pub(super) fn at(run: &ChartRun, level: &ChartLevel) -> String {
    let operating = run.operating.and_then(|index| run.levels.get(index));
    match operating.is_some_and(|own| std::ptr::eq(own, level)) {
        true => format!("{} (operating point)", level.load),
        false => level.load.clone(),
    }
}

/// What is missing where no level has what only tapes show.
pub(super) fn no_tapes(what: &str) -> String {
    format!("no tapes were read, or they have no {what}")
}

/// The key of runs that are dots.
pub(super) fn dot_key(runs: &[ChartRun]) -> Vec<KeyEntry> {
    let mut key = run_key(runs);
    for (index, entry) in key.iter_mut().enumerate() {
        entry.sign = Sign::Dot(Ink::Series(index), DotShape::Full);
    }
    key
}
