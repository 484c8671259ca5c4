//! How a sweep goes on from level to level.

use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::exit::Fail;

/// What a measured and a simulated sweep have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    /// Measure each load so many times, in rounds: all loads once, then again. Its figures are then means over the runs with an
    /// interval across them.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) repeats: NonZeroU32,
    /// After the rising levels, at most so many more where they tell most: at the edge of the goals, else where more load stops
    /// paying. By default none; `fizeau sweep --budget` has as many as it allows.
    #[arg(long, value_name = "N")]
    pub(crate) refine: Option<u32>,
    /// At the end, run at the operating point for so many seconds to see whether it holds. By default not; `fizeau sweep
    /// --budget` has up to 300.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) sustain: Option<f64>,
    /// Raise the load no further once two levels in succession do not pay: less than 5 % more requests per second than the best
    /// lower one at a higher latency, or an open loop whose queue grows. The default of `fizeau sweep`.
    #[arg(long, conflicts_with = "no_stop")]
    pub(crate) stop_at_saturation: bool,
    /// Measure all levels, whatever they show. The default of `fizeau simulate`.
    #[arg(long)]
    pub(crate) no_stop: bool,
}

impl ProtocolArgs {
    /// Its flags, and whether each was given.
    pub(crate) const fn given(&self) -> [(&'static str, bool); 5] {
        let Self { repeats, refine, sustain, stop_at_saturation, no_stop } = self;
        [
            ("--repeats", repeats.get() > 1),
            ("--refine", refine.is_some()),
            ("--sustain", sustain.is_some()),
            ("--stop-at-saturation", *stop_at_saturation),
            ("--no-stop", *no_stop),
        ]
    }
}

/// Refuses the first flag that was given, for the reason `why`.
pub(super) fn refuse(
    given: impl IntoIterator<Item = (&'static str, bool)>,
    why: &str,
) -> Result<(), Fail> {
    match given.into_iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => Err(Fail::usage(format!("{flag}: {why}"))),
        None => Ok(()),
    }
}

/// What only time that passes needs.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct BudgetArgs {
    /// The time for all of it, such as 20m, 90s or 1h: shared out over levels, repeats, refinement and the sustained run.
    #[arg(long, value_name = "TIME", value_parser = budget)]
    pub(crate) budget: Option<Duration>,
    /// Go on with a sweep that was broken off: the same flags, and its folder. What is finished there is not measured again.
    #[arg(long, value_name = "DIR", conflicts_with = "out")]
    pub(crate) resume: Option<PathBuf>,
}

/// `20m`, `90s`, `1.5h`.
fn budget(text: &str) -> Result<Duration, String> {
    const FORM: &str = "a number with s, m or h, such as 20m";
    let seconds = match text.char_indices().next_back() {
        Some((end, 's')) => text.get(..end).map(|number| (number, 1.0)),
        Some((end, 'm')) => text.get(..end).map(|number| (number, 60.0)),
        Some((end, 'h')) => text.get(..end).map(|number| (number, 3_600.0)),
        _ => None,
    };
    let (number, unit) = seconds.ok_or(FORM)?;
    let number: f64 = number.trim().parse().map_err(|_| FORM)?;
    let budget = Duration::try_from_secs_f64(number * unit).map_err(|_| FORM)?;
    if budget.is_zero() { Err("no time; give more than 0".to_owned()) } else { Ok(budget) }
}

#[cfg(test)]
mod tests {
    use super::budget;

    #[test]
    fn a_budget_is_a_number_and_a_unit() {
        let read = ["90s", "20m", "1.5h"].map(|text| budget(text).unwrap().as_secs());
        assert_eq!(read, [90, 1_200, 5_400]);
        for wrong in ["", "20", "m", "-1m", "0s", "1e400h", "20µ"] {
            assert!(budget(wrong).is_err(), "{wrong}");
        }
    }
}
