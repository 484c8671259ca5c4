//! Levels of other tools: what is not known of them, which stand for their loads, and how they make runs.

use fizeau_core::{Arrival, Channel, PerSec, ReadLag, RequestId, SessionId, Stamp, Tape};
use fizeau_metrics::Verdict;
use fizeau_record::{
    CheckOutcome, Checklist, ChecklistItem, ImportUnknowns, ImportedLevel, ImportedLoad,
    ImportedRun, ImportedSource, LevelReport, PeerRow, RunFolder, StoredRun, UnknownFact,
};
use proptest::prelude::*;

use crate::folder::Scratch;
use crate::stored::cases;

fn source(tool: &str) -> ImportedSource {
    serde_json::from_value(serde_json::json!({
        "tool": tool, "version": null, "file": "results.json", "format": "a format", "checksum": "0",
    }))
    .unwrap()
}

/// A level of so many slots, with these figures.
pub(crate) fn imported_level(slots: u32, figures: &[(&str, f64)]) -> ImportedLevel {
    let mut level = ImportedLevel::of(source("a tool"), "{}".to_owned());
    level.load = ImportedLoad::from_rate_and_cap(None, Some(slots.into()));
    level.counts.completed = 10;
    level.figures = figures.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    level
}

fn tape(sent: u64, intended: u64, bytes: u32) -> Tape {
    let mut tape = Tape::sent_at(Stamp::from_nanos(sent));
    tape.marks.intended = Stamp::from_nanos(intended);
    for bytes in [0, bytes] {
        let at = Stamp::from_nanos(sent + 1);
        let (read, tokens, chars, read_lag) = (0, 1, bytes, ReadLag::ZERO);
        let channel = Channel::Visible;
        tape.arrivals.push(Arrival { at, read, tokens, bytes, chars, channel, read_lag });
    }
    tape
}

#[test]
fn a_column_is_hidden_where_nobody_saw_what_it_holds() {
    let unknowns = |what: &[&str]| {
        let facts = what.iter().map(|what| UnknownFact::new(*what, "a reason")).collect();
        ImportUnknowns::new("a tool".to_owned(), facts)
    };
    let (all, itl, gaps) = (unknowns(&[]), unknowns(&["itl"]), unknowns(&["when each token came"]));
    assert_eq!([&all, &itl, &gaps].map(ImportUnknowns::has_no_itl), [false, true, true]);
    assert_eq!([&all, &itl, &gaps].map(ImportUnknowns::has_no_gaps), [false, false, true]);
    let (planned, unplanned, silent) = (tape(7, 5, 3), tape(7, 7, 3), tape(7, 5, 0));
    for column in ["session", "turn", "connection", "stamps", "first_byte_at_ms", "send_delay_ms"] {
        assert!(all.hides(column, &planned), "{column}");
    }
    for column in ["intended_at_ms", "ttft_scheduled_ms", "e2el_scheduled_ms", "send_lateness_ms"] {
        assert_eq!([&planned, &unplanned].map(|tape| all.hides(column, tape)), [false, true]);
    }
    let hides = |column: &str| [&all, &itl, &gaps].map(|of| of.hides(column, &planned));
    assert_eq!(hides("first_event_tokens"), [false, true, false]);
    assert_eq!(hides("longest_gap_ms"), [false, false, true]);
    assert_eq!(hides("ttft_ms"), [false; 3]);
    assert_eq!([&planned, &silent].map(|tape| all.hides("text_bytes", tape)), [false, true]);
}

#[test]
fn the_load_is_what_a_tool_wrote_of_it() {
    let of = ImportedLoad::from_rate_and_cap;
    assert_eq!(of(Some(2.5), Some(8)).requests_per_s, Some(PerSec::new(2.5)));
    assert_eq!(of(Some(2.5), Some(8)).max_in_flight, Some(8));
    for (rate, cap, is_unknown) in [
        (None, None, true),
        (Some(0.0), Some(0), true),
        (Some(f64::INFINITY), None, true),
        (Some(1.0), None, false),
        (None, Some(1), false),
    ] {
        assert_eq!(of(rate, cap).is_unknown, is_unknown, "{rate:?} {cap:?}");
    }
    let load = |what: &str| UnknownFact::new(what, "").names_load();
    assert_eq!(
        ["the load", "the load, the seed", "the load of it", "seed"].map(load),
        [true, true, false, false]
    );
}

#[test]
fn what_tapes_show_again_is_known() {
    let mut level = imported_level(1, &[]);
    let facts =
        ["goodput", "p99_ttft_ms, p50_tpot_ms", "p99_ttft_ms, itl", "the seed of x_ms", "itl"];
    level.not_known = facts.iter().map(|what| UnknownFact::new(*what, "a reason")).collect();
    let unseen = level.unseen();
    let left: Vec<&str> = unseen.not_known().iter().map(|fact| fact.what.as_str()).collect();
    assert_eq!((unseen.tool(), left.as_slice()), ("a tool", &facts[2..]));
}

proptest! {
    #![proptest_config(cases(128))]

    /// Of a load that was measured more than once the median stands, and nothing on the frontier is beaten.
    #[test]
    fn a_frontier_is_of_medians_that_nothing_beats(
        levels in prop::collection::vec((1..4_u32, 1..9_u32, 1..9_u32, prop::bool::weighted(0.8)), 0..9),
    ) {
        let made = levels.iter().map(|(slots, rate, tail, is_whole)| {
            let mut level = imported_level(*slots, &[("requests_per_s", f64::from(*rate)), ("p99_ttft_ms", f64::from(*tail))]);
            level.counts.completed = u64::from(*is_whole);
            level
        });
        let run = ImportedRun::new("a run", made.collect());
        let figure = |index: &usize, name| run.levels()[*index].figure(name).unwrap();
        let one = run.one_a_load();
        for slots in 1..4_u32 {
            let load = |index: &usize| run.levels()[*index].load.max_in_flight == Some(slots);
            let mut rates: Vec<f64> =
                levels.iter().filter(|level| level.0 == slots).map(|level| f64::from(level.1)).collect();
            rates.sort_by(f64::total_cmp);
            let stands: Vec<f64> =
                one.iter().filter(|index| load(index)).map(|index| figure(index, "requests_per_s")).collect();
            let median = rates.get(rates.len().saturating_sub(1) / 2);
            prop_assert_eq!(stands.as_slice(), median.map_or(&[][..], std::slice::from_ref));
        }
        let point = |index: &usize| (figure(index, "requests_per_s"), figure(index, "p99_ttft_ms"));
        let whole: Vec<usize> =
            one.into_iter().filter(|index| run.levels()[*index].counts.completed > 0).collect();
        let frontier = run.frontier();
        for index in &whole {
            let (rate, tail) = point(index);
            let beats = |other: &usize| {
                let (r, t) = point(other);
                r >= rate && t <= tail && (r > rate || t < tail)
            };
            prop_assert_eq!(frontier.contains(index), !whole.iter().any(beats));
        }
        prop_assert!(frontier.iter().all(|index| whole.contains(index)));
        prop_assert!(frontier.is_sorted_by_key(|index| point(index).0));
        prop_assert_eq!(run.tail(), (!levels.is_empty()).then_some("p99_ttft_ms"));
    }
}

#[test]
fn loads_that_are_not_known_need_not_be_the_same() {
    let unknown = |rate: f64| {
        let mut level = imported_level(1, &[("requests_per_s", rate)]);
        level.load = ImportedLoad::from_rate_and_cap(None, None);
        level
    };
    let run = ImportedRun::new("a run", vec![unknown(1.0), unknown(2.0)]);
    assert_eq!(run.one_a_load().len(), 2);
    assert!(run.frontier().is_empty(), "there is no latency");
    assert_eq!(run.levels()[0].load_words(), "load not known");
    assert_eq!(
        (run.levels()[0].load_kind(), imported_level(3, &[]).load_kind()),
        ("unknown", "concurrency")
    );
    assert_eq!(imported_level(3, &[]).load_words(), "concurrency 3");
}

/// Levels of one tool, model and setting belong together; what gives the load does not set them apart.
#[test]
fn levels_of_one_setting_are_a_run() {
    let with = |slots: u32, model: &str, settings: &[(&str, &str)]| {
        let mut level = imported_level(slots, &[("prompt_tokens", 100.4)]);
        level.about.model = Some(model.to_owned());
        level.about.devices = Some(u64::from(slots));
        let setting = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        level.about.settings = settings.iter().map(setting).collect();
        level
    };
    let levels = vec![
        with(2, "org/m", &[("max-concurrency", "2"), ("kv", "fp8")]),
        with(1, "org/m", &[("max_concurrency", "1"), ("kv", "fp8")]),
        with(1, "org/m", &[("kv", "bf16")]),
        with(1, "other/n/", &[("kv", "bf16")]),
    ];
    let runs = ImportedRun::of_levels(levels.clone());
    let names: Vec<&str> = runs.iter().map(ImportedRun::name).collect();
    assert_eq!(names, ["m kv=fp8", "m kv=bf16", "n kv=bf16"]);
    let slots = |run: &ImportedRun| {
        run.levels().iter().map(|level| level.load.max_in_flight.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(runs.iter().map(slots).collect::<Vec<_>>(), [vec![1, 2], vec![1], vec![1]]);
    assert_eq!(runs[0].settings(), ["kv=fp8"]);
    assert_eq!(runs[0].title(), "org/m, one device");
    assert_eq!(runs[0].words(), "2 levels of org/m, one device, measured by a tool; figures alone");
    assert_eq!(runs[1].words(), "1 level of org/m, one device, measured by a tool; figures alone");
    let setup = runs[0].setup();
    assert_eq!(setup.workload.input_tokens, "100 on average");
    assert_eq!(setup.workload.output_tokens, "not recorded");
    assert_eq!(setup.deployment.as_deref(), Some("one device"));
    assert_eq!(
        ImportedRun::new("r", vec![levels[0].clone()]).setup().deployment.as_deref(),
        Some("2 devices")
    );
    let alone = ImportedRun::of_levels(vec![imported_level(1, &[])]);
    assert_eq!(alone[0].name(), "imported");
    let mut tapes = imported_level(1, &[]);
    tapes.tapes.push(tape(1, 1, 1));
    let apart = ImportedRun::of_levels(vec![imported_level(1, &[]), tapes]);
    assert_eq!(apart.iter().map(ImportedRun::has_tapes).collect::<Vec<_>>(), [false, true]);
    assert_eq!(apart.iter().map(ImportedRun::name).collect::<Vec<_>>(), ["figures", "tapes"]);
    assert!(!ImportedRun::new("empty", Vec::new()).has_tapes());
}

#[test]
fn levels_of_other_lengths_are_no_repeats_of_one_load() {
    let of = |prompt: u64, reply: u64| {
        let mut level = imported_level(4, &[("requests_per_s", 1.0)]);
        level.counts.completed = 200;
        level.counts.input_tokens = Some(prompt * 200);
        level.counts.output_tokens = Some(reply * 200);
        level
    };
    let runs = ImportedRun::of_levels(vec![of(1024, 128), of(4096, 128), of(1040, 126)]);
    let names: Vec<&str> = runs.iter().map(ImportedRun::name).collect();
    assert_eq!(names, ["1024 to 128 tokens", "4096 to 128 tokens"]);
    assert_eq!(runs[0].levels().len(), 2);
    // The mean of four lengths says little of what they were drawn from.
    let few = |prompt: u64| {
        let mut level = of(prompt, 128);
        level.counts.completed = 4;
        (level.counts.input_tokens, level.counts.output_tokens) = (Some(prompt * 4), None);
        level
    };
    assert_eq!(ImportedRun::of_levels(vec![few(1024), few(1400)]).len(), 1);
    assert_eq!(ImportedRun::of_levels(vec![few(1024), few(4096)]).len(), 2);
}

#[test]
fn arrivals_are_as_the_levels_were_sent() {
    let rate = || {
        let mut level = imported_level(1, &[]);
        level.load = ImportedLoad::from_rate_and_cap(Some(4.0), Some(9));
        level.record = r#"{"burstiness":0.5}"#.to_owned();
        level
    };
    let arrivals =
        |levels: Vec<ImportedLevel>| ImportedRun::new("r", levels).setup().workload.arrivals;
    assert_eq!(arrivals(vec![rate()]), "at a rate");
    assert_eq!(arrivals(vec![imported_level(1, &[])]), "as slots become free");
    assert_eq!(
        arrivals(vec![rate(), imported_level(20, &[])]),
        "at a rate, or as slots become free"
    );
    let mixed = ImportedRun::new("r", vec![rate(), imported_level(20, &[])]);
    assert_eq!(mixed.levels()[0].load.max_in_flight, Some(20), "closed loops come first");
    let moments = |burstiness: &str| {
        let mut level = rate();
        level.record = format!("{{\"burstiness\":{burstiness}}}");
        level.requested_load().arrivals.unwrap()
    };
    assert_eq!(moments("0.5").rate, Some(PerSec::new(4.0)));
    let shapes = ["0.5", "4", "0", "-1", "null"].map(|of| moments(of).cv_squared);
    assert_eq!(shapes, [Some(2.0), Some(0.25), None, None, None]);
    assert_eq!(imported_level(1, &[]).requested_load().arrivals, None);
}

#[test]
fn what_is_said_of_several_levels_is_said_once() {
    let mut one = imported_level(1, &[]);
    one.caveats = ["a", "b", "a"].map(str::to_owned).to_vec();
    one.not_known = vec![UnknownFact::new("itl", "so")];
    let mut other = imported_level(2, &[]);
    other.caveats = vec!["c".to_owned(), "b".to_owned()];
    other.not_known = vec![UnknownFact::new("itl", "so"), UnknownFact::new("seed", "so")];
    let run = ImportedRun::new("r", vec![one, other]);
    assert_eq!(run.caveats(), ["a", "b", "c"]);
    assert_eq!(run.not_known().len(), 2);
    let run = run.named("s");
    assert_eq!(run.name(), "s");
    assert_eq!(run.into_levels().len(), 2);
}

/// A figure of ours that this level lacks is written as null, and one that we never have is left out.
#[test]
fn a_null_beside_a_peer_is_read_as_a_null() {
    let row = |ours_value| PeerRow {
        name: "p99_itl_ms".to_owned(),
        unit: "ms".to_owned(),
        value: Some(1.0),
        value_reason: None,
        ours: Some("itl".to_owned()),
        ours_value,
        ours_value_reason: None,
    };
    for ours_value in [None, Some(None), Some(Some(1.5))] {
        let text = serde_json::to_string(&row(ours_value)).unwrap();
        assert_eq!(text.contains("\"ours_value\""), ours_value.is_some(), "{text}");
        assert_eq!(serde_json::from_str::<PeerRow>(&text).unwrap(), row(ours_value));
    }
}

/// Three requests that were due half a second apart, of which the cap let one go at a time.
fn capped(late_ms: u64) -> ImportedLevel {
    let mut level = imported_level(1, &[]);
    level.load = ImportedLoad::from_rate_and_cap(Some(2.0), Some(1));
    (level.counts.completed, level.counts.held_back) = (3, Some(2));
    let sent = |index: u64| (index * (500 + late_ms)) * 1_000_000;
    level.tapes = (0..3).map(|index| tape(sent(index), index * 500_000_000, 3)).collect();
    for (index, tape) in (0..).zip(&mut level.tapes) {
        (tape.request, tape.session) = (RequestId(index), SessionId(index));
        tape.marks.end = tape.last_output();
    }
    level
}

#[test]
fn what_a_cap_held_back_is_no_fault_of_the_client() {
    let scratch = Scratch::new("imported-capped");
    let folder = RunFolder::create(&scratch.0).unwrap();
    ImportedRun::new("r", vec![capped(300)]).write(&folder).unwrap();
    let run = StoredRun::open(&scratch.0).unwrap();
    let read = run.reader().unwrap().level(&run.levels()[0], |_| {}).unwrap();
    let reasons: Vec<&str> =
        read.report.validity.reasons.iter().map(|reason| reason.text.as_str()).collect();
    assert_eq!(read.report.validity.verdict, Verdict::Suspect, "{reasons:?}");
    let says = "the limit on requests in flight delayed 2 of 3 requests";
    assert!(reasons.iter().any(|reason| reason.starts_with(says)), "{reasons:?}");
}

#[test]
fn a_rate_behind_a_cap_is_an_open_loop_where_latencies_from_schedule_are_known() {
    let row = |late_ms: u64| {
        let level = capped(late_ms);
        let mut report = LevelReport::of_tapes(level.level_load(), &level.tapes);
        report.requested = level.requested_load();
        let report = report.with_unseen(level.unseen());
        let setup = ImportedRun::new("r", vec![level]).setup();
        let list = Checklist::of(&setup, &[report]);
        let row = list.rows().iter().find(|row| row.check == ChecklistItem::OpenLoop).unwrap();
        (row.outcome, row.evidence.clone())
    };
    let known = "at a rate, with at most 1 in flight".to_owned();
    assert_eq!(row(300), (CheckOutcome::Pass, known));
    let (outcome, evidence) = row(0);
    assert_eq!(outcome, CheckOutcome::Unknown, "{evidence}");
    assert!(evidence.starts_with("a rate, with at most 1 in flight, and latencies"), "{evidence}");
}

#[test]
fn a_file_that_contradicts_itself_is_doubted() {
    let facts = vec![UnknownFact::contradiction("1 is 2".to_owned())];
    let level = LevelReport::of_tapes(imported_level(1, &[]).level_load(), [&tape(0, 0, 3)]);
    let validity = level.with_unseen(ImportUnknowns::new("a tool".to_owned(), facts)).validity;
    assert!(validity.verdict >= Verdict::Suspect);
    let says = "the file contradicts itself: 1 is 2";
    assert!(validity.reasons.iter().any(|reason| reason.text == says), "{validity:?}");
}

/// A run of figures alone is a folder a level, whose loads and figures are read again as they were.
#[test]
fn an_imported_run_is_read_again_as_it_was_written() {
    let unknown = |rate: f64| {
        let mut level = ImportedLevel::of(source("a tool"), "{}".to_owned());
        level.load.is_unknown = true;
        level.figures = [("requests_per_s".to_owned(), rate)].into();
        level
    };
    let names = |levels: Vec<ImportedLevel>, name: &str| {
        let scratch = Scratch::new(name);
        let run = ImportedRun::new("a run", levels);
        run.write(&RunFolder::create(&scratch.0).unwrap()).unwrap();
        let again = ImportedRun::read(&scratch.0).unwrap().unwrap();
        assert_eq!(again.name(), "a run");
        let figures = |run: &ImportedRun| {
            let mut all: Vec<Option<f64>> =
                run.levels().iter().map(|level| level.figure("requests_per_s")).collect();
            all.sort_by(|a, b| a.unwrap().total_cmp(&b.unwrap()));
            all
        };
        assert_eq!(figures(&again), figures(&run));
        let run: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(scratch.0.join("run.json")).unwrap())
                .unwrap();
        let plan = run["plan"]["arrivals"].as_str().unwrap().to_owned();
        let visits: Vec<u64> = run["levels"]
            .as_array()
            .unwrap()
            .iter()
            .map(|level| level["visit"].as_u64().unwrap())
            .collect();
        let mut folders: Vec<String> = std::fs::read_dir(&scratch.0)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        folders.sort();
        (folders, visits, plan)
    };
    let with = |slots: u32, rate: f64| imported_level(slots, &[("requests_per_s", rate)]);
    let closed = || "closed_loop".to_owned();
    assert_eq!(names(vec![with(4, 1.0)], "alone"), (vec![], vec![0], closed()));
    let three = names(vec![with(1, 1.0), with(4, 3.0), with(4, 4.0)], "three");
    let folders = ["concurrency-0001", "concurrency-0004", "concurrency-0004-2"];
    assert_eq!(three, (folders.map(str::to_owned).to_vec(), vec![0, 0, 1], closed()));
    let two = names(vec![unknown(1.0), unknown(2.0)], "unknown");
    let folders = ["load-unknown-01", "load-unknown-02"].map(str::to_owned).to_vec();
    assert_eq!(two.0, folders);
    let mut open = with(4, 5.0);
    open.load = ImportedLoad::from_rate_and_cap(Some(5.0), None);
    assert_eq!(names(vec![open], "open").2, "open");
}
