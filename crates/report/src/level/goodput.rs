//! What met the per-request goals, as lines of the block.

use fizeau_metrics::{Attainment, GoalAttainment};

use super::block::ends;
use crate::Shown;
use crate::block::line;
use fizeau_record::LevelReport;
use fizeau_record::text::{number, percent};

impl Shown<'_, LevelReport> {
    /// The rate and share of good requests, and the share that met each goal; nothing without goals.
    pub(super) fn goodput_lines(&self) -> Vec<String> {
        let summary = &self.summary;
        let Some((all, rate)) = summary.goodput.as_ref().zip(summary.throughput.goodput) else {
            return Vec::new();
        };
        let intervals = &summary.throughput.intervals;
        let rates = ends(intervals.goodput_per_s, |end| number(end.get()));
        let shares = ends(intervals.good_share, percent);
        let mut lines = vec![
            line("Good requests/s:", number(rate.rate.get()) + &rates),
            line("Good ones, of all sent:", percent(rate.share) + &shares),
        ];
        if let [group] = all.groups.as_slice() {
            lines.extend(group.goals.iter().map(|goal| goal_line("  ", all, goal)));
            return lines;
        }
        for (number, group) in (1..).zip(&all.groups) {
            let share = percent(all.share(group.good));
            lines.push(line(&format!("  group {number}, all of it:"), share));
            lines.extend(group.goals.iter().map(|goal| goal_line("    ", all, goal)));
        }
        lines
    }
}

/// `ttft:500       97 %`
fn goal_line(indent: &str, all: &Attainment, goal: &GoalAttainment) -> String {
    line(&format!("{indent}{}", goal.goal), percent(all.share(goal.met)))
}
