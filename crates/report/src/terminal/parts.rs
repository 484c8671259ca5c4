//! Goals of single requests and measured parts, level by level, below the table of a sweep.

use fizeau_metrics::{CutReason, NoWindow, NoWindowReason, WindowChoice};

use super::grid::Grid;
use super::{Terminal, TextLine};
use crate::level::{PLATEAU_NOTE, counted_of, not_steady, part_cells};
use crate::{Shown, Verbosity};
use fizeau_record::text::percent;
use fizeau_record::{LevelReport, SweepReport};

impl Shown<'_, SweepReport> {
    /// What a good request is, and in full the share of each level's that met each goal; nothing without goals.
    pub(super) fn say_goals(&self, verbosity: Verbosity, out: &mut Vec<TextLine>) {
        let attained = |level: &LevelReport| level.summary.goodput.clone();
        let Some(first) = self.levels().iter().find_map(attained) else { return };
        let of = counted_of(self.levels());
        out.push(TextLine::text(format!("good: the share of all {of} that met {}", first.goals())));
        let places = first.groups.iter().enumerate();
        let goals = places.flat_map(|(g, group)| {
            group.goals.iter().enumerate().map(move |(i, goal)| (g, i, goal.goal))
        });
        let goals: Vec<_> = goals.collect();
        // The column has it already.
        if goals.len() == 1 || verbosity == Verbosity::Brief {
            return;
        }
        for (group, place, goal) in goals {
            let share = |level: &LevelReport| {
                let all = level.summary.goodput.as_ref()?;
                let met = all.groups.get(group)?.goals.get(place)?.met;
                Some(format!("{} at {}", percent(all.share(met)), self.label(level.load)))
            };
            let shares: Vec<String> = self.levels().iter().filter_map(share).collect();
            out.push(TextLine::text(format!("  {goal}: {}", shares.join(", "))));
        }
    }

    /// Whether somebody asked for a part of the levels.
    pub(super) fn has_requested_parts(&self) -> bool {
        self.levels().iter().any(|level| level.summary.windowed.choice != WindowChoice::AUTO)
    }

    /// The part of each level that was measured beside the whole, or why there is none.
    pub(super) fn say_parts(&self, terminal: &Terminal<'_>, out: &mut Vec<TextLine>) {
        let parts = self.levels().iter().map(|level| (level, &level.summary.windowed.part));
        let parts: Vec<_> = parts.filter(|(level, _)| level.summary.requests.sent > 0).collect();
        if parts.is_empty() {
            return;
        }
        let is_plateau = |level: &LevelReport| {
            let window = level.summary.windowed.figures().map(|part| part.window.reason);
            matches!(window, Some(CutReason::Plateau { .. }))
        };
        let has_plateau = parts.iter().any(|(level, _)| is_plateau(level));
        let what = match (self.has_requested_parts(), has_plateau) {
            (true, _) => "Without the warm-up and cool-down that were requested",
            (false, true) => "Steady state or plateau",
            (false, false) => "Steady state only",
        };
        out.push(TextLine::text(format!("{what} (the table above has the whole run):")));
        let label = |level: &LevelReport| {
            let mark = if is_plateau(level) { "~" } else { "" };
            format!("{:>6}", format!("{}{mark}", self.label(level.load)))
        };
        let known = parts
            .iter()
            .filter_map(|(level, part)| Some((label(level), part.as_ref().ok()?)))
            .map(|(label, part)| [label].into_iter().chain(part_cells(part)).collect());
        let heads = [
            ["", "", "excluded", "", "", "TTFT ms", "E2EL ms"],
            ["load", "sent", "first/last", "req/s", "out tok/s", "p50/p99", "p50/p99"],
        ];
        let heads = heads.map(|row| row.map(str::to_owned).into()).into();
        let grid = Grid { heads, rows: known.collect(), words: 0, lesser: Vec::new() };
        let drawn = grid.draw(terminal.width);
        let mut lines = drawn.lines.into_iter().map(TextLine::Whole);
        if !grid.rows.is_empty() {
            out.extend(lines.by_ref().take(grid.heads.len()));
        }
        for (level, part) in parts {
            let reason = match part {
                Ok(_) => {
                    out.extend(lines.next());
                    continue;
                }
                Err(NoWindow { why: NoWindowReason::TooFew { needs, has, .. }, .. }) => {
                    format!("- (needs {needs} requests, has {has})")
                }
                Err(none) => format!("none: {}", not_steady(none.why)),
            };
            out.push(TextLine::text(format!("{}  {reason}", label(level))));
        }
        let names = ["load", "sent", "first/last", "req/s", "out tok/s", "TTFT", "E2EL"];
        out.extend(has_plateau.then(|| TextLine::text(format!("~ {PLATEAU_NOTE}"))));
        out.extend(terminal.not_shown(drawn.left_out, &names));
    }
}
