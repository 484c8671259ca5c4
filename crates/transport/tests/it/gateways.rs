//! What gateways add to chunks and leave out of counts.

use fizeau_core::{Outcome, Stamp, Tokens};
use fizeau_transport::{BodyEnd, KeepText, ReadMark, Reply, ReplyReader, Route};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::streams::DONE;

fn reply(events: &[Value]) -> Reply {
    let mut reader = ReplyReader::new(Route::Chat.dialect(), KeepText::No);
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    let bytes = events.chain([DONE.to_owned()]).collect::<String>();
    reader.feed(bytes.as_bytes(), ReadMark::user(Stamp::EPOCH, 0));
    reader.finish(BodyEnd::Whole)
}

fn token() -> Value {
    json!({"choices": [{"index": 0, "delta": {"content": "a"}}]})
}

/// `usage` with `count` where a gateway names what it wrote to a cache.
fn with_written(mut usage: Value, place: usize, count: u64) -> Value {
    let names = ["cache_creation_input_tokens", "cache_write_tokens"];
    let in_details = ["cache_creation_tokens", "cache_creation_input_tokens", "cache_write_tokens"];
    match names.get(place) {
        Some(name) => usage[*name] = count.into(),
        None => usage["prompt_tokens_details"][in_details[place - names.len()]] = count.into(),
    }
    usage
}

/// LiteLLM's Bedrock leaves cache writes out of the prompt and in the total (`_transform_usage` of its `converse_transformation.py`,
/// whose own test has these counts).
#[test]
fn cache_writes_are_no_output() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 401, "total_tokens": 2193,
        "prompt_tokens_details": {"cached_tokens": 0}, "cache_creation_input_tokens": 1789});
    let reply = reply(&[token(), json!({"choices": [], "usage": usage})]);
    let usage = reply.usage.unwrap();
    assert_eq!(usage.completion_tokens, Some(Tokens::new(401)));
    assert_eq!(usage.reasoning_tokens, None);
}

proptest! {
    /// Output is what the completion says, unless thoughts are named, or a total says more that no named part of the prompt explains.
    #[test]
    fn a_named_part_of_the_prompt_is_never_output(
        (prompt, completion) in (1_u64..5_000, 1_u64..5_000),
        cached in 0_u64..5_000,
        (place, written) in (0_usize..5, 0_u64..5_000),
        beyond in prop::sample::select(vec!["nothing", "cached", "written", "both", "twice", "more"]),
    ) {
        let more = match beyond {
            "cached" => cached,
            "written" => written,
            "both" => cached + written,
            "twice" => 2 * written,
            "more" => 7_777,
            _ => 0,
        };
        let total = prompt + completion + more;
        let usage = json!({"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": total,
            "prompt_tokens_details": {"cached_tokens": cached}});
        let usage = with_written(usage, place, written);
        let reply = reply(&[token(), json!({"choices": [], "usage": usage})]);
        let output = reply.usage.and_then(|usage| usage.completion_tokens).map(Tokens::get);
        let is_explained = written > 0 || more == cached;
        prop_assert_eq!(output, Some(completion + if is_explained { 0 } else { more }));
    }

    /// Whatever stands beside output or usage, but for `error`.
    #[test]
    fn a_good_chunk_is_never_an_error(
        kind in 0_usize..3,
        beside in prop::collection::btree_map(names(), values(), 0..6),
        within in prop::collection::btree_map(names(), values(), 0..6),
    ) {
        let mut chunk = match kind {
            0 => token(),
            1 => json!({"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]}),
            _ => json!({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}),
        };
        for (name, value) in beside {
            chunk[name] = value;
        }
        if let Some(choice) = chunk["choices"].get_mut(0) {
            for (name, value) in within {
                choice[name] = value;
            }
        }
        let reply = reply(&[token(), chunk]);
        prop_assert!(matches!(reply.outcome, Outcome::Complete(_)), "{:?}", reply.outcome);
    }
}

fn names() -> impl Strategy<Value = &'static str> {
    let names = [
        "base_resp",
        "code",
        "detail",
        "error_code",
        "errors",
        "message",
        "msg",
        "status_code",
        "success",
        "type",
    ];
    prop::sample::select(names.to_vec())
}

fn values() -> impl Strategy<Value = Value> {
    let values = [
        json!(null),
        json!(false),
        json!(true),
        json!(0),
        json!(500),
        json!(""),
        json!("error"),
        json!([{"message": "no"}]),
        json!({"status_code": 1, "status_msg": "no", "message": "no"}),
    ];
    prop::sample::select(values.to_vec())
}
