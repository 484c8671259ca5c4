//! What is done to a server between levels: its profiler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau::core::Nanos;

use crate::stand::{HOWEVER_BUSY, Scratch, fixed, reply, run, scripted, stream_of};

#[test]
fn a_profiler_runs_around_a_level_and_where_it_does_not_start_nothing_is_sent() {
    // The look at the endpoint, the start, the warm-up and the requests, the stop.
    let url = scripted(|n| {
        Some(if n == 1 || n == 5 { reply("200 OK", "text/plain", "") } else { stream_of(4) })
    });
    let line = "bench --model m --random-input-len 4 --random-output-len 4 --num-prompts 2 --num-warmups 1 --max-concurrency 1 \
                --profile-level 1";
    let with = |url: &str, more: &str| {
        let all = format!("{line} --base-url {url} {more}");
        run(&all.split_whitespace().chain(HOWEVER_BUSY).collect::<Vec<_>>())
    };
    let ended = with(&url, "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("level 1 is measured under the server's own profiler"), "{ended:?}");
    assert!(!ended.err.contains("/stop_profile"), "{ended:?}");
    let refuses = scripted(|n| {
        Some(if n == 0 { stream_of(4) } else { reply("404 Not Found", "text/plain", "") })
    });
    let refused = with(&refuses, "");
    assert!(
        refused.code == Some(3) && refused.err.contains("/start_profile was refused (status 404)"),
        "{refused:?}"
    );
}

/// How many levels there are at the most is known of a level and of a sweep.
#[test]
fn a_profiler_around_a_level_that_cannot_come_is_refused_before_anything_is_sent() {
    let cases = [
        ("bench --profile-level 2", "--profile-level 2: there is only one level, which is level 1"),
        ("sweep --levels 1,2 --profile-level 3", "--profile-level 3: there are at most 2 levels"),
        (
            "sweep --levels 1 --rates auto:2 --repeats 2 --refine 1 --sustain 1 --profile-level 10",
            "--profile-level 10: there are at most 9 levels",
        ),
    ];
    for (line, said) in cases {
        let asked = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&asked);
        let url = scripted(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Some(stream_of(4))
        });
        let sizes = "--model m --isl 4 --osl 4 --num-prompts 2 --base-url";
        let words = line.split_whitespace().chain(sizes.split_whitespace()).chain([&*url]);
        let ended = run(&words.collect::<Vec<_>>());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(said), "{ended:?}");
        assert_eq!(asked.load(Ordering::SeqCst), 0, "{line}");
    }
}

/// How many a search has nobody knows ahead.
#[test]
fn a_profiler_around_a_level_that_did_not_come_is_told_at_the_end() {
    let server = fixed(Nanos::from_millis(1), Nanos::from_micros(100));
    let (url, scratch) = (server.base_url(), Scratch::new("profiled-search"));
    let out = scratch.path("run");
    let line = "search --over concurrency --from 1 --to 2 --max-runs 3 --confirm 0 --slo e2el<60s --model m \
                --isl 4 --osl 4 --num-prompts 4 --num-warmups 0 --profile-level 99 --base-url";
    let words = line.split_whitespace().chain([&*url, "--out", &out]).chain(HOWEVER_BUSY);
    let ended = run(&words.collect::<Vec<_>>());
    let said = "note: the server's profiler was not started, because it was planned for level 99";
    assert!(ended.err.contains(said), "{ended:?}");
}
