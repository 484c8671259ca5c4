//! The probe stream beside a load.

use fizeau_core::{FailureClass, Millis, Nanos, RequestPurpose, Tape};
use fizeau_metrics::{GoodputGoals, LevelHistograms, LevelSummary, LevelTally};
use proptest::prelude::*;

use crate::tapes::{any_tape, failed, tape};

fn level<'a>(tapes: impl IntoIterator<Item = &'a Tape>) -> LevelSummary {
    LevelSummary::of(tapes, &GoodputGoals::default())
}

fn probe(tape: Tape) -> Tape {
    Tape { part: RequestPurpose::Probe, ..tape }
}

#[test]
fn a_probe_has_figures_of_its_own() {
    let load = tape(0, &[(20, 1), (30, 1)]);
    let probes = [
        probe(tape(0, &[(7, 1), (9, 1)])),
        probe(failed(tape(0, &[(8, 1)]), FailureClass::TimeoutIdle)),
        // Long after the load: no part of its window.
        probe(tape(9_000, &[(9_011, 1), (9_015, 1)])),
    ];
    let both = level(probes.iter().chain([&load]));
    let found = both.probe.clone().unwrap();
    assert_eq!((found.requests.sent, found.requests.completed, found.requests.failed), (3, 2, 1));
    assert_eq!((found.ttft.n, found.ttft.mean), (2, Some(Millis::new(9.0))));
    assert_eq!(
        (found.tpot.mean, found.e2el.max),
        (Some(Millis::new(3.0)), Some(Millis::new(15.0)))
    );
    let json = serde_json::to_value(&both).unwrap();
    assert_eq!(json["probe"]["requests"]["by_class"]["timeout_idle"], 1);
    assert_eq!(json["probe"]["ttft_ms"]["max"], 11.0);
    let json = serde_json::to_value(level([&load])).unwrap();
    assert_eq!(json["probe_reason"], "there was no probe stream");
}

#[test]
fn a_probe_is_in_no_histogram() {
    let mut histograms = LevelHistograms::default();
    histograms.add(&probe(tape(0, &[(7, 1), (9, 1)])));
    histograms.add(&tape(0, &[(20, 1), (30, 1)]));
    assert_eq!(
        (histograms.ttft.count(), histograms.itl.count(), histograms.e2el.count()),
        (1, 1, 1)
    );
    assert!(histograms.ttft.percentile(0.0).unwrap() > Nanos::from_millis(19));
}

proptest! {
    #![proptest_config(crate::cases(64))]

    #[test]
    fn probes_change_nothing_of_the_load(
        load in prop::collection::vec(any_tape(), 0..20),
        probes in prop::collection::vec(any_tape(), 1..20),
        cut in 0usize..40,
    ) {
        let probes: Vec<Tape> = probes.into_iter().map(probe).collect();
        let both = level(load.iter().chain(&probes));
        prop_assert_eq!(both.probe.as_ref().unwrap().requests.sent, probes.len() as u64);
        let mut without = both.clone();
        without.probe = None;
        prop_assert_eq!(without, level(&load));

        let all: Vec<&Tape> = load.iter().chain(&probes).collect();
        let (head, tail) = all.split_at(cut.min(all.len()));
        let tally = |tapes: &[&Tape]| {
            let mut tally = LevelTally::new(&GoodputGoals::default());
            tapes.iter().for_each(|tape| tally.add(tape));
            tally
        };
        let mut merged = tally(tail);
        merged.merge(tally(head));
        merged.merge(tally(&[]));
        prop_assert_eq!(merged.summary(), both);
    }
}
