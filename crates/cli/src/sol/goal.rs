//! Inverse queries: what it takes to meet a goal.

use std::num::NonZeroU64;

use fizeau::core::{PerSec, Seconds, Tokens};
use fizeau::report::SolGoalView;
use fizeau::roofline::{Goal, Load, MILLION_TOKENS, Query, Reckoning, System};

use crate::args::SolArgs;
use crate::exit::{Exit, Fail};
use crate::say::say;

/// Answers `--goal`. A goal that nothing meets is an answer too, with an exit code that says so.
pub(super) fn run(
    args: &SolArgs,
    system: &System,
    load: &Load,
    width: usize,
) -> Result<Exit, Fail> {
    let goal = parse(&args.what_if.goal)?;
    let by = Reckoning::Expected;
    let query = Query { serving: *system.serving(), ..Query::new(system.model(), *load, goal) };
    let fewest = query.fewest_devices(system.device(), args.what_if.most_devices);
    let exit = if fewest.is_ok() { Exit::Good } else { Exit::Missed };
    let target = goal.tightest_tpot().unwrap_or(Seconds::new(f64::MAX));
    let said = args.what_if.goal.join(" ");
    let view = SolGoalView {
        system,
        load,
        goal: &said,
        batch: system.largest_batch(by, load, target),
        context: system.largest_context(by, 1.0, &goal, MILLION_TOKENS),
        fewest,
    };
    match args.json {
        true => say(view.to_json().map_err(Fail::broken)?.trim_end())?,
        false => say(view.text(width))?,
    }
    Ok(exit)
}

fn parse(words: &[String]) -> Result<Goal, Fail> {
    let mut goal = Goal::default();
    for word in words {
        let wrong = || {
            Fail::usage(format!(
                "--goal {word}: it must be one of ttft, tpot, tps, rps, concurrency and context, a colon and a \
                 positive number, such as tpot:50"
            ))
        };
        let (name, value) = word.split_once(':').ok_or_else(wrong)?;
        let value: f64 = value.parse().map_err(|_| wrong())?;
        if !(value.is_finite() && value > 0.0) {
            return Err(wrong());
        }
        let millis = Some(Seconds::new(value / 1e3));
        match name {
            "ttft" => goal.ttft = millis,
            "tpot" => goal.tpot = millis,
            "tps" => goal.tokens_per_s_per_user = Some(PerSec::new(value)),
            "rps" => goal.requests_per_s = Some(PerSec::new(value)),
            "concurrency" => goal.concurrency = NonZeroU64::new(value.ceil() as u64),
            "context" => goal.context = Some(Tokens::new(value.ceil() as u64)),
            _ => return Err(wrong()),
        }
    }
    Ok(goal)
}
