//! Plans from stored runs, from tables and from figures of one's own.

mod limits;

use std::num::NonZeroU64;

use fizeau_core::{LevelLoad, LoadKind, PerSec, UsdPerHour};
use fizeau_metrics::{
    GoodputGoals, Metric, Slo, Statistic, Validity, Verdict, VerdictConcern, VerdictReason,
};
use fizeau_pareto::{Demand, FigureEstimate};
use fizeau_record::{
    BurstAccount, DeploymentRecord, DevicePlanSource, HighestLoadBasis, MeanLengths,
    NoBurstAccount, NoPromptShare, PlanFigure, PlanLevel, PlanQuery, PlanReport, ReplicaCapacity,
    StoredRun, TestedLoads, TestedReplica,
};
use fizeau_roofline::HourlyRate;
use serde_json::{Value, json};

use crate::reading::{as_it_was, fixture};

/// A replica of so many devices that carries as it was tested; the run's lengths and bound are as far known as `tested` has them.
fn source(name: &str, tested: &TestedReplica, hour: Option<f64>) -> DevicePlanSource {
    let hour = hour.map(|usd| HourlyRate::given(UsdPerHour::new(usd)).unwrap());
    let goals: Slo = "mean e2el<1s".parse().unwrap();
    let devices = tested.devices.unwrap_or(NonZeroU64::MIN);
    let mut source = DevicePlanSource::tested(name, tested, devices, hour, &goals.goals);
    "a run".clone_into(&mut source.from);
    source.bursts = BurstAccount::NotAccounted(NoBurstAccount::NoCalibration);
    source
}

fn tested(name: &str) -> TestedReplica {
    TestedReplica::read(fixture(name)).unwrap()
}

/// Levels whose figures somebody else has: requests per second, p99 TTFT and the share of good requests.
fn given(kind: LoadKind, levels: &[[f64; 4]]) -> TestedReplica {
    let levels = levels.iter().map(|[load, rate, ttft, good]| {
        let figure = |metric, statistic, value: f64| {
            let value = FigureEstimate::new(value, 0.95 * value, 1.05 * value).unwrap();
            PlanFigure::new(metric, statistic, value)
        };
        let figures = vec![
            figure(Metric::Ttft, Statistic::P99, *ttft),
            figure(Metric::E2el, Statistic::Mean, 10.0 * ttft),
            figure(Metric::GoodShare, Statistic::Value, *good),
        ];
        PlanLevel::given(kind.at(*load), FigureEstimate::exact(*rate).unwrap(), figures)
    });
    let mut replica = none();
    replica.levels = levels.collect();
    replica.lengths = MeanLengths { input: Some(1000.0), output: Some(250.0) };
    replica
}

fn none() -> TestedReplica {
    let mut none = tested("killed");
    (none.levels, none.left_out, none.reference, none.light) = (Vec::new(), Vec::new(), None, None);
    none.workload = None;
    none
}

/// Plans of what carries and what does not, with and without money: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_planned_is_as_it_was() {
    let open = given(
        LoadKind::Rate,
        &[[4.0, 4.0, 200.0, 1.0], [8.0, 8.0, 260.0, 0.98], [16.0, 15.0, 700.0, 0.4]],
    );
    let closed = given(LoadKind::Concurrency, &[[2.0, 4.0, 90.0, 1.0], [8.0, 12.0, 300.0, 0.9]]);
    let sources = || {
        vec![
            source("open", &open, Some(2.5)),
            source("closed", &closed, Some(1.25)),
            source("simulated", &tested("simulated"), Some(2.0)),
            source("sweep", &tested("sweep"), None),
            source("search", &tested("search"), Some(3.0)),
            source("none", &none(), Some(1.0)),
        ]
    };
    let mut all: Vec<Value> = Vec::new();
    for (slo, others, rate, spare) in [
        ("p99 ttft<500ms", &[][..], 100.0, 1),
        ("p99 ttft<250ms..600ms, mean e2el<1s..9s", &[], 30.0, 0),
        ("good_share>0.95", &["p99 ttft<1s"], 100.0, 2),
        ("p99 ttft<1us", &[], 10.0, 0),
        ("p50 tpot<50ms", &["p50 tpot<10ms", "p50 tpot<1us"], 1000.0, 0),
        ("mean e2el<45ms", &[], 1000.0, 0),
    ] {
        let goals = |text: &str| text.parse::<Slo>().unwrap().goals.to_vec();
        let mut ask = PlanQuery::new(Demand::new(rate, 0.2, spare).unwrap(), goals(slo));
        ask.others = others.iter().map(|text| ((*text).to_owned(), goals(text))).collect();
        let report = PlanReport::new(ask, sources());
        let mut plan: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        // What was tested is the runs' own.
        for plan in plan["plans"].as_array_mut().unwrap() {
            plan.as_object_mut().unwrap().remove("levels");
        }
        all.push(json!({
            "goals": slo, "cheapest": report.cheapest(), "is_met": report.is_met(),
            "tightest": report.plans().iter().map(|plan| plan.tightest).collect::<Vec<_>>(), "plan": plan,
        }));
    }
    as_it_was("plans", &(serde_json::to_string(&all).unwrap().replace("},{", "},\n{") + "\n"));
}

#[test]
fn a_replica_is_of_the_device_that_its_run_names() {
    let mut replica = tested("simulated");
    assert_eq!(replica.devices, NonZeroU64::new(1));
    let name = |replica: &TestedReplica| replica.device().map(|device| device.name);
    assert_eq!(name(&replica).as_deref(), Some("h100-sxm"));
    replica.reference = None;
    replica.hardware = Some("h200-sxm".to_owned());
    assert_eq!(name(&replica).as_deref(), Some("h200-sxm"));
    replica.hardware = Some("a machine of ours".to_owned());
    assert_eq!(name(&replica), None);
    let slo = |text: &str| Some(text.parse::<Slo>().unwrap());
    let (mut a, mut b) = (none(), none());
    (a.slo, b.slo) = (None, None);
    let common = |a: &TestedReplica, b: &TestedReplica| {
        TestedReplica::common_goals([("a", a), ("b", b)]).map_err(|error| error.to_string())
    };
    assert!(common(&a, &b).unwrap_err().starts_with("no run has goals of its own"));
    a.slo = slo("p99 ttft<1s");
    assert_eq!(common(&a, &b).ok(), a.slo);
    b.slo = slo("p99 ttft<2s");
    assert!(common(&a, &b).unwrap_err().starts_with("a was run for \"p99 ttft<1000ms\" and b for"));
    b.slo.clone_from(&a.slo);
    assert_eq!(common(&a, &b).ok(), a.slo);
    let rate = LevelLoad::Rate(PerSec::new(1.0));
    let level = PlanLevel::given(rate, FigureEstimate::exact(2.0).unwrap(), Vec::new());
    assert_eq!(level.in_flight(), None);
}

#[test]
fn a_table_of_tested_loads_is_read_row_by_row() {
    let table = |heads: &[&str], rows: &[&[&str]]| -> Result<TestedLoads, String> {
        let mut loads = TestedLoads::of(heads, 0.0).map_err(|error| error.to_string())?;
        for row in rows {
            let field = |name: &str| {
                let at = heads.iter().position(|head| *head == name)?;
                let text = row.get(at).filter(|text| !text.is_empty())?;
                Some((*text).into())
            };
            loads.add(&field).map_err(|error| error.to_string())?;
        }
        Ok(loads)
    };
    let heads = [
        "rate",
        "requests_per_s",
        "concurrency",
        "p99_ttft_ms",
        "p99_ttft_ms_low",
        "saturated",
        "input_tokens",
        "output_tokens",
    ];
    let rows: [&[&str]; 4] = [
        &["4", "3.5", "", "210", "200", "", "100", "10"],
        &["8", "", "", "300", "", "yes", "300", ""],
        &["", "2", "16", "90", "", "no", "", ""],
        &["", "5", "", "", "", "", "", ""],
    ];
    let loads = table(&heads, &rows).unwrap();
    let seen: Vec<String> = loads
        .levels()
        .iter()
        .map(|level| {
            format!("{} {} {:?}", level.load, level.requests_per_s.value(), level.in_flight())
        })
        .collect();
    assert_eq!(
        seen,
        [
            "4 requests/s 3.5 None",
            "8 requests/s 8 None",
            "concurrency 16 2 Some(16.0)",
            "5 requests/s 5 None"
        ]
    );
    assert_eq!((loads.lengths().input, loads.lengths().output), (Some(200.0), Some(10.0)));
    assert_eq!(loads.levels()[1], loads.levels()[1].clone().saturated());
    assert_ne!(loads.levels()[0], loads.levels()[0].clone().saturated());
    let none = table(&["rate"], &[]).unwrap();
    assert_eq!((none.lengths().input, none.lengths().whole()), (None, None));
    let kinds = ["load_kind", "load_value", "requests_per_s", "mean_e2el_ms"];
    let of_kind =
        table(&kinds, &[&["requests_per_s", "7", "6", "500"], &["concurrency", "3", "6", ""]])
            .unwrap();
    let seen: Vec<_> =
        of_kind.levels().iter().map(|level| (level.load.to_string(), level.in_flight())).collect();
    assert_eq!(
        seen,
        [("7 requests/s".to_owned(), Some(3.0)), ("concurrency 3".to_owned(), Some(3.0))]
    );
    for (heads, row, wrong) in [
        (["rate", "x"], ["a", ""], "column rate: `a` is not a number"),
        (["rate", "x"], ["0", ""], "column rate: 0; it must be above 0"),
        (["rate", "x"], ["inf", ""], "column rate: `inf` is not a number"),
        (["rate", "x"], ["", ""], "it takes one of rate, requests_per_s, concurrency"),
        (["concurrency", "x"], ["3", ""], "beside concurrency it needs a column requests_per_s"),
        (
            ["concurrency", "requests_per_s"],
            ["2.5", "1"],
            "concurrency 2.5; it must be a whole number from 1 to 4294967295",
        ),
        (
            ["concurrency", "requests_per_s"],
            ["4294967296", "1"],
            "concurrency 4294967296; it must be a whole number from 1 to 4294967295",
        ),
    ] {
        assert_eq!(table(&heads, &[&row]).err().as_deref(), Some(wrong));
    }
    let refused = |heads: &[&str]| table(heads, &[]).err().unwrap_or_default();
    assert_eq!(
        refused(&["rate", "p50_ttft_ms", "median_ttft_ms"]),
        "columns p50_ttft_ms and median_ttft_ms mean the same; leave one out"
    );
    assert_eq!(
        refused(&[" {\"rate\":1}"]),
        "this looks like JSON; give JSON Lines, one object a line"
    );
    assert_eq!(
        refused(&["x"]),
        "this is neither a run's folder nor a table with one of the columns rate, requests_per_s or concurrency"
    );
    // Good requests per second stand beside their share, or are more than a share can be.
    for (heads, greatest, share) in [
        (&["rate", "goodput"][..], 0.9, true),
        (&["rate", "goodput"], 1.0, true),
        (&["rate", "goodput"], 1.1, false),
        (&["rate", "goodput", "good_share"], 0.9, false),
    ] {
        let mut loads = TestedLoads::of(heads, greatest).unwrap();
        let row = [("rate", "1"), ("goodput", if share { "0.5" } else { "2.5" })];
        loads.add(&|name| row.iter().find(|of| of.0 == name).map(|of| of.1.into())).unwrap();
        let goals: Slo = if share { "good_share>0.4" } else { "goodput>2" }.parse().unwrap();
        assert!(ReplicaCapacity::of(loads.levels(), &goals.goals).is_ok(), "{heads:?} {greatest}");
    }
}

/// What failed kept no goal, whatever those that completed took.
#[test]
fn a_table_says_what_failed_and_what_it_says_is_read() {
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let judged = |heads: &[&str], row: &[&str]| {
        let mut loads = TestedLoads::of(heads, 0.0).unwrap();
        let field = |name: &str| {
            let at = heads.iter().position(|head| *head == name)?;
            row.get(at).map(|field| (*field).into())
        };
        loads.add(&field).map(|()| loads.levels().to_vec())
    };
    let of =
        |level: &PlanLevel| ReplicaCapacity::of(std::slice::from_ref(level), &slo.goals).is_ok();
    let heads = ["rate", "p99_ttft_ms", "completed", "failed"];
    for (completed, failed, is_kept) in [("99", "1", true), ("44", "16", false)] {
        let levels = judged(&heads, &["8", "300", completed, failed]).unwrap();
        assert_eq!(of(&levels[0]), is_kept, "{failed} failed");
    }
    let levels = judged(&["rate", "p99_ttft_ms", "failed_share"], &["8", "300", "0.5"]).unwrap();
    assert!(!of(&levels[0]));
    for (head, field, wrong) in [
        ("failed_share", "2", "column failed_share: 2; a share is from 0 to 1"),
        ("good_share", "99", "column good_share: 99; a share is from 0 to 1"),
        ("saturated", "perhaps", "column saturated: `perhaps`; write yes or no"),
    ] {
        let error = judged(&["rate", "p99_ttft_ms", head], &["8", "300", field]).unwrap_err();
        assert_eq!(error.to_string(), wrong);
    }
    let grew = judged(&["rate", "p99_ttft_ms", "saturated"], &["8", "300", "true"]).unwrap();
    assert!(!of(&grew[0]));
}

/// A plan of these runs for 10 requests/s within a goal that all keep.
fn plan_of(runs: &[(&str, &TestedReplica)]) -> PlanReport {
    let goals: Slo = "p99 e2el<10s".parse().unwrap();
    let ask = PlanQuery::new(Demand::new(10.0, 0.2, 0).unwrap(), goals.goals);
    let sources = runs.iter().map(|(name, tested)| {
        let mut source = source(name, tested, Some(2.0));
        (*name).clone_into(&mut source.from);
        source
    });
    PlanReport::new(ask, sources.collect())
}

/// The same money does other work there.
#[test]
fn of_plans_for_other_workloads_none_is_the_cheapest() {
    let (simulated, sweep) = (tested("simulated"), tested("sweep"));
    let alike = plan_of(&[("a", &simulated), ("b", &simulated)]);
    assert_eq!((alike.cheapest(), alike.findings()), (Some(0), Vec::new()));
    let unlike = plan_of(&[("a", &simulated), ("b", &sweep)]);
    assert_eq!(unlike.cheapest(), None);
    let said = "No plan is the cheapest, since the workloads differ: input length is 64 in a and 16 in b; output length is 8 in a and 6 \
                in b";
    assert_eq!(unlike.findings()[0], said);
    let json: Value = serde_json::from_str(&unlike.to_json().unwrap()).unwrap();
    assert_eq!((&json["cheapest"], &json["findings"][0]), (&Value::Null, &json!(said)));

    // Of a table no more is known than how long its requests are.
    let of_lengths = |input: Option<f64>, output: f64| {
        let mut table = given(LoadKind::Rate, &[[4.0, 4.0, 200.0, 1.0], [8.0, 8.0, 2000.0, 1.0]]);
        table.lengths = MeanLengths { input, output: Some(output) };
        table
    };
    let goals: Slo = "p99 ttft<1s".parse().unwrap();
    let cheapest = |a: &TestedReplica, b: &TestedReplica| {
        let ask = PlanQuery::new(Demand::new(10.0, 0.2, 0).unwrap(), goals.goals.clone());
        let sources = [("a", a), ("b", b)].map(|(name, tested)| source(name, tested, Some(2.0)));
        let report = PlanReport::new(ask, sources.into());
        (report.cheapest(), report.findings().join("\n"))
    };
    let [short, same, long] = [(64.0, 8.0), (65.0, 8.0), (64.0, 80.0)]
        .map(|(input, output)| of_lengths(Some(input), output));
    assert_eq!(cheapest(&short, &same), (Some(0), String::new()));
    let said = "No plan is the cheapest, since the workloads differ: mean output length is 8 in a and 80 in b";
    assert_eq!(cheapest(&short, &long), (None, said.to_owned()));
    assert_eq!(cheapest(&short, &of_lengths(None, 8.0)), (Some(0), String::new()));
}

#[test]
fn a_plan_says_what_speaks_against_the_levels_that_it_rests_on() {
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let reader = run.reader().unwrap();
    let mut read = reader.together(reader.levels().unwrap()).unwrap();
    let late = "the client sent late";
    for level in &mut read.levels {
        let about = VerdictConcern::Client;
        level.validity = Validity::of(vec![VerdictReason::new(Verdict::Suspect, about, late)]);
    }
    let report = plan_of(&[("runs/a", &TestedReplica::of(&read))]);
    let highest = read.levels.iter().map(|level| level.load.value()).fold(0.0, f64::max);
    let said = format!("runs/a: concurrency {highest}: suspect: {late}");
    assert_eq!(report.findings(), [said]);
}

#[test]
fn a_table_says_which_of_its_levels_are_not_to_be_believed() {
    let heads = ["rate", "p99_ttft_ms", "verdict", "left_out"];
    let rows = [
        ["4", "200", "valid", ""],
        ["8", "300", "suspect", ""],
        ["16", "300", "invalid", ""],
        ["32", "300", "", "partial: interrupted"],
    ];
    let mut loads = TestedLoads::of(&heads, 0.0).unwrap();
    let field = |row: &[&'static str; 4], name: &str| {
        let at = heads.iter().position(|head| *head == name)?;
        Some(row[at]).filter(|field| !field.is_empty()).map(Into::into)
    };
    for row in &rows {
        loads.add(&|name| field(row, name)).unwrap();
    }
    assert_eq!(loads.levels().len(), 2);
    let tested = TestedReplica::of_loads(&loads, MeanLengths::default(), None);
    assert_eq!(
        tested.left_out,
        ["16 requests/s: invalid, as the table has it", "32 requests/s: partial: interrupted"]
    );
    let goals: Slo = "p99 ttft<500ms".parse().unwrap();
    let source = DevicePlanSource::tested("t", &tested, NonZeroU64::MIN, None, &goals.goals);
    let ask = PlanQuery::new(Demand::new(10.0, 0.2, 0).unwrap(), goals.goals);
    let report = PlanReport::new(ask, vec![source]);
    assert_eq!(report.findings(), ["t: 8 requests/s: suspect as the table has it"]);
    let wrong = loads.add(&|name| field(&["4", "200", "fine", ""], name)).unwrap_err();
    assert_eq!(wrong.to_string(), "column verdict: `fine`; write valid, suspect or invalid");
}

/// What was measured decides what is said, not what a regression made of it.
#[test]
fn a_load_that_was_within_the_goals_by_itself_is_named() {
    let odd = given(LoadKind::Rate, &[[4.0, 4.0, 600.0, 1.0], [8.0, 8.0, 490.0, 1.0]]);
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let said = ReplicaCapacity::of(&odd.levels, &slo.goals).unwrap_err().to_string();
    assert_eq!(
        said,
        "8 requests/s was within the goals as it was measured, but a neighbouring load was not (p99 TTFT at 4 requests/s: 600 ms, \
         20 % over its limit); repeat these loads to see which is right"
    );
}

#[test]
fn without_an_interval_no_plan_is_called_cautious() {
    let fleets = |low: f64, high: f64| {
        let served = FigureEstimate::new(8.0, low, high).unwrap();
        let level = PlanLevel::given(LoadKind::Concurrency.at(8.0), served, Vec::new());
        let source = DevicePlanSource::new("a", NonZeroU64::MIN, vec![level]);
        let ask = PlanQuery::new(Demand::new(100.0, 0.2, 0).unwrap(), []);
        let report = PlanReport::new(ask, vec![source]);
        let json: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        let of = |name: &str| json["plans"][0][name].clone();
        (of("at_the_low_end")["replicas_needed"].clone(), of("at_the_low_end_reason"))
    };
    assert_eq!(fleets(7.0, 9.0), (json!(18), Value::Null));
    let none = "no interval is known of what a replica carries; repeats, or more requests at each load, give one";
    assert_eq!(fleets(8.0, 8.0), (Value::Null, json!(none)));
}

#[test]
fn columns_of_a_table_that_are_not_used_or_contradict_each_other_are_said() {
    let loads =
        TestedLoads::of(&["rate", "rps", "p99_tft_ms", "p99_ttft_ms", "p99_ttft_ms_low"], 0.0);
    let unused = loads.unwrap();
    let unused: Vec<_> = unused.unused().collect();
    assert_eq!(unused, [("rps", "requests_per_s"), ("p99_tft_ms", "p99_ttft_ms")]);
    let mut loads = TestedLoads::of(&["rate", "requests_per_s"], 0.0).unwrap();
    let row = |served: &'static str| {
        move |name: &str| {
            Some(if name == "rate" { "4" } else { served }.into()).filter(|_| LOAD.contains(&name))
        }
    };
    assert!(loads.add(&row("4.4")).is_ok());
    let wrong =
        "4 requests/s asked for and 40 completed; a replica completes no more than is asked of it";
    assert_eq!(loads.add(&row("40")).unwrap_err().to_string(), wrong);
}

/// What a row of the test above has.
const LOAD: [&str; 2] = ["rate", "requests_per_s"];

/// Runs of a load differ in their tail; what was completed there has an interval over its requests.
#[test]
fn the_ends_of_what_is_completed_are_not_called_those_of_runs() {
    let run = |ttft: f64| {
        let value = FigureEstimate::exact(ttft).unwrap();
        let figure = PlanFigure::new(Metric::Ttft, Statistic::P99, value);
        let served = FigureEstimate::new(7.9, 7.5, 8.3).unwrap();
        PlanLevel::given(LoadKind::Concurrency.at(8.0), served, vec![figure])
    };
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let carried = ReplicaCapacity::of(&[run(200.0), run(220.0)], &slo.goals).unwrap();
    assert_eq!(carried.bounds, HighestLoadBasis::Interval);
}

/// What a cache supplied is not computed again.
#[test]
fn prompt_tokens_from_a_cache_cost_less() {
    let share = |cached: Option<f64>| {
        let mut tested = tested("simulated");
        tested.cached_share = cached;
        tested.lengths.input = Some(8000.0);
        source("a", &tested, Some(2.0)).prompt_share.unwrap()
    };
    assert_eq!(tested("simulated").cached_share, None);
    assert!(share(Some(0.75)) < 0.9 * share(None), "{:?} {:?}", share(Some(0.75)), share(None));
}

/// Nothing is known of how long replies take whose drafts are accepted by unknown odds, nor on how many devices prompts are read.
#[test]
fn time_that_is_shared_otherwise_is_not_priced_as_plain_serving() {
    let share = |change: fn(&mut DeploymentRecord)| {
        let mut tested = tested("simulated");
        let reference = tested.reference.take().unwrap();
        let mut said = reference.deployment().clone();
        change(&mut said);
        let files = reference.files().clone();
        tested.reference = Some(reference.recorded(said, files));
        source("a", &tested, Some(2.0)).prompt_share
    };
    assert!(share(|_| {}).is_ok());
    assert_eq!(share(|said| said.draft = 3), Err(NoPromptShare::Drafts));
    assert_eq!(share(|said| said.disaggregated = true), Err(NoPromptShare::Apart));
}

/// A plan's simulation is of replicas that read prompts and decode.
#[test]
fn bursts_of_instances_that_read_prompts_or_decode_are_not_simulated() {
    let mut tested = tested("simulated");
    let reference = tested.reference.take().unwrap();
    let mut said = reference.deployment().clone();
    said.disaggregated = true;
    let files = reference.files().clone();
    tested.reference = Some(reference.recorded(said, files));
    let goals: Slo = "mean e2el<1s".parse().unwrap();
    let source = source("a", &tested, None);
    let refused = source.burst_subject(&tested, &goals.goals, &GoodputGoals::default());
    assert_eq!(refused.unwrap_err(), NoBurstAccount::Disaggregated);
}
