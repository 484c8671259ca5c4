//! Which futures may move between threads is part of the API.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fizeau_core::{Clock, Stamp, Tape};
use fizeau_harness::{Cancel, InFlight, Measure, Pacer, PlannedLevel, WorkerPool, on_own_thread};

#[derive(Clone)]
struct OwnClock(fizeau_transport::MonotonicClock);

impl Clock for OwnClock {
    fn now(&self) -> Stamp {
        self.0.now()
    }
}

const fn is_send<T: Send>() {}

fn sendable<F: Future + Send>(future: F) -> F {
    future
}

/// Compiles only if what a pool gives may be awaited in a task of any runtime, whatever clock it has.
#[expect(dead_code, reason = "that it compiles is the test")]
fn a_worker_pool_measures_in_any_task(
    pool: &mut WorkerPool<Infallible, OwnClock>,
    level: PlannedLevel<'_>,
) {
    let mut tapes = Vec::<Tape>::new();
    drop(sendable(pool.measure(level, &mut tapes, &mut ())));
    drop(sendable(pool.preconnect(1)));
}

#[test]
fn what_a_run_is_steered_with_moves_between_threads() {
    is_send::<WorkerPool<Infallible>>();
    is_send::<Cancel>();
    is_send::<InFlight>();
    is_send::<Pacer>();
}

#[tokio::test]
async fn what_cannot_move_is_carried_out_on_a_thread_of_its_own() {
    let here = std::thread::current().id();
    let there = sendable(on_own_thread(async move || {
        let unmovable = std::rc::Rc::new(std::thread::current().id());
        tokio::task::yield_now().await;
        *unmovable
    }));
    assert_ne!(there.await.unwrap(), here);
}

#[tokio::test]
async fn work_that_nobody_waits_for_any_more_is_dropped() {
    struct Dropped(Arc<AtomicBool>);
    impl Drop for Dropped {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let is_dropped = Arc::new(AtomicBool::new(false));
    let (told, begun) = tokio::sync::oneshot::channel();
    let kept = Dropped(Arc::clone(&is_dropped));
    let work = on_own_thread(async move || {
        let _kept = kept;
        let _ = told.send(());
        std::future::pending::<()>().await;
    });
    let mut work = Box::pin(work);
    tokio::select! {
        _ = &mut work => panic!("it never ends"),
        begun = begun => begun.unwrap(),
    }
    drop(work);
    while !is_dropped.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
#[should_panic(expected = "its own panic")]
async fn a_panic_of_the_work_is_passed_on() {
    on_own_thread(async || panic!("its own panic")).await.unwrap();
}
