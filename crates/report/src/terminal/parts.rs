//! Goals of single requests and measured parts, level by level, below the table of a sweep.

use fizeau_core::Millis;
use fizeau_metrics::{Distribution, NoWindow, WhyNoWindow, WindowFigures};

use super::Line;
use super::grid::Grid;
use crate::number::{number, percent};
use crate::{LevelReport, SweepReport};

impl SweepReport {
    /// What a good request is, and the share of each level's that met each goal; nothing without goals.
    pub(super) fn say_goals(&self, out: &mut Vec<Line>) {
        let attained = |level: &LevelReport| level.summary.goodput.clone();
        let Some(first) = self.levels().iter().find_map(attained) else { return };
        out.push(Line::text(format!("good: the share of all sent that met {}", first.goals())));
        let places = first.groups.iter().enumerate();
        let goals = places.flat_map(|(g, group)| {
            group.goals.iter().enumerate().map(move |(i, goal)| (g, i, goal.goal))
        });
        let goals: Vec<_> = goals.collect();
        // The column has it already.
        if let [_] = goals.as_slice() {
            return;
        }
        for (group, place, goal) in goals {
            let share = |level: &LevelReport| {
                let all = level.summary.goodput.as_ref()?;
                let met = all.groups.get(group)?.goals.get(place)?.met;
                Some(format!("{} at {}", percent(all.share(met)), self.label(level.load)))
            };
            let shares: Vec<String> = self.levels().iter().filter_map(share).collect();
            out.push(Line::text(format!("  {goal}: {}", shares.join(", "))));
        }
    }

    /// The part of each level that was measured beside the whole, or why there is none.
    pub(super) fn say_parts(&self, width: usize, out: &mut Vec<Line>) {
        let parts = self.levels().iter().map(|level| (level, &level.summary.windowed.part));
        let parts: Vec<_> = parts.filter(|(level, _)| level.summary.requests.sent > 0).collect();
        if parts.is_empty() {
            return;
        }
        out.push(Line::text(
            "Steady parts, or those asked for; the table has the whole:".to_owned(),
        ));
        let label = |level: &LevelReport| format!("{:>6}", self.label(level.load));
        let known = parts
            .iter()
            .filter_map(|(level, part)| Some(cells(label(level), part.as_ref().ok()?).into()));
        let heads = [
            ["", "", "", "", "", "TTFT ms", "E2EL ms"],
            ["load", "sent", "cut", "req/s", "out tok/s", "p50/p99", "p50/p99"],
        ];
        let heads = heads.map(|row| row.map(str::to_owned).into()).into();
        let grid = Grid { heads, rows: known.collect(), words: 0 };
        let mut lines = grid.lines(width).into_iter().map(Line::Whole);
        if !grid.rows.is_empty() {
            out.extend(lines.by_ref().take(grid.heads.len()));
        }
        for (level, part) in parts {
            let reason = match part {
                Ok(_) => {
                    out.extend(lines.next());
                    continue;
                }
                Err(NoWindow { why: WhyNoWindow::TooFew { needs, has, .. }, .. }) => {
                    format!("- (needs {needs} requests, has {has})")
                }
                Err(none) => format!("none: {}", none.why),
            };
            out.push(Line::text(format!("{}  {reason}", label(level))));
        }
    }
}

fn cells(load: String, part: &WindowFigures) -> [String; 7] {
    let window = &part.window;
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), number);
    [
        load,
        window.kept.to_string(),
        format!("{} + {}", window.cut_front, window.cut_back),
        rate(part.throughput.map(|rates| rates.requests_per_s.get())),
        rate(part.throughput.map(|rates| rates.output_tokens_per_s.get())),
        both(&part.metrics.ttft),
        both(&part.metrics.e2el),
    ]
}

/// `12.3 / 15.9`; `-` for what the sample does not support.
fn both(sample: &Distribution) -> String {
    let known = |value: Option<Millis>| value.map_or_else(|| "-".to_owned(), |ms| number(ms.get()));
    format!("{} / {}", known(sample.p50.value()), known(sample.p99.value()))
}
