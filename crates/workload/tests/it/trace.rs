//! Traces as plans: what is in the file is what is asked, from every side.

use std::collections::{HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fizeau_core::{Nanos, Prompt, Request, RequestSource, Scheduled, Tokens};
use fizeau_workload::{
    CacheBasis, CodecError, Pacing, PromptContent, RecordReuse, Salt, Seed, SessionNumbers, Shard,
    TextCodec, TextSource, Trace, TraceError, TraceFormat, TraceOpener, TracePacing, TraceReader,
    TraceRecord, TraceSpec, Workload,
};
use proptest::prelude::*;

use crate::ids;
use crate::trace_files::{AZURE_2023, BURSTGPT, MOONCAKE};

fn opener(text: impl Into<String>) -> TraceOpener {
    let bytes: Arc<[u8]> = text.into().into_bytes().into();
    Arc::new(move || Ok(Box::new(std::io::Cursor::new(Arc::clone(&bytes)))))
}

fn mooncake() -> TraceSpec {
    TraceSpec::new("mooncake.jsonl", TraceFormat::mooncake())
}

fn requested(requests: u64, spec: TraceSpec) -> TraceSpec {
    TraceSpec { requests: NonZeroU64::new(requests), ..spec }
}

fn trace(spec: TraceSpec, text: &str) -> Trace {
    Trace::new(spec, opener(text)).unwrap()
}

fn refusal(spec: TraceSpec, text: &str) -> String {
    Trace::new(spec, opener(text)).unwrap_err().to_string()
}

fn walk(trace: &Trace, which: SessionNumbers) -> Vec<Scheduled> {
    let mut walk = trace.walk(which);
    std::iter::from_fn(|| walk.next_request().unwrap()).collect()
}

fn all(trace: &Trace) -> Vec<Scheduled> {
    walk(trace, Shard::WHOLE.sessions())
}

fn warmup(trace: &Trace, requests: u64) -> Vec<Request> {
    let mut walk = trace.warmup(Box::new(0..requests));
    std::iter::from_fn(|| walk.next_request().unwrap()).map(|s| s.request).collect()
}

fn records(format: TraceFormat, text: &str) -> Vec<TraceRecord> {
    TraceReader::new("file", format, text.as_bytes()).map(Result::unwrap).collect()
}

/// No process, machine or order of calls has a part in the prompts of blocks, so these values hold everywhere.
#[test]
fn prompts_of_blocks_are_the_same_in_any_process() {
    let line = r#"{"timestamp": 0, "input_length": 514, "output_length": 3, "hash_ids": [7, 8]}"#;
    let sent = all(&trace(mooncake(), line));
    let prompt = ids(&sent[0].request.prompt);
    let drawn = [3910, 3144, 3937, 3790, 665, 3645, 279, 3630];
    assert_eq!([&prompt[..4], &prompt[510..]].concat(), drawn);
}

#[test]
fn lengths_and_instants_are_those_of_the_file() {
    let formats = [
        (TraceFormat::mooncake(), MOONCAKE),
        (TraceFormat::Azure, AZURE_2023),
        (TraceFormat::BurstGpt, BURSTGPT),
    ];
    for (format, text) in formats {
        let trace = trace(TraceSpec::new("file", format), text);
        let (records, sent) = (records(format, text), all(&trace));
        assert_eq!((sent.len(), trace.requests().get()), (records.len(), records.len() as u64));
        for (number, (record, sent)) in records.iter().zip(&sent).enumerate() {
            let request = &sent.request;
            assert_eq!(
                (request.id.0, request.session.0, request.turn),
                (number as u64, number as u64, 0)
            );
            assert_eq!(sent.at, Some(record.at.saturating_sub(records[0].at)));
            assert_eq!(ids(&request.prompt).len() as u64, record.input.get());
            assert_eq!(request.input_tokens, Some(record.input));
            assert_eq!(request.max_output_tokens, record.output);
        }
        // What is due before an instant can be left out without being made.
        let last = sent.last().and_then(|last| last.at).unwrap();
        let before = sent.iter().filter(|sent| sent.at < Some(last)).count() as u64;
        assert_eq!(trace.walk(Shard::WHOLE.sessions()).skip_due(last).unwrap(), before);
    }
}

#[test]
fn equal_ids_are_equal_tokens_and_others_are_not() {
    let sent = all(&trace(mooncake(), MOONCAKE));
    let mut blocks: HashMap<u64, Vec<u32>> = HashMap::new();
    let mut compared = 0;
    for (record, sent) in records(TraceFormat::mooncake(), MOONCAKE).iter().zip(&sent) {
        for (id, tokens) in record.blocks.iter().zip(ids(&sent.request.prompt).chunks(512)) {
            let known = blocks.entry(*id).or_insert_with(|| tokens.to_vec());
            let common = known.len().min(tokens.len());
            assert_eq!(known[..common], tokens[..common], "block {id}");
            compared += 1;
        }
    }
    assert!(compared > blocks.len() + 20, "the fixture shares blocks");
    let starts: HashSet<&[u32]> =
        blocks.values().map(|block| &block[..block.len().min(6)]).collect();
    assert_eq!(starts.len(), blocks.len());
}

#[test]
fn what_has_no_id_is_like_nothing_else() {
    let text = r#"{"timestamp":0,"input_length":40,"output_length":1,"hash_ids":[1,2]}
        {"timestamp":0,"input_length":40,"output_length":1,"hash_ids":[1,2]}
        {"timestamp":0,"input_length":40,"output_length":1}"#;
    let block = NonZeroU64::new(16).unwrap();
    let trace = trace(
        TraceSpec::new("file", TraceFormat::Mooncake { block, tick: Nanos::from_millis(1) }),
        text,
    );
    let sent = all(&trace);
    let [one, two, three] = [0, 1, 2].map(|n| ids(&sent[n].request.prompt));
    assert_eq!(one[..32], two[..32]);
    assert_ne!(one[32..], two[32..]);
    assert_ne!(one[..6], three[..6]);
    let warm = warmup(&trace, 7);
    let lengths: HashSet<usize> = warm.iter().map(|request| ids(&request.prompt).len()).collect();
    assert_eq!(
        (warm.len(), lengths),
        (7, HashSet::from([40])),
        "a warm-up is as long as anybody wants"
    );
    let starts: HashSet<&[u32]> = warm
        .iter()
        .map(|request| &request.prompt)
        .chain([&sent[0].request.prompt])
        .map(|p| &ids(p)[..6])
        .collect();
    assert_eq!(starts.len(), 8);
}

#[test]
fn seed_and_salt_change_prompts_and_nothing_else() {
    let base = all(&trace(mooncake(), MOONCAKE));
    let salted = all(&trace(TraceSpec { salt: Salt(5), ..mooncake() }, MOONCAKE));
    let seeded = all(&trace(TraceSpec { seed: Seed(5), ..mooncake() }, MOONCAKE));
    for (base, other) in base.iter().zip(salted.iter().chain(&seeded)) {
        assert_eq!(base.at, other.at);
        assert_ne!(ids(&base.request.prompt)[..6], ids(&other.request.prompt)[..6]);
    }
    let again = trace(mooncake(), MOONCAKE).reseeded(Seed(5), Salt::NONE);
    assert_eq!(all(&again), seeded);
}

#[test]
fn words_share_what_ids_share() {
    let content = PromptContent::Chat(TextSource::Words);
    let sent = all(&trace(TraceSpec { content, ..mooncake() }, MOONCAKE));
    let words = |n: usize| -> Vec<&str> {
        assert_eq!(sent[n].request.input_tokens, None);
        crate::text(&sent[n].request.prompt).split(' ').collect()
    };
    assert_eq!(words(0).len(), 668);
    assert_eq!(words(0)[..512], words(1)[..512]);
    assert_ne!(words(0)[512..520], words(1)[512..520]);
}

/// Each letter is a token; an empty alphabet makes it useless.
#[derive(Debug)]
struct Letters(Vec<u32>);

impl TextCodec for Letters {
    fn vocabulary(&self) -> &[u32] {
        &self.0
    }

    fn encode(&self, text: &str) -> Result<Vec<u32>, CodecError> {
        Ok(text.bytes().map(u32::from).collect())
    }

    fn decode(&self, ids: &[u32]) -> Result<String, CodecError> {
        Ok(ids.iter().filter_map(|id| char::from_u32(*id)).collect())
    }
}

#[test]
fn exact_text_has_the_lengths_of_the_trace_and_shares_what_ids_share() {
    let spec = || TraceSpec { content: PromptContent::Text(TextSource::Exact), ..mooncake() };
    let with = |letters| {
        let codec = Arc::new(Letters(letters));
        Trace::with_tokenizer(spec(), opener(MOONCAKE), codec)
    };
    let sent = all(&with((97..123).collect()).unwrap());
    for (record, sent) in records(TraceFormat::mooncake(), MOONCAKE).iter().zip(&sent) {
        assert_eq!(crate::text(&sent.request.prompt).len() as u64, record.input.get());
        assert_eq!(sent.request.input_tokens, Some(record.input));
    }
    let [one, two] = [0, 1].map(|n| crate::text(&sent[n].request.prompt));
    assert_eq!(one[..512], two[..512]);
    assert_ne!(one[512..], two[512..668]);
    let useless = with(Vec::new()).unwrap_err();
    assert!(matches!(useless, TraceError::Tokenizer(_)), "{useless}");
}

#[test]
fn a_trace_can_be_replayed_faster_slower_or_as_slots_get_free() {
    let base = all(&trace(mooncake(), MOONCAKE));
    for (speed_up, last) in [(2.0, 1_350), (0.5, 5_400), (1.0, 2_700)] {
        let pacing = TracePacing::TimeStamps { speed_up };
        let trace = trace(TraceSpec { pacing, ..mooncake() }, MOONCAKE);
        assert_eq!(trace.pacing(), Pacing::OpenLoop { peak: None });
        let sent = all(&trace);
        assert_eq!(sent.last().unwrap().at, Some(Nanos::from_millis(last)));
        assert!(sent.iter().zip(&base).all(|(one, two)| one.request == two.request));
    }
    let closed = TraceSpec { pacing: TracePacing::ClosedLoop, ..mooncake() };
    let trace = trace(closed, MOONCAKE);
    assert_eq!(trace.pacing(), Pacing::ClosedLoop);
    assert!(all(&trace).iter().all(|sent| sent.at.is_none()));
}

#[test]
fn the_first_requests_can_be_had_alone() {
    let (whole, some) = (trace(mooncake(), MOONCAKE), trace(requested(7, mooncake()), MOONCAKE));
    assert_eq!(all(&some), all(&whole)[..7]);
    assert_eq!((some.facts().records, some.requests().get(), some.rounds()), (40, 7, 1));
}

#[test]
fn a_short_trace_begins_again_with_times_moved_on_and_other_prompts() {
    let once = trace(mooncake(), MOONCAKE);
    let (first, again) = (all(&once), trace(requested(100, mooncake()), MOONCAKE));
    let sent = all(&again);
    assert_eq!((sent.len(), again.rounds()), (100, 3));
    assert_eq!(sent[..40], first);
    let gap = once.facts().span / 39;
    for n in 0..60 {
        let (one, next) = (&sent[n], &sent[n + 40]);
        assert_eq!(next.at.unwrap().saturating_sub(one.at.unwrap()), once.facts().span + gap);
        assert_eq!(next.request.max_output_tokens, one.request.max_output_tokens);
        assert_ne!(ids(&next.request.prompt)[..6], ids(&one.request.prompt)[..6]);
    }
    // Within a round prompts share what they shared before.
    assert_eq!(ids(&sent[40].request.prompt)[..512], ids(&sent[41].request.prompt)[..512]);
    let input: u64 = sent.iter().map(|sent| sent.request.input_tokens.unwrap().get()).sum();
    assert_eq!(again.facts().input, Tokens::new(input));
    let refused = TraceSpec { repeat: RecordReuse::Refused, ..requested(100, mooncake()) };
    assert_eq!(
        refusal(refused, MOONCAKE),
        "mooncake.jsonl has 40 requests, and 100 are requested: send fewer, or let the trace repeat"
    );
}

/// A trace in which no time passes has no instant at which it could begin again; in a closed loop it needs none.
#[test]
fn a_trace_without_time_is_not_begun_again_by_its_stamps() {
    let two =
        "{\"timestamp\":5,\"input_length\":8,\"output_length\":2,\"hash_ids\":[1]}\n".repeat(2);
    let stamps = requested(3, mooncake());
    let refused = refusal(stamps.clone(), &two);
    assert!(refused.contains("no time passes between its 2 requests"), "{refused}");
    let closed = TraceSpec { pacing: TracePacing::ClosedLoop, ..stamps.clone() };
    assert_eq!(all(&trace(closed, &two)).len(), 3);
    assert_eq!(all(&trace(requested(2, mooncake()), &two)).len(), 2);
}

/// What an unbounded prefix cache finds, computed from the prompts themselves.
fn shared_tokens(sent: &[Scheduled]) -> u64 {
    let mut seen: HashSet<&[u32]> = HashSet::new();
    let mut cached = 0;
    for sent in sent {
        let prompt = ids(&sent.request.prompt);
        let ends: Vec<usize> = (512..prompt.len()).step_by(512).chain([prompt.len()]).collect();
        cached +=
            ends.iter().take_while(|end| seen.contains(&prompt[..**end])).last().unwrap_or(&0);
        seen.extend(ends.iter().map(|end| &prompt[..*end]));
    }
    cached as u64
}

#[test]
fn the_expected_cache_is_what_the_prompts_share() {
    for requests in [1, 7, 40, 95] {
        let trace = trace(requested(requests, mooncake()), MOONCAKE);
        let expected = trace.expected_cache();
        let sent = all(&trace);
        assert_eq!(expected.cached.get(), shared_tokens(&sent), "{requests} requests");
        assert_eq!(expected.basis, CacheBasis::Exact);
        assert_eq!(expected.prompt, trace.facts().input);
    }
    let azure = trace(TraceSpec::new("file", TraceFormat::Azure), AZURE_2023);
    assert!(azure.expected_cache().share() == 0.0);
}

/// Half a million distinct blocks, each in two prompts: more than are remembered.
#[test]
fn of_very_many_blocks_a_sample_comes_near_the_whole() {
    let line = |number: u64| {
        let first = number / 2 * 500;
        let blocks: Vec<String> = (first..first + 500).map(|id| id.to_string()).collect();
        let (at, tokens, ids) = (number, 500 * 512, blocks.join(","));
        format!(
            "{{\"timestamp\":{at},\"input_length\":{tokens},\"output_length\":1,\"hash_ids\":[{ids}]}}\n"
        )
    };
    let expected = trace(mooncake(), &(0..2_000).map(line).collect::<String>()).expected_cache();
    assert_eq!(expected.basis, CacheBasis::Sampled);
    // Half of the blocks and more are sampled: a standard error of a fifth of a per cent.
    assert!((0.49..0.51).contains(&expected.share()), "{}", expected.share());
}

#[test]
fn a_block_counts_only_behind_the_same_blocks() {
    let cases = [("1,2", 0), ("2,1", 0), ("1,2", 15), ("1,3", 10), ("", 0)];
    let lines = cases.map(|(ids, _)| {
        format!(
            "{{\"timestamp\":0,\"input_length\":15,\"output_length\":1,\"hash_ids\":[{ids}]}}\n"
        )
    });
    let block = NonZeroU64::new(10).unwrap();
    let spec =
        TraceSpec::new("blocks", TraceFormat::Mooncake { block, tick: Nanos::from_millis(1) });
    let mut cached = 0;
    for (number, (_, more)) in (1..).zip(cases) {
        cached += more;
        let trace = trace(requested(number, spec.clone()), &lines.concat());
        assert_eq!(trace.expected_cache().cached.get(), cached, "{number} requests");
    }
}

#[test]
fn what_cannot_be_replayed_is_refused_with_its_place() {
    let line =
        |at: u64| format!("{{\"timestamp\":{at},\"input_length\":90,\"output_length\":10}}\n");
    let with = |lines: &[u64]| lines.iter().map(|at| line(*at)).collect::<String>();
    let speed = |speed_up| TraceSpec { pacing: TracePacing::TimeStamps { speed_up }, ..mooncake() };
    let context = |tokens| TraceSpec { context: Some(Tokens::new(tokens)), ..mooncake() };
    let cases = [
        (refusal(mooncake(), ""), "mooncake.jsonl has no request that can be sent"),
        (
            refusal(mooncake(), &with(&[0, 5_000, 3_999])),
            "mooncake.jsonl, line 3: its time stamp is 1 s before that of line 2",
        ),
        (
            refusal(context(99), &with(&[0])),
            "line 1: a request of 90 prompt tokens and 10 output tokens exceeds the model's context of 99",
        ),
        (refusal(speed(0.0), MOONCAKE), "the speed-up 0 cannot be used"),
        (refusal(speed(f64::NAN), MOONCAKE), "the speed-up NaN cannot be used"),
        (refusal(speed(f64::INFINITY), MOONCAKE), "the speed-up inf cannot be used"),
        (
            refusal(
                TraceSpec { content: PromptContent::Text(TextSource::Exact), ..mooncake() },
                MOONCAKE,
            ),
            "needs a tokenizer",
        ),
        (
            refusal(
                TraceSpec { content: PromptContent::Chat(TextSource::Sonnet), ..mooncake() },
                MOONCAKE,
            ),
            "a trace cannot be replayed with this content",
        ),
        (
            refusal(
                TraceSpec { content: PromptContent::TokenIds { range: 5..6 }, ..mooncake() },
                MOONCAKE,
            ),
            "fewer than 2",
        ),
        // Past the requests that are asked for, too: a broken file is not to be trusted.
        (
            refusal(requested(1, mooncake()), &format!("{}{{\n", with(&[0, 1]))),
            "mooncake.jsonl, line 3: found",
        ),
    ];
    for (message, part) in cases {
        assert!(message.contains(part), "`{message}` has no `{part}`");
    }
    assert!(Trace::new(context(100), opener(with(&[0]))).is_ok());
    let closed = TraceSpec { pacing: TracePacing::ClosedLoop, ..mooncake() };
    assert!(Trace::new(closed, opener(with(&[9_000, 0]))).is_ok(), "no time stamps, no order");
    let missing = Arc::new(|| Err(std::io::Error::other("gone")));
    let error = Trace::new(mooncake(), missing).unwrap_err();
    assert_eq!(error.to_string(), "mooncake.jsonl cannot be read after line 0: gone");
}

#[test]
fn a_slip_of_the_clock_is_put_right_and_counted() {
    let line = |at: u64| format!("{{\"timestamp\":{at},\"input_length\":9,\"output_length\":1}}\n");
    let text: String = [500, 1_400, 400, 900, 2_000].map(line).concat();
    let trace = trace(mooncake(), &text);
    let at: Vec<u64> =
        all(&trace).iter().map(|sent| sent.at.unwrap().as_nanos() / 1_000_000).collect();
    assert_eq!((at, trace.facts().late), (vec![0, 900, 900, 900, 1_500], 2));
    assert_eq!(TraceError::JITTER, Nanos::from_secs(1));
}

/// A trace whose file is `before` when it is checked and `after` when it is walked.
fn changing(before: &str, after: &str) -> Trace {
    let (before, after) = (opener(before), opener(after));
    let checked = AtomicBool::new(false);
    let open: TraceOpener =
        Arc::new(move || if checked.swap(true, Ordering::Relaxed) { after() } else { before() });
    Trace::new(mooncake(), open).unwrap()
}

fn walk_error(trace: &Trace) -> String {
    let mut walk = trace.walk(Shard::WHOLE.sessions());
    loop {
        match walk.next_request() {
            Ok(Some(_)) => {}
            Ok(None) => return "no error".to_owned(),
            Err(error) => return error.to_string(),
        }
    }
}

#[test]
fn a_file_that_was_changed_ends_the_walk() {
    let shorter: String = MOONCAKE.lines().take(39).map(|line| format!("{line}\n")).collect();
    let broken = MOONCAKE.replacen("\"input_length\": 1104", "\"input_length\": x", 1);
    let edited = MOONCAKE.replacen("\"output_length\": 13", "\"output_length\": 14", 1);
    assert_eq!(walk_error(&changing(MOONCAKE, MOONCAKE)), "no error");
    for (after, part) in [
        (&shorter, "the file was changed after it was checked: it has fewer requests than before"),
        (&broken, "mooncake.jsonl, line 2, input_length: found `x`"),
        (&edited, "its lines are not those that were read before"),
    ] {
        let message = walk_error(&changing(MOONCAKE, after));
        assert!(message.contains(part), "`{message}` has no `{part}`");
    }
    // A walk that only passes over the line in question sees it as well.
    let mut last = changing(MOONCAKE, &edited).walk(Box::new(39..40));
    assert!(last.next_request().is_err());
}

#[test]
fn a_specification_is_plain_data() {
    let spec = TraceSpec { context: Some(Tokens::new(8_192)), ..requested(5, mooncake()) };
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<TraceSpec>(&json).unwrap(), spec);
}

#[test]
fn prompts_are_pinned() {
    // Our own generator: no other program makes these. A change here changes what a seed means.
    let sent = all(&trace(mooncake(), MOONCAKE));
    let Prompt::TokenIds(first) = &sent[0].request.prompt else { unreachable!() };
    let picked = [first[0], first[5], first[6], first[511], first[512], first[667]];
    assert_eq!(picked, [426, 112, 2985, 491, 3014, 423]);
    assert_eq!(trace(mooncake(), MOONCAKE).facts().checksum, 11_088_992_851_052_095_066);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))] // Each case makes a hundred long prompts.

    #[test]
    fn any_requests_of_a_trace_are_those_of_the_whole(
        which in prop::collection::btree_set(0_u64..100, 0..30),
        requests in 1_u64..90,
        speed_up in 0.1..10.0,
    ) {
        let pacing = TracePacing::TimeStamps { speed_up };
        let trace = trace(TraceSpec { pacing, ..requested(requests, mooncake()) }, MOONCAKE);
        let whole = all(&trace);
        let wanted: Vec<Scheduled> =
            which.iter().filter_map(|n| whole.get(*n as usize)).cloned().collect();
        prop_assert_eq!(walk(&trace, Box::new(which.into_iter())), wanted);
    }

    #[test]
    fn shards_together_are_the_whole_trace(count in 1_u64..65, requests in 1_u64..90) {
        let trace = trace(requested(requests, mooncake()), MOONCAKE);
        let shard = |index| walk(&trace, Shard::new(index, count).unwrap().sessions());
        let mut together: Vec<Scheduled> = (0..count).flat_map(shard).collect();
        together.sort_by_key(|sent| sent.request.id);
        prop_assert_eq!(together, all(&trace));
    }
}
