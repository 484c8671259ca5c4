//! Rows of the checklist: what each says of stored runs, and on which side of its limits a level falls.

use fizeau_core::{LoadKind, PerSec, Seconds, TokenSource, Tokens, WarmUp};
use fizeau_metrics::{CacheExpectation, Quantile, Verdict, VerdictConcern, VerdictReason};
use fizeau_record::{
    ArrivalMoments, CheckOutcome, Checklist, ChecklistItem, EngineRecord, LevelReport,
    RequiredChecks, RunSetup, StoredRun,
};
use serde_json::{Value, json};

use crate::reading::{as_it_was, fixture};
use crate::search::LEVEL;

/// How a row comes out for `levels`, and what shows it.
fn row(levels: &[LevelReport], item: ChecklistItem) -> (CheckOutcome, String) {
    let list = Checklist::of(&RunSetup::default(), levels);
    let row = list.rows().iter().find(|row| row.check == item).unwrap();
    (row.outcome, row.evidence.clone())
}

/// The level at so many slots, otherwise as `change` has it.
fn level(slots: f64, change: impl FnOnce(&mut LevelReport)) -> LevelReport {
    let mut level = LEVEL.clone();
    level.load = LoadKind::Concurrency.at(slots);
    level.requested.arrivals = None;
    level.validity.reasons.clear();
    level.validity.verdict = Verdict::Valid;
    change(&mut level);
    level
}

/// All rows of runs of every kind, level by level and together: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_the_checklist_says_of_stored_runs_is_as_it_was() {
    let mut all: Vec<Value> = Vec::new();
    for name in [
        "bench",
        "turns",
        "faults",
        "imported",
        "interrupted",
        "merged",
        "ab",
        "what-if/configuration-01",
        "search",
    ] {
        let run = StoredRun::open(fixture(name)).unwrap();
        let levels = run.reader().unwrap().levels().unwrap();
        let lines = |list: &Checklist| -> Vec<String> {
            list.rows().iter().map(ToString::to_string).collect()
        };
        let reports: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
        all.push(json!({
            "run": name,
            "first": lines(&levels[0].checklist()),
            "together": (reports.len() > 1).then(|| lines(&Checklist::of(&levels[0].setup, &reports))),
        }));
    }
    as_it_was("checklists", &(serde_json::to_string_pretty(&all).unwrap() + "\n"));
}

#[test]
fn rows_are_counted_by_their_outcome_and_the_required_ones_that_were_not_shown_are_named() {
    let nothing = Checklist::unknown("it was cut");
    assert_eq!(nothing.count(CheckOutcome::Unknown), ChecklistItem::ALL.len());
    assert_eq!(nothing.count(CheckOutcome::Pass), 0);
    let list: Checklist = serde_json::from_value(json!([
        {"row": "tail", "outcome": "pass", "evidence": "p99 of TTFT"},
        {"row": "client", "outcome": "fail", "evidence": "late"},
        {"row": "rates", "outcome": "unknown", "evidence": "one load"},
        {"row": "duration", "outcome": "fail", "evidence": "18.2 s"},
        {"row": "caches", "outcome": "simulated", "evidence": "none"},
    ]))
    .unwrap();
    let counts =
        [CheckOutcome::Pass, CheckOutcome::Fail, CheckOutcome::Unknown, CheckOutcome::Simulated]
            .map(|outcome| list.count(outcome));
    assert_eq!(counts, [1, 2, 1, 1]);
    let required: RequiredChecks = "tail,rates,duration,caches".parse().unwrap();
    let missed: Vec<String> = list.missed(&required).map(ToString::to_string).collect();
    assert_eq!(missed, ["unknown rates: one load", "fail duration: 18.2 s"]);
    assert_eq!(list.missed(&RequiredChecks::default()).count(), 0);
    assert_eq!(format!("[{:>10}]", ChecklistItem::WarmUp), "[   warm_up]");
}

/// A minute, less the second by which the last request may fall short.
#[test]
fn a_level_takes_a_minute_but_for_the_second_in_which_its_last_request_falls() {
    let of = |seconds: &[f64]| {
        let levels: Vec<LevelReport> = seconds
            .iter()
            .enumerate()
            .map(|(at, s)| {
                level(2_f64.powi(at as i32), |level| {
                    level.summary.throughput.duration = Seconds::new(*s);
                })
            })
            .collect();
        row(&levels, ChecklistItem::Duration)
    };
    assert_eq!(of(&[59.0]), (CheckOutcome::Pass, "59.0 s".to_owned()));
    assert_eq!(of(&[60.5]), (CheckOutcome::Pass, "60.5 s".to_owned()));
    assert_eq!(of(&[58.9]), (CheckOutcome::Fail, "58.9 s; measure at least 60 s".to_owned()));
    let two = "shortest level 58.9 s, at concurrency 2; 1 of 2 levels are under 60 s";
    assert_eq!(of(&[90.0, 58.9]), (CheckOutcome::Fail, two.to_owned()));
    let both = "shortest level 60.0 s, at concurrency 1";
    assert_eq!(of(&[60.0, 90.0]), (CheckOutcome::Pass, both.to_owned()));
}

#[test]
fn three_different_loads_that_completed_something_make_a_curve() {
    let of = |slots: &[f64]| {
        let levels: Vec<LevelReport> = slots.iter().map(|slots| level(*slots, |_| {})).collect();
        row(&levels, ChecklistItem::Rates)
    };
    assert_eq!(of(&[1.0, 2.0, 4.0]).0, CheckOutcome::Pass);
    assert_eq!(of(&[1.0, 2.0, 4.0]).1, "3 loads: concurrency 1 to concurrency 4");
    let few = "2 loads tested (concurrency 1 to concurrency 2); test at least 3";
    assert_eq!(of(&[1.0, 2.0, 2.0]), (CheckOutcome::Fail, few.to_owned()));
    assert_eq!(of(&[1.0]).1, "1 load tested (concurrency 1); test at least 3");
    let idle = level(8.0, |level| level.summary.requests.completed = 0);
    assert_eq!(
        row(std::slice::from_ref(&idle), ChecklistItem::Rates).1,
        "0 loads tested (no load completed a request); test at least 3"
    );
    let levels = [level(1.0, |_| {}), level(2.0, |_| {}), idle];
    assert_eq!(row(&levels, ChecklistItem::Rates).0, CheckOutcome::Fail);
}

#[test]
fn a_warm_up_of_which_all_failed_is_none() {
    let of = |warm_up: Option<(u64, u64)>| {
        let warm_up = warm_up.map(|(sent, failed)| WarmUp { sent, failed });
        row(&[level(1.0, |level| level.warm_up = warm_up)], ChecklistItem::WarmUp)
    };
    assert_eq!(of(Some((0, 0))), (CheckOutcome::Fail, "no warm-up request was sent".to_owned()));
    assert_eq!(of(Some((4, 4))), (CheckOutcome::Fail, "all 4 warm-up requests failed".to_owned()));
    let one = "4 requests before each level, not counted; 3 failed";
    assert_eq!(of(Some((4, 3))), (CheckOutcome::Pass, one.to_owned()));
    let all = "4 requests before each level, not counted";
    assert_eq!(of(Some((4, 0))), (CheckOutcome::Pass, all.to_owned()));
    assert_eq!(of(None), (CheckOutcome::Unknown, "not recorded".to_owned()));
}

#[test]
fn a_load_is_open_where_requests_left_at_a_rate_of_their_own() {
    let of = |arrivals: Option<ArrivalMoments>| {
        let level = level(1.0, |level| {
            level.requested.arrivals = arrivals;
            level.summary.arrivals = None;
        });
        row(&[level], ChecklistItem::OpenLoop)
    };
    let law = |rate: f64| Some(ArrivalMoments { rate: Some(PerSec::new(rate)), cv_squared: None });
    assert_eq!(of(None).1, "closed loops only; also measure at fixed rates");
    assert_eq!(of(law(0.0)).1, "all requests at once; also measure at fixed rates");
    assert_eq!(of(law(f64::INFINITY)).0, CheckOutcome::Fail);
    assert_eq!(of(Some(ArrivalMoments::default())).0, CheckOutcome::Fail);
    assert_eq!(of(law(4.0)).0, CheckOutcome::Pass);
    let levels = [level(1.0, |_| {}), level(2.0, |level| level.requested.arrivals = law(4.0))];
    assert_eq!(row(&levels, ChecklistItem::OpenLoop).1, "a law of arrivals (at concurrency 2)");
}

/// More than four loads are counted; one more is shown in place of its count.
#[test]
fn loads_are_named_up_to_four_and_the_rest_are_counted() {
    let of = |cold: usize| {
        let levels: Vec<LevelReport> = (1..=9)
            .map(|at| {
                level(f64::from(at), |level| {
                    let sent = if at as usize <= cold { 0 } else { 3 };
                    level.warm_up = Some(WarmUp { sent, failed: 0 });
                })
            })
            .collect();
        let said = row(&levels, ChecklistItem::WarmUp).1;
        said.strip_prefix("no warm-up request was sent (at ").unwrap_or_default().to_owned()
    };
    assert_eq!(of(1), "concurrency 1)");
    assert_eq!(of(4), "concurrency 1, 2, 3 and 4)");
    assert_eq!(of(5), "concurrency 1, 2, 3, 4 and 5)");
    assert_eq!(of(6), "concurrency 1, 2, 3, 4 and 2 more)");
    assert_eq!(of(9), "every level)");
}

/// Half of the slots, and not one less.
#[test]
fn a_closed_loop_that_keeps_less_than_half_of_its_slots_busy_is_of_another_batch() {
    let of = |mean: f64, is_open: bool| {
        let level = level(8.0, |level| {
            level.summary.over_time.as_mut().unwrap().in_flight.mean = mean;
            level.requested.arrivals = is_open.then(ArrivalMoments::default);
        });
        row(&[level], ChecklistItem::Batch)
    };
    assert_eq!(of(4.0, false).0, CheckOutcome::Pass);
    assert_eq!(of(3.9, false).0, CheckOutcome::Fail);
    assert!(
        of(3.9, false)
            .1
            .starts_with("less than half of the slots in use: 3.90 in flight on average")
    );
    assert_eq!(of(3.9, true).0, CheckOutcome::Pass);
    let unknown = level(8.0, |level| level.summary.over_time = None);
    assert_eq!(
        row(&[unknown], ChecklistItem::Batch),
        (CheckOutcome::Unknown, "number in flight not known".to_owned())
    );
}

/// Lengths within a tenth of one another are one length.
#[test]
fn lengths_are_mixed_where_the_longest_is_a_tenth_above_the_shortest() {
    let of = |ends: &[[u64; 2]]| {
        let levels: Vec<LevelReport> = ends
            .iter()
            .zip(1..)
            .map(|([min, max], at)| {
                level(f64::from(at), |level| {
                    for check in
                        [&mut level.summary.lengths.prompt, &mut level.summary.lengths.output]
                    {
                        (check.seen.n, check.requested.n) = (50, 50);
                        check.seen.min = Some(Tokens::new(100));
                        check.seen.max = Some(Tokens::new(400));
                    }
                    let prompt = &mut level.summary.lengths.prompt.seen;
                    (prompt.min, prompt.max) = (Some(Tokens::new(*min)), Some(Tokens::new(*max)));
                })
            })
            .collect();
        row(&levels, ChecklistItem::Lengths)
    };
    assert_eq!(of(&[[30, 33]]).0, CheckOutcome::Pass);
    assert!(of(&[[30, 33]]).1.starts_with("prompts 30 to 33 tokens, outputs 100 to 400 tokens ("));
    assert_eq!(
        of(&[[30, 32]]),
        (
            CheckOutcome::Fail,
            "prompts all about equally long, outputs 100 to 400 tokens; vary the lengths"
                .to_owned()
        )
    );
    assert_eq!(
        of(&[[100, 100]]).1,
        "prompts always 100 tokens, outputs 100 to 400 tokens; vary the lengths"
    );
    let one = "prompts all about equally long (at concurrency 2), outputs 100 to 400 tokens; vary the lengths";
    assert_eq!(of(&[[10, 500], [30, 32]]).1, one);
    // As they were asked for, where the server does not say.
    let unseen = |n: u64| {
        let level = level(1.0, |level| {
            for check in [&mut level.summary.lengths.prompt, &mut level.summary.lengths.output] {
                check.seen.n = 0;
                check.requested.n = n;
                check.requested.min = Some(Tokens::new(7));
                check.requested.max = Some(Tokens::new(70));
            }
        });
        row(&[level], ChecklistItem::Lengths)
    };
    assert!(unseen(2).1.starts_with("prompts 7 to 70 tokens, outputs 7 to 70 tokens ("));
    let unknown = "prompts of unknown lengths, outputs of unknown lengths";
    assert_eq!(unseen(1), (CheckOutcome::Unknown, unknown.to_owned()));
}

#[test]
fn both_phases_take_a_prompt_of_more_than_one_token_a_first_token_and_one_after_it() {
    let of = |change: fn(&mut LevelReport)| row(&[level(1.0, change)], ChecklistItem::Phases);
    assert_eq!(of(|_| {}).0, CheckOutcome::Pass);
    assert_eq!(
        of(|level| level.summary.tokens.source = Some(TokenSource::Tokenless)).1,
        "embeddings have no decode"
    );
    assert_eq!(of(|level| level.summary.metrics.ttft.n = 0).1, "no first token was seen");
    assert_eq!(
        of(|level| level.summary.metrics.tpot.n = 0).1,
        "no TPOT: every reply is one token, or one chunk"
    );
    let prompts = |level: &mut LevelReport, longest: u64| {
        let check = &mut level.summary.lengths.prompt;
        for seen in [&mut check.seen, &mut check.requested] {
            seen.n = 5;
            seen.max = Some(Tokens::new(longest));
        }
    };
    let one = level(1.0, |level| prompts(level, 1));
    assert_eq!(
        row(&[one], ChecklistItem::Phases),
        (CheckOutcome::Fail, "prompts of one token".to_owned())
    );
    let two = level(1.0, |level| prompts(level, 2));
    assert_eq!(row(&[two], ChecklistItem::Phases).0, CheckOutcome::Pass);
    let unknown = level(1.0, |level| {
        level.summary.lengths.prompt.seen.n = 0;
        level.summary.lengths.prompt.requested.n = 0;
    });
    let (outcome, said) = row(&[unknown], ChecklistItem::Phases);
    assert_eq!(outcome, CheckOutcome::Unknown);
    assert!(said.starts_with("prompt lengths are not known; prefill: TTFT p50 "), "{said}");
}

/// A level has a tail where each of its latencies has a p99; the level with the fewest values is named.
#[test]
fn the_tail_is_that_of_the_latency_with_the_fewest_values() {
    let known =
        |value: f64| Quantile::Known { value: fizeau_core::Millis::new(value), interval: None };
    let with = |slots: f64, n: u64, p999: bool| {
        level(slots, |level| {
            let metrics = &mut level.summary.metrics;
            for sample in [&mut metrics.ttft, &mut metrics.tpot, &mut metrics.e2el] {
                sample.n = 2 * n;
                sample.p99 = known(9.0);
                sample.p999 = if p999 { known(10.0) } else { Quantile::Withheld { needs: 1000 } };
            }
            metrics.tpot.n = n;
        })
    };
    let all = "p99 of TTFT, TPOT and E2EL; fewest values";
    let tail = |levels: &[LevelReport]| row(levels, ChecklistItem::Tail);
    assert_eq!(
        tail(&[with(1.0, 150, false)]),
        (CheckOutcome::Pass, format!("{all} 150 (TPOT); no p99.9 (needs 1000)"))
    );
    assert_eq!(tail(&[with(1.0, 1500, true)]).1, format!("{all} 1500 (TPOT); p99.9 as well"));
    let two = [with(1.0, 150, false), with(2.0, 1500, true)];
    assert_eq!(
        tail(&two).1,
        format!("{all} 150 (TPOT at concurrency 1); p99.9 (at concurrency 2)")
    );
    let mut few = with(2.0, 60, false);
    few.summary.metrics.tpot.p99 = Quantile::Withheld { needs: 100 };
    let lacking = "no p99 (at concurrency 2): TPOT at concurrency 2 has 60 values and needs 100";
    assert_eq!(tail(&[with(1.0, 150, false), few]), (CheckOutcome::Fail, lacking.to_owned()));
    // Replies without tokens have no first one.
    let mut embeddings = with(1.0, 150, false);
    embeddings.summary.tokens.source = Some(TokenSource::Tokenless);
    assert_eq!(
        tail(&[embeddings]).1,
        "p99 of E2EL; fewest values 300 (E2EL); no p99.9 (needs 1000)"
    );
}

/// Of several levels the gravest reason speaks for all, of equal ones the first.
#[test]
fn what_speaks_against_a_row_is_the_gravest_reason_and_the_other_levels_are_counted() {
    let against = |slots: f64, verdict: Verdict, text: &str| {
        level(slots, |level| {
            let reason = VerdictReason::new(verdict, VerdictConcern::Cache, text);
            level.validity.reasons = vec![reason];
        })
    };
    let caches = |levels: &[LevelReport]| row(levels, ChecklistItem::Caches);
    let one = against(1.0, Verdict::Suspect, "hits");
    assert_eq!(caches(std::slice::from_ref(&one)), (CheckOutcome::Fail, "hits".to_owned()));
    let two = [one.clone(), against(2.0, Verdict::Invalid, "many hits")];
    assert_eq!(caches(&two).1, "many hits (at concurrency 2); 1 more level");
    let three =
        [one, against(2.0, Verdict::Suspect, "more"), against(4.0, Verdict::Suspect, "most")];
    assert_eq!(caches(&three).1, "hits (at concurrency 1); 2 more levels");
    // A reason about something else is no reason.
    let client = level(1.0, |level| {
        let reason = VerdictReason::new(Verdict::Invalid, VerdictConcern::Client, "late");
        level.validity.reasons = vec![reason];
    });
    assert_ne!(caches(std::slice::from_ref(&client)).0, CheckOutcome::Fail);
    assert_eq!(row(&[client], ChecklistItem::Client), (CheckOutcome::Fail, "late".to_owned()));
}

#[test]
fn hits_of_the_cache_are_told_beside_what_was_requested() {
    let of = |cache: CacheExpectation, share: Option<f64>| {
        let level = level(1.0, |level| {
            level.requested.cache = cache;
            level.summary.tokens.cached_share = share;
            level.telemetry = None;
        });
        row(&[level], ChecklistItem::Caches)
    };
    assert_eq!(
        of(CacheExpectation::Share(0.5), Some(0.25)),
        (CheckOutcome::Pass, "50 % requested; 25 % of prompt tokens cached".to_owned())
    );
    assert_eq!(
        of(CacheExpectation::Reuse, Some(0.25)).1,
        "prompts reused on purpose; 25 % of prompt tokens cached"
    );
    assert_eq!(
        of(CacheExpectation::None, None),
        (
            CheckOutcome::Unknown,
            "no cache hits expected; the server does not report hits".to_owned()
        )
    );
}

#[test]
fn hardware_is_named_by_its_engine_or_by_its_device() {
    let of = |change: &dyn Fn(&mut RunSetup)| {
        let mut setup = RunSetup::default();
        setup.engine = EngineRecord::Remote { description: None };
        change(&mut setup);
        let list = Checklist::of(&setup, &[&*LEVEL]);
        [ChecklistItem::Hardware, ChecklistItem::Precision].map(|item| {
            let row = list.rows().iter().find(|row| row.check == item).unwrap();
            format!("{}: {}", row.outcome.as_str(), row.evidence)
        })
    };
    assert_eq!(
        of(&|_| {}),
        [
            "fail: not named: describe the engine, or name the hardware",
            "fail: not named: describe the precision, or name the model and the hardware"
        ]
    );
    let named = of(&|setup| {
        setup.engine = EngineRecord::Remote { description: Some("an engine".to_owned()) };
        setup.hardware = Some("h100-sxm".to_owned());
        setup.deployment = Some("8 devices, TP8".to_owned());
        setup.precision = Some("weights fp8".to_owned());
    });
    assert_eq!(named, ["pass: an engine; h100-sxm, 8 devices, TP8", "pass: weights fp8"]);
    assert_eq!(of(&|setup| setup.hardware = Some("h100-sxm".to_owned()))[0], "pass: h100-sxm");
}

#[test]
fn without_a_level_only_what_was_run_can_be_told() {
    let list = Checklist::of(&RunSetup::default(), &[] as &[LevelReport]);
    let of_setup = [ChecklistItem::Hardware, ChecklistItem::Precision];
    for row in list.rows().iter().filter(|row| !of_setup.contains(&row.check)) {
        let found = (row.outcome, row.evidence.as_str());
        assert_eq!(found, (CheckOutcome::Unknown, "nothing was measured"), "{}", row.check);
    }
}
