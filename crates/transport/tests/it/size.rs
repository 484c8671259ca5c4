//! What a request under way takes of memory, of which a run holds thousands.

use fizeau_core::{Prompt, Release, Request, RequestId, Stamp, Tokens, Transport};
use fizeau_transport::{Backend, HttpTransport, MonotonicClock, Target};

/// What making a connection and reading a refusal need is held apart, while it is needed.
const MOST: usize = 1_536;

#[test]
fn the_future_of_a_request_is_small() {
    let target = Target::new("http://127.0.0.1:1", Backend::Vllm, "m").unwrap();
    let transport = HttpTransport::new(target, MonotonicClock::new());
    let request = Request::new(RequestId(0), Prompt::Text("Once".to_owned()), Tokens::new(16));
    let sending = transport.send(&request, Release::at(Stamp::EPOCH));
    let size = size_of_val(&sending);
    assert!(size <= MOST, "{size} bytes");
}
