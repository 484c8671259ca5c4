//! What was written is read, and written again byte for byte.
#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

use fizeau_core::{FailureClass, Nanos, Stamp, Tape};
use fizeau_metrics::{
    ClientCeiling, ClientWatch, Distribution, GoodputGoals, LevelSummary, LevelTally, Millis,
    OnTimeLimit, PerSec, ResourceNeed, SystemHeadroom, WindowChoice,
};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cases;
use crate::tapes::{any_tape, failed, tape};

/// The JSON of `value`, which was also read and written again.
fn reread<T: Serialize + DeserializeOwned>(value: &T) -> String {
    let written = serde_json::to_string_pretty(value).unwrap();
    let read: T = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string_pretty(&read).unwrap(), written);
    written
}

fn goals() -> GoodputGoals {
    "ttft:20 tpot:9 or e2el:300".parse().unwrap()
}

fn tapes(most: usize) -> impl Strategy<Value = Vec<Tape>> {
    let tape = (any_tape(), 0..4, 0..3u8).prop_map(|(mut tape, kind, model)| {
        tape.model = (model > 0).then(|| format!("model-{model}").into());
        match kind {
            0 => failed(tape, FailureClass::Truncated),
            _ => tape,
        }
    });
    prop::collection::vec(tape, 0..most)
}

proptest! {
    #![proptest_config(cases(96))]

    #[test]
    fn a_level_is_read_as_it_was_written(tapes in tapes(40), has_goals: bool) {
        let goals = if has_goals { goals() } else { GoodputGoals::NONE };
        let level = LevelSummary::of(&tapes, &goals);
        let written = reread(&level);
        let read: LevelSummary = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read.metrics, &level.metrics);
        prop_assert_eq!(&read.requests, &level.requests);
        prop_assert_eq!(&read.throughput.intervals, &level.throughput.intervals);
    }

    #[test]
    fn a_sample_is_read_as_it_was_written(values in prop::collection::vec(0.0..1e6f64, 0..1_200)) {
        let sample = Distribution::of_series(values.iter().copied().map(Millis::new));
        prop_assert_eq!(serde_json::from_str::<Distribution>(&reread(&sample)).unwrap(), sample);
    }
}

/// A level of 400 requests every 10 ms, each served in `each` milliseconds by one at a time; long enough for a window or none.
fn long(each: u64) -> Vec<Tape> {
    let mut free = 0;
    let one = |k: u64| {
        let due = 10 * k;
        free = free.max(due) + each;
        let mut tape = tape(due, &[(free, 1), (free + 3, 4)]);
        tape.marks.intended = Stamp::EPOCH + Nanos::from_millis(due);
        tape
    };
    (0..400).map(one).collect()
}

#[test]
fn windows_and_queues_are_read_as_they_were_written() {
    let ends = [("auto", "auto"), ("50", "0.5s"), ("auto", "30")];
    for (each, (warmup, cooldown)) in
        [5, 9, 12].into_iter().flat_map(|each| ends.map(|ends| (each, ends)))
    {
        let choice =
            WindowChoice { warmup: warmup.parse().unwrap(), cooldown: cooldown.parse().unwrap() };
        let mut tally = LevelTally::new(&goals()).with_window(choice);
        long(each).iter().for_each(|tape| tally.add(tape));
        let level = tally.summary();
        let read: LevelSummary = serde_json::from_str(&reread(&level)).unwrap();
        assert_eq!(read, level, "{each} {warmup} {cooldown}");
    }
}

#[test]
fn what_the_client_saw_is_read_as_it_was_written() {
    reread(&ClientWatch::default());
    let room = Some(ResourceNeed { needed: 10, limit: 20 });
    let on_time = Some(OnTimeLimit { streams: 8, tokens_per_s: PerSec::new(100.0) });
    let ceiling = Some(ClientCeiling { streams: 64, tokens_per_s: PerSec::new(1e6), on_time });
    let headroom = Some(SystemHeadroom { file_descriptors: room, ports: None });
    let watch = ClientWatch { cpu_share: Some(0.25), headroom, ceiling, ..ClientWatch::default() };
    assert_eq!(serde_json::from_str::<ClientWatch>(&reread(&watch)).unwrap(), watch);
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| serde_json::from_str::<Distribution>(text).unwrap_err().to_string();
    assert_eq!(error("{\n\"mean\": 1.0\n}"), "missing field `n` at line 3 column 1");
    assert!(error("{\"n\": 1, \"mean_ci\": null}").contains("`mean_ci_reason` does not say"));
}
