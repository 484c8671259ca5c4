//! Comparisons of whatever runs and files there are: which are refused, and what is said of the others.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_core::{Estimate, Interval};
use fizeau_metrics::{ComparisonAnswer, LevelFigure};
use fizeau_record::{
    CompareError, CompareOptions, ComparisonReport, FrontierDistance, FrontierPoint, MissingLevels,
    UnlikeRuns,
};
use serde_json::{Value, json};

use crate::folder::Scratch;
use crate::reading::{as_it_was, fixture};

/// The sides as the command line has them: runs of a side behind commas.
fn sides(names: &str) -> Vec<Vec<PathBuf>> {
    names.split(' ').map(|side| side.split(',').map(fixture).collect()).collect()
}

/// All of a comparison but the figures behind the first of each level, or why there is none.
fn compared(names: &str, unlike: UnlikeRuns) -> Value {
    let mut options = CompareOptions::default();
    options.unlike = unlike;
    let report = match ComparisonReport::of_sides(&sides(names), &options) {
        Ok(report) => report,
        Err(error) => return json!({"sides": names, "refused": error.to_string()}),
    };
    let mut document: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
    for comparison in document["comparisons"].as_array_mut().unwrap() {
        for level in comparison["levels"].as_array_mut().unwrap() {
            level["comparison"]["figures"].as_array_mut().unwrap().truncate(1);
        }
    }
    document["sides"] = names.into();
    document
}

/// Runs that are alike and runs that are not, as folders and as files, alone and with repeats: `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_said_of_runs_beside_each_other_is_as_it_was() {
    let all = [
        "sweep/sweep.json sweep/sweep.json",
        "sweep/sweep.json resumed/sweep.json",
        "sweep/sweep.json simulated",
        "resumed/sweep.json,sweep/sweep.json resumed",
        "sweep/concurrency-0001/summary.json bench/summary.json",
        "sweep/concurrency-0001/summary.json sweep/sweep.json",
        "bench bench/summary.json",
        "bench/summary.json faults/summary.json",
        "bench imported/summary.json",
        "killed bench/summary.json",
        "bench/run.json bench",
        "bench/vllm.json bench",
        "bench/e2el.hdr bench",
        "interrupted/summary.json bench/summary.json",
        "bench bench",
        "bench faults",
        "bench imported",
        "bench interrupted",
        "bench sweep",
        "bench merged",
        "sweep killed",
        "sweep,resumed sweep",
        "ab ab",
        "ab/a-01 ab/b-01",
        "ab/a-01,ab/a-02 ab/b-01,ab/b-02",
        "what-if/configuration-01 what-if/configuration-02",
    ];
    let of = |names| {
        let refused = compared(names, UnlikeRuns::Refuse);
        let anyway = (!refused["refused"].is_null()).then(|| compared(names, UnlikeRuns::Compare));
        [Some(refused), anyway]
    };
    let said: Vec<Value> = all.into_iter().flat_map(of).flatten().collect();
    let text = serde_json::to_string_pretty(&said).unwrap() + "\n";
    let here = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs/");
    as_it_was("compared", &text.replace(here, ""));
}

/// The mean of runs that were asked different things is of nothing.
#[test]
fn runs_of_one_side_must_be_alike_or_are_said_not_to_be() {
    for [names, with_itself] in [
        ["bench,turns interrupted", "bench,turns bench"],
        ["interrupted bench,turns", "bench bench,turns"],
        ["sweep/sweep.json,simulated/sweep.json resumed/sweep.json"; 2],
    ] {
        let refused = compared(names, UnlikeRuns::Refuse)["refused"].to_string();
        assert!(refused.contains("cannot be repeats of one side"), "{names}: {refused}");
        assert!(
            refused.contains("in the first, ") && refused.contains("in the second"),
            "{refused}"
        );
        let forced = compared(with_itself, UnlikeRuns::Compare).to_string();
        assert!(forced.contains("counts as a repeat of"), "{names}: {forced}");
    }
}

/// A run that is a repeat of itself would make runs seem to differ less than they do, by whatever path it is named.
#[test]
fn a_run_is_no_repeat_of_itself() {
    for names in ["sweep,sweep resumed", "sweep,bench/../sweep resumed", "sweep,resumed sweep"] {
        let refused = compared(names, UnlikeRuns::Refuse)["refused"].to_string();
        assert!(refused.contains("is named twice"), "{names}: {refused}");
        assert!(compared(names, UnlikeRuns::Compare)["notes"].to_string().contains("with itself"));
    }
    let one_each = compared("bench bench", UnlikeRuns::Compare)["notes"].to_string();
    assert!(one_each.contains("bench is compared with itself"), "{one_each}");
}

/// What a run did not measure, it was not shown to hold: as folders and as files.
#[test]
fn a_level_that_is_missing_does_not_pass() {
    for names in
        ["sweep sweep/concurrency-0001", "sweep/sweep.json sweep/concurrency-0001/summary.json"]
    {
        let sides = sides(names);
        let mut options = CompareOptions::default();
        options.unlike = UnlikeRuns::Compare;
        let missing = |options: &CompareOptions| {
            let report = ComparisonReport::of_sides(&sides, options).unwrap();
            assert!(!report.passes() || report.comparisons[0].missing_levels.is_empty());
            report.comparisons[0].missing_levels.join(", ")
        };
        assert_eq!(missing(&options), "40 requests/s", "{names}");
        options.missing = MissingLevels::Allow;
        assert_eq!(missing(&options), "", "{names}");
        // What the run has beyond the baseline is no reason.
        let turned = [sides[1].clone(), sides[0].clone()];
        options.missing = MissingLevels::Fail;
        let report = ComparisonReport::of_sides(&turned, &options).unwrap();
        assert_eq!(report.comparisons[0].missing_levels, [""; 0], "{names}");
    }
}

/// A gate that compares a run with nothing has shown nothing.
#[test]
fn one_run_alone_is_refused() {
    for names in ["", "bench"] {
        let refused = ComparisonReport::of_sides(&sides(names), &CompareOptions::default());
        assert!(matches!(refused, Err(CompareError::NoRuns)), "{names}");
    }
}

/// Failures are a figure of their own as soon as one side has some.
#[test]
fn failures_of_either_side_are_compared() {
    let shows = |names: &str| {
        let mut options = CompareOptions::default();
        options.unlike = UnlikeRuns::Compare;
        let report = ComparisonReport::of_sides(&sides(names), &options).unwrap();
        let rows = &report.comparisons[0].levels[0].table.rows;
        rows.iter().any(|row| row.figure == LevelFigure::FAILED_SHARE && row.is_decided)
    };
    assert!(!shows("bench bench"));
    assert!(shows("bench faults") && shows("faults bench") && shows("faults faults"));
    assert!(!shows("bench/summary.json bench/summary.json"));
    assert!(shows("bench/summary.json faults/summary.json"));
}

/// Repeats of a side are asked as one run each is, as folders and as files: 7 of 30 failed, of the others none of 72.
#[test]
fn failures_of_repeats_are_compared() {
    let scratch = Scratch::new("failing-repeats");
    let place = |name: &str, from: &str| {
        copy(&fixture(from), &scratch.0.join(name));
        scratch.0.join(name)
    };
    let runs = ["one", "two", "three"].map(|name| place(name, "bench"));
    let broken = place("broken", "faults");
    let mut options = CompareOptions::default();
    options.unlike = UnlikeRuns::Compare;
    for file in ["", "summary.json"] {
        let of = |path: &PathBuf| if file.is_empty() { path.clone() } else { path.join(file) };
        let side = |paths: &[PathBuf]| paths.iter().map(of).collect::<Vec<_>>();
        let sides = [side(&runs), side(std::slice::from_ref(&broken))];
        let report = ComparisonReport::of_sides(&sides, &options).unwrap();
        let level = &report.comparisons[0].levels[0];
        let worse = level.table.answered(ComparisonAnswer::Worse);
        assert!(worse.into_iter().any(|of| of == LevelFigure::FAILED_SHARE), "{:?}", level.table);
        let note = "failed requests have no latencies: A 0, B 7";
        assert!(level.notes.iter().any(|said| said == note), "{:?}", level.notes);
        assert!(!report.passes());
    }
}

/// A frontier with a fifth less latency at each rate is a fifth better, and the ends of that are below nothing.
#[test]
fn a_frontier_is_pushed_by_the_mean_of_what_both_cover() {
    let frontier = |share: f64, off: Option<f64>| -> Vec<FrontierPoint> {
        let figure = |value: f64| {
            let ends = off.map(|off| Interval::p95(value * (1.0 - off), value * (1.0 + off)));
            Estimate::widened(value, ends)
        };
        let points = [(10.0, 100.0), (20.0, 150.0), (40.0, 400.0)];
        let point = |(rate, tail): (f64, f64)| FrontierPoint {
            requests_per_s: figure(rate),
            p99_e2el_ms: figure(tail * share),
        };
        points.map(point).to_vec()
    };
    let known = Some(0.01);
    let of = |share: f64, off| {
        FrontierDistance::between(&frontier(1.0, known), &frontier(share, off)).unwrap()
    };
    let better = of(0.8, known);
    let tail = &better.p99_e2el_ms;
    assert!((tail.change.unwrap() + 0.2).abs() < 1e-9, "{tail:?}");
    let [low, high] = tail.change_ci.unwrap().map(|end| end.unwrap());
    assert!((-0.3..=-0.2).contains(&low) && (-0.2..-0.1).contains(&high), "{tail:?}");
    let rate = &better.requests_per_s;
    let [low, high] = rate.change_ci.unwrap().map(|end| end.unwrap());
    assert!(0.0 < low && low <= rate.change.unwrap() && rate.change.unwrap() <= high, "{rate:?}");
    assert_eq!(tail.change_reason, None);
    let worse = of(1.25, known);
    assert!((worse.p99_e2el_ms.change.unwrap() - 0.25).abs() < 1e-9, "{worse:?}");
    assert!(worse.requests_per_s.change.unwrap() < 0.0);
    let same = of(1.0, None);
    assert_eq!(same.p99_e2el_ms.change.map(f64::to_bits), Some(0.0_f64.to_bits()), "no minus zero");
    assert_eq!((same.p99_e2el_ms.change_ci, same.requests_per_s.change_ci), (None, None));
    let one = &frontier(1.0, known)[..1];
    assert_eq!(FrontierDistance::between(one, &frontier(1.0, known)), None);
    assert_eq!(FrontierDistance::between(&frontier(1.0, known), one), None);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), &to).unwrap()),
        }
    }
}

/// A sweep with the levels of the fixture, of which `change` says what was asked.
fn sweep_that(scratch: &Scratch, change: impl Fn(&mut Value)) -> PathBuf {
    copy(&fixture("sweep"), &scratch.0);
    for name in ["run.json", "sweep.json", "rate-00040.000/level.json"] {
        let path = scratch.0.join(name);
        let mut document: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        change(&mut document);
        fs::write(&path, document.to_string()).unwrap();
    }
    scratch.0.clone()
}

/// Its rates are no part of the workload: those that both have are compared, as folders and as files.
#[test]
fn sweeps_of_other_rates_are_compared_at_those_that_both_have() {
    let scratch = Scratch::new("rates");
    let more = "closed loop; open loop at 40, 80 requests/s (Poisson)";
    let folder = sweep_that(&scratch, |document| {
        if !document["setup"].is_null() {
            document["setup"]["workload"]["arrivals"] = more.into();
        }
    });
    for file in ["", "sweep.json"] {
        let sides = [&fixture("sweep"), &folder].map(|run| vec![run.join(file)]);
        let report = ComparisonReport::of_sides(&sides, &CompareOptions::default()).unwrap();
        let loads: Vec<&str> =
            report.comparisons[0].levels.iter().map(|level| level.name.as_str()).collect();
        assert_eq!(loads, ["concurrency 1", "40 requests/s"], "{file}");
    }
}

/// How regular arrivals are and how many may be in flight is asked of each rate.
#[test]
fn rates_with_other_gaps_or_caps_are_refused() {
    let refused = |name: &str, file: &str, change: &dyn Fn(&mut Value)| {
        let scratch = Scratch::new(name);
        let folder = sweep_that(&scratch, change);
        let sides = [vec![fixture("sweep").join(file)], vec![folder.join(file)]];
        ComparisonReport::of_sides(&sides, &CompareOptions::default()).unwrap_err().to_string()
    };
    // Of the level's own document, and of the table of all.
    let even = |document: &mut Value| match document["setup"].is_null() {
        true => document["arrivals"]["cv_squared"] = 0.0.into(),
        false => {
            if let Some(law) = document["levels"][1]["requested"].get_mut("arrivals") {
                law["cv_squared"] = 0.0.into();
            }
        }
    };
    let law = "squared coefficient of variation of the arrivals of level 2: 1";
    for file in ["", "sweep.json"] {
        let error = refused("even", file, &even);
        assert!(error.contains(law), "{file}: {error}");
    }
    let capped = |document: &mut Value| document["max_in_flight"] = 4.into();
    let error = refused("capped", "", &capped);
    assert!(error.contains("most requests in flight of level 2: none in A, 4 in B"), "{error}");
}

/// It is longer than the level at its load, so that it is no repeat of it.
#[test]
fn a_load_that_was_sustained_is_no_repeat() {
    let scratch = Scratch::new("sustained");
    copy(&fixture("sweep"), &scratch.0);
    let levels = || {
        let sides = [vec![scratch.0.clone()], vec![fixture("sweep")]];
        let report = ComparisonReport::of_sides(&sides, &CompareOptions::default()).unwrap();
        let document: Value = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        document["comparisons"][0]["levels"].clone()
    };
    let before = levels();
    copy(&fixture("sweep/concurrency-0001"), &scratch.0.join("sustained-concurrency-0001"));
    assert_eq!(levels(), before);
}
