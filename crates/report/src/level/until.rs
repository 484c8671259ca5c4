//! How well is known what a level was to find out, as lines of a block.

use fizeau_metrics::{PrecisionOutcome, SampleSupport};

use crate::Charset;
use crate::Shown;
use crate::block::line;
use fizeau_record::{LevelReport, UntilPrecise};

impl Shown<'_, LevelReport> {
    /// A line for each figure, such as `Until mean e2el ci=2%: reached: +-1.9 % after 612 requests`: a block is ASCII.
    pub(super) fn until_lines(&self) -> Vec<String> {
        let Some(until) = &self.until else { return Vec::new() };
        let n = self.summary.requests.completed;
        let one = |outcome: &PrecisionOutcome| {
            let is_reached = until.has_reached(outcome);
            let word = if is_reached { "reached" } else { "not reached" };
            let found = match outcome.half_width.and_then(SampleSupport::known) {
                // It was at the look that ended it; the requests that were in flight then have widened it since.
                Some(width) if is_reached && !outcome.is_reached() => {
                    format!("at the end +-{:.1} % (n={n})", 100.0 * width)
                }
                Some(_) => format!("{} after {n} requests", UntilPrecise::reached_text(outcome)),
                None => UntilPrecise::reached_text(outcome),
            };
            let found = Charset::Ascii.words(&found);
            line(&format!("Until {}:", outcome.goal), format_args!("{word}: {found}"))
        };
        until.outcomes.iter().map(one).collect()
    }
}
