//! GuideLLM.
//!
//! Three groups and their total: successful, incomplete (called off), errored. What a request lacks counts as
//! 0.0, in the distributions too. Inter-token latency is weighted by n - 1 and time per output token, which has
//! the first token in it, by n; both spread the time evenly over a reply. A percentile is the least value up to
//! which the weights make up that share. The window is the whole run: warm-up and cool-down are not cut here.

use fizeau_core::Tape;

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Values, Weighted};
use super::{PeerFigure, PeerStatistic, PeerUnit};
use crate::PercentileRule;

/// The server's count, else the number of events.
fn tokens(tape: &Tape) -> u64 {
    run::reported(tape).unwrap_or(tape.arrivals.len() as u64)
}

/// A group's name and who is in it.
type Group = (&'static str, fn(&Tape) -> bool);

const GROUPS: [Group; 4] = [
    ("successful", Tape::is_success),
    ("incomplete", run::was_called_off),
    ("errored", |tape| !tape.is_success() && !run::was_called_off(tape)),
    ("total", |_| true),
];

pub(super) fn figures(run: &Run<'_>) -> Vec<PeerFigure> {
    let mut sheet = Sheet::default();
    for (group, belongs) in GROUPS {
        let tapes: Vec<&Tape> = run.tapes.iter().copied().filter(|tape| belongs(tape)).collect();
        sheet.put(format!("{group}.request_count"), PeerUnit::Count, tapes.len() as u64);
        each(&mut sheet, group, &tapes);
    }
    let rate = "it counts over an evened-out curve whose rule is not known";
    sheet.absent("successful.requests_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.output_tokens_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.request_concurrency.mean", PeerUnit::Count, rate);
    sheet.0
}

fn each(sheet: &mut Sheet, group: &str, tapes: &[&Tape]) {
    let values = |value: &dyn Fn(&Tape) -> Option<f64>, weight: fn(&Tape) -> u64| -> Weighted {
        let one = |tape: &&Tape| (value(tape).unwrap_or(0.0), weight(tape));
        tapes.iter().map(one).collect()
    };
    let alike = |_: &Tape| 1;
    let to_last_token = |tape: &Tape| run::after_sending(tape, run::last_output(tape));
    let itl = |tape: &Tape| {
        let decoding = tape.last_token()?.since(tape.first_token()?)?;
        Some(run::per_later_token(run::secs(decoding), tokens(tape))? * 1e3)
    };
    let tpot = |tape: &Tape| {
        let n = tokens(tape);
        (n > 0).then_some(to_last_token(tape)? * 1e3 / n as f64)
    };
    let ttft = |tape: &Tape| Some(run::ttft(tape)? * 1e3);
    let (s, ms) = (PeerUnit::Seconds, PeerUnit::Millis);
    let columns = [
        ("request_latency", s, values(&run::to_end, alike), Some("e2el")),
        ("time_to_first_token_ms", ms, values(&ttft, alike), Some("ttft")),
        ("time_per_output_token_ms", ms, values(&tpot, tokens), None),
        (
            "inter_token_latency_ms",
            ms,
            values(&itl, |tape| tokens(tape).saturating_sub(1)),
            Some("tpot"),
        ),
    ];
    for (key, unit, values, ours) in columns {
        let (sample, rule) = (Values::Weighted(&values), PercentileRule::WeightedCdf);
        let column = Column { sample, unit, ours, rule };
        let name = |statistic: &str| format!("{group}.{key}.{statistic}");
        sheet.of(&column, PeerStatistic::Mean, name("mean"));
        for percent in [50, 90, 95, 99] {
            let word = format!("percentiles.p{percent}");
            sheet.of(&column, PeerStatistic::Percentile(percent), name(&word));
        }
    }
}
