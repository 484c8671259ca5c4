//! Finding out what an endpoint speaks.

mod fakes;
mod tapes;

use std::convert::Infallible;
use std::net::TcpListener;

use fizeau_core::{FailureClass, TokenSource, Tokens};
use fizeau_transport::{
    Backend, BackendCandidate, CandidateReason, EventDelivery, Findings, ForcedLength, Identity,
    ModelNameError, ProbeError, ProbedEndpoint, Route, ServerKind, ServerTimed, Target, candidates,
    context_limit, probe,
};

use fakes::{Answer, Asked, Fake};

/// All that the command line does: look, choose, try.
async fn find(fake: &Fake, path: Option<&str>) -> (Identity, Result<ProbedEndpoint, String>) {
    let url = fake.url();
    let identity = Identity::of(&Target::new(&url, Backend::OpenAi, "").unwrap()).await.unwrap();
    let candidates = candidates(identity.server(), path);
    let probed = probe(&candidates, |backend| {
        let target = Target::new(&url, backend, "m").unwrap();
        Ok::<_, Infallible>(
            path.map_or_else(|| target.clone(), |path| target.clone().path(path).unwrap()),
        )
    });
    let probed = probed.await.map_err(|error: ProbeError<Infallible>| error.to_string());
    (identity, probed)
}

async fn found(
    fake: &Fake,
    server: Option<ServerKind>,
    backend: Backend,
    route: Route,
) -> Findings {
    let (identity, probed) = find(fake, None).await;
    assert_eq!(identity.server(), server);
    let probed = probed.unwrap();
    assert_eq!((probed.backend, probed.route), (backend, route));
    probed.findings
}

#[tokio::test]
async fn vllm_completions() {
    let fake = Fake::run(fakes::vllm);
    let findings = found(&fake, Some(ServerKind::Vllm), Backend::Vllm, Route::Completions).await;
    assert_eq!(findings.forced_length, ForcedLength::Honoured);
    assert_eq!(findings.token_source, TokenSource::ContinuousUsage);
    assert_eq!(findings.tokens_per_event, Some(1.0));
    assert_eq!(findings.first_event_tokens, Some(Tokens::new(1)));
    assert_eq!(findings.events_before_first_token, Some(0));
    assert!(findings.server_timings.is_empty());
}

#[tokio::test]
async fn vllm_that_does_not_say_so() {
    let fake = Fake::run(|asked| match asked.method.as_str() {
        "GET" => Answer::missing(),
        _ => fakes::vllm(asked),
    });
    found(&fake, None, Backend::Vllm, Route::Completions).await;
    assert!(fake.asked().iter().all(|line| !line.contains("/v1/chat")), "the first that fits");
}

#[tokio::test]
async fn sglang_native() {
    let fake = Fake::run(fakes::sglang);
    let route = Route::SglangGenerate;
    let findings = found(&fake, Some(ServerKind::Sglang), Backend::SglangNative, route).await;
    assert_eq!(findings.forced_length, ForcedLength::Honoured);
    assert_eq!(findings.token_source, TokenSource::TokenIds);
}

#[tokio::test]
async fn llama_cpp_times_itself() {
    let fake = Fake::run(fakes::llama_cpp);
    let backend = Backend::LlamaCppNative;
    let route = Route::LlamaCppCompletion;
    let findings = found(&fake, Some(ServerKind::LlamaCpp), backend, route).await;
    assert_eq!(findings.server_timings, [ServerTimed::Prefill, ServerTimed::Decode]);
    assert_eq!(findings.forced_length, ForcedLength::Honoured);
}

#[tokio::test]
async fn ollama_cannot_be_asked_for_a_length() {
    let fake = Fake::run(fakes::ollama);
    let route = Route::OllamaGenerate;
    let findings = found(&fake, Some(ServerKind::Ollama), Backend::Ollama, route).await;
    assert_eq!(findings.forced_length, ForcedLength::CannotAsk);
    assert_eq!(findings.token_source, TokenSource::FinalUsageSpread);
    assert_eq!(findings.first_event_tokens, None, "spread evenly, so nothing is known of one");
}

#[tokio::test]
async fn tgi() {
    let fake = Fake::run(fakes::tgi);
    let findings = found(&fake, Some(ServerKind::Tgi), Backend::Tgi, Route::TgiGenerate).await;
    assert_eq!(findings.forced_length, ForcedLength::CannotAsk);
    assert_eq!(findings.tokens_per_event, Some(1.0));
}

#[tokio::test]
async fn anthropic_starts_with_events_that_hold_no_token() {
    let fake = Fake::run(fakes::anthropic);
    let findings = found(&fake, None, Backend::Anthropic, Route::Messages).await;
    assert_eq!(findings.events_before_first_token, Some(3));
    assert_eq!(findings.forced_length, ForcedLength::CannotAsk);
}

#[tokio::test]
async fn chat_starts_with_a_role() {
    let fake = Fake::run(fakes::chat);
    let findings = found(&fake, None, Backend::OpenAiChat, Route::Chat).await;
    assert_eq!(findings.events_before_first_token, Some(1));
}

#[tokio::test]
async fn a_server_that_refuses_what_it_does_not_know() {
    let fake = Fake::run(|asked| {
        let unknown = ["ignore_eos", "return_token_ids"].map(|field| !asked.body[field].is_null());
        let options = &asked.body["stream_options"];
        match unknown.contains(&true) || !options["continuous_usage_stats"].is_null() {
            true => Answer::refused("unknown field"),
            false => fakes::plain(asked),
        }
    });
    let findings = found(&fake, None, Backend::OpenAi, Route::Completions).await;
    assert_eq!(findings.forced_length, ForcedLength::Refused);
}

#[tokio::test]
async fn a_server_that_passes_over_what_it_does_not_know() {
    let fake = Fake::run(fakes::plain);
    let findings = found(&fake, None, Backend::OpenAi, Route::Completions).await;
    let (requested, received) = (Tokens::new(16), Tokens::new(2));
    assert_eq!(findings.forced_length, ForcedLength::NotHonoured { requested, received });
    assert_eq!(findings.token_source, TokenSource::FinalUsageSpread);
}

#[tokio::test]
async fn bundles() {
    let fake = Fake::run(|asked| fakes::bundling(asked, 4));
    let findings = found(&fake, Some(ServerKind::Vllm), Backend::Vllm, Route::Completions).await;
    assert_eq!(findings.tokens_per_event, Some(4.0));
    assert_eq!(findings.first_event_tokens, Some(Tokens::new(4)));
    assert_eq!(findings.forced_length, ForcedLength::Honoured);
}

/// All in one write; how long it took decides which of the two it is, and the tapes made by hand test that.
#[tokio::test]
async fn a_reply_in_one_piece() {
    let fake = Fake::run(|asked| fakes::vllm(asked).in_one_write());
    let findings = found(&fake, Some(ServerKind::Vllm), Backend::Vllm, Route::Completions).await;
    assert!(
        [EventDelivery::AtOnce, EventDelivery::Buffered].contains(&findings.flow),
        "{findings:?}"
    );
}

#[tokio::test]
async fn a_path_decides() {
    let fake = Fake::run(|asked| match &*asked.path {
        "/gateway/v1/chat/completions" => {
            fakes::chat(&Asked { path: fakes::CHAT.into(), ..asked.clone() })
        }
        _ => Answer::missing(),
    });
    let (_, probed) = find(&fake, Some("/gateway/v1/chat/completions")).await;
    assert_eq!(probed.unwrap().backend, Backend::OpenAiChat);
    let posts: Vec<String> =
        fake.asked().into_iter().filter(|line| line.contains("POST")).collect();
    assert!(posts.iter().all(|line| line == "POST /gateway/v1/chat/completions"), "{posts:?}");
}

#[tokio::test]
async fn nothing_fits_and_each_attempt_is_a_line() {
    let fake = Fake::run(|_| Answer::missing());
    let (identity, probed) = find(&fake, None).await;
    assert_eq!(identity, Identity::default());
    let error = probed.unwrap_err();
    let lines: Vec<&str> = error.lines().collect();
    assert_eq!(lines[0], "this endpoint answers to no known kind of server:");
    for path in ["/v1/completions", "/v1/chat/completions", "/api/generate", "/generate_stream"] {
        let start = format!(" at {}{path}: status: 404 ", fake.url());
        let at = |line: &&&str| line.contains(&start);
        assert_eq!(
            lines.iter().filter(at).count(),
            1,
            "a path that is not there is asked once: {error}"
        );
    }
}

#[tokio::test]
async fn what_refuses_all_alike_is_said_once() {
    let fake = Fake::run(|_| Answer::secret());
    let error = find(&fake, None).await.1.unwrap_err();
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("kinds were tried, and each time: status: 401 "), "{error}");
}

#[tokio::test]
async fn where_nobody_answers_one_line_says_so() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let target = |backend| Target::new(&format!("http://127.0.0.1:{port}"), backend, "m");
    let unreachable = Identity::of(&target(Backend::Vllm).unwrap()).await.unwrap_err();
    assert_eq!(unreachable.failure().class, FailureClass::Connect);
    let error = probe(&candidates(None, None), target).await.unwrap_err();
    let ProbeError::NothingFits(tried) = error else { panic!("{error}") };
    assert_eq!(tried.len(), 1, "{tried:?}");
    assert!(tried[0].why.starts_with("connect: "), "{tried:?}");
}

#[tokio::test]
async fn a_failing_target_is_passed_on() {
    let candidates = [BackendCandidate { backend: Backend::Vllm, ground: CandidateReason::Guess }];
    let error = probe(&candidates, |backend| Target::new("nowhere", backend, "m")).await;
    assert!(matches!(error, Err(ProbeError::Target(_))));
}

#[tokio::test]
async fn models_are_named() {
    let list = |ids: &'static [&'static str]| {
        let fake = Fake::run(move |asked| match &*asked.path {
            "/v1/models" => Answer::json(&fakes::models(ids, "vllm")),
            _ => Answer::missing(),
        });
        async move { Identity::of(&Target::new(&fake.url(), Backend::Vllm, "").unwrap()).await.unwrap() }
    };
    assert_eq!(list(&["a/b"]).await.only_model(), Ok("a/b"));
    assert_eq!(list(&[]).await.only_model(), Err(ModelNameError::None));
    let secret = Fake::run(|_| Answer::secret());
    let secret = Target::new(&secret.url(), Backend::Vllm, "").unwrap();
    let secret = Identity::of(&secret).await.unwrap();
    assert_eq!(secret.only_model(), Err(ModelNameError::Refused(401)));
    let several = list(&["a", "b"]).await;
    assert_eq!(several.models(), ["a", "b"]);
    assert!(several.only_model().unwrap_err().to_string().ends_with("give one of them: a, b"));
}

/// Servers answer GETs with anything at all.
#[tokio::test]
async fn odd_answers_tell_nothing() {
    let odd = ["", "null", "[]", "{", "\"data\"", r#"{"data":7,"models":{},"name":[]}"#, "<html>"];
    for body in odd {
        let fake = Fake::run(move |_| Answer::json(body));
        let target = Target::new(&fake.url(), Backend::Vllm, "").unwrap();
        assert_eq!(Identity::of(&target).await, Ok(Identity::default()), "{body}");
    }
}

/// The limit that a server says, and the GETs that it took.
async fn limit(model: &str, path: &'static str, body: &'static str) -> (Option<u64>, Vec<String>) {
    let fake = Fake::run(move |asked| match &*asked.path {
        asked if asked == path => Answer::json(body),
        _ => Answer::missing(),
    });
    let target = Target::new(&format!("{}/v1", fake.url()), Backend::Vllm, model).unwrap();
    (context_limit(&target).await.unwrap().map(Tokens::get), fake.asked())
}

#[tokio::test]
async fn the_context_limit_is_asked_for() {
    let cards = r#"{"data":[{"id":"a","max_model_len":4096},{"id":"b","context_length":9}]}"#;
    let (found, asked) = limit("a", "/v1/models", cards).await;
    assert_eq!((found, &*asked), (Some(4096), &["GET /v1/models".to_owned()][..]));
    assert_eq!(limit("b", "/v1/models", cards).await.0, Some(9));
    let props = r#"{"default_generation_settings":{"n_ctx":2048}}"#;
    assert_eq!(limit("m", "/props", props).await.0, Some(2048));
    assert_eq!(limit("m", "/info", r#"{"max_total_tokens":1024}"#).await.0, Some(1024));
    for odd in ["", "[]", r#"{"data":[{"id":"m","max_model_len":0}]}"#, r#"{"data":[{"id":"m"}]}"#]
    {
        assert_eq!(limit("m", "/v1/models", odd).await.0, None, "{odd}");
    }
}

#[tokio::test]
async fn which_card_tells_the_limit() {
    let of = async |model: &str, cards: &'static str| limit(model, "/v1/models", cards).await.0;
    let names = [
        r#"{"data":[{"id":"m","context_window":8192}]}"#,
        r#"{"data":[{"id":"m","max_context_length":8192}]}"#,
    ];
    for card in names {
        assert_eq!(of("m", card).await, Some(8192), "{card}");
    }
    for odd in [r#"{"data":[{"id":"m","max_model_len":-1}]}"#, r#"{"data":"m"}"#] {
        assert_eq!(of("m", odd).await, None, "{odd}");
    }
    let cards = r#"{"data":[{"id":"base","max_model_len":4096,"parent":null},{"id":"adapter","max_model_len":null,"parent":"base"}]}"#;
    assert_eq!(of("adapter", cards).await, Some(4096));
    assert_eq!(of("other", cards).await, None, "which of the two is meant is not known");
    assert_eq!(of("other", r#"{"data":[{"id":"m","max_model_len":9}]}"#).await, Some(9));
}

#[tokio::test]
async fn a_server_that_is_not_there_has_no_context_limit() {
    let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m").unwrap();
    let error = context_limit(&target).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
}

const SERVERS: [ServerKind; 17] = [
    ServerKind::Anthropic,
    ServerKind::Azure,
    ServerKind::DeepSeek,
    ServerKind::DigitalOcean,
    ServerKind::Gemini,
    ServerKind::Groq,
    ServerKind::LlamaCpp,
    ServerKind::Lmdeploy,
    ServerKind::Mistral,
    ServerKind::Ollama,
    ServerKind::OpenAi,
    ServerKind::OpenRouter,
    ServerKind::Sglang,
    ServerKind::Tgi,
    ServerKind::Triton,
    ServerKind::Trtllm,
    ServerKind::Vllm,
];

#[test]
fn every_server_has_a_backend_and_no_other_servers_name() {
    for server in SERVERS {
        assert!(!server.backends().is_empty(), "{server}");
        let same = SERVERS.iter().filter(|other| other.to_string() == server.to_string());
        assert_eq!(same.count(), 1, "{server}");
    }
}

#[test]
fn hosts_are_told_by_whole_labels() {
    let cases = [
        ("API.openai.com", Some(ServerKind::OpenAi)),
        ("me.openai.azure.com", Some(ServerKind::Azure)),
        ("openai.azure.com.evil.example", None),
        ("notapi.groq.com", None),
        ("eu.api.groq.com", Some(ServerKind::Groq)),
        ("127.0.0.1", None),
    ];
    for (host, server) in cases {
        let target = Target::new(&format!("http://{host}"), Backend::Vllm, "m").unwrap();
        assert_eq!(ServerKind::of(&target), server, "{host}");
    }
}

#[test]
fn what_is_known_is_tried_first_and_nothing_twice() {
    let all = candidates(Some(ServerKind::LlamaCpp), None);
    assert_eq!((all[0].backend, all[0].ground), (Backend::LlamaCpp, CandidateReason::Known));
    for candidate in &all {
        let same = all.iter().filter(|other| other.backend == candidate.backend);
        assert_eq!(same.count(), 1, "{candidate:?}");
    }
}

#[test]
fn a_path_narrows_the_choice() {
    for server in SERVERS.map(Some).into_iter().chain([None]) {
        for route in Route::ALL {
            let path = route.default_path("m");
            let Some(route) = Route::of_path(path.split('?').next().unwrap()) else { continue };
            let narrowed = candidates(server, Some(&path));
            assert!(narrowed.iter().all(|of| of.backend.route() == route), "{path}");
            assert!(!narrowed.is_empty(), "{path}");
        }
    }
    let messages = candidates(Some(ServerKind::LlamaCpp), Some("/v1/messages"));
    assert_eq!(messages.len(), 1, "llama.cpp's server speaks Anthropic's Messages too");
    assert_eq!(messages[0].backend, Backend::Anthropic);
}
