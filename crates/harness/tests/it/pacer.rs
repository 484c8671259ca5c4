use fizeau_core::{Clock, Nanos, Timer};
use fizeau_harness::Pacer;
use fizeau_transport::MonotonicClock;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

#[test]
fn an_alarm_never_rings_early() {
    let pacer = Pacer::new(MonotonicClock::new());
    block_on(async {
        for micros in [0, 1, 50, 59, 61, 300, 1_000, 2_500] {
            let due = pacer.now() + Nanos::from_micros(micros);
            pacer.sleep_until(due).await;
            assert!(pacer.now() >= due);
        }
    });
}

/// In which order they are looked at after a starved thread wakes up is nobody's affair: the driver waits for one.
#[test]
fn alarms_that_are_waited_for_together_all_ring_and_none_early() {
    let pacer = Pacer::new(MonotonicClock::new());
    let start = pacer.now();
    let ring = |millis: u64| {
        let (pacer, due) = (&pacer, start + Nanos::from_millis(millis));
        async move {
            pacer.sleep_until(due).await;
            assert!(pacer.now() >= due);
        }
    };
    block_on(async { tokio::join!(ring(9), ring(3), ring(6)) });
}

#[test]
fn an_abandoned_alarm_can_be_set_again() {
    let pacer = Pacer::new(MonotonicClock::new());
    let far = pacer.now() + Nanos::from_secs(3_600);
    let near = pacer.now() + Nanos::from_millis(2);
    block_on(async {
        tokio::select! {
            () = pacer.sleep_until(far) => panic!("an hour has not passed"),
            () = pacer.sleep_until(near) => {}
        }
        // The hour's alarm is at hand again, and so is the near one, which has rung.
        let (soon, later) = (near + Nanos::from_millis(2), near + Nanos::from_millis(3));
        tokio::join!(pacer.sleep_until(soon), pacer.sleep_until(later));
        assert!(pacer.now() >= later && pacer.now() < far);
    });
}
