//! What is decided before the first request: typed values in, and what is wrong by the input that it is about.

use std::net::TcpListener;

use fizeau_core::{FailureClass, Nanos, RequestSource as _, Tokens};
use fizeau_experiment::{
    EndpointSpec, ExperimentError, InputError, InputField, InputHint, LengthsSpec, LimitSource,
    PreparedLevel, PreparedSearch, PreparedSweep, PromptSalt, PromptSource, RecordFormat,
    RecordsSource, ReferenceSpec, SweepProtocol, TokenizerKind, TraceKind, TraceSource,
    WorkloadSpec,
};
use fizeau_harness::WorkerPool;
use fizeau_transport::{Backend, KeepText, RequestError, Target};
use fizeau_workload::{Length, Lengths, RangeStyle, SharedPrefix, ThinkTime};
use proptest::prelude::*;

fn target() -> Target {
    Target::new("http://127.0.0.1:1", Backend::Vllm, "llama").unwrap()
}

fn refused(spec: &WorkloadSpec) -> InputError {
    spec.prepare(&target()).unwrap_err()
}

#[test]
fn what_is_wrong_is_told_by_the_input_that_it_is_about() {
    let records = RecordsSource::new(RecordFormat::Custom, "no/such/file.jsonl");
    let error = refused(&WorkloadSpec::new(PromptSource::Records(records)));
    assert_eq!(
        (error.field, error.given.as_deref()),
        (InputField::DatasetPath, Some("no/such/file.jsonl"))
    );
    let trace = TraceSource::new(TraceKind::Azure, "no/such/trace.csv");
    let trace = WorkloadSpec::new(PromptSource::Trace(trace));
    assert_eq!(refused(&trace).field, InputField::DatasetPath);
    let error = trace.parts(&target()).unwrap_err();
    assert_eq!((error.field, error.hint), (InputField::Dataset, Some(InputHint::TraceIsOneLevel)));
    let mut spec = WorkloadSpec::default();
    spec.lengths = Lengths::Independent {
        input: Length::Fixed(Tokens::new(8)),
        output: Length::Fixed(Tokens::ZERO),
    };
    assert_eq!(refused(&spec).field, InputField::OutputLength);
    let mut spec = WorkloadSpec::default();
    spec.think_time = Some(ThinkTime::None);
    let error = refused(&spec);
    assert_eq!((error.field, error.hint), (InputField::ThinkTime, Some(InputHint::NeedsTurns)));
    let mut spec = EndpointSpec::new("http://127.0.0.1:1", "llama");
    spec.base_urls.clear();
    assert_eq!(spec.prepare(KeepText::No).unwrap_err().field, InputField::BaseUrl);
    let error = ReferenceSpec::new("llama-3.1-8b", "no-such-device").load().unwrap_err();
    assert_eq!((error.field, error.given), (InputField::Hardware, None));
    let error = ReferenceSpec::new("no-such-model", "h100-sxm").load().unwrap_err();
    assert_eq!(error.field, InputField::ModelConfig);
}

#[test]
fn a_budget_has_room_for_a_level() {
    let of = |millis| {
        let mut protocol = SweepProtocol::default();
        protocol.budget = Some(Nanos::from_millis(millis));
        protocol.check()
    };
    let error = of(1_000).unwrap_err();
    assert_eq!((error.field, error.hint), (InputField::Budget, None));
    assert_eq!(of(2_000), Ok(()));
}

#[test]
fn a_limit_says_who_set_it() {
    let mut spec = WorkloadSpec::default();
    spec.max_context = Some(Tokens::new(512));
    let limit = spec.context_limit(Some(r#"{"max_position_embeddings": 8}"#)).unwrap();
    assert_eq!((limit.tokens, limit.said_by), (Tokens::new(512), LimitSource::Given));
    let error = spec.prepare(&target()).unwrap().check(&limit).unwrap_err();
    assert_eq!(error.hint, Some(InputHint::SaidBy(LimitSource::Given)));
    spec.max_context = None;
    let limit = spec.context_limit(Some(r#"{"max_position_embeddings": 8}"#)).unwrap();
    assert_eq!(limit.said_by, LimitSource::ModelConfig);
    assert_eq!(spec.context_limit(None), None);
}

#[test]
fn no_hint_names_a_flag() {
    let failures = [
        FailureClass::Connect,
        FailureClass::Tls,
        FailureClass::Status,
        FailureClass::TimeoutTotal,
        FailureClass::Malformed,
    ];
    let statuses = [None, Some(302), Some(401), Some(404), Some(422), Some(500), Some(503)];
    let failed = failures.iter().flat_map(|&class| {
        let model = || "llama".to_owned();
        statuses.map(|status| InputHint::Failed { class, status, model: model(), backend: "vllm" })
    });
    let others = [
        InputHint::AnotherRoute,
        InputHint::AnotherRecordRoute { path: "/v1/completions".to_owned() },
        InputHint::TraceIsOneLevel,
        InputHint::NeedsTurns,
        InputHint::SameSalt,
        InputHint::SaidBy(LimitSource::Given),
        InputHint::LeaveOut(LimitSource::Server),
        InputHint::CacheBlocks { needed: 7 },
        InputHint::BuiltWithout(TokenizerKind::Tiktoken),
        InputHint::BuiltWithout(TokenizerKind::TokenizerJson),
        InputHint::NeedsLoad,
        InputHint::NeedsGoodput,
        InputHint::IsServerUp,
        InputHint::AsBegun,
        InputHint::LongerBudget { least: Nanos::from_secs(10) },
    ];
    for hint in failed.chain(others) {
        assert!(!hint.to_string().contains("--"), "{hint}");
    }
}

#[test]
fn an_endpoint_that_does_not_answer_is_one_error_from_any_thread() {
    // A port that was free a moment ago, and where nobody listens.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let spec = EndpointSpec::new(format!("http://127.0.0.1:{port}"), "llama");
    let endpoint = spec.prepare(KeepText::No).unwrap();
    let workload = WorkloadSpec::default().prepare(&endpoint.target).unwrap();
    let trying = endpoint.preflight(&workload);
    let finding = spec.detect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let done = std::thread::spawn(move || {
        runtime.block_on(async { (trying.await.map(drop), finding.await.map(drop)) })
    });
    let (tried, found) = done.join().unwrap();
    let Err(ExperimentError::Endpoint(error)) = tried else { panic!("{tried:?}") };
    assert!(matches!(error.hint, Some(InputHint::Failed { class: FailureClass::Connect, .. })));
    let Err(ExperimentError::Endpoint(error)) = found else { panic!("{found:?}") };
    assert_eq!(error.hint, Some(InputHint::IsServerUp));
}

fn sendable<F: Future + Send>(future: F) -> F {
    future
}

/// Compiles only if a run that a pool measures may be awaited in a task of any runtime.
#[expect(dead_code, reason = "that it compiles is the test")]
fn what_a_crew_measures_moves_between_threads(
    sweep: &PreparedSweep,
    level: &PreparedLevel,
    search: &PreparedSearch,
    pool: [WorkerPool<RequestError>; 3],
) {
    let [one, two, three] = pool;
    drop(sendable(sweep.run(one, None, &mut ())));
    drop(sendable(level.run(two, None, &mut ())));
    drop(sendable(search.run(three, None, &mut ())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The same specification with a salt that is given has the same prompts each time; what is fresh has its own.
    #[test]
    fn a_given_salt_repeats_the_prompts(salt in 1_u64.., input in 9_u64..200, output in 1_u64..50) {
        let mut spec = WorkloadSpec::default();
        spec.lengths = Lengths::fixed(input, output);
        spec.salt = PromptSalt::Given(salt);
        let first = |spec: &WorkloadSpec| {
            let prepared = spec.prepare(&target()).unwrap();
            let request = prepared.plan().warmup(Box::new(std::iter::once(0))).next_request();
            request.unwrap().unwrap().request
        };
        prop_assert_eq!(first(&spec), first(&spec));
        let own = first(&spec);
        spec.salt = PromptSalt::Fresh;
        prop_assert_ne!(first(&spec).prompt, own.prompt);
    }
}

#[test]
fn what_ships_for_the_engine_predicts_unless_it_is_declined() {
    let spec = ReferenceSpec::new("llama-3.1-8b", "h100-sxm");
    let plain = spec.clone().load().unwrap();
    assert!(plain.reference().predictor.is_none());
    let found = plain.clone().answered_by("vLLM");
    assert!(found.reference().predictor.is_some() && found.files().calibration.is_some());
    assert_eq!(found.deployment().engine.as_deref(), Some("vllm"));
    assert!(plain.clone().answered_by("Ollama").reference().predictor.is_none());
    assert!(plain.uncalibrated().answered_by("vLLM").reference().predictor.is_none());
    let mut named = spec;
    named.deployment.engine = Some("sglang".to_owned());
    let named = named.load().unwrap();
    let scope = named.reference().predictor.unwrap().scope().to_string();
    assert_eq!(scope, "h100-sxm, sglang");
    // What was said stands.
    assert_eq!(named.answered_by("vLLM").deployment().engine.as_deref(), Some("sglang"));
}

/// vLLM 0.33 asks for 550 tokens of a sonnet, 200 of them shared, and for a reply of 150.
#[test]
fn sonnets_are_as_long_as_vllms() {
    let lengths = LengthsSpec::default().lengths_of(&PromptSource::Sonnet).unwrap();
    let longest = lengths.longest();
    assert_eq!((longest.input.get(), longest.output.get()), (350, 150));
    let common = SharedPrefix::Common { tokens: Tokens::new(200) };
    assert_eq!(PromptSource::Sonnet.usual_prefix(), common);
    assert_eq!(PromptSource::Random.usual_prefix(), SharedPrefix::None);
    let mut own = LengthsSpec::default();
    own.input = Some(Length::Fixed(Tokens::new(60)));
    assert_eq!(own.lengths_of(&PromptSource::Sonnet).unwrap().longest().input.get(), 60);
}

fn workload_file(name: &str) -> String {
    format!("{}/../../fixtures/workload/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// What differs from another tool's client by the same words is said.
#[test]
fn another_meaning_of_the_same_words_is_a_note() {
    let notes = |backend, style| {
        let mut lengths = LengthsSpec::default();
        (lengths.ratios, lengths.style) = (Some("0.5".parse().unwrap()), style);
        let mut spec = WorkloadSpec::default();
        spec.lengths = lengths.lengths_of(&spec.source).unwrap();
        let target = Target::new("http://127.0.0.1:1", backend, "llama").unwrap();
        spec.prepare(&target).unwrap().notes()
    };
    let said = notes(Backend::Sglang, RangeStyle::Vllm);
    assert!(said.iter().any(|note| note.contains("draws from L R to L")), "{said:?}");
    for (backend, style) in
        [(Backend::Sglang, RangeStyle::Sglang), (Backend::Vllm, RangeStyle::Vllm)]
    {
        let said = notes(backend, style);
        assert!(!said.iter().any(|note| note.contains("L R")), "{said:?}");
    }
    let burst = TraceSource::new(TraceKind::BurstGpt, workload_file("burstgpt.csv"));
    let burst = WorkloadSpec::new(PromptSource::Trace(burst)).prepare(&target()).unwrap();
    let said = burst.notes().join("; ");
    assert!(said.contains("sends those of GPT-4 alone"), "{said}");
}

#[test]
fn a_timed_trace_is_in_seconds_and_blocks_of_16_unless_told_otherwise() {
    let span = |kind, change: fn(&mut TraceSource)| {
        let mut source = TraceSource::new(kind, workload_file("mooncake.jsonl"));
        change(&mut source);
        let work = WorkloadSpec::new(PromptSource::Trace(source)).prepare(&target());
        work.map(|work| work.arrival_time().unwrap().get())
    };
    let own = span(TraceKind::Mooncake, |_| ()).unwrap();
    // Its ids are of 512 tokens, which are too few for prompts of so many ids of 16: nothing is refused, and times are a thousand times as long.
    let timed = span(TraceKind::TimedTrace, |_| ()).unwrap();
    assert!((timed / own - 1000.0).abs() < 1e-6, "{timed} {own}");
    let told = span(TraceKind::TimedTrace, |source| {
        (source.block, source.tick) = (512.try_into().ok(), Some(Nanos::from_millis(1)));
    });
    assert!((told.unwrap() - own).abs() < 1e-9);
    let wide = span(TraceKind::Mooncake, |source| source.block = 1_000_000.try_into().ok());
    assert_eq!(wide.unwrap_err().field, InputField::DatasetPath);
}
