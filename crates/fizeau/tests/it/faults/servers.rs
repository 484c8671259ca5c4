//! Faults of whole servers, and who gets which.

use fizeau::core::{FailureClass, Nanos, Outcome};
use fizeau::sim::http::Faults;
use fizeau::transport::{Backend, Timeouts};
use futures_util::future::join;

use super::stand::{PATIENT, TTFT, ask, ask_about, serve, target, truth};

pub(crate) fn tried() -> Vec<&'static str> {
    vec!["connections:1", "slow-accept:20ms", "deaf"]
}

#[tokio::test]
async fn connections_beyond_the_limit_wait() {
    let server = serve("connections:1", TTFT);
    let one = || ask(target(&server, Backend::Vllm, PATIENT));
    let (first, second) = join(one(), one()).await;
    assert!(first.is_success() && second.is_success(), "{first:?} {second:?}");
    let requests = truth(server.addr());
    let ended = requests[0]["token_ns"].as_array().unwrap().last().unwrap().as_u64().unwrap();
    assert!(requests[1]["arrived_ns"].as_u64().unwrap() > ended, "not side by side");
}

#[tokio::test]
async fn slow_accepts_are_waited_for() {
    let server = serve("slow-accept:20ms", TTFT);
    let one = || ask(target(&server, Backend::Vllm, PATIENT));
    let (first, second) = join(one(), one()).await;
    assert!(first.is_success() && second.is_success(), "{first:?} {second:?}");
    let requests = truth(server.addr());
    // Whichever ended first. Nanoseconds since the server began.
    let arrived = [0, 1].map(|which| requests[which]["arrived_ns"].as_u64().unwrap());
    assert!(arrived.into_iter().max() >= Some(20_000_000), "{arrived:?}");
}

#[tokio::test]
async fn a_server_that_does_not_read_runs_into_the_limit() {
    let server = serve("deaf", TTFT);
    let limits = Timeouts { first_token: Some(Nanos::from_millis(60)), ..PATIENT };
    // The second does not fit into the sockets: the client is still writing when its time is up.
    for prompt in ["hi".to_owned(), "hi ".repeat(16 << 20)] {
        let tape = ask_about(&prompt, target(&server, Backend::Vllm, limits)).await;
        let Outcome::Failed(failure) = &tape.outcome else {
            panic!("{tape:?}");
        };
        assert_eq!(failure.class, FailureClass::TimeoutFirstToken, "{failure}");
    }
}

#[tokio::test]
async fn requests_choose_for_themselves_where_they_may() {
    let choose = async |server: &str, header: &str| {
        let server = serve(server, TTFT);
        let target = target(&server, Backend::Vllm, PATIENT);
        let tape = ask(target.header("X-Fizeau-Fault", header).unwrap()).await;
        tape.arrivals.len()
    };
    assert_eq!(choose("allow", "bundle:8").await, 2);
    assert_eq!(choose("error@1", "bundle:8").await, 2, "over what the server would do");
    assert_eq!(choose("error@1", "none").await, 16);

    let server = serve("allow", TTFT);
    let target =
        target(&server, Backend::Vllm, PATIENT).header("x-fizeau-fault", "bundel").unwrap();
    let tape = ask(target).await;
    let Outcome::Failed(failure) = tape.outcome else {
        panic!("there is no such fault");
    };
    assert_eq!(failure.status, Some(400), "{failure}");
    assert!(failure.detail.contains("no fault is called"), "{failure}");
}

/// The same requests meet the same faults, in about the share that was asked for.
#[tokio::test]
async fn shares_are_kept_and_follow_from_the_seed() {
    let faults: Faults = "0.25*error@1,0.25*bundle:16".parse().unwrap();
    let mut runs = Vec::new();
    for seed in [1, 1, 2] {
        let server = super::stand::serve_with(faults.clone().with_seed(seed), Nanos::ZERO);
        let mut events = Vec::new();
        for _ in 0..60 {
            events.push(ask(target(&server, Backend::Vllm, PATIENT)).await.arrivals.len());
        }
        runs.push(events);
    }
    assert_eq!(runs[0], runs[1]);
    assert_ne!(runs[0], runs[2]);
    // Both faults leave one event, and the others have sixteen. Four standard deviations of a binomial of 60 at a half are 15.5.
    let share = |events: usize| runs[0].iter().filter(|&&seen| seen == events).count();
    let (faulted, all) = (share(1), share(16));
    assert!((15..=45).contains(&faulted) && faulted + all == 60, "{faulted} and {all} of 60");
}
