//! What our own client makes of each dialect.

use fizeau_core::{
    EosRule, Finish, Outcome, Prompt, Release, Request, RequestId, Stamp, Tape, Tokens, Transport,
};
use fizeau_sim::http::{NaturalLength, Server, ServerConfig, SglangText};
use fizeau_transport::{Backend, ExtraBody, HttpTransport, MonotonicClock, Target};

use super::fixed;

const BACKENDS: [Backend; 8] = [
    Backend::Vllm,
    Backend::VllmChat,
    Backend::OpenAi,
    Backend::OpenAiChat,
    Backend::OpenAiResponses,
    Backend::Anthropic,
    Backend::SglangNative,
    Backend::SglangOaiChat,
];

fn server() -> ServerConfig {
    ServerConfig::new(fixed())
}

/// What `backend` is told by a server, asked for at most 12 tokens.
async fn told(config: ServerConfig, backend: Backend, eos: EosRule, extra: &str) -> Tape {
    let server = Server::bind(([127, 0, 0, 1], 0).into(), config).unwrap().spawn().unwrap();
    let target = Target::new(&server.base_url(), backend, "m").unwrap();
    let target = target.extra_body(ExtraBody::parse(extra).unwrap());
    let transport = HttpTransport::new(target, MonotonicClock::new());
    let prompt = Prompt::Text("how fast is light".into());
    let request = Request { eos, ..Request::new(RequestId(1), prompt, Tokens::new(12)) };
    transport.send(&request, Release::at(Stamp::EPOCH)).await.unwrap()
}

fn check(backend: Backend, tape: &Tape, tokens: u64) {
    assert!(matches!(tape.outcome, Outcome::Complete(_)), "{backend}: {:?}", tape.outcome);
    assert_eq!(tape.output_tokens(), Tokens::new(tokens), "{backend}");
    let usage = tape.usage.unwrap();
    assert_eq!(usage.prompt_tokens, Some(Tokens::new(4)), "{backend}");
    assert_eq!(usage.completion_tokens, Some(Tokens::new(tokens)), "{backend}");
}

#[tokio::test]
async fn a_capped_reply_is_a_strict_success_with_exact_counts() {
    for backend in BACKENDS {
        let tape = told(server(), backend, EosRule::Ignore, "{}").await;
        check(backend, &tape, 12);
        assert_eq!(tape.outcome, Outcome::Complete(Finish::Length), "{backend}");
    }
}

#[tokio::test]
async fn a_reply_that_the_model_ends_is_one_too() {
    for backend in BACKENDS {
        let config = server().with_natural_length(NaturalLength::Fixed(Tokens::new(7)));
        let tape = told(config, backend, EosRule::Stop, "{}").await;
        check(backend, &tape, 7);
        assert_eq!(tape.outcome, Outcome::Complete(Finish::Stop), "{backend}");
    }
}

#[tokio::test]
async fn extras_change_no_count() {
    let cases = [
        (Backend::Vllm, r#"{"echo": true, "logprobs": 1}"#),
        (Backend::VllmChat, r#"{"logprobs": true, "cache_salt": "a", "priority": 3}"#),
        (Backend::OpenAiResponses, r#"{"instructions": ""}"#),
        (Backend::SglangNative, r#"{"rid": "mine"}"#),
    ];
    for (backend, extra) in cases {
        let config = ServerConfig::new(fixed().with_prefixes(None));
        let config = config.with_sglang(SglangText::Incremental);
        check(backend, &told(config, backend, EosRule::Ignore, extra).await, 12);
    }
}
