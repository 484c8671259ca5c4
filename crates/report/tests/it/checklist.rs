//! The checklist: each row can pass, fail and be unknown, by its own evidence.

use fizeau_core::{PerSec, Seconds, TokenSource, Tokens};
use fizeau_metrics::{
    CacheExpectation, Concern, Distribution, LengthDifference, Quantile, Reason, TokenDistribution,
    Verdict,
};
use fizeau_report::{
    Asked, AskedArrivals, Check, CheckOutcome, Checklist, ChecklistRows, Engine, LevelReport,
    LoadPoint, Requirements, Setup, SpeedOfLight, SweepReport, WarmUp,
};
use proptest::prelude::*;
use serde_json::json;

use crate::{cases, sample};

/// A run and its levels.
type Run = (Setup, Vec<LevelReport>);

/// A row, what to do to a run that passes it, how it comes out then, and what its evidence says.
type Case = (Check, fn(&mut Run), CheckOutcome, &'static str);

use CheckOutcome::{Fail, Pass, Simulated, Unknown};

/// Lengths from one to ten times `least`.
fn spread(least: u64) -> TokenDistribution {
    let (min, max) = (Some(Tokens::new(least)), Some(Tokens::new(10 * least)));
    TokenDistribution { n: 126, min, max, ..TokenDistribution::default() }
}

/// A difference that is none, of all requests.
fn equal(n: u64, mean: f64) -> LengthDifference {
    LengthDifference {
        n,
        asked_mean: mean,
        seen_mean: mean,
        absolute_mean: 0.0,
        min: 0,
        max: 0,
        past_one_percent: 0,
        histogram: [0; 11],
    }
}

/// A level at a rate against which nothing can be said.
fn good_level(rate: f64) -> LevelReport {
    let mut level = sample::level(32);
    let rate = PerSec::new(rate);
    level.load = LoadPoint::Rate(rate);
    let poisson = AskedArrivals { rate: Some(rate), cv_squared: Some(1.0) };
    level.asked = Asked { arrivals: Some(poisson), cache: CacheExpectation::None };
    let completed = level.summary.requests.completed;
    let (lengths, tokens) = (&mut level.summary.lengths, &mut level.summary.tokens);
    (lengths.prompt.seen, lengths.output.seen) = (spread(100), spread(20));
    (lengths.prompt.seen.n, lengths.output.seen.n) = (completed, completed);
    lengths.prompt.difference = Some(equal(completed, 500.0));
    lengths.output.difference = Some(equal(completed, 100.0));
    tokens.cached_input = Some(Tokens::ZERO);
    tokens.known_input = Tokens::new(1_000);
    level.summary.throughput.duration = Seconds::new(61.5);
    level
}

/// A run of which every row passes.
fn good() -> Run {
    let mut setup = sample::setup();
    setup.engine = Engine::Remote { description: Some("vLLM on 8 x H100".to_owned()) };
    (setup, [10.0, 20.0, 30.0].map(good_level).into())
}

fn with(change: fn(&mut Run)) -> Checklist {
    let mut run = good();
    change(&mut run);
    Checklist::of(&run.0, &run.1)
}

fn found(list: &Checklist, check: Check) -> (CheckOutcome, &str) {
    let row = list.rows().iter().find(|row| row.check == check).unwrap();
    (row.outcome, &row.evidence)
}

fn says(level: &mut LevelReport, about: Concern, text: &str) {
    let reason = Reason { verdict: Verdict::Suspect, about, text: text.to_owned() };
    level.validity.reasons.push(reason);
}

/// Holds every row by its own evidence against runs that were changed in one thing.
fn hold(cases: &[Case]) {
    for (check, change, outcome, words) in cases {
        let list = with(*change);
        let (came, evidence) = found(&list, *check);
        assert_eq!(came, *outcome, "{check}: {evidence}");
        assert!(evidence.contains(words), "{check}: {evidence}");
    }
}

#[test]
fn a_run_can_pass_every_row() {
    let list = with(|_| {});
    for row in list.rows() {
        assert_eq!(row.outcome, Pass, "{row}");
    }
    assert_eq!(list.rows().len(), 14);
    assert_eq!(
        list.text(ChecklistRows::Missed, 80),
        "Checklist: 14 of 14 pass (all of it: --checklist)"
    );
}

#[test]
fn the_load_and_its_length() {
    hold(&[
        (Check::WarmUp, |_| {}, Pass, "32 requests before each level"),
        (
            Check::WarmUp,
            |run| run.1[1].warm_up = Some(WarmUp::default()),
            Fail,
            "none was sent (at 20 requests/s)",
        ),
        (
            Check::WarmUp,
            |run| run.1[0].warm_up = Some(WarmUp { sent: 4, failed: 4 }),
            Fail,
            "all 4 requests of it failed",
        ),
        (Check::WarmUp, |run| run.1[2].warm_up = None, Unknown, "not recorded (at 30 requests/s)"),
        (Check::OpenLoop, |_| {}, Pass, "(at every level)"),
        (
            Check::OpenLoop,
            |run| run.1.iter_mut().for_each(|level| level.asked.arrivals = None),
            Fail,
            "closed loop alone",
        ),
        (
            Check::OpenLoop,
            |run| {
                for level in &mut run.1 {
                    level.asked.arrivals = Some(AskedArrivals::default());
                    level.summary.arrivals = None;
                }
            },
            Fail,
            "all requests at once",
        ),
        (Check::OpenLoop, |run| run.1.clear(), Unknown, "nothing was measured"),
        (Check::Rates, |_| {}, Pass, "3 loads: 10 requests/s to 30 requests/s"),
        (
            Check::Rates,
            |run| run.1[2].load = run.1[1].load,
            Fail,
            "2 loads (10 requests/s to 20 requests/s), 3 wanted",
        ),
        (Check::Rates, |run| run.1.clear(), Unknown, "nothing was measured"),
        (Check::Duration, |_| {}, Pass, "the shortest 61.5 s"),
        (
            Check::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(58.0),
            Fail,
            "the shortest 58.0 s, at 20 requests/s; 1 of 3 levels took less than 60 s",
        ),
        // The last request falls where it falls.
        (
            Check::Duration,
            |run| run.1[1].summary.throughput.duration = Seconds::new(59.2),
            Pass,
            "59.2 s",
        ),
        (Check::Duration, |run| run.1.clear(), Unknown, "nothing was measured"),
        (Check::Batch, |_| {}, Pass, "at most 33;"),
        (
            Check::Batch,
            |run| {
                run.1[0].asked.arrivals = None;
                run.1[0].load = LoadPoint::Concurrency(1_000);
            },
            Fail,
            "less than half of the slots were in use (at concurrency 1000)",
        ),
        (
            Check::Batch,
            |run| run.1[0].summary.over_time = None,
            Unknown,
            "not known (at 10 requests/s)",
        ),
    ]);
}

#[test]
fn the_sample_and_its_lengths() {
    fn p99_of_ttft(run: &mut Run, quantile: Quantile) {
        let n = if quantile == Quantile::Absent { 0 } else { 40 };
        run.1[1].summary.metrics.ttft =
            Distribution { n, p99: quantile, ..Distribution::default() };
    }
    hold(&[
        (Check::Tail, |_| {}, Pass, "fewest values 126"),
        (
            Check::Tail,
            |run| p99_of_ttft(run, Quantile::Withheld { needs: 100 }),
            Fail,
            "no p99 (at 20 requests/s): TTFT at 20 requests/s has 40 values, and a p99 needs 100",
        ),
        (Check::Tail, |run| run.1.clear(), Unknown, "nothing was measured"),
        (
            Check::Lengths,
            |_| {},
            Pass,
            "prompts 100 to 1000 tokens, outputs 20 to 200 tokens (random)",
        ),
        (
            Check::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.output.seen.max = Some(Tokens::new(21));
                }
            },
            Fail,
            "outputs all of about one length (at every level): take a law",
        ),
        (
            Check::Lengths,
            |run| {
                for level in &mut run.1 {
                    level.summary.lengths.prompt.seen.max = Some(Tokens::new(100));
                }
            },
            Fail,
            "prompts always 100 tokens",
        ),
        (
            Check::Lengths,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "prompts of unknown lengths",
        ),
        (Check::Phases, |_| {}, Pass, "prefill: TTFT p50 28.1 ms; decode: TPOT p50 6.92 ms"),
        (
            Check::Phases,
            |run| run.1[0].summary.metrics.tpot = Distribution::default(),
            Fail,
            "no time per output token",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.tokens.source = Some(TokenSource::Tokenless),
            Fail,
            "embeddings have no decode (at 10 requests/s)",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.lengths.prompt.seen.max = Some(Tokens::new(1)),
            Fail,
            "prompts of one token",
        ),
        (
            Check::Phases,
            |run| run.1[0].summary.lengths.prompt = Default::default(),
            Unknown,
            "how long prompts were is not known",
        ),
    ]);
}

#[test]
fn what_it_was_measured_on() {
    hold(&[
        (Check::Hardware, |_| {}, Pass, "vLLM on 8 x H100; h100-sxm, one device"),
        (
            Check::Hardware,
            |run| {
                run.0.engine = Engine::Remote { description: None };
                run.0.hardware = None;
            },
            Fail,
            "not named: --engine",
        ),
        (
            Check::Hardware,
            |run| run.0.engine = sample::setup().engine,
            Simulated,
            "no hardware served",
        ),
        (Check::Precision, |_| {}, Pass, "weights bf16, KV cache bf16"),
        (Check::Precision, |run| run.0.precision = None, Fail, "not named: --precision"),
    ]);
}

#[test]
fn whether_the_figures_are_the_servers() {
    hold(&[
        (Check::Client, |_| {}, Pass, "at worst send lateness p99 0.050 ms, CPU 21 %"),
        (
            Check::Client,
            |run| says(&mut run.1[1], Concern::Client, "requests were sent late"),
            Fail,
            "requests were sent late (at 20 requests/s)",
        ),
        (
            Check::Client,
            |run| run.1[1].client.watch.cpu_share = None,
            Unknown,
            "CPU time it took is not known (at 20 requests/s)",
        ),
        (
            Check::Client,
            |run| {
                for level in &mut run.1 {
                    level.client.stamps = fizeau_core::StampSource::Simulated;
                }
            },
            Simulated,
            "there was no client",
        ),
        (Check::Workload, |_| {}, Pass, "prompts off by 0 %, outputs by 0 %"),
        (
            Check::Workload,
            |run| run.1.iter_mut().for_each(|l| says(l, Concern::Failures, "2 of 99 failed")),
            Fail,
            "2 of 99 failed (at 10 requests/s); 2 more levels",
        ),
        (
            Check::Workload,
            |run| run.1[0].summary.lengths.prompt.difference = None,
            Unknown,
            "not known of every prompt",
        ),
        (
            Check::Workload,
            |run| run.1[0].summary.lengths.output.seen.n = 3,
            Unknown,
            "an estimate (at 10 requests/s)",
        ),
        (Check::Caches, |_| {}, Pass, "no hits asked for; 0 % of the prompt tokens"),
        (
            Check::Caches,
            |run| says(&mut run.1[0], Concern::Cache, "40 % came from a cache"),
            Fail,
            "40 % came from a cache",
        ),
        (
            Check::Caches,
            |run| run.1[0].summary.tokens.cached_input = None,
            Unknown,
            "the server does not say",
        ),
        (Check::Light, |_| {}, Pass, "nothing beyond it; at most 51 %"),
        (
            Check::Light,
            |run| run.1[0].speed_of_light = crate::light::faster(8, 4).speed_of_light,
            Fail,
            "times better than can be (at 10 requests/s)",
        ),
        (
            Check::Light,
            |run| {
                let reason = "no model was given".to_owned();
                run.1[0].speed_of_light = SpeedOfLight::Absent { reason };
            },
            Unknown,
            "no model was given (at 10 requests/s)",
        ),
    ]);
}

#[test]
fn a_row_that_is_unknown_is_as_good_as_failed_where_it_is_required_and_a_simulated_one_is_not() {
    let list = with(|run| {
        run.0.engine = sample::setup().engine;
        run.1[0].warm_up = None;
        run.1[0].summary.throughput.duration = Seconds::new(1.0);
    });
    let missed = |text: &str| {
        let required: Requirements = text.parse().unwrap();
        list.missed(&required).map(|row| row.check).collect::<Vec<_>>()
    };
    assert_eq!(missed("all"), [Check::WarmUp, Check::Duration]);
    assert_eq!(missed("hardware, tail ,warm-up"), [Check::WarmUp]);
    assert_eq!(missed("tail"), []);
    let row = list.rows().iter().find(|row| row.check == Check::WarmUp).unwrap();
    assert_eq!(row.to_string(), "unknown warm_up: it is not recorded (at 10 requests/s)");
}

#[test]
fn a_name_that_is_no_rows_is_refused_with_the_list() {
    for wrong in ["", "client,,tail", "cleint"] {
        let error = wrong.parse::<Requirements>().unwrap_err().to_string();
        assert!(
            error.contains("is no row") && error.contains("all, warm_up, open_loop"),
            "{error}"
        );
    }
}

#[test]
fn files_and_pages_have_every_row() {
    let report = sample::sweep();
    let list = report.checklist();
    let json: serde_json::Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    let rows = json["checklist"].as_array().unwrap();
    assert_eq!(rows.len(), 14);
    assert_eq!(
        rows[8],
        json!({"row": "batch", "outcome": "pass", "evidence": found(&list, Check::Batch).1})
    );
    let mut level = sample::level(1);
    let own = |level: &LevelReport| -> serde_json::Value {
        serde_json::from_str(&level.to_json().unwrap()).unwrap()
    };
    assert!(own(&level).get("checklist").is_none(), "one list for all levels of a sweep");
    assert_eq!(own(&level)["warm_up"], json!({"sent": 1, "failed": 0}));
    level.checklist = Some(Checklist::of(&sample::setup(), std::slice::from_ref(&level)));
    assert_eq!(own(&level)["checklist"][4]["row"], "rates");
    let page = report.page();
    for row in list.rows() {
        assert!(page.contains(&format!("<th scope=\"row\">{}</th>", row.check)), "{row}");
    }
}

#[test]
fn all_rows_are_shown_where_they_are_asked_for() {
    let report = SweepReport::new(good().0, good().1, None);
    let golden = include_str!("golden/checklist-80.txt");
    assert_eq!(report.checklist().text(ChecklistRows::All, 80) + "\n", golden);
}

proptest! {
    #![proptest_config(cases(64))]
    /// What was lost of a run makes no row better, and any text fits the width.
    #[test]
    fn less_is_never_better(
        short in prop::collection::vec(0.0..200.0_f64, 1..6),
        cold in prop::collection::vec(any::<bool>(), 6),
        width in 40_usize..120,
    ) {
        let (setup, _) = good();
        let mut levels: Vec<LevelReport> = Vec::new();
        for (seconds, cold) in short.iter().zip(&cold) {
            let mut level = good_level(10.0 + levels.len() as f64);
            level.summary.throughput.duration = Seconds::new(*seconds);
            level.warm_up = if *cold { None } else { level.warm_up };
            levels.push(level);
        }
        let list = Checklist::of(&setup, &levels);
        prop_assert_eq!(found(&list, Check::Duration).0 == Pass, short.iter().all(|s| *s >= 59.0));
        let any_cold = cold.iter().take(levels.len()).any(|cold| *cold);
        prop_assert_eq!(found(&list, Check::WarmUp).0 == Unknown, any_cold);
        prop_assert_eq!(found(&list, Check::Rates).0 == Pass, levels.len() >= 3);
        let text = list.text(ChecklistRows::All, width);
        prop_assert!(text.lines().all(|line| line.chars().count() <= width), "{}", text);
        let all: usize = [Pass, Fail, Unknown, Simulated].map(|o| list.count(o)).iter().sum();
        prop_assert_eq!(all, 14);
    }
}
