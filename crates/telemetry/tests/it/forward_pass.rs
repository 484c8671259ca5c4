//! Forward passes: published and subscribed to over loopback.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fizeau_core::Seconds;
use fizeau_roofline::{Deployment, Device, KnownModel, System};
use fizeau_telemetry::{
    ForwardPass, ForwardPassError, ForwardPassPublisher, ForwardPassSubscriber, ForwardPasses,
    ScheduledWork, StepsAssessment, SubscribeError,
};
use proptest::prelude::*;

use super::pages::{Ticking, at};

fn pass(counter_id: u64) -> ForwardPass {
    let scheduled_requests = ScheduledWork {
        num_prefill_requests: 1,
        sum_prefill_tokens: 512,
        num_decode_requests: 8,
        sum_decode_kv_tokens: 4_096,
        ..ScheduledWork::default()
    };
    ForwardPass {
        version: Some(1),
        counter_id,
        timing_scope: Some("execute_model_cuda".into()),
        wall_time: Seconds::new(0.0125),
        scheduled_requests,
        ..ForwardPass::default()
    }
}

/// Until it is so; a minute is for ever.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} never was");
        std::thread::yield_now();
    }
}

#[test]
fn what_is_published_comes_and_what_is_dropped_is_counted() {
    let mut publisher = ForwardPassPublisher::bind("127.0.0.1:0").unwrap();
    // Before anybody listens.
    publisher.publish(&pass(0));
    let address = publisher.address().to_string();
    let subscriber = ForwardPassSubscriber::connect(&address, Ticking::default()).unwrap();
    until("a subscriber", || publisher.subscribers() == 1);
    assert!(subscriber.is_ready() && subscriber.ended().is_none());
    for counter in 1..=3_000 {
        publisher.publish(&pass(counter));
        if counter % 1_000 == 0 {
            publisher.drop_one();
        }
        if counter % 500 == 0 {
            until("the half", || subscriber.look(|passes| passes.passes.len() as u64 >= counter));
        }
    }
    publisher.publish(&ForwardPass::default());
    until("the end", || subscriber.look(|passes| passes.heartbeats == 1));
    let passes = subscriber.stop();
    assert_eq!((passes.passes.len(), passes.lost, passes.unreadable), (3_000, 3, 0));
    assert_eq!(passes.passes[1].1, pass(2));
    assert!(passes.passes[0].0 < passes.passes[2_999].0);
}

#[test]
fn a_publisher_that_goes_is_said_to_have_gone_and_is_heard_when_it_is_back() {
    let mut publisher = ForwardPassPublisher::bind("127.0.0.1:0").unwrap();
    let address = publisher.address();
    let subscriber =
        ForwardPassSubscriber::connect(&format!("tcp://{address}"), Ticking::default()).unwrap();
    until("a subscriber", || publisher.subscribers() == 1);
    publisher.drop_one();
    publisher.publish(&pass(0));
    until("a pass", || subscriber.look(|passes| passes.passes.len() == 1));
    assert_eq!(subscriber.take_passes().len(), 1);
    drop(publisher);
    until("an end", || subscriber.ended().is_some());
    let mut publisher = ForwardPassPublisher::bind(address).unwrap();
    until("a subscriber", || publisher.subscribers() == 1);
    publisher.publish(&pass(1));
    until("a pass", || subscriber.look(|passes| passes.passes.len() == 1));
    assert_eq!(subscriber.ended(), None);
    let passes = subscriber.stop();
    assert_eq!((passes.lost, passes.restarts), (0, 0));
}

#[test]
fn texts_are_cut_and_shared() {
    let long = ForwardPass { worker_id: "ä".repeat(60_000).into(), ..pass(1) };
    let read = ForwardPass::from_msgpack(&long.to_msgpack()).unwrap();
    assert!(read.worker_id.len() < 300 && read.worker_id.starts_with('ä'));
    let mut passes = ForwardPasses::default();
    for sequence in 0..2 {
        passes.note(at(sequence), sequence, pass(sequence), 3);
    }
    let scope = |of: usize| passes.passes[of].1.timing_scope.clone().unwrap();
    assert!(Arc::ptr_eq(&scope(0), &scope(1)));
}

#[test]
fn what_is_no_publisher_is_refused() {
    let connect = |address: &str| ForwardPassSubscriber::connect(address, Ticking::default());
    assert!(matches!(connect("nowhere"), Err(SubscribeError::Address { .. })));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let subscriber = connect(&address).unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    until("an end", || subscriber.ended().is_some());
    assert!(subscriber.ended().unwrap().contains("ZMTP"));
    drop((stream, listener));
    assert!(matches!(connect(&address), Err(SubscribeError::Connect { .. })));
}

#[test]
fn a_map_of_another_form_is_read_as_far_as_it_goes() {
    // {"wall_time": 2, "new": [1], "scheduled_requests": {"num_decode_requests": 3}}
    let bytes = b"\x83\xa9wall_time\x02\xa3new\x91\x01\xb2scheduled_requests\x81\xb3num_decode_requests\x03";
    let pass = ForwardPass::from_msgpack(bytes).unwrap();
    assert_eq!((pass.version, pass.timing_scope.as_deref()), (None, None));
    assert_eq!(pass.wall_time, Seconds::new(2.0));
    assert_eq!((pass.scheduled_requests.num_decode_requests, pass.prefill_share()), (3, Some(0.0)));
    let bad = ForwardPass { wall_time: Seconds::new(-1.0), ..ForwardPass::default() };
    assert_eq!(ForwardPass::from_msgpack(&bad.to_msgpack()), Err(ForwardPassError::WallTime));
}

#[test]
fn losses_restarts_and_what_is_forgotten_are_counted() {
    let mut passes = ForwardPasses::default();
    for sequence in [5, 6, 9, 2, 3] {
        passes.note(at(sequence), sequence, pass(sequence), 3);
    }
    assert_eq!((passes.lost, passes.restarts, passes.forgotten), (2, 1, 2));
    assert_eq!(passes.passes.len(), 3);
}

#[test]
fn steps_are_held_against_their_bounds_and_ranks_are_told_apart() {
    let model = KnownModel::named("llama-3.1-8b").unwrap().model().unwrap();
    let device = Device::named("h100-sxm").unwrap().clone();
    let system = System::new(model, device, Deployment::SINGLE).unwrap();
    let mut passes = ForwardPasses::default();
    for sequence in 0..6 {
        let dp_rank = u32::try_from(sequence % 2).unwrap();
        passes.note(at(sequence), sequence, ForwardPass { dp_rank, ..pass(sequence) }, 10);
    }
    let steps = StepsAssessment::of(&passes, at(2), &system).unwrap();
    assert_eq!((steps.steps, steps.ranks, steps.lost), (4, 2, 0));
    assert!((steps.wall.get() - 50.0).abs() < 1e-9, "{steps:?}");
    // All of them have prompts, and take longer than the weights do.
    assert_eq!((steps.prefill_share, steps.decode_share), (Some(steps.share), None));
    assert!(steps.share > 0.3 && steps.share < 1.0, "{steps:?}");
    assert_eq!(StepsAssessment::of(&passes, at(6), &system), None);
}

proptest! {
    #[test]
    fn what_is_written_is_read(wall_time in 0.0..1e6_f64, counter in any::<u64>(), worker in ".{0,20}") {
        let wall_time = Seconds::new(wall_time);
        let pass = ForwardPass { wall_time, worker_id: worker.into(), ..pass(counter) };
        prop_assert_eq!(ForwardPass::from_msgpack(&pass.to_msgpack()).unwrap(), pass);
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        let _ = ForwardPass::from_msgpack(&bytes);
    }
}
