//! A dialect of one's own: a protocol that none of ours speaks, over the transport that stamps them all.

use std::io::{Read, Write};
use std::sync::Arc;

use fizeau::core::{
    Finish, Outcome, Prompt, Release, Request, RequestId, Stamp, Tokens, Transport,
};
use fizeau::transport::{
    Backend, BodyInput, Dialect, EndRule, EventError, Framing, HttpTransport, MonotonicClock,
    RawEvent, RequestError, Target, WireEvent,
};

/// Asked with a length and a text, it answers with a word a line, and a dot at the end.
#[derive(Debug)]
struct Words;

impl Dialect for Words {
    fn body(&self, ask: &BodyInput<'_>) -> Result<Vec<u8>, RequestError> {
        match &ask.request.prompt {
            Prompt::Text(text) => Ok(format!("{} {text}", ask.request.max_output_tokens).into()),
            _ => Err(RequestError::TokenIdsNotTaken(ask.backend)),
        }
    }

    fn read<'a>(&self, event: &RawEvent<'a>) -> Result<WireEvent<'a>, EventError> {
        Ok(match event.data {
            b"." => WireEvent { finish: Some(Finish::Stop), done: true, ..WireEvent::default() },
            word => WireEvent { visible: String::from_utf8_lossy(word), ..WireEvent::default() },
        })
    }

    fn end(&self) -> EndRule {
        EndRule::Marker
    }

    fn framing(&self) -> Framing {
        Framing::Ndjson
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || -> std::io::Result<()> {
        let (mut stream, _) = listener.accept()?;
        let _asked = stream.read(&mut [0; 1024])?;
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\nonce\nupon\na\n.\n")
    });
    let target = Target::new(&url, Backend::OpenAi, "a storyteller")?.dialect(Arc::new(Words));
    let transport = HttpTransport::new(target, MonotonicClock::new());
    let request = Request::new(RequestId(0), Prompt::Text("Tell me".to_owned()), Tokens::new(3));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let tape = runtime.block_on(transport.send(&request, Release::at(Stamp::EPOCH)))?;
    assert_eq!(tape.outcome, Outcome::Complete(Finish::Stop));
    assert_eq!(tape.arrivals.len(), 3);
    Ok(())
}
