//! Runs that were stored: whole, cut, broken, and of other versions.

use std::fs;
use std::path::{Path, PathBuf};

use fizeau_core::{
    Arrival, Channel, ConnectMarks, LoadKind, Nanos, ReadLag, RequestId, RequestPurpose, Stamp,
    StampSource, Tape, TapeSink, Tokens, Usage,
};
use fizeau_record::{
    DocumentFields, LevelReport, LevelStatus, MergedTapes, RunFolder, StoredEnding, StoredError,
    StoredRun, StoredTapes, TruncatedTail,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};

/// The same cases in every run.
pub(crate) fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(1862), ..Config::default() }
}

fn any_arrival() -> impl Strategy<Value = (u64, Arrival)> {
    use Channel::{Embedding, Reasoning, Refusal, Silent, ToolCall, Visible};
    let channels = [Visible, Visible, Reasoning, ToolCall, Refusal, Silent, Embedding];
    let gap = prop_oneof![Just(0), 0..100_000_000_u64, any::<u64>()];
    let count = prop_oneof![0..20_u32, any::<u32>()];
    let numbers = (0..3_u32, count.clone(), count.clone(), count.clone(), count);
    (gap, numbers, prop::sample::select(channels.to_vec())).prop_map(|(gap, numbers, channel)| {
        let (read, tokens, bytes, chars, lag) = numbers;
        let read_lag = ReadLag::of(Nanos::from_nanos(lag.into()));
        (gap, Arrival { at: Stamp::EPOCH, read, tokens, bytes, chars, channel, read_lag })
    })
}

prop_compose! {
    fn any_tape()(
        id: u64, sent in 0..1_u64 << 50, arrivals in prop::collection::vec(any_arrival(), 0..40),
        text in prop::option::of(".*"), is_lagged: bool, prompt: Option<u32>,
    ) -> Tape {
        let mut tape = Tape { request: RequestId(id), text, ..Tape::sent_at(Stamp::from_nanos(sent)) };
        let mut at = Stamp::EPOCH;
        for (gap, mut arrival) in arrivals {
            at += Nanos::from_nanos(gap);
            arrival.at = at;
            if !is_lagged {
                arrival.read_lag = ReadLag::ZERO;
            }
            tape.arrivals.push(arrival);
        }
        tape.stamps = if is_lagged { StampSource::Kernel } else { StampSource::User };
        let prompt_tokens = prompt.map(|n| Tokens::new(n.into()));
        tape.usage = prompt.map(|_| Usage { prompt_tokens, ..Usage::default() });
        tape
    }
}

fn lines(tapes: &[Tape]) -> Vec<u8> {
    let lines = tapes.iter().map(|tape| serde_json::to_string(tape).unwrap() + "\n");
    lines.collect::<String>().into_bytes()
}

/// What is read of `text`, and what was cut of it.
fn read(text: &[u8]) -> (Vec<Tape>, Option<TruncatedTail>) {
    let mut tapes = StoredTapes::new("tapes.jsonl", text);
    let whole = tapes.by_ref().map(Result::unwrap).collect();
    (whole, tapes.cut())
}

#[test]
fn a_request_that_is_there_twice_is_refused_with_its_line() {
    let tape =
        |request, part| Tape { request: RequestId(request), part, ..Tape::sent_at(Stamp::EPOCH) };
    let [load, probe] = [RequestPurpose::Load, RequestPurpose::Probe];
    let text = lines(&[tape(0, load), tape(0, probe), tape(1, load), tape(0, load)]);
    let mut tapes = StoredTapes::new("tapes.jsonl", &text[..]).each_once();
    assert_eq!(tapes.by_ref().take(3).filter(Result::is_ok).count(), 3);
    let error = tapes.next().unwrap().unwrap_err();
    assert_eq!(
        error.to_string(),
        "tapes.jsonl: line 4 has request 0, which an earlier line has already"
    );
    assert!(tapes.next().is_none());
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn a_file_gives_the_tapes_that_were_written(tapes in prop::collection::vec(any_tape(), 0..6)) {
        prop_assert_eq!(read(&lines(&tapes)), (tapes, None));
    }

    #[test]
    fn a_line_is_read_as_serde_reads_it(
        tape in any_tape(), at: prop::sample::Index, put in "[0-9,\\[\\]{}:\"a-z .-]{0,3}", takes in 0..3_usize,
    ) {
        let mut line = String::from_utf8(lines(&[tape])).unwrap().into_bytes();
        line.pop();
        let from = at.index(line.len());
        let to = (from + takes).min(line.len());
        line.splice(from..to, put.bytes());
        let serde = serde_json::from_slice::<Tape>(&line).ok();
        line.push(b'\n');
        let ours = StoredTapes::new("tapes.jsonl", &line[..]).next();
        prop_assert_eq!(ours.and_then(Result::ok), serde);
    }

    #[test]
    fn a_file_cut_anywhere_gives_the_whole_tapes_before_the_cut(
        tapes in prop::collection::vec(any_tape(), 1..5), at: prop::sample::Index,
    ) {
        let text = lines(&tapes);
        let text = &text[..at.index(text.len() + 1)];
        let mut ends = Vec::new();
        tapes.iter().fold(0, |end, tape| {
            ends.push(end + lines(std::slice::from_ref(tape)).len());
            ends[ends.len() - 1]
        });
        // A line that lacks nothing but its end is whole.
        let whole = ends.iter().filter(|end| **end <= text.len() + 1).count();
        let begun = whole.checked_sub(1).map_or(0, |last| ends[last].min(text.len()));
        let (found, cut) = read(text);
        prop_assert_eq!(&found[..], &tapes[..whole]);
        let rest_bytes = (text.len() - begun) as u64;
        let tail = TruncatedTail { whole: whole as u64, rest_bytes, counted: None };
        prop_assert_eq!(cut, (rest_bytes > 0).then_some(tail));
    }

    #[test]
    fn bytes_of_any_kind_never_panic(text in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut tapes = StoredTapes::new("tapes.jsonl", &text[..]);
        let found = tapes.by_ref().filter(Result::is_ok).count();
        prop_assert_eq!(found, 0);
    }

    #[test]
    fn merged_files_are_one_in_the_order_of_ends(
        shards in prop::collection::vec((prop::collection::vec(0..1_000_u64, 0..9), 0..100_u64), 0..4),
    ) {
        let file = |(ends, _): &(Vec<u64>, u64)| {
            let mut ends = ends.clone();
            ends.sort_unstable();
            lines(&ends.iter().map(|&end| ended(end)).collect::<Vec<_>>())
        };
        let files: Vec<Vec<u8>> = shards.iter().map(file).collect();
        let later = shards.iter().map(|(_, later)| Nanos::from_nanos(*later));
        let sources = files.iter().map(|file| StoredTapes::new("tapes.jsonl", &file[..]));
        let merged: Vec<Tape> = MergedTapes::new(sources.zip(later)).map(Result::unwrap).collect();
        let mut expected: Vec<u64> =
            shards.iter().flat_map(|(ends, later)| ends.iter().map(move |end| end + later)).collect();
        expected.sort_unstable();
        prop_assert_eq!(merged, expected.into_iter().map(ended).collect::<Vec<_>>());
    }
}

/// A request that was over as soon as it was sent.
fn ended(at: u64) -> Tape {
    let start = Stamp::from_nanos(at);
    let (mut tape, at) = (Tape::sent_at(start), Some(start));
    (tape.marks.first_byte, tape.marks.headers, tape.marks.end) = (at, at, at);
    tape.marks.connect = Some(ConnectMarks { start, dns: at, tcp: start, tls: at });
    tape.arrivals.push(Arrival::tokens(start, 1, Channel::Visible));
    tape
}

#[test]
fn a_broken_line_in_the_midst_is_named_and_ends_the_reading() {
    let mut text = lines(&[ended(1), ended(2), ended(3)]);
    let second = text.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    text[second + 5] = b'}';
    let mut tapes = StoredTapes::new("a/tapes.jsonl", &text[..]);
    assert_eq!(tapes.next().unwrap().unwrap(), ended(1));
    let error = tapes.next().unwrap().unwrap_err();
    assert!(matches!(error, StoredError::Line { line: 2, .. }), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("a/tapes.jsonl: line 2 is not the record of a request (a tape): "),
        "{error}"
    );
    assert!(tapes.next().is_none() && tapes.cut().is_none());
}

#[test]
fn an_empty_file_has_no_tapes_and_nothing_was_cut() {
    assert_eq!(read(b""), (Vec::new(), None));
}

#[test]
fn blank_lines_at_the_end_are_nothing_and_one_in_the_midst_is_broken() {
    let whole = lines(&[ended(1), ended(2)]);
    for end in ["\n", "\r\n", "\n\n \n", " "] {
        assert_eq!(read(&[&*whole, end.as_bytes()].concat()), (vec![ended(1), ended(2)], None));
    }
    let midst = [&*whole, b"\n", &*whole].concat();
    let found: Vec<_> = StoredTapes::new("tapes.jsonl", &*midst).collect();
    assert!(
        matches!(found[..], [Ok(_), Ok(_), Err(StoredError::Line { line: 3, .. })]),
        "{found:?}"
    );
}

#[test]
fn absurd_run_lengths_are_refused_without_making_room_for_them() {
    let line = String::from_utf8(lines(&[ended(1)])).unwrap();
    for count in ["18446744073709551615", "1000000000000000"] {
        let line = line.replace("\"tokens\":[[1,1]]", &format!("\"tokens\":[[1,{count}]]"));
        let error = StoredTapes::new("tapes.jsonl", line.as_bytes()).next().unwrap().unwrap_err();
        assert!(error.to_string().contains("differ in length"), "{error}");
    }
}

/// A folder of this test's own, removed when it is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let unique = format!("fizeau-stored-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(unique))
    }

    fn folder(&self, run: &str, document: &str) -> RunFolder {
        let folder = RunFolder::create(self.0.join(run)).unwrap();
        folder.write_text("run.json", document).unwrap();
        folder
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn put(folder: &RunFolder, tape: &Tape) {
    folder.tapes().unwrap().record(tape).unwrap();
}

#[test]
fn another_version_is_refused_with_both_named() {
    let scratch = Scratch::new("versions");
    let documents = [
        ("run", r#"{"schema": "fizeau.run/3"}"#, "`fizeau.run/3`", "`fizeau.run/2`"),
        ("none", r#"{"levels": []}"#, "missing", "`fizeau.run/2`"),
        (
            "tapes",
            r#"{"schema": "fizeau.run/1", "tapes_schema": "fizeau.tapes/9"}"#,
            "`fizeau.tapes/9`",
            "`fizeau.tapes/2`",
        ),
    ];
    for (name, document, found, reads) in documents {
        let folder = scratch.folder(name, document);
        put(&folder, &ended(1));
        let error = StoredRun::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains(&format!("schema is {found}")) && error.contains(reads), "{error}");
        assert!(error.contains("run.json"), "{error}");
    }
}

#[test]
fn a_run_without_the_schema_of_its_tapes_is_of_the_first() {
    let scratch = Scratch::new("first");
    let folder = scratch.folder("run", r#"{"schema": "fizeau.run/1"}"#);
    put(&folder, &ended(1));
    let run = StoredRun::open(folder.path()).unwrap();
    assert_eq!(run.document_path(), folder.path().join("run.json"));
    let tapes: Vec<Tape> = run.levels()[0].tapes().unwrap().map(Result::unwrap).collect();
    assert_eq!(tapes, [ended(1)]);
}

#[test]
fn a_sweep_has_its_levels_in_order_of_load_and_each_opens_by_itself() {
    let scratch = Scratch::new("sweep");
    let sweep = scratch.folder("sweep", r#"{"schema": "fizeau.run/1", "version": "x"}"#);
    for level in ["concurrency-0016", "concurrency-0002", "concurrency-0128"] {
        put(&sweep.level(level).unwrap(), &ended(1));
    }
    let write = |level: &str, status: LevelStatus| {
        let mut report = LevelReport::of_tapes(LoadKind::Concurrency.at(2.0), [&ended(1)]);
        report.status = status;
        let text = report.to_json().unwrap();
        fs::write(sweep.path().join(level).join("summary.json"), text).unwrap();
    };
    write("concurrency-0002", LevelStatus::Finished);
    write("concurrency-0016", LevelStatus::Partial { reason: "interrupted".to_owned() });
    let run = StoredRun::open(sweep.path()).unwrap();
    let levels: Vec<_> =
        run.levels().iter().map(|level| (level.name(), level.ending().unwrap())).collect();
    assert_eq!(
        levels,
        [
            ("concurrency-0002", StoredEnding::Finished),
            ("concurrency-0016", StoredEnding::Partial),
            ("concurrency-0128", StoredEnding::Killed),
        ]
    );
    let one = StoredRun::open(sweep.path().join("concurrency-0016")).unwrap();
    assert_eq!(one.document().version, "x");
    assert_eq!(one.levels()[0].name(), "concurrency-0016");
    assert_eq!(one.document_path(), sweep.path().join("run.json"));
}

#[test]
fn what_is_no_run_is_said_to_be_none() {
    let scratch = Scratch::new("nothing");
    fs::create_dir_all(&scratch.0).unwrap();
    let error = StoredRun::open(&scratch.0).unwrap_err();
    assert!(matches!(error, StoredError::NoRun(_)), "{error}");
    let error = StoredRun::open(scratch.0.join("absent")).unwrap_err();
    assert!(error.to_string().contains("absent"), "{error}");
    put(&RunFolder::create(scratch.0.join("tapes")).unwrap(), &ended(1));
    let error = StoredRun::open(scratch.0.join("tapes")).unwrap_err();
    assert!(matches!(error, StoredError::NoRun(_)), "{error}");
    scratch.folder("plan", r#"{"schema":"fizeau.run/1"}"#);
    let error = StoredRun::open(scratch.0.join("plan")).unwrap_err();
    assert!(matches!(error, StoredError::NoTapes(_)), "a run it is, but without tapes: {error}");
}

#[test]
fn a_document_that_goes_too_deep_is_refused_and_one_of_lists_is_read() {
    let scratch = Scratch::new("deep");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let folder = scratch.folder("deep", &deep);
    put(&folder, &ended(1));
    let error = StoredRun::open(folder.path()).unwrap_err();
    assert!(matches!(error, StoredError::Document { line: 1, .. }), "{error}");

    let document = r#"{"schema": "fizeau.run/1", "goodput": ["ttft:500", "tpot:50"], "levels": [{"requests": 60}],
        "rate": 2.5}"#;
    let folder = scratch.folder("lists", document);
    put(&folder, &ended(1));
    let run = StoredRun::open(folder.path()).unwrap();
    let document = run.document();
    assert_eq!(document.goodput, ["ttft:500", "tpot:50"]);
    assert_eq!(document.levels.first().map(|level| level.requests), Some(60));
    let mut fields = document.fields();
    assert_eq!((fields.get("levels[0].requests"), fields.get("rate")), (Some("60"), None));
    fields = DocumentFields::of(&serde_json::json!({"rate": 2.5, "goodput": []})).unwrap();
    assert_eq!((fields.get("rate"), fields.get("goodput")), (Some("2.5"), Some("[]")));
}

#[test]
fn records_differ_only_where_they_are_asked_about() {
    let scratch = Scratch::new("differing");
    let run = |name: &str, document: &str| {
        let folder = scratch.folder(name, document);
        put(&folder, &ended(1));
        StoredRun::open(Path::new(folder.path())).unwrap()
    };
    let one = run("one", r#"{"schema": "fizeau.run/1", "plan": {"seed": 1}, "planned": 1}"#);
    let other =
        run("other", r#"{"schema": "fizeau.run/1", "plan": {"seed": 2, "salt": 7}, "planned": 2}"#);
    let differing = one.document().fields().differing(&other.document().fields(), &["plan"]);
    let fields: Vec<_> = differing
        .iter()
        .map(|field| (&*field.field, field.baseline.as_deref(), field.candidate.as_deref()))
        .collect();
    assert_eq!(fields, [("plan.salt", None, Some("7")), ("plan.seed", Some("1"), Some("2"))]);
    let fields = one.document().fields();
    assert!(fields.differing(&fields, &["plan", "planned"]).is_empty());
}

#[test]
fn a_document_that_was_edited_by_hand_names_file_line_and_field() {
    let scratch = Scratch::new("edited");
    let documents = [
        (
            "count",
            "{\n\"schema\": \"fizeau.run/1\",\n\"levels\": [{\"requests\": 1}, {\"requests\":\n\"many\"}]}",
            4,
            "levels[1].requests",
        ),
        (
            "cores",
            "{\"schema\": \"fizeau.run/1\",\n \"setup\": {\"host\": {\"os\": \"a \\\"quoted\\\" word\", \"cores\": -1}}}",
            2,
            "setup.host.cores",
        ),
        (
            "missing",
            "{\"schema\": \"fizeau.run/1\", \"levels\": [\n{\"seed\": 1}]}",
            2,
            "levels[0]",
        ),
        (
            "cut",
            "{\"schema\": \"fizeau.run/1\",\n\"goodput\": [\"ttft:500\", \"tp",
            2,
            "goodput[1]",
        ),
    ];
    for (name, text, wanted, place) in documents {
        let folder = scratch.folder(name, text);
        put(&folder, &ended(1));
        let error = StoredRun::open(folder.path()).unwrap_err();
        let shown = error.to_string();
        let (StoredError::Document { path, line, field, .. }
        | StoredError::CutOff { path, line, field, .. }) = error
        else {
            panic!("{shown}")
        };
        assert_eq!(
            (path, line, &*field),
            (folder.path().join("run.json"), wanted, place),
            "{shown}"
        );
        for part in ["run.json", &format!("line {wanted}"), place] {
            assert!(shown.contains(part), "{shown}");
        }
    }
}
