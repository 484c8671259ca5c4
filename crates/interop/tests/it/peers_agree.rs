//! What holds for all tools at once.

use std::collections::BTreeSet;

use fizeau_core::{FailureClass, RequestPurpose, Tape, Usage};
use fizeau_interop::{
    OwnFigures, Peer, PeerFigure, PeerSettings, PeerStatistic, PeerTerm, PeerUnit, PeerValue,
};
use fizeau_metrics::RequestMetrics;
use proptest::prelude::*;

use crate::cases;
use crate::tapes::{any_tape, failed, tape};

/// A reply that ended well, or was cut.
fn good_or_bad() -> impl Strategy<Value = Tape> {
    let cut_or_not = |(tape, well)| if well { tape } else { failed(tape, FailureClass::Truncated) };
    (any_tape(), any::<bool>()).prop_map(cut_or_not)
}

/// A figure in milliseconds.
fn millis(figure: &PeerFigure) -> Option<f64> {
    let scale = match figure.unit {
        PeerUnit::Millis => 1.0,
        PeerUnit::Seconds => 1e3,
        PeerUnit::Nanos => 1e-6,
        _ => return None,
    };
    Some(figure.value.get()? * scale)
}

/// Statistics that are not a value of the sample.
fn is_spread(name: &str) -> bool {
    ["std", "stddev", "count"].iter().any(|word| name.contains(word))
}

proptest! {
    #![proptest_config(cases(64))]

    /// Of one reply of one token an event, whatever a tool calls our figures they are the same number.
    #[test]
    fn tools_agree_where_their_definitions_do(gaps in prop::collection::vec(1u64..500, 2..30)) {
        let mut at = 0;
        let events: Vec<_> = gaps.iter().map(|gap| { at += gap; (at, 1) }).collect();
        let mut reply = tape(0, &events);
        let tokens = Some(reply.output_tokens());
        reply.usage = Some(Usage { completion_tokens: tokens, ..Usage::default() });
        let ours = RequestMetrics::of(&reply);
        for peer in Peer::ALL {
            for figure in peer.figures([&reply], &PeerSettings::default()).figures {
                let wanted = match figure.ours {
                    Some("ttft") => ours.ttft.map(fizeau_core::Nanos::as_millis_f64),
                    Some("tpot") => ours.tpot.map(fizeau_core::Millis::get),
                    Some("e2el") => ours.e2el.map(fizeau_core::Nanos::as_millis_f64),
                    _ => continue,
                };
                // Those of the other groups of GuideLLM are empty.
                let empty = figure.name.starts_with("incomplete") || figure.name.starts_with("errored");
                if empty || is_spread(&figure.name) {
                    continue;
                }
                let (Some(found), Some(wanted)) = (millis(&figure), wanted) else {
                    return Err(TestCaseError::fail(format!("{peer:?} {figure:?}")));
                };
                // EvalScope rounds: to 10 ms where it counts in seconds.
                let slack = if peer == Peer::EvalScope { 5.001 } else { 1e-5 };
                prop_assert!((found - wanted).abs() < slack, "{peer:?} {figure:?} {wanted}");
            }
        }
    }

    #[test]
    fn no_figure_is_infinite_and_no_name_stands_twice(
        replies in prop::collection::vec(good_or_bad(), 0..6),
    ) {
        let settings = PeerSettings { goals: "ttft:20".parse().unwrap(), max_concurrency: Some(2), ..PeerSettings::default() };
        for peer in Peer::ALL {
            let report = peer.figures(&replies, &settings);
            let names: BTreeSet<&str> = report.figures.iter().map(|f| f.name.as_str()).collect();
            prop_assert_eq!(names.len(), report.figures.len(), "{:?}", peer);
            for figure in &report.figures {
                match figure.value {
                    PeerValue::Known(value) => prop_assert!(value.is_finite(), "{figure:?}"),
                    PeerValue::Absent(reason) => prop_assert!(!reason.is_empty()),
                }
            }
        }
    }

    /// Whatever a figure is linked to is there, and is absent only for a reason.
    #[test]
    fn ours_stands_beside_every_figure_that_names_it(
        replies in prop::collection::vec(good_or_bad(), 0..6),
    ) {
        let settings = PeerSettings { goals: "ttft:20".parse().unwrap(), max_concurrency: Some(2), ..PeerSettings::default() };
        let own = OwnFigures::of(&replies, &settings);
        for peer in Peer::ALL {
            for figure in peer.figures(&replies, &settings).figures {
                let beside = own.comparable(&figure);
                prop_assert_eq!(beside.is_some(), figure.ours.is_some(), "{:?}", figure);
                if let Some(PeerValue::Known(value)) = beside {
                    prop_assert!(value.is_finite(), "{:?}", figure);
                }
            }
        }
        for concept in PeerTerm::ALL {
            prop_assert!(!concept.own_figures(&own).is_empty(), "{concept:?}");
        }
    }

    /// The order in which requests ended is no part of a figure.
    #[test]
    fn the_order_of_the_tapes_does_not_matter(
        mut replies in prop::collection::vec(any_tape(), 1..6),
    ) {
        let settings = PeerSettings::default();
        let before = Peer::ALL.map(|peer| peer.figures(&replies, &settings));
        replies.reverse();
        for (before, peer) in before.iter().zip(Peer::ALL) {
            for (old, new) in before.figures.iter().zip(peer.figures(&replies, &settings).figures) {
                let (old_value, new_value) = (old.value.get(), new.value.get());
                let alike = match (old_value, new_value) {
                    (Some(old), Some(new)) => (old - new).abs() <= 1e-9 * old.abs().max(1e-3),
                    (old, new) => old == new,
                };
                prop_assert!(alike, "{old:?} {new:?}");
            }
        }
    }
}

#[test]
fn probes_are_in_no_figure() {
    let mut probe = tape(0, &[(5000, 9)]);
    probe.part = RequestPurpose::Probe;
    let load = tape(0, &[(10, 1), (20, 1)]);
    for peer in Peer::ALL {
        let settings = PeerSettings::default();
        assert_eq!(peer.figures([&load, &probe], &settings), peer.figures([&load], &settings));
    }
}

#[test]
fn keys_lead_back_to_what_they_name() {
    for peer in Peer::ALL {
        assert_eq!(Peer::from_key(peer.key()), Some(peer));
        assert!(!peer.version().is_empty());
    }
    for concept in PeerTerm::ALL {
        assert_eq!(PeerTerm::from_key(concept.key()), Some(concept));
    }
    assert_eq!(PeerTerm::from_key("latency"), None);
}

#[test]
fn every_name_in_a_definition_is_that_of_a_figure() {
    let reply = tape(0, &[(10, 1), (20, 1)]);
    let goals = "ttft:20".parse().unwrap();
    let settings = PeerSettings { goals, max_concurrency: Some(1), ..PeerSettings::default() };
    for concept in PeerTerm::ALL {
        let tools = concept.definitions();
        let peers: Vec<Peer> = tools.iter().map(|tool| tool.peer).collect();
        assert_eq!(peers, Peer::ALL, "{concept:?}");
        assert!(!concept.ours().is_empty());
        for tool in tools {
            let figures = tool.peer.figures([&reply], &settings).figures;
            let known = figures.iter().any(|figure| figure.name.contains(tool.name));
            assert!(known, "{:?} has no `{}`", tool.peer, tool.name);
            assert!(!tool.rule.is_empty() && !tool.rule.contains('\n'));
        }
    }
}

#[test]
fn nothing_is_no_error() {
    for peer in Peer::ALL {
        let report = peer.figures(&[] as &[Tape], &PeerSettings::default());
        assert!(!report.figures.is_empty());
        assert!(report.figures.iter().all(|figure| figure.value.get().is_none_or(f64::is_finite)));
    }
}

#[test]
fn a_concept_is_shown_by_the_figures_that_its_definitions_name() {
    let replies = [tape(0, &[(10, 1), (20, 1)]), tape(0, &[(10, 1), (30, 1)])];
    let settings = PeerSettings {
        goals: "ttft:20".parse().unwrap(),
        max_concurrency: Some(1),
        ..PeerSettings::default()
    };
    let own = OwnFigures::of(&replies, &settings);
    for concept in PeerTerm::ALL {
        for tool in concept.definitions() {
            let report = tool.peer.figures(&replies, &settings);
            let shown = concept.figures_of(&report);
            let is_intermediate = report.intermediate.iter().any(|(of, _)| *of == concept);
            let is_shown = !tool.name.is_empty() || is_intermediate;
            assert_eq!(!shown.is_empty(), is_shown, "{concept:?} {tool:?}");
            // A number of a run stands beside ours: it is of the same thing, if in another unit.
            let [own] = &concept.own_figures(&own)[..] else { continue };
            for figure in shown.iter().filter(|_| own.statistic.is_none()) {
                let is_same = figure.ours == own.ours
                    || matches!(figure.value, PeerValue::Absent(_))
                    || (concept == PeerTerm::Duration && figure.unit == PeerUnit::Millis)
                    || (concept == PeerTerm::Failures && figure.ours.is_none());
                assert!(is_same, "{concept:?} {figure:?}");
            }
        }
    }
    let names = |concept: PeerTerm, peer: Peer| -> Vec<String> {
        let report = peer.figures(&replies, &settings);
        concept.figures_of(&report).iter().map(|figure| figure.name.clone()).collect()
    };
    // A longer name that holds the one that is meant does not get in its way.
    let key = "successes.latency.time_per_output_token";
    let wanted = ["mean", "median", "p99"].map(|statistic| format!("{key}.{statistic}"));
    assert_eq!(names(PeerTerm::Tpot, Peer::InferencePerf), wanted);
    let wanted = ["mean", "percentiles.p50", "percentiles.p99"];
    let wanted = wanted.map(|statistic| format!("successful.inter_token_latency_ms.{statistic}"));
    assert_eq!(names(PeerTerm::Tpot, Peer::GuideLlm), wanted);
    assert_eq!(names(PeerTerm::Throughput, Peer::AiPerf), ["output_token_throughput.avg"]);
    assert_eq!(names(PeerTerm::Goodput, Peer::Sglang), ["request_goodput"]);
    // Ours are those of the tool where each event has one token.
    let mean = PeerTerm::Ttft.own_figures(&own)[0].clone();
    assert_eq!((mean.statistic, mean.value), (Some(PeerStatistic::Mean), PeerValue::Known(10.0)));
}
