//! Which levels came to know what they were to find out.

use crate::Shown;
use fizeau_record::{SweepReport, UntilPrecise};

impl Shown<'_, SweepReport> {
    /// A line for each figure, such as `Until mean e2el ci=2%: reached at 1, 2; not reached at 4 (±2.6 %)`.
    pub(crate) fn until_lines(&self) -> Vec<String> {
        let requested = self.levels().iter().find_map(|level| level.until.as_ref());
        let goals = requested.map_or(0, |until| until.outcomes.len());
        (0..goals).filter_map(|goal| self.until_line(goal)).collect()
    }

    /// The line of the `index`-th figure.
    fn until_line(&self, index: usize) -> Option<String> {
        let (mut goal, mut reached, mut missed) = (None, Vec::new(), Vec::new());
        for level in self.levels() {
            let Some(until) = &level.until else { continue };
            let outcome = until.outcomes.get(index)?;
            goal = Some(outcome.goal);
            if until.has_reached(outcome) {
                reached.push(self.label(level.load));
            } else {
                missed.push(format!(
                    "{} ({})",
                    self.label(level.load),
                    UntilPrecise::reached_text(outcome)
                ));
            }
        }
        let lists = [("reached at", reached), ("not reached at", missed)];
        let lists = lists.into_iter().filter(|(_, loads)| !loads.is_empty());
        let lists: Vec<_> = lists.map(|(word, at)| format!("{word} {}", at.join(", "))).collect();
        Some(format!("Until {}: {}", goal?, lists.join("; ")))
    }
}
