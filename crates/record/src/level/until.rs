//! How well is known what a level was to find out.

use fizeau_core::document;
use fizeau_metrics::{PrecisionOutcome, SampleSupport, Verdict};

use crate::LevelReport;

/// A level that was to go on until figures are known well enough.
#[derive(Debug, Clone, PartialEq)]
pub struct UntilPrecise {
    /// Whether they are; the level was ended for that, or its plan had just enough requests.
    pub is_reached: bool,
    /// How well each is known in the end.
    pub outcomes: Vec<PrecisionOutcome>,
}

impl UntilPrecise {
    /// How wide its interval is, such as `±1.9 %`, or why there is none.
    #[must_use]
    pub fn reached_text(outcome: &PrecisionOutcome) -> String {
        match outcome.half_width.and_then(SampleSupport::known) {
            Some(width) => format!("±{:.1} %", 100.0 * width),
            None => unknown(outcome),
        }
    }

    /// Whether a goal was missed that was to be reached, and was not only to shorten the level; others beside it do not matter.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        let mut to_be_reached = self.outcomes.iter().filter(|outcome| outcome.goal.from.is_none());
        !to_be_reached.all(|outcome| self.has_reached(outcome))
    }

    /// Whether the goal of `outcome`, which is one of its own, is reached. What was in flight when all were still counts, so
    /// that an interval may be a little wider in the end.
    #[must_use]
    pub fn has_reached(&self, outcome: &PrecisionOutcome) -> bool {
        self.is_reached || outcome.is_reached()
    }
}

document! {
    /// A level that went on until figures were known, as `summary.json` has it.
    #[non_exhaustive]
    pub struct UntilPreciseDocument as "Until", from |until: &UntilPrecise| {} {
        /// Whether they are.
        pub reached: bool = until.is_reached,
        /// How well each is known in the end.
        pub goals: Vec<UntilPreciseGoal> = until.outcomes.iter().map(Into::into).collect(),
    }
}

document! {
    /// How well one figure is known.
    #[non_exhaustive]
    pub struct UntilPreciseGoal, from |outcome: &PrecisionOutcome| {} {
        /// What was to be known, as it is typed.
        pub goal: String = outcome.goal.to_string(),
        /// Half the width of its interval as a share of it; null where there is none.
        pub half_width,
        /// Why there is none.
        pub half_width_reason: f64 =
            outcome.half_width.and_then(SampleSupport::known).ok_or_else(|| unknown(outcome)),
    }
}

/// Why there is no interval.
fn unknown(outcome: &PrecisionOutcome) -> String {
    match outcome.half_width {
        // A line of a report has no room for more.
        Some(SampleSupport::NotSupported { needs, has }) => {
            format!("needs about {needs}, has {has}")
        }
        width => width
            .and_then(|width| width.reason())
            .unwrap_or_else(|| "there is no such figure, or it is zero".to_owned()),
    }
}

impl LevelReport {
    /// Whether it is not to be believed, or does not know what it was to find out.
    #[must_use]
    pub fn is_missed(&self) -> bool {
        let is_invalid = self.validity.verdict == Verdict::Invalid;
        is_invalid || self.until.as_ref().is_some_and(UntilPrecise::is_missed)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{Arrival, Channel, Nanos, RequestId, Stamp, Tape};
    use fizeau_metrics::{GoodputGoals, LevelTally, Precision, SampleSupport};

    use super::{UntilPrecise, UntilPreciseDocument};

    #[test]
    fn only_a_goal_that_is_to_be_reached_is_missed() {
        for (requested, is_missed) in [("ci=2%", true), ("ci=2% from 2s", false)] {
            let requested: Precision = requested.parse().unwrap();
            let outcomes = LevelTally::new(&GoodputGoals::default()).precision(&requested);
            assert_eq!(UntilPrecise { is_reached: false, outcomes }.is_missed(), is_missed);
        }
    }

    /// A level of two hundred requests, whose mean is known within a tenth and not within a millionth.
    fn uneven() -> LevelTally {
        let mut tally = LevelTally::new(&GoodputGoals::default());
        for n in 0..200_u64 {
            let sent = Stamp::EPOCH + Nanos::from_millis(100 * n);
            let mut tape = Tape { request: RequestId(n), ..Tape::sent_at(sent) };
            let took = Nanos::from_millis(50 + n.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 10);
            tape.arrivals.push(Arrival::tokens(sent + took, 1, Channel::Visible));
            tape.marks.end = tape.last_output();
            tally.add(&tape);
        }
        tally
    }

    #[test]
    fn goals_of_both_kinds_are_each_judged_by_their_own() {
        for (requested, is_missed) in [
            ("ci=10%, ci=0.0001% from 2s", false),
            ("ci=0.0001%, ci=10% from 2s", true),
            ("ci=10%, ci=0.0001%", true),
        ] {
            let outcomes = uneven().precision(&requested.parse().unwrap());
            let until = UntilPrecise { is_reached: false, outcomes };
            assert_eq!(until.is_missed(), is_missed, "{requested}");
        }
    }

    #[test]
    fn a_width_is_told_in_percent_and_the_lack_of_one_with_its_reason() {
        let requested: Precision = "ci=2%".parse().unwrap();
        let known = uneven().precision(&requested);
        let width = known[0].half_width.and_then(SampleSupport::known).unwrap();
        let text = UntilPrecise::reached_text(&known[0]);
        assert_eq!(text, format!("±{:.1} %", 100.0 * width));
        let unknown = LevelTally::new(&GoodputGoals::default()).precision(&requested);
        let text = UntilPrecise::reached_text(&unknown[0]);
        assert!(!text.is_empty() && !text.starts_with('±'), "{text}");
        let outcomes = vec![known[0], unknown[0]];
        let document = UntilPreciseDocument::from(&UntilPrecise { is_reached: false, outcomes });
        assert_eq!(document.goals[0].half_width, Some(width));
        assert_eq!(document.goals[0].half_width_reason, None);
        assert_eq!(
            (document.goals[1].half_width, document.goals[1].half_width_reason.clone()),
            (None, Some(text))
        );
    }
}
