//! What met the per-request goals, as lines of the block.

use fizeau_metrics::{GoalAttainment, GoodputAttainment};

use super::block::ends_of;
use crate::Shown;
use crate::block::line;
use fizeau_record::LevelReport;
use fizeau_record::text::{number, percent};

impl Shown<'_, LevelReport> {
    /// The rate and share of good requests; nothing without goals.
    pub(super) fn goodput_rates(&self) -> Vec<String> {
        let all = &self.summary.throughput;
        let Some(rate) = all.goodput else { return Vec::new() };
        let rates = ends_of("good requests", all.intervals.goodput_per_s, |end| number(end.get()));
        let shares = ends_of("requests", all.intervals.good_share, percent);
        let of = counted_of([self.0]);
        let mut lines = vec![
            line("Goodput (req/s):", number(rate.rate.get()) + &rates),
            line(&format!("Goodput share of all {of}:"), percent(rate.share) + &shares),
        ];
        if let Some(counted) = self.summary.goodput.as_ref().filter(|all| all.has_hidden_wait()) {
            let share = percent(counted.share(counted.good_from_sending));
            lines.push(line("  if counted from sending:", share));
        }
        lines
    }

    /// The same, and the share that met each goal.
    pub(super) fn goodput_lines(&self) -> Vec<String> {
        let Some(all) = self.summary.goodput.as_ref() else { return Vec::new() };
        let mut lines = self.goodput_rates();
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

/// Of which requests good ones are counted: what was due and never sent met no goal.
pub(crate) fn counted_of<'a>(levels: impl IntoIterator<Item = &'a LevelReport>) -> &'static str {
    let mut levels = levels.into_iter();
    if levels.any(|level| level.summary.requests.unsent > 0) { "due" } else { "sent" }
}

/// `ttft:500       97 %`
fn goal_line(indent: &str, all: &GoodputAttainment, goal: &GoalAttainment) -> String {
    line(&format!("{indent}{}", goal.goal), percent(all.share(goal.met)))
}
