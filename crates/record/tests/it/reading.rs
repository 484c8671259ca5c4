//! Stored runs, read again: their names, their sides, what a plan takes of them, and what is written beside their tapes.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_core::UsdPerHour;
use fizeau_metrics::LevelSummary;
use fizeau_record::{
    CompareOptions, ComparisonReport, LevelView, NamedRun, Profile, ProfileChoice, RunReader,
    StoredRun, SummaryDocument, SweepEnding, TestedReplica, TruncatedTail, UnlikeRuns, Unmeasured,
};
use fizeau_roofline::HourlyRate;

use crate::crash::copied;

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/runs")).join(name)
}

#[test]
fn the_runs_of_a_what_if_are_called_by_what_sets_them_apart() {
    let runs = NamedRun::within(&fixture("what-if"), None).unwrap();
    assert_eq!(runs.len(), 2);
    assert!(runs.iter().all(|run| !run.name.starts_with("configuration")), "{runs:?}");
    let named = NamedRun::within(&fixture("what-if"), Some("mine")).unwrap();
    assert!(named.iter().all(|run| run.name.starts_with("mine: ")), "{named:?}");
    let one = NamedRun::within(&fixture("sweep"), None).unwrap();
    assert_eq!(one, [NamedRun { name: "sweep".to_owned(), path: fixture("sweep") }]);
}

#[test]
fn an_ab_run_has_two_sides_and_any_other_one() {
    for (name, sides) in [("ab", &["A", "B"][..]), ("sweep", &[""]), ("bench", &[""])] {
        let run = StoredRun::open(fixture(name)).unwrap();
        let reader = run.reader().unwrap();
        let found = reader.sides(reader.levels().unwrap()).unwrap();
        let names: Vec<&str> = found.iter().map(|(side, _)| side.as_str()).collect();
        assert_eq!(names, sides, "{name}");
    }
}

#[test]
fn a_comparison_of_repeats_says_in_how_many_the_goals_were_kept() {
    let runs = [fixture("sweep"), fixture("sweep")];
    let report = ComparisonReport::of_runs(&runs, &CompareOptions::default()).unwrap();
    let kept = "goals kept: A in 2 of 2 runs, B in 2 of 2 runs";
    for level in &report.comparisons[0].levels {
        assert!(level.notes.iter().any(|note| note == kept), "{:?}", level.notes);
    }
    // Counts by goals of their own say nothing beside one another.
    let other = copied("goals", "sweep");
    let path = other.join("sweep.json");
    let mut sweep: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let own = sweep["slo"].as_str().unwrap().to_owned();
    sweep["slo"] = "p99 ttft<900ms".into();
    fs::write(&path, sweep.to_string()).unwrap();
    let runs = [fixture("sweep"), other.clone()];
    let report = ComparisonReport::of_runs(&runs, &CompareOptions::default()).unwrap();
    let differ = format!("since the runs have different ones: {own}; and p99 ttft<900ms");
    for level in &report.comparisons[0].levels {
        assert!(level.notes.iter().any(|note| note.ends_with(&differ)), "{:?}", level.notes);
        assert!(!level.notes.iter().any(|note| note == kept), "{:?}", level.notes);
    }
    fs::remove_dir_all(&other).unwrap();
}

#[test]
fn a_plan_takes_the_levels_lengths_and_arrivals_of_a_run() {
    for name in ["sweep", "search", "simulated"] {
        let run = StoredRun::open(fixture(name)).unwrap();
        let reader = run.reader().unwrap();
        let read = reader.together(reader.levels().unwrap()).unwrap();
        assert_eq!(read.is_search, name == "search");
        let tested = TestedReplica::of(&read);
        let all = tested.levels.len() + tested.left_out.len();
        assert!(all <= read.levels.len() + read.sustained.len() && all > 0, "{name}");
        assert!(tested.lengths.whole().is_some(), "{name}: {:?}", tested.lengths);
    }
}

#[test]
fn the_figures_of_an_import_are_written_beside_its_tapes() {
    let from = fixture("imported");
    let to = std::env::temp_dir().join(format!("fizeau-record-summaries-{}", std::process::id()));
    fs::create_dir_all(&to).unwrap();
    for name in ["run.json", "imported.json", "tapes.jsonl"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
    StoredRun::open(&to).unwrap().reader().unwrap().write_summaries().unwrap();
    let summary = |folder: &Path| -> SummaryDocument {
        serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap()
    };
    let figures = |folder| {
        let LevelSummary { requests, tokens, metrics, .. } = summary(folder).summary;
        // The folder is older than percentiles over all that were sent, and than what intervals take now.
        let sample = [metrics.ttft, metrics.tpot, metrics.e2el]
            .map(|of| (of.n, of.mean, of.std, of.min, of.p50.value(), of.p90.value(), of.max));
        (requests, tokens, sample)
    };
    assert_eq!(figures(&to), figures(&from));
    for name in ["ttft.hdr", "itl.hdr", "e2el.hdr"] {
        assert!(to.join(name).is_file(), "{name}");
    }
    fs::remove_dir_all(to).unwrap();
}

#[test]
fn what_was_said_of_levels_is_one_document() {
    let run = StoredRun::open(fixture("killed")).unwrap();
    let cut = TruncatedTail { whole: 3, rest_bytes: 17, counted: None };
    let said = std::collections::BTreeMap::from([("answer", 42)]);
    let views: Vec<LevelView<_>> =
        run.levels().iter().map(|level| LevelView::new(level, Some(cut), said.clone())).collect();
    let json = run.levels_json("mine/1", &views).unwrap();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "mine/1");
    let first = serde_json::json!({
        "level": "concurrency-0001", "cut": {"whole_tapes": 3, "rest_bytes": 17}, "answer": 42,
    });
    assert_eq!(json["levels"][0], first);
}

/// A sweep that could not say how it ended is not known to be complete; a level of it alone is.
#[test]
fn a_sweep_without_its_document_is_unfinished() {
    let ending = |name| StoredRun::open(fixture(name)).unwrap().report().unwrap().ending();
    assert_eq!(ending("killed"), SweepEnding::Unfinished);
    assert!(SweepEnding::Unfinished.reason().unwrap().contains("there is no sweep.json"));
    for name in ["sweep", "search", "bench", "merged", "killed/concurrency-0001"] {
        assert_eq!(ending(name), SweepEnding::Complete, "{name}");
    }
}

#[test]
fn what_nobody_says_of_a_profile_is_as_it_was() {
    assert_eq!(ProfileChoice::default().over(Profile::CHAT), Profile::CHAT);
    let off = ProfileChoice { profile: None, rule: Some(None) };
    assert_eq!(off.over(Profile::CHAT), Profile::CHAT.with_rule(None));
    let batch = ProfileChoice { profile: Some(Profile::BATCH), rule: None };
    assert_eq!(batch.over(Profile::CHAT), Profile::BATCH);
}

/// What levels and sweeps come to is a function of what lies in their folders: `tests/golden` has it, and `FIZEAU_BLESS=1` writes it anew.
#[test]
fn what_is_computed_of_stored_runs_is_as_it_was() {
    for name in ["bench", "turns", "faults", "imported", "interrupted", "merged"] {
        let run = StoredRun::open(fixture(name)).unwrap();
        let levels = run.reader().unwrap().levels().unwrap();
        as_it_was(name, &levels[0].report.to_json().unwrap());
    }
    for name in ["sweep", "search", "resumed", "killed", "simulated"] {
        as_it_was(
            name,
            &StoredRun::open(fixture(name)).unwrap().report().unwrap().to_json().unwrap(),
        );
    }
}

/// What two runs come to beside each other: the same load, and another server with the load of one.
#[test]
fn what_is_computed_of_two_runs_is_as_it_was() {
    let mut options = CompareOptions::default();
    options.unlike = UnlikeRuns::Compare;
    for (name, runs) in [
        ("sweep-and-resumed", ["sweep", "resumed"]),
        ("what-if", ["what-if/configuration-01", "what-if/configuration-02"]),
    ] {
        let report = ComparisonReport::of_runs(&runs.map(fixture), &options).unwrap();
        as_it_was(&format!("compare-{name}"), &report.to_json().unwrap());
    }
}

pub(crate) fn as_it_was(name: &str, now: &str) {
    let file = format!("{}/tests/golden/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let now = &now.replace(concat!(env!("CARGO_MANIFEST_DIR"), "/../../"), "");
    if std::env::var_os("FIZEAU_BLESS").is_some() {
        fs::create_dir_all(Path::new(&file).parent().unwrap()).unwrap();
        fs::write(&file, now).unwrap();
    }
    let was = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
    let differing = was.lines().zip(now.lines()).find(|(was, now)| was != now);
    assert!(was == *now, "{file}: {differing:?}");
}

/// Goals were once taken whose signs are the wrong way round: such a run is read without them, and says so.
#[test]
fn a_goal_with_its_sign_the_wrong_way_round_is_set_aside() {
    for (name, file) in [("bench", "run.json"), ("sweep", "sweep.json")] {
        let folder = copied(&format!("goal-{name}"), name);
        let change = |slo: &str| {
            let mut document: serde_json::Value =
                serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap();
            document["slo"] = slo.into();
            fs::write(folder.join(file), document.to_string() + "\n").unwrap();
        };
        change("p99 ttft>500ms, mean e2el<1s");
        let run = StoredRun::open(&folder).unwrap();
        let report = run.report().unwrap();
        assert_eq!(report.slo().unwrap().to_string(), "mean e2el<1000ms", "{name}");
        let said = "set aside: goal `p99 ttft>500ms`: a latency must stay below its limit";
        let notes = &report.levels()[0].validity.notes;
        assert!(notes.iter().any(|note| note.starts_with(said)), "{name}: {notes:?}");
        change("what?");
        let error = StoredRun::open(&folder).unwrap().report().unwrap_err().to_string();
        assert!(error.contains(file) && error.contains("slo"), "{error}");
        fs::remove_dir_all(folder).unwrap();
    }
}

/// A comparison goes by tapes, of which what was never sent has none.
#[test]
fn a_comparison_says_how_many_were_never_sent() {
    let folder = copied("unsent", "bench");
    let path = folder.join("summary.json");
    let mut summary: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    summary["requests"]["unsent"] = 5.into();
    fs::write(path, summary.to_string() + "\n").unwrap();
    let runs = [folder.clone(), folder.clone()];
    let mut options = CompareOptions::default();
    options.unlike = UnlikeRuns::Compare;
    let report = ComparisonReport::of_runs(&runs, &options).unwrap();
    let notes = &report.comparisons[0].levels[0].notes;
    let said = "due and never sent: A 5, B 5";
    assert!(notes.iter().any(|note| note.ends_with(said)), "{notes:?}");
    let one = [folder.clone(), fixture("bench")];
    let report = ComparisonReport::of_runs(&one, &options).unwrap();
    let notes = &report.comparisons[0].levels[0].notes;
    let said = "due and never sent: A 5, B 0";
    assert!(notes.iter().any(|note| note.ends_with(said)), "{notes:?}");
    fs::remove_dir_all(folder).unwrap();
}

/// Loads of the run whose levels are gone, each with the reason.
fn lost(folder: &Path) -> Vec<(String, Option<String>, bool)> {
    let report = StoredRun::open(folder).unwrap().report().unwrap();
    let all = report.unmeasured().iter();
    all.map(|one| (one.load.to_string(), one.reason.clone(), one.is_lost)).collect()
}

/// A level that was measured is lost with its folder or with its tapes, and the rest of the sweep is told apart from a run.
#[test]
fn a_level_whose_tapes_are_gone_is_lost_and_not_unmeasured() {
    let folder = copied("lost", "simulated");
    let run = StoredRun::open(&folder).unwrap();
    let levels: Vec<(String, PathBuf)> = run
        .levels()
        .iter()
        .map(|level| (level.name().to_owned(), level.path().to_path_buf()))
        .collect();
    let report = run.report().unwrap();
    assert_eq!(lost(&folder), []);
    assert!(!run.is_rest(&report.levels()[0]).unwrap());
    let (name, path) = &levels[0];
    let load = report.levels()[0].load.to_string();
    fs::remove_file(path.join("tapes.jsonl")).unwrap();
    let gone = |why: &str| vec![(load.clone(), Some(why.to_owned()), true)];
    assert_eq!(lost(&folder), gone("its folder has no tapes.jsonl"));
    fs::remove_dir_all(path).unwrap();
    assert_eq!(lost(&folder), gone("its folder is not there"), "{name}");
    let rest = StoredRun::open(&folder).unwrap();
    assert!(rest.is_rest(&rest.report().unwrap().levels()[0]).unwrap());
    // A sweep that did not live to tell of itself may never have come so far.
    fs::remove_file(folder.join("sweep.json")).unwrap();
    assert_eq!(lost(&folder), [(load.clone(), None, false)]);
    fs::remove_dir_all(&folder).unwrap();
    // A level of a sweep by itself misses none of the others.
    let alone = StoredRun::open(fixture("simulated").join(name)).unwrap();
    assert_eq!(alone.report().unwrap().unmeasured(), []);
}

/// A sweep that was interrupted and gone on with until it was killed has measured what its document says it never did.
#[test]
fn a_level_that_was_measured_since_is_not_unmeasured() {
    let folder = copied("since", "simulated");
    let path = folder.join("sweep.json");
    let text = fs::read_to_string(&path).unwrap();
    let mut sweep: serde_json::Value = serde_json::from_str(&text).unwrap();
    let load = StoredRun::open(&folder).unwrap().report().unwrap().levels()[0].load;
    let never = Unmeasured::never(load, Some("the run was interrupted".to_owned()));
    sweep["unmeasured"] = serde_json::json!([never]);
    fs::write(&path, sweep.to_string()).unwrap();
    assert_eq!(lost(&folder), []);
    fs::remove_dir_all(&folder).unwrap();
}

/// A search that was killed before it wrote what it found has missed some long levels and kept another.
#[test]
fn several_long_levels_are_those_of_a_search() {
    let folder = copied("killed-search", "search");
    for file in ["search.json", "sweep.json"] {
        fs::remove_file(folder.join(file)).unwrap();
    }
    let run = StoredRun::open(&folder).unwrap();
    let reader = run.reader().unwrap();
    let together = |long: usize| {
        let mut levels = reader.levels().unwrap();
        for level in levels.iter_mut().rev().take(long) {
            level.name = format!("sustained-{}", level.name);
        }
        let read = reader.together(levels).unwrap();
        (read.is_search, read.sustained.len())
    };
    assert_eq!(together(1), (false, 1));
    assert_eq!(together(2), (true, 2));
    fs::remove_dir_all(&folder).unwrap();
}

/// A run is read by what it was measured with, unless something else is said.
#[test]
fn a_run_is_read_by_other_goals_prices_and_formats_where_they_are_given() {
    let run = StoredRun::open(fixture("simulated")).unwrap();
    let reader = || run.reader().unwrap();
    let goals = reader().with_goals("ttft:0.001".parse().unwrap());
    let level = goals.levels().unwrap().swap_remove(0);
    assert_eq!(level.report.summary.goodput.as_ref().unwrap().good, 0, "nothing is that fast");
    let loose = reader().with_goals("ttft:1e9".parse().unwrap());
    let level = loose.levels().unwrap().swap_remove(0);
    let goodput = level.report.summary.goodput.clone().unwrap();
    assert_eq!(goodput.good, level.report.summary.requests.completed);
    let hour = HourlyRate::given(UsdPerHour::new(12.5)).unwrap();
    let priced = reader().with_price(hour.clone()).report().unwrap();
    assert_eq!(priced.price(), Some(&hour));
    assert_ne!(reader().report().unwrap().price(), Some(&hour));
    let choice = ProfileChoice { profile: Some(Profile::BATCH), rule: None };
    assert_eq!(reader().with_choice(choice).report().unwrap().profile(), &Profile::BATCH);
    // A cut that leaves nothing is told, at either end.
    let steady = |cooldown: &str| {
        let reader = reader().with_cooldown(cooldown.parse().unwrap());
        reader.levels().unwrap().swap_remove(0).report.validity.notes.join("; ")
    };
    assert!(steady("9h").contains("leave nothing of this level"));
    assert!(!steady("0").contains("leave nothing of this level"));
    // Earlier programs said so with their flags.
    let old = copied("no-reference", "bench");
    let text = fs::read_to_string(old.join("summary.json")).unwrap();
    let words = "give the model and the device: --model-config NAME|FILE --hardware NAME|FILE";
    fs::write(old.join("summary.json"), text.replace("no model and device were given", words))
        .unwrap();
    let bench = StoredRun::open(&old).unwrap();
    let reason = |reader: RunReader<'_>| {
        let level = reader.levels().unwrap().swap_remove(0);
        level.report.speed_of_light.reason().unwrap().to_owned()
    };
    let alone = RunReader::new(&bench, None).unwrap();
    assert_eq!(reason(alone), "no model and device were given");
    // What somebody said of the formats gives way to those of another speed of light.
    let folder = copied("formats", "simulated");
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["setup"]["precision"] = "as somebody said".into();
    fs::write(folder.join("run.json"), document.to_string() + "\n").unwrap();
    let said = StoredRun::open(&folder).unwrap();
    let precision =
        |reader: RunReader<'_>| reader.report().unwrap().setup().precision.clone().unwrap();
    assert_eq!(precision(said.reader().unwrap()), "as somebody said");
    let other = precision(said.reader().unwrap().with_precision_of_reference());
    assert!(other.starts_with("weights "), "{other}");
    fs::remove_dir_all(folder).unwrap();
}

/// The luckiest run of a load is no configuration of its own: one run stands for all.
#[test]
fn a_sweep_has_one_level_a_load_and_any_other_run_all_of_its_levels() {
    let read = |name: &str| {
        let run = StoredRun::open(fixture(name)).unwrap();
        let reader = run.reader().unwrap();
        reader.together(reader.levels().unwrap()).unwrap()
    };
    for name in ["sweep", "resumed", "simulated", "search", "ab"] {
        let run = read(name);
        let one = run.one_a_load();
        let shown = match name {
            "ab" => run.levels.len(),
            _ => run.clone().report().levels().len(),
        };
        assert_eq!(one.len(), shown, "{name}");
        let loads: Vec<f64> = one.iter().map(|level| level.load.value()).collect();
        assert!(name == "ab" || loads.is_sorted_by(|a, b| a < b), "{name}: {loads:?}");
    }
    let mut twice = read("sweep");
    let count = twice.one_a_load().len();
    twice.levels.insert(1, twice.levels[0].clone());
    assert_eq!(twice.one_a_load().len(), count);
    twice.levels[0].folder = None;
    assert_eq!(
        twice.one_a_load().len(),
        twice.levels.len(),
        "a level in no folder of a sweep is of no sweep"
    );
}

#[test]
fn what_was_said_of_a_level_is_under_its_name() {
    let named = |name: &str| {
        let run = StoredRun::open(fixture(name)).unwrap();
        let view = LevelView::new(&run.levels()[0], None, 7);
        assert_eq!(*view.content(), 7);
        view.level().map(str::to_owned)
    };
    assert_eq!(named("killed").as_deref(), Some("concurrency-0001"));
    assert_eq!(named("bench"), None);
}

/// Where a client is to be doubted is said in `run.json`, and what cannot be understood there is named.
#[test]
fn thresholds_that_are_not_understood_are_named() {
    let folder = copied("thresholds", "bench");
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["client"] = serde_json::json!({"threads": 1, "thresholds": ["nonsense=1"]});
    fs::write(folder.join("run.json"), document.to_string() + "\n").unwrap();
    let error = StoredRun::open(&folder).unwrap().report().unwrap_err().to_string();
    assert!(error.contains("client.thresholds"), "{error}");
    fs::remove_dir_all(folder).unwrap();
}

/// Of a level that no file tells of, the name of its folder does.
#[test]
fn a_level_that_nobody_planned_has_the_load_of_its_folder() {
    let folder = copied("unplanned", "killed");
    let text = fs::read_to_string(folder.join("run.json")).unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&text).unwrap();
    document["levels"] = serde_json::json!([]);
    fs::write(folder.join("run.json"), document.to_string() + "\n").unwrap();
    fs::remove_file(folder.join("concurrency-0002/level.json")).unwrap();
    fs::rename(folder.join("concurrency-0002"), folder.join("concurrency-0007-3")).unwrap();
    let levels = StoredRun::open(&folder).unwrap().reader().unwrap().levels().unwrap();
    let last = levels.last().unwrap();
    assert_eq!((last.name.as_str(), last.cap), ("concurrency-0007-3", Some(7)));
    assert_eq!(last.report.load.to_string(), "concurrency 7");
    fs::remove_dir_all(folder).unwrap();
}
