//! Several endpoints, and connections that are not kept.

use fizeau_core::{
    Connection, EosRule, FailureClass, Prompt, Release, Request, RequestId, Stamp, Tape, Transport,
};
use fizeau_transport::{ConnectionUse, HttpTransport, LoadBalancing, MonotonicClock, Target};

use crate::bodies::request;
use crate::failures::check_failure;
use crate::http::{ask, good, target, transport};
use crate::server::{Server, Step, stream};

fn numbered(id: u64) -> Request {
    Request { id: RequestId(id), ..request(Prompt::Text("hi".into()), EosRule::Ignore) }
}

async fn ask_for(transport: &HttpTransport<MonotonicClock>, id: u64) -> Tape {
    transport.send(&numbered(id), Release::at(Stamp::EPOCH)).await.unwrap()
}

/// A server that answers `count` requests on one connection.
fn serving(count: usize) -> Server {
    Server::run(vec![(0..count).flat_map(|_| stream(&good())).collect()])
}

#[tokio::test]
async fn round_robin_goes_by_the_requests_number_on_pools_of_their_own() {
    let servers = [serving(2), serving(2), serving(2)];
    let first = target(&servers[0].url());
    let all = first.also_at(&servers[1].url()).unwrap().also_at(&servers[2].url()).unwrap();
    let transport = transport(all);
    for id in [5, 0, 4, 3, 1, 2] {
        let tape = ask_for(&transport, id).await;
        assert!(tape.is_success(), "{tape:?}");
        assert_eq!(u64::from(tape.endpoint), id % 3);
    }
    for server in &servers {
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        let host = format!("host: {}\r\n", server.address);
        assert!(requests.iter().all(|request| request.contains(&host)), "{requests:?}");
    }
}

#[tokio::test]
async fn least_in_flight_counts_over_all_clones_of_the_target() {
    let hold = || Server::run(vec![vec![Step::Request, Step::Hold]]);
    let (busy, idle) = (hold(), serving(3));
    let both = target(&busy.url()).also_at(&idle.url()).unwrap();
    let both = both.balance(LoadBalancing::LeastInFlight);
    let (holding, asking) = (transport(both.clone()), transport(both));
    let held = ask_for(&holding, 0);
    let others = async {
        // The first endpoint's turn each time, but it is busy.
        for id in [2, 4, 6] {
            let tape = ask_for(&asking, id).await;
            assert_eq!(tape.endpoint, 1);
        }
    };
    tokio::select! {
        biased;
        _ = held => unreachable!("nobody answers it"),
        () = others => {}
    }
    // Given up, it counts no longer.
    let refused = ask_for(&asking, 8).await;
    assert_eq!(refused.endpoint, 0);
}

#[tokio::test]
async fn connections_are_opened_ahead_at_each_endpoint() {
    let waiting = || vec![stream(&good()), stream(&good())];
    let servers = [Server::run(waiting()), Server::run(waiting())];
    let both = target(&servers[0].url()).also_at(&servers[1].url()).unwrap();
    let transport = transport(both);
    transport.preconnect(2).await.unwrap();
    // Not a third one anywhere: what stands is enough.
    transport.preconnect(2).await.unwrap();
    // As a worker has them that gets every second request: all at one endpoint.
    for turns in [[0, 2], [1, 3]] {
        let tapes = futures_util::future::join_all(turns.map(|id| ask_for(&transport, id))).await;
        assert!(tapes.iter().all(|tape| tape.connection == Connection::Reused), "{tapes:?}");
    }
}

#[tokio::test]
async fn a_connection_for_each_request_is_in_its_marks_and_closed_after_it() {
    // More scripts a connection than are used: it is the client that closes.
    let script = || [stream(&good()), vec![Step::Request]].concat();
    let server = Server::run(vec![script(), script()]);
    let each = target(&server.url()).connection_use(ConnectionUse::PerRequest);
    let transport = transport(each);
    transport.preconnect(5).await.unwrap();
    for _ in 0..2 {
        let tape = ask(&transport).await;
        assert!(tape.is_success(), "{tape:?}");
        assert_eq!(tape.connection, Connection::Fresh);
        assert!(Some(tape.marks.connect.unwrap().tcp) <= tape.marks.send_start);
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    assert!(requests.iter().all(|request| request.contains("connection: close\r\n")));
}

#[tokio::test]
async fn the_endpoint_that_failed_is_on_the_tape() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let both = target("http://127.0.0.1:9").also_at(&format!("http://{gone}")).unwrap();
    let tape = ask_for(&transport(both), 1).await;
    assert_eq!(tape.endpoint, 1);
    check_failure(&tape, FailureClass::Connect, None, &gone.to_string());
}

#[test]
fn a_further_endpoint_is_checked_like_the_first() {
    let first = || Target::new("http://h", fizeau_transport::Backend::Vllm, "m").unwrap();
    let error = first().also_at("http://u:s3cret@h").unwrap_err().to_string();
    assert!(error.contains("password") && !error.contains("s3cret"), "{error}");
    let urls: Vec<String> = first().also_at("http://i:9/v1").unwrap().urls().collect();
    assert_eq!(urls, ["http://h:80/v1/completions", "http://i:9/v1/completions"]);
}
