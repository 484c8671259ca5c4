//! Steps of an engine, each beside its bound.

use super::axis::Axis;
use super::ink::{Ink, STEPS};
use super::parts;
use super::sheet::{Dash, DotShape, HEIGHT, KeyEntry, Mark, Panel, Sheet, Sign, Stroke, WIDTH};
use crate::{ChartLevel, ChartRun, ChartStep};

/// At most so many runs have a panel each.
const MOST: usize = 4;

/// The time of each step against the least that it can take, coloured by how much of it is prefill: a panel a run.
pub(super) fn steps(runs: &[ChartRun]) -> Result<Sheet, String> {
    let drawn: Vec<(&ChartRun, &ChartLevel)> =
        runs.iter().filter_map(|run| Some((run, shown(run)?))).take(MOST).collect();
    if drawn.is_empty() {
        return Err("no forward passes were recorded, or the bound of one is not known".to_owned());
    }
    let panel = |(run, level): &(&ChartRun, &ChartLevel)| {
        let whose = match runs.len() {
            1 => String::new(),
            _ => format!(", at {}: {}", parts::at(run, level), run.name),
        };
        panel(&whose, &level.steps)
    };
    let count: usize = drawn.iter().map(|(_, level)| level.steps.len()).sum();
    let at = match drawn.as_slice() {
        [(run, level)] if runs.len() == 1 => format!(" at {}", parts::at(run, level)),
        _ => String::new(),
    };
    let note = format!(
        "A point is a step, {count} in all{at}. On the line a step takes no longer than the \
         silicon needs; time above the line is the engine's overhead: launches, scheduling, and \
         units below their peak."
    );
    Ok(Sheet {
        title: "Steps against their bounds".to_owned(),
        subtitle: parts::subtitle(runs),
        description: note.clone(),
        size: (WIDTH, if drawn.len() == 1 { HEIGHT } else { 150 + 300 * drawn.len() as u32 }),
        columns: 1,
        panels: drawn.iter().map(panel).collect(),
        key: key(),
        notes: vec![note],
    })
}

fn panel(whose: &str, steps: &[ChartStep]) -> Panel {
    let all: Vec<f64> = steps.iter().flat_map(|step| [step.bound_ms, step.wall_ms]).collect();
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = all.iter().copied().fold(0.0, f64::max);
    let line = Mark::line([(least, least), (greatest, greatest)], BOUND);
    let dot = |step: &ChartStep| Mark::Dot {
        at: (step.bound_ms, step.wall_ms),
        ink: ink(step.prefill_share),
        shape: DotShape::Point,
    };
    Panel {
        x: Axis::suited(&all, 8),
        y: Axis::suited(&all, 7),
        x_title: Some("Bound of the step, ms".to_owned()),
        y_title: format!("Time of the step, ms{whose}"),
        right: None,
        marks: std::iter::once(line).chain(steps.iter().map(dot)).collect(),
    }
}

/// What the silicon needs.
const BOUND: Stroke = Stroke::thin(Ink::Light, Dash::Solid);

/// The level to run at where it has steps, else the last that has.
fn shown(run: &ChartRun) -> Option<&ChartLevel> {
    let at = parts::shown(run).map(|(level, _)| level).filter(|level| !level.steps.is_empty());
    at.or_else(|| run.levels.iter().rev().find(|level| !level.steps.is_empty()))
}

/// From blue, decode alone, to orange, prefill alone.
fn ink(prefill_share: f64) -> Ink {
    Ink::Step((prefill_share.clamp(0.0, 1.0) * (STEPS - 1) as f64).round() as usize)
}

fn key() -> Vec<KeyEntry> {
    let shares =
        [(0.0, "decode alone"), (0.5, "half of the tokens are of prompts"), (1.0, "prefill alone")];
    let dots =
        shares.map(|(share, words)| KeyEntry::new(Sign::Dot(ink(share), DotShape::Full), words));
    std::iter::once(KeyEntry::new(Sign::Line(BOUND), "the bound")).chain(dots).collect()
}
