//! GuideLLM.
//!
//! Three groups and their total: successful, incomplete (cancelled), errored. What a request lacks counts as
//! 0.0, in the distributions too. Of an empty group there is the count alone. Inter-token latency is weighted by
//! n - 1 and time per output token, which has the first token in it, by n; both spread the time evenly over a reply.
//! A percentile is the least value up to which the weights make up that share. The window is the whole run: warm-up and cool-down are not cut here.

use super::report::Sheet;
use super::request::PeerRequest;
use super::run::{self, Run};
use super::sample::{Column, Values, Weighted};
use super::{PeerStatistic, PeerUnit, PeerValue};
use fizeau_metrics::PercentileRule;

/// A group's name, who is in it, and our name for how many those are.
type Group = (&'static str, fn(&PeerRequest) -> bool, Option<&'static str>);

const GROUPS: [Group; 4] = [
    ("successful", |request| request.is_success, Some("completed")),
    ("incomplete", |request| request.was_called_off, None),
    ("errored", |request| !request.is_success && !request.was_called_off, None),
    ("total", |_| true, Some("sent")),
];

pub(super) fn figures(run: &Run) -> Sheet {
    let mut sheet = Sheet::default();
    for (group, belongs, ours) in GROUPS {
        let requests: Vec<&PeerRequest> =
            run.requests.iter().filter(|request| belongs(request)).collect();
        let count = requests.len() as u64;
        let name = format!("{group}.request_count");
        match ours {
            Some(ours) => sheet.ours(name, PeerUnit::Count, count, ours),
            None => sheet.put(name, PeerUnit::Count, count),
        }
        if !requests.is_empty() {
            each(&mut sheet, group, &requests);
        }
    }
    sheet.tokens(run.sum(PeerRequest::reported_or_events));
    let rate = "it uses a smoothed curve, and the rule is not known";
    sheet.absent("successful.requests_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.output_tokens_per_second.mean", PeerUnit::PerSecond, rate);
    sheet.absent("successful.request_concurrency.mean", PeerUnit::Count, rate);
    sheet.duration(PeerValue::Absent("the ends of its warm-up and its cool-down are on no tape"));
    sheet
}

fn each(sheet: &mut Sheet, group: &str, requests: &[&PeerRequest]) {
    let values = |value: &dyn Fn(&PeerRequest) -> Option<f64>,
                  weight: fn(&PeerRequest) -> u64|
     -> Weighted {
        let one = |request: &&PeerRequest| (value(request).unwrap_or(0.0), weight(request));
        requests.iter().map(one).collect()
    };
    let alike = |_: &PeerRequest| 1;
    let to_last_token = |request: &PeerRequest| request.after_sending(request.last_output());
    let itl = |request: &PeerRequest| {
        let decoding = request.last_token?.since(request.first_token?)?;
        Some(run::per_later_token(run::secs(decoding), request.reported_or_events())? * 1e3)
    };
    let tpot = |request: &PeerRequest| {
        let n = request.reported_or_events();
        (n > 0).then_some(to_last_token(request)? * 1e3 / n as f64)
    };
    let ttft = |request: &PeerRequest| Some(request.ttft()? * 1e3);
    let visible =
        |request: &PeerRequest| Some(request.after_sending(request.first_visible?)? * 1e3);
    let (s, ms) = (PeerUnit::Seconds, PeerUnit::Millis);
    // Ours are of the successful ones.
    let linked = |ours| Some(ours).filter(|_| group == GROUPS[0].0);
    let columns = [
        ("request_latency", s, values(&PeerRequest::time_to_end, alike), linked("e2el")),
        ("time_to_first_token_ms", ms, values(&ttft, alike), linked("ttft")),
        ("time_to_first_output_token_ms", ms, values(&visible, alike), linked("first_visible")),
        ("time_per_output_token_ms", ms, values(&tpot, PeerRequest::reported_or_events), None),
        (
            "inter_token_latency_ms",
            ms,
            values(&itl, |request| request.reported_or_events().saturating_sub(1)),
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
