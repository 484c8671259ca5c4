//! inference-perf's files of tapes.

use fizeau_core::{Outcome, Stamp, Tape, Tokens};
use fizeau_metrics::{Peer, PeerReport, PeerSettings};
use serde_json::{Map, Value, json};

use crate::RequestRate;
use crate::foreign::vllm::map_of;
use crate::foreign::vllm_rust::figure;
use crate::foreign::{ExportLevel, ForeignError, Object, lists};
use crate::vllm::figures as by_vllm;

/// The document of a stage: as it came, or by inference-perf's definitions from the tapes.
pub(super) fn document(
    level: &ExportLevel<'_>,
    format: &'static str,
) -> Result<Object, ForeignError> {
    if let Some(own) = level.own_record(format) {
        return Ok(Object::of(map_of(&own.record)));
    }
    let tapes = lists::by_request(level.with_tapes(format)?);
    let settings =
        PeerSettings { goals: level.goals.clone(), max_concurrency: level.run.max_concurrency };
    let report = Peer::InferencePerf.figures(tapes.iter().copied(), &settings);
    let mut load = Map::new();
    load.insert("count".to_owned(), json!(tapes.len()));
    match level.run.request_rate {
        RequestRate::Limited(rate) => {
            load.insert("requested_rate".to_owned(), json!(rate.get()));
        }
        RequestRate::Unlimited | RequestRate::Ramp { .. } => {
            load.insert("concurrency".to_owned(), json!(level.run.max_concurrency));
        }
    }
    let mut object = Object::default();
    object.set("load_summary", load);
    object.set("successes", group(&report, "successes"));
    object.set("failures", group(&report, "failures"));
    Ok(object)
}

/// Figures whose names begin with `group`, nested at each dot; what is not known is null.
fn group(report: &PeerReport, group: &str) -> Value {
    let mut root = json!({});
    for known in &report.figures {
        let Some(path) = known.name.strip_prefix(group).and_then(|rest| rest.strip_prefix('.'))
        else {
            continue;
        };
        let mut at = &mut root;
        for key in path.split('.') {
            if !at.is_object() {
                *at = json!({});
            }
            at = &mut at[key];
        }
        *at = figure(report, &known.name);
    }
    root
}

/// The list of requests; the instants count from the epoch of the tapes, as there from the client's own clock.
pub(super) fn requests(level: &ExportLevel<'_>) -> String {
    let tapes = lists::by_request(level.tapes);
    let all: Value = tapes.iter().map(|tape| request(tape, &level.run.model_id)).collect();
    all.to_string()
}

fn request(tape: &Tape, model: &str) -> Value {
    let at = |stamp: Stamp| stamp.saturating_since(Stamp::EPOCH).as_secs_f64();
    let sent = by_vllm::sent(tape);
    let end = tape.marks.end.or_else(|| tape.last_output()).unwrap_or(sent);
    let each = tape.arrivals.iter();
    // An event may claim any number of tokens, and there is an instant for each.
    let times: Vec<f64> = each
        .flat_map(|event| std::iter::repeat_n(at(event.at), event.tokens.min(4_096) as usize))
        .collect();
    let error = match &tape.outcome {
        Outcome::Complete(_) => None,
        Outcome::Failed(failure) => {
            Some(json!({"error_type": failure.class.as_str(), "error_msg": failure.detail}))
        }
    };
    json!({
        "start_time": at(sent),
        "end_time": at(end),
        "request": json!({"model": model}).to_string(),
        "response": tape.text.clone().unwrap_or_default(),
        "info": {
            "input_tokens": tape.input_tokens().map_or(0, Tokens::get),
            "output_tokens": by_vllm::output_len(tape),
            "output_token_times": times,
        },
        "error": error,
    })
}
