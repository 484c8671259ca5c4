//! GuideLLM.
//!
//! Three groups and their total: successful, incomplete (cancelled), errored. What a request lacks counts as
//! 0.0, in the distributions too. Of an empty group there is the count alone. Inter-token latency is weighted by
//! n - 1 and time per output token, which has the first token in it, by n; both spread the time evenly over a reply.
//! A percentile is the least value up to which the weights make up that share. The window is the whole run: warm-up and cool-down are not cut here.

use fizeau_core::Tape;

use super::report::Sheet;
use super::run::{self, Run};
use super::sample::{Column, Values, Weighted};
use super::{PeerStatistic, PeerUnit, PeerValue};
use fizeau_metrics::PercentileRule;

/// The server's count, else the number of events.
fn tokens(tape: &Tape) -> u64 {
    run::reported(tape).unwrap_or(tape.arrivals.len() as u64)
}

/// A group's name, who is in it, and our name for how many those are.
type Group = (&'static str, fn(&Tape) -> bool, Option<&'static str>);

const GROUPS: [Group; 4] = [
    ("successful", Tape::is_success, Some("completed")),
    ("incomplete", run::was_called_off, None),
    ("errored", |tape| !tape.is_success() && !run::was_called_off(tape), None),
    ("total", |_| true, Some("sent")),
];

pub(super) fn figures(run: &Run<'_>) -> Sheet {
    let mut sheet = Sheet::default();
    for (group, belongs, ours) in GROUPS {
        let tapes: Vec<&Tape> = run.tapes.iter().copied().filter(|tape| belongs(tape)).collect();
        let count = tapes.len() as u64;
        let name = format!("{group}.request_count");
        match ours {
            Some(ours) => sheet.ours(name, PeerUnit::Count, count, ours),
            None => sheet.put(name, PeerUnit::Count, count),
        }
        if !tapes.is_empty() {
            each(&mut sheet, group, &tapes);
        }
    }
    sheet.tokens(run.sum(tokens));
    let rate = "it counts over an evened-out curve whose rule is not known";
    sheet.absent("successful.requests_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.output_tokens_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.request_concurrency.mean", PeerUnit::Count, rate);
    sheet.duration(PeerValue::Absent("the ends of its warm-up and its cool-down are on no tape"));
    sheet
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
    let visible = |tape: &Tape| Some(run::after_sending(tape, tape.first_visible()?)? * 1e3);
    let (s, ms) = (PeerUnit::Seconds, PeerUnit::Millis);
    // Ours are of the successful ones.
    let linked = |ours| Some(ours).filter(|_| group == GROUPS[0].0);
    let columns = [
        ("request_latency", s, values(&run::to_end, alike), linked("e2el")),
        ("time_to_first_token_ms", ms, values(&ttft, alike), linked("ttft")),
        ("time_to_first_output_token_ms", ms, values(&visible, alike), linked("first_visible")),
        ("time_per_output_token_ms", ms, values(&tpot, tokens), None),
        (
            "inter_token_latency_ms",
            ms,
            values(&itl, |tape| tokens(tape).saturating_sub(1)),
            linked("tpot"),
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
