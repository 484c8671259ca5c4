//! What is fuzzed (`fuzz/`), as properties: good inputs with a few bytes changed, and bytes of any kind.

#[path = "../../../../fuzz/src/targets.rs"]
#[allow(unreachable_pub, reason = "the workspace of the fuzz targets uses them from outside")]
mod targets;

#[path = "../../../../fuzz/src/seeds.rs"]
mod seeds;

use std::path::Path;

use fizeau::transport::Route;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// The function of a target; none where a feature that it needs is off.
fn function(name: &str) -> Option<fn(&[u8]) -> bool> {
    Some(match name {
        "sse" => targets::sse,
        "ndjson" => targets::ndjson,
        "http1" => targets::http1,
        "reply" => targets::reply,
        "import" => targets::import,
        "metrics_page" => targets::metrics_page,
        #[cfg(feature = "telemetry")]
        "forward_pass" => targets::forward_pass,
        #[cfg(not(feature = "telemetry"))]
        "forward_pass" => return None,
        "trace" => targets::trace,
        "dataset" => targets::dataset,
        "model_config" => targets::model_config,
        "device" => targets::device,
        "run_folder" => targets::run_folder,
        "words" => targets::words,
        _ => panic!("{name} is tried nowhere"),
    })
}

fn seeds(target: seeds::Target) -> Vec<(String, Vec<u8>)> {
    target.seeds(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// What random changes begin with is what is read when it is not changed, whatever the target.
#[test]
fn every_target_begins_with_good_inputs() {
    for target in seeds::TARGETS {
        let Some(read) = function(target.name) else { continue };
        let (good, bad): (Vec<_>, Vec<_>) =
            seeds(target).into_iter().partition(|(_, bytes)| read(bytes));
        let bad: Vec<_> = bad.into_iter().map(|(name, _)| name).collect();
        match target.name {
            // Some tools' files are refused alone.
            "import" => assert!(good.len() > bad.len(), "{bad:?}"),
            _ => assert!(bad.is_empty() && !good.is_empty(), "{}: {bad:?}", target.name),
        }
        match target.name {
            "reply" => assert_eq!(good.len(), Route::ALL.len()),
            "run_folder" => assert_eq!(good.len(), 4),
            _ => {}
        }
    }
}

/// A good input of the target, changed in a few places, or bytes of any kind.
fn input(good: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<Index>(), 0_u8..4, any::<u8>());
    let changed = (select(good.clone()), prop::collection::vec(change, 0..6), any::<u8>());
    let changed = changed.prop_map(|(good, changes, first)| {
        let mut bytes = good;
        for (place, kind, byte) in changes {
            let place = place.index(bytes.len().max(1)).min(bytes.len());
            match kind {
                0 if place < bytes.len() => bytes[place] = byte,
                1 if place < bytes.len() => drop(bytes.remove(place)),
                2 if place > 0 => bytes.truncate(place),
                _ => bytes.insert(place, byte),
            }
        }
        // Some targets take their first byte for a choice, or for where to cut.
        if let (true, Some(byte)) = (first % 2 == 0, bytes.first_mut()) {
            *byte = first;
        }
        bytes
    });
    prop_oneof![8 => changed, 1 => select(good), 1 => prop::collection::vec(any::<u8>(), 0..200)]
}

#[test]
fn no_bytes_make_a_reader_panic() {
    let config =
        ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() };
    for target in seeds::TARGETS {
        let Some(read) = function(target.name) else { continue };
        let good = seeds(target).into_iter().map(|(_, bytes)| bytes).collect();
        let mut runner = proptest::test_runner::TestRunner::new_with_rng(
            config.clone(),
            proptest::test_runner::TestRng::deterministic_rng(config.rng_algorithm),
        );
        runner
            .run(&input(good), |bytes| {
                read(&bytes);
                Ok(())
            })
            .unwrap();
    }
}
