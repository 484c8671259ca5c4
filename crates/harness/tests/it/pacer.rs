use fizeau_core::{Clock, Nanos, Timer};
use fizeau_harness::Pacer;
use fizeau_transport::MonotonicClock;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn an_alarm_never_rings_early() {
    let pacer = Pacer::start(MonotonicClock::new()).unwrap();
    for micros in [0, 1, 50, 79, 81, 300, 1_000] {
        let due = pacer.now() + Nanos::from_micros(micros);
        block_on(pacer.sleep_until(due));
        assert!(pacer.now() >= due);
    }
}

#[test]
fn alarms_ring_in_the_order_of_their_instants() {
    let pacer = Pacer::start(MonotonicClock::new()).unwrap();
    let start = pacer.now();
    let order = std::cell::RefCell::new(Vec::new());
    let ring = |name: u32, millis: u64| {
        let (pacer, order) = (&pacer, &order);
        async move {
            pacer.sleep_until(start + Nanos::from_millis(millis)).await;
            order.borrow_mut().push(name);
        }
    };
    block_on(async { tokio::join!(ring(3, 9), ring(1, 3), ring(2, 6)) });
    assert_eq!(*order.borrow(), [1, 2, 3]);
}

#[test]
fn an_abandoned_alarm_does_not_hold_the_others_up() {
    let pacer = Pacer::start(MonotonicClock::new()).unwrap();
    let far = pacer.now() + Nanos::from_secs(3_600);
    let near = pacer.now() + Nanos::from_millis(2);
    block_on(async {
        tokio::select! {
            () = pacer.sleep_until(far) => panic!("an hour has not passed"),
            () = pacer.sleep_until(near) => {}
        }
        // The hour's alarm is dropped here; a new one must still ring.
        pacer.sleep_until(near + Nanos::from_millis(2)).await;
    });
}
