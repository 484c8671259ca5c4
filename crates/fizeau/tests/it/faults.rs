//! The transport against a server that does to it whatever the list of faults has.

use fizeau::core::{EosRule, Nanos, Prompt, Request, RequestId, Stamp, Tape, Tokens, Transport};
use fizeau::sim::FixedTiming;
use fizeau::sim::http::{Faults, Server, ServerConfig, ServerHandle};
use fizeau::transport::{Backend, HttpTransport, KeepText, MonotonicClock, Target, Timeouts};

const TOKENS: u64 = 16;

fn serve(faults: &str) -> ServerHandle {
    let engine = FixedTiming::new(Nanos::from_millis(3), Nanos::ZERO);
    let config = ServerConfig::new(engine).with_faults(faults.parse().unwrap());
    Server::bind(([127, 0, 0, 1], 0).into(), config).unwrap().spawn().unwrap()
}

fn target(url: &str, backend: Backend, fault: &str) -> Target {
    let limits = Timeouts {
        first_token: Some(Nanos::from_millis(200)),
        idle: Some(Nanos::from_millis(200)),
        ..Timeouts::default()
    };
    let target = Target::new(url, backend, "m").unwrap().keep_text(KeepText::Yes);
    target.header("x-fizeau-fault", fault).unwrap().timeouts(limits)
}

async fn ask(target: Target) -> Tape {
    let prompt = Prompt::Text("a prompt of five words".into());
    let request = Request { eos: EosRule::Ignore, ..Request::new(RequestId(0), prompt, Tokens::new(TOKENS)) };
    let transport = HttpTransport::new(target, MonotonicClock::new());
    transport.send(&request, Stamp::EPOCH, Stamp::EPOCH).await.unwrap()
}

#[tokio::test]
async fn all() {
    let server = serve("allow");
    for kind in Faults::all() {
        for backend in [Backend::Vllm, Backend::VllmChat, Backend::OpenAi] {
            let tape = ask(target(&server.base_url(), backend, kind.name())).await;
            println!("{:20} {backend}: {} arrivals {} tokens {:?} {:?} usage {:?} text {}", kind.name(), tape.arrivals.len(), tape.output_tokens(), tape.token_source, tape.outcome, tape.usage, tape.text.as_ref().map_or(0, |t| t.len()));
        }
    }
}
