//! What is sent: bodies by backend and prompt, and targets.

use fizeau_core::{EosRule, Message, Prompt, Request, RequestId, Role, SessionId, Tokens};
use fizeau_transport::{
    Backend, BodyInput, ExtraBody, ExtraBodyError, HttpVersion, RequestError, Route, Secret,
    Target, TargetError,
};
use serde_json::{Value, json};

pub(crate) fn request(prompt: Prompt, eos: EosRule) -> Request {
    Request {
        session: SessionId(2),
        turn: 1,
        input_tokens: Some(Tokens::new(3)),
        eos,
        ..Request::new(RequestId(3), prompt, Tokens::new(64))
    }
}

fn body(
    backend: Backend,
    route: Route,
    request: &Request,
    extra: &str,
) -> Result<Value, RequestError> {
    let extra = ExtraBody::parse(extra).unwrap();
    let ask = BodyInput { model: "m", request, backend, extra: &extra };
    let body = route.dialect().body(&ask)?;
    Ok(serde_json::from_slice(&body).unwrap())
}

#[test]
fn vllm_completions() {
    let request = request(Prompt::TokenIds(vec![1, 2, 3]), EosRule::Ignore);
    let body =
        body(Backend::Vllm, Route::Completions, &request, r#"{"temperature":0.0,"top_k":5}"#);
    let expected = json!({
        "model": "m", "prompt": [1, 2, 3], "max_tokens": 64, "ignore_eos": true, "temperature": 0.0, "top_k": 5,
        "stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true},
    });
    assert_eq!(body, Ok(expected));
}

#[test]
fn openai_gets_nothing_that_it_does_not_know() {
    let request = request(Prompt::Text("hi \"you\"".into()), EosRule::Stop);
    let completions = json!({
        "model": "m", "prompt": "hi \"you\"", "max_tokens": 64,
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(body(Backend::OpenAi, Route::Completions, &request, "{}"), Ok(completions));
    let chat = json!({
        "model": "m", "messages": [{"role": "user", "content": "hi \"you\""}], "max_completion_tokens": 64,
        "stream": true, "stream_options": {"include_usage": true},
    });
    assert_eq!(body(Backend::OpenAiChat, Route::Chat, &request, "{}"), Ok(chat));
}

#[test]
fn chat_keeps_its_messages() {
    let message = |role, content: &str| Message { role, content: content.into() };
    let prompt = Prompt::Chat(vec![message(Role::System, "s"), message(Role::Assistant, "a")]);
    let body =
        body(Backend::LlamaCpp, Route::Chat, &request(prompt, EosRule::Ignore), "{}").unwrap();
    let expected =
        json!([{"role": "system", "content": "s"}, {"role": "assistant", "content": "a"}]);
    assert_eq!(body["messages"], expected);
    assert_eq!((&body["max_tokens"], &body["ignore_eos"]), (&json!(64), &json!(true)));
}

#[test]
fn ids_are_asked_back_only_where_no_running_usage_is() {
    let request = request(Prompt::Text("hi".into()), EosRule::Stop);
    for backend in Backend::all() {
        let body = body(backend, backend.route(), &request, "{}").unwrap();
        let running = body["stream_options"].get("continuous_usage_stats").is_some();
        let ids = body.get("return_token_ids").is_some();
        assert!(!(running && ids), "{backend}");
        assert_eq!(ids, backend == Backend::Lmdeploy, "{backend}");
    }
}

#[test]
fn the_users_fields_win() {
    let request = request(Prompt::Text("hi".into()), EosRule::Ignore);
    let bytes = {
        let extra = ExtraBody::parse(r#"{"ignore_eos":false}"#).unwrap();
        let ask =
            BodyInput { model: "m", request: &request, backend: Backend::Vllm, extra: &extra };
        String::from_utf8(Route::Completions.dialect().body(&ask).unwrap()).unwrap()
    };
    assert_eq!(bytes.matches("ignore_eos").count(), 1);
    assert!(bytes.contains(r#""ignore_eos":false"#));
}

#[test]
fn prompts_that_cannot_be_expressed() {
    let ids = request(Prompt::TokenIds(vec![1]), EosRule::Stop);
    let chat = request(Prompt::Chat(Vec::new()), EosRule::Stop);
    let error = |backend, route, request| body(backend, route, request, "{}").unwrap_err();
    assert_eq!(error(Backend::VllmChat, Route::Chat, &ids), RequestError::TokenIdsForChat);
    assert_eq!(
        error(Backend::Lmdeploy, Route::Completions, &ids),
        RequestError::TokenIdsNotTaken(Backend::Lmdeploy)
    );
    assert_eq!(error(Backend::Vllm, Route::Completions, &chat), RequestError::ChatForCompletions);
}

#[test]
fn extra_bodies() {
    assert!(matches!(ExtraBody::parse("[1]"), Err(ExtraBodyError::NotAnObject(_))));
    assert!(matches!(ExtraBody::parse("{"), Err(ExtraBodyError::NotAnObject(_))));
    let reserved = ExtraBody::parse(r#"{"max_tokens":1}"#).unwrap_err();
    assert_eq!(reserved, ExtraBodyError::Reserved("max_tokens".into()));
}

#[test]
fn the_path_decides_what_is_spoken() {
    let target = |backend, path| Target::new("http://h", backend, "m").unwrap().path(path).unwrap();
    let chat = target(Backend::Vllm, "/x/chat/completions?api-version=2");
    assert_eq!((chat.route(), chat.takes_token_ids()), (Route::Chat, false));
    let completions = target(Backend::OpenAiChat, "/v1/completions");
    assert_eq!((completions.route(), completions.takes_token_ids()), (Route::Completions, true));
    assert_eq!(target(Backend::VllmChat, "/generate").route(), Route::Chat);
    assert_eq!(chat.url(), "http://h:80/x/chat/completions");
}

#[test]
fn base_urls_with_a_prefix() {
    let url = |base| Target::new(base, Backend::Vllm, "m").unwrap().url();
    assert_eq!(url("http://h:8000/"), "http://h:8000/v1/completions");
    assert_eq!(url("http://h:8000/v1"), "http://h:8000/v1/completions");
    assert_eq!(url("http://h:8000/a/b/"), "http://h:8000/a/b/v1/completions");
}

#[track_caller]
fn check_base(url: &str, expected: Result<&str, &str>) {
    let target = Target::new(url, Backend::Vllm, "m").map(|target| target.url());
    match (&target, expected) {
        (Ok(url), Ok(expected)) => assert_eq!(url, &format!("{expected}/v1/completions")),
        (Err(error), Err(part)) => assert!(error.to_string().contains(part), "{error}"),
        _ => panic!("{url}: {target:?}, expected {expected:?}"),
    }
}

#[test]
fn base_urls() {
    check_base("http://localhost:8000", Ok("http://localhost:8000"));
    check_base("HTTP://10.0.0.1/", Ok("http://10.0.0.1:80"));
    check_base("http://h/a/b/", Ok("http://h:80/a/b"));
    check_base("http://[::1]:9/v1", Ok("http://[::1]:9"));
    check_base("http://[fe80::1]", Ok("http://[fe80::1]:80"));
    check_base("http://h/a/v1/completions", Ok("http://h:80/a"));
    check_base("http://h/v1/chat/completions", Err("ends in the path of a route"));
    check_base("http://h/team/messages", Ok("http://h:80/team/messages"));
    check_base("localhost:8000", Err("no scheme"));
    check_base("ftp://h", Err("unknown scheme"));
    check_base("http://", Err("no host"));
    check_base("http://:80", Err("no host"));
    check_base("http://h:0", Err("port"));
    check_base("http://h:65536", Err("port"));
    check_base("http://[::1]8", Err("port"));
    check_base("http://::1", Err("brackets"));
    check_base("http://[::1", Err("closing bracket"));
    check_base("http://h?x=1", Err("query"));
    check_base("http://u:p@h", Err("password"));
    check_base("http://a b", Err("characters"));
    #[cfg(feature = "tls")]
    check_base("https://h", Ok("https://h:443"));
    #[cfg(feature = "tls")]
    check_base("HTTPS://h:8443/v1/", Ok("https://h:8443"));
    #[cfg(not(feature = "tls"))]
    check_base("https://h", Err("feature `tls`"));
}

#[test]
fn a_password_is_not_repeated() {
    let cases = [
        ("ftp://u:pw@h/", "`ftp://***@h/`"),
        ("ftp://h/", "`ftp://h/`"),
        ("ftp://u:p?w@h/", "`ftp://***`"),
        ("ftp://h?key=a@b", "`ftp://***`"),
        ("ftp://u:p@h?key=a", "`ftp://***@h?***`"),
    ];
    for (url, shown) in cases {
        check_base(url, Err(shown));
    }
}

#[test]
fn targets_that_cannot_be() {
    let target = || Target::new("http://h", Backend::Vllm, "m").unwrap();
    let error = Target::new("http://h/a b", Backend::Vllm, "m").unwrap_err();
    assert!(error.to_string().contains("http://h/a b"), "{error}");
    assert_eq!(target().path("v1").unwrap_err(), TargetError::Path("v1".into()));
    assert_eq!(target().path("/a b").unwrap_err(), TargetError::Path("/a b".into()));
    assert!(target().header("a b", "c").is_err());
    assert!(target().header("content-length", "1").is_err());
    let error = target().path("/a?code=hush hush").unwrap_err();
    assert_eq!(error, TargetError::Path("/a".into()));
    let error = target().header("x-key", "hush\n").unwrap_err();
    assert!(!error.to_string().contains("hush"), "{error}");
    assert_eq!(target().api_key(Secret::new("hush\n")).unwrap_err(), TargetError::ApiKey);
}

#[test]
fn a_target_never_shows_its_secrets() {
    let target = Target::new("http://h", Backend::Vllm, "m").unwrap();
    let target = target.api_key(Secret::new("sk-hush")).unwrap();
    let target = target.header("x-key", "also-hush").unwrap();
    let target = target.path("/v1/completions?v=2&code=hush-too").unwrap();
    let second = target.clone().http_version(HttpVersion::HTTP2);
    for target in [target, second] {
        assert!(!format!("{target:?}").contains("hush"));
        let transport = format!("{:?}", crate::http::transport(target));
        assert!(!transport.contains("hush"), "{transport}");
        // Nor as a list of bytes.
        assert!(!transport.contains("104, 117, 115, 104"), "{transport}");
    }
}
