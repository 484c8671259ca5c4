//! What is known of the servers, and what reaches them: paths, headers, and lines over a socket.

use fizeau_core::{FailureClass, Finish, Outcome, TokenSource};
use fizeau_transport::{Backend, LengthForcing, PromptKind, Route, Secret, Target};

use crate::http::{ask, good, transport};
use crate::server::{LAST, Server, Step, chunk, send, stream};
use crate::streams::good_replies;

/// Name, default path and forcing of every backend, for a model named `org/m`.
#[rustfmt::skip]
const EXPECTED: [(Backend, &str, &str, LengthForcing); 31] = {
    use Backend as B;
    use LengthForcing::{CapOnly, Exact};
    const COMPLETIONS: &str = "/v1/completions";
    const CHAT: &str = "/v1/chat/completions";
    [
        (B::Vllm, "vllm", COMPLETIONS, Exact),
        (B::VllmChat, "vllm-chat", CHAT, Exact),
        (B::OpenAi, "openai", COMPLETIONS, Exact),
        (B::OpenAiChat, "openai-chat", CHAT, Exact),
        (B::OpenAiResponses, "openai-responses", "/v1/responses", CapOnly),
        (B::Sglang, "sglang", COMPLETIONS, Exact),
        (B::SglangOai, "sglang-oai", COMPLETIONS, Exact),
        (B::SglangOaiChat, "sglang-oai-chat", CHAT, Exact),
        (B::SglangNative, "sglang-native", "/generate", Exact),
        (B::Tgi, "tgi", "/generate_stream", CapOnly),
        (B::TgiChat, "tgi-chat", CHAT, CapOnly),
        (B::Trtllm, "trtllm", COMPLETIONS, Exact),
        (B::TrtllmChat, "trtllm-chat", CHAT, Exact),
        (B::Triton, "triton", "/v2/models/org%2Fm/generate_stream", Exact),
        (B::Lmdeploy, "lmdeploy", COMPLETIONS, Exact),
        (B::LlamaCpp, "llama.cpp", COMPLETIONS, Exact),
        (B::LlamaCppChat, "llama.cpp-chat", CHAT, Exact),
        (B::LlamaCppNative, "llama.cpp-native", "/completion", Exact),
        (B::Ollama, "ollama", "/api/generate", CapOnly),
        (B::OllamaChat, "ollama-chat", "/api/chat", CapOnly),
        (B::Anthropic, "anthropic", "/v1/messages", CapOnly),
        (B::Gemini, "gemini", "/v1beta/models/org%2Fm:streamGenerateContent?alt=sse", CapOnly),
        (B::Azure, "azure", "/openai/deployments/org%2Fm/chat/completions?api-version=2024-10-21", CapOnly),
        (B::OpenRouter, "openrouter", CHAT, CapOnly),
        (B::DeepSeek, "deepseek", CHAT, CapOnly),
        (B::Groq, "groq", CHAT, CapOnly),
        (B::Mistral, "mistral", CHAT, CapOnly),
        (B::DigitalOcean, "digitalocean", CHAT, CapOnly),
        (B::OpenAiEmbeddings, "openai-embeddings", "/v1/embeddings", CapOnly),
        (B::InfinityEmbeddings, "infinity-embeddings", "/v1/embeddings", CapOnly),
        (B::VllmPooling, "vllm-pooling", "/pooling", CapOnly),
    ]
};

#[test]
fn the_table() {
    assert_eq!(Backend::all().count(), EXPECTED.len());
    for (backend, name, path, forcing) in EXPECTED {
        assert_eq!((backend.to_string().as_str(), name.parse()), (name, Ok(backend)));
        assert_eq!((backend.path("org/m").as_str(), backend.forcing()), (path, forcing), "{name}");
    }
}

#[test]
fn forcing_is_of_the_route_too() {
    let forcing = |backend, path: &str| {
        let target = Target::new("http://h", backend, "m").unwrap();
        target.path(path).unwrap().forcing()
    };
    assert_eq!(forcing(Backend::Vllm, "/v1/messages"), LengthForcing::CapOnly);
    assert_eq!(forcing(Backend::LlamaCpp, "/v1/responses"), LengthForcing::Exact);
    assert_eq!(forcing(Backend::OpenAi, "/v1/responses"), LengthForcing::CapOnly);
    assert_eq!(forcing(Backend::TgiChat, "/completion"), LengthForcing::Exact);
}

#[test]
fn the_path_decides_among_all_routes() {
    let route = |backend, path| {
        let target = Target::new("http://h", backend, "m").unwrap();
        target.path(path).unwrap().route()
    };
    let cases = [
        ("/x/v1/responses", Route::Responses),
        ("/v1/messages?beta=true", Route::Messages),
        ("/completion", Route::LlamaCppCompletion),
        ("/generate_stream", Route::TgiGenerate),
        ("/v2/models/a/generate_stream", Route::TritonGenerate),
        ("/v2/models/a/versions/1/generate_stream", Route::TritonGenerate),
        ("/api/chat", Route::OllamaChat),
        ("/api/generate", Route::OllamaGenerate),
        ("/v1beta/models/g:streamGenerateContent?alt=sse", Route::Gemini),
    ];
    for (path, expected) in cases {
        assert_eq!(route(Backend::Vllm, path), expected, "{path}");
    }
    assert_eq!(route(Backend::Sglang, "/generate"), Route::SglangGenerate);
    assert_eq!(route(Backend::Vllm, "/generate"), Route::Completions);
}

#[test]
fn the_default_path_of_a_route_leads_back_to_it() {
    for route in Route::ALL {
        let path = route.default_path("a/b c");
        let plain = path.split('?').next().unwrap();
        let expected = (route != Route::SglangGenerate).then_some(route);
        assert_eq!(Route::of_path(plain), expected, "{path}");
        assert!(!path.contains(' '));
        assert!(route.takes(PromptKind::Text) || route.takes(PromptKind::Chat));
    }
    let path = |model| Route::Gemini.default_path(model);
    assert_eq!(path("models/g-2.5"), path("g-2.5"));
    assert!(path("org/g").contains("/org%2Fg:stream"));
}

#[test]
fn base_urls_may_end_in_the_first_part_of_the_path() {
    let url = |base, backend| Target::new(base, backend, "m").unwrap().url();
    let cases = [
        ("http://h/api", Backend::Ollama, "http://h:80/api/generate"),
        ("http://h/openai/v1", Backend::Groq, "http://h:80/openai/v1/chat/completions"),
        ("http://h/v1beta", Backend::Gemini, "http://h:80/v1beta/models/m:streamGenerateContent"),
        ("http://h/v1", Backend::LlamaCppNative, "http://h:80/v1/completion"),
    ];
    for (base, backend, expected) in cases {
        assert_eq!(url(base, backend), expected);
    }
}

async fn head(target: impl FnOnce(&str) -> Target) -> String {
    let server = Server::run(vec![stream(&good())]);
    ask(&transport(target(&server.url()))).await;
    let requests = server.requests();
    let (head, _) = requests[0].split_once("\r\n\r\n").unwrap();
    head.to_ascii_lowercase()
}

#[tokio::test]
async fn keys_and_headers_as_each_service_wants_them() {
    let cases = [
        (Backend::Vllm, "authorization: bearer sk-key"),
        (Backend::Anthropic, "x-api-key: sk-key"),
        (Backend::Azure, "api-key: sk-key"),
        (Backend::Gemini, "x-goog-api-key: sk-key"),
        (Backend::Anthropic, "anthropic-version: 2023-06-01"),
        (Backend::Gemini, "accept: text/event-stream"),
        (Backend::Ollama, "accept: application/x-ndjson"),
    ];
    for (backend, line) in cases {
        let head = head(|url| {
            let target = Target::new(url, backend, "m").unwrap();
            target.api_key(Secret::new("sk-key")).unwrap()
        })
        .await;
        assert!(head.lines().any(|has| has == line), "{line} in {head}");
        assert_eq!(head.matches("sk-key").count(), 1, "{head}");
    }
}

#[tokio::test]
async fn headers_follow_the_path_and_give_way_to_the_users() {
    let head_of = |path: &'static str, version: Option<&'static str>| {
        head(move |url| {
            let mut target = Target::new(url, Backend::Anthropic, "m").unwrap();
            if let Some(version) = version {
                target = target.header("anthropic-version", version).unwrap();
            }
            target.path(path).unwrap()
        })
    };
    assert!(!head_of("/api/chat", None).await.contains("anthropic-version"));
    let head = head_of("/v1/messages", Some("2030-01-01")).await;
    assert!(head.contains("anthropic-version: 2030-01-01"), "{head}");
    assert!(!head.contains("2023"), "{head}");
}

/// Every good reply over a socket under the content type of its framing, and without one.
#[tokio::test]
async fn every_framing_over_a_socket() {
    for (route, bytes) in good_replies() {
        let media = route.dialect().framing().media();
        for header in [format!("Content-Type: {media}; charset=utf-8\r\n"), String::new()] {
            let head = format!("HTTP/1.1 200 OK\r\n{header}Transfer-Encoding: chunked\r\n\r\n");
            let chunks: Vec<u8> = bytes.as_bytes().chunks(53).flat_map(chunk).collect();
            let script = vec![Step::Request, send(head), send(chunks), send(LAST)];
            let server = Server::run(vec![script]);
            let target = Target::new(&server.url(), Backend::Sglang, "m").unwrap();
            let target = target.path(&route.default_path("m")).unwrap();
            assert_eq!(target.route(), route);
            let tape = ask(&transport(target)).await;
            assert!(tape.is_success(), "{route:?}: {:?}", tape.outcome);
        }
    }
}

/// The content type decides, not what was asked: lines in place of events.
#[tokio::test]
async fn lines_in_place_of_events() {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    let lines = "{\"choices\":[{\"text\":\"Ga\",\"finish_reason\":\"length\"}]}\n[DONE]\n";
    let script = vec![Step::Request, send(head), send(chunk(lines)), send(LAST)];
    let server = Server::run(vec![script]);
    let target = Target::new(&server.url(), Backend::Vllm, "m").unwrap();
    let tape = ask(&transport(target)).await;
    assert_eq!(tape.outcome, Outcome::Complete(Finish::Length));
}

/// A body in one piece is taken where it was asked for, and only there; its arrival is the read that completed it.
#[tokio::test]
async fn an_embedding_over_a_socket() {
    let head = |media: &str| {
        format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nTransfer-Encoding: chunked\r\n\r\n")
    };
    let body = r#"{"data":[{"embedding":[0.5]}],"usage":{"prompt_tokens":3}}"#;
    let run = async |media: &str, backend| {
        let script = vec![Step::Request, send(head(media)), send(chunk(body)), send(LAST)];
        let server = Server::run(vec![script]);
        let target = Target::new(&server.url(), backend, "m").unwrap();
        ask(&transport(target)).await
    };
    let tape = run("application/json; charset=utf-8", Backend::OpenAiEmbeddings).await;
    assert_eq!(tape.outcome, Outcome::Complete(Finish::Unstated));
    assert_eq!(tape.token_source, TokenSource::Tokenless);
    assert_eq!(tape.arrivals.len(), 1);
    assert_eq!((tape.arrivals[0].bytes as usize, tape.first_token()), (body.len(), None));
    assert!(tape.last_output().is_some());
    for (media, backend) in
        [("text/event-stream", Backend::OpenAiEmbeddings), ("application/json", Backend::Vllm)]
    {
        let outcome = run(media, backend).await.outcome;
        let malformed =
            |outcome| matches!(outcome, Outcome::Failed(f) if f.class == FailureClass::Malformed);
        assert!(malformed(outcome), "{media}");
    }
}
