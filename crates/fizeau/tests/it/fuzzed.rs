//! What is fuzzed (`fuzz/`), as properties: good inputs with a few bytes changed, and bytes of any kind.

#[path = "../../../../fuzz/src/targets.rs"]
#[allow(unreachable_pub, reason = "the workspace of the fuzz targets uses them from outside")]
mod targets;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A target, and good inputs for it.
type Target = (fn(&[u8]), &'static [&'static [u8]]);

macro_rules! fixture {
    ($path:literal) => {
        include_bytes!(concat!("../../../../fixtures/", $path))
    };
}

const TARGETS: &[Target] = &[
    (targets::sse, &[b"\x09event: a\r\ndata: {\"x\":1}\n\n:c\ndata: b\ndata: c\n\ndata: [DONE]\n\n"]),
    (targets::ndjson, &[b"\x05{\"a\":1}\r\n\n{\"b\":2}\n{\"c\""]),
    (targets::http1, &[
        b"\x14HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n0\r\nA: b\r\n\r\n",
        b"\x20HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 429 Slow\r\nContent-Length: 3\r\n\r\nabcdef",
    ]),
    (targets::reply, &[
        b"\x00\x10data: {\"choices\":[{\"text\":\"a\",\"finish_reason\":null}],\"usage\":{\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
        b"\x01\x10data: {\"choices\":[{\"delta\":{\"content\":\"a\",\"tool_calls\":[]}}]}\n\n",
        b"\x02\x30{\"response\":\"a\",\"done\":false}\n{\"done\":true,\"eval_count\":2,\"prompt_eval_count\":3}\n",
        b"\x03\x40event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}\n\n",
    ]),
    (targets::import, &[fixture!("foreign/vllm.json"), fixture!("foreign/sglang.jsonl"), fixture!("foreign/genai-perf.json")]),
    (targets::metrics_page, &[fixture!("telemetry/sglang.txt"), fixture!("telemetry/openmetrics.txt")]),
    #[cfg(feature = "telemetry")]
    (targets::forward_pass, &[b"\x82\xa9worker_id\xa1a\xa9wall_time\xcb\x3f\xf0\x00\x00\x00\x00\x00\x00"]),
    (targets::trace, &[fixture!("workload/azure-2024.csv"), fixture!("workload/mooncake.jsonl")]),
    (targets::dataset, &[b"{\"prompt\":\"a b\",\"output_tokens\":3}\n", b"[{\"id\":\"a\",\"conversations\":[{\"from\":\"human\",\"value\":\"a\"},{\"from\":\"gpt\",\"value\":\"b\"}]}]"]),
    (targets::model_config, &[fixture!("configs/qwen1.5-moe-a2.7b.json"), fixture!("configs/gemma-2b.json")]),
    (targets::device, &[include_bytes!("../../../roofline/data/devices/h100-sxm.toml")]),
    (targets::run_folder, &[fixture!("runs/bench/run.json"), fixture!("runs/bench/tapes.jsonl")]),
    (targets::words, &[b"p99 ttft<500ms, p95 tpot<15ms..20ms", b"0.1*reset,0.02*503", b"128:0.5,512..2048:0.5", b"tp=2,ep=4"]),
];

/// A good input of the target, changed in a few places, or bytes of any kind.
fn input(good: &'static [&'static [u8]]) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<Index>(), 0_u8..4, any::<u8>());
    let changed = (select(good), prop::collection::vec(change, 0..6), any::<u8>());
    let changed = changed.prop_map(|(good, changes, first)| {
        let mut bytes = good.to_vec();
        for (place, kind, byte) in changes {
            let place = place.index(bytes.len().max(1)).min(bytes.len());
            match kind {
                0 if place < bytes.len() => bytes[place] = byte,
                1 if place < bytes.len() => drop(bytes.remove(place)),
                2 if place > 0 => bytes.truncate(place),
                _ => bytes.insert(place, byte),
            }
        }
        // Some targets take their first byte for a choice.
        [&[first], bytes.as_slice()].concat()
    });
    let same = select(good).prop_map(<[u8]>::to_vec);
    prop_oneof![8 => changed, 1 => same, 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

#[test]
fn no_bytes_make_a_reader_panic() {
    let config =
        ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    for (target, good) in TARGETS {
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(
            config.clone(),
            proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm),
        );
        runner
            .run(&input(good), |bytes| {
                target(&bytes);
                Ok(())
            })
            .unwrap();
    }
}
