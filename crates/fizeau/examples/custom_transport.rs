//! A transport of your own (gRPC, an in-process engine, a mock), driven by the harness like any other. This one plays a
//! server of one request at a time, in virtual time, so that nothing sleeps; with a real clock the same code would.

use std::{cell::Cell, convert::Infallible, num::NonZeroU32};

use fizeau::core::{
    Arrival, Channel, Clock, Nanos, Release, Request, Stamp, Tape, Timer, Transport,
};
use fizeau::harness::{Cancel, DriveLimits, drive};
use fizeau::metrics::{GoodputGoals, LevelSummary};
use fizeau::sim::VirtualTime;
use fizeau::workload::{Plan, PlanSpec};

struct OneAtATime<'a> {
    time: &'a VirtualTime,
    free_at: Cell<Stamp>,
}

type Sent = Result<Tape, Infallible>;

impl Transport for OneAtATime<'_> {
    type Error = Infallible;

    async fn send(&self, request: &Request, release: Release) -> Sent {
        let sent = self.time.now();
        let done = self.free_at.get().max(sent) + Nanos::from_millis(100);
        self.free_at.set(done);
        self.time.sleep_until(done).await;
        let mut tape = Tape::sent_at(sent);
        tape.request = request.id;
        (tape.marks.intended, tape.marks.released) = (release.intended, release.released);
        tape.marks.end = Some(done);
        let token = Arrival::tokens(done, 1, Channel::Visible);
        tape.arrivals.push(token);
        Ok(tape)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (time, free_at) = (&VirtualTime::new(), Cell::default());
    let server = OneAtATime { time, free_at };
    let (plan, cancel) = (Plan::new(PlanSpec::new(200)?)?, Cancel::new());
    let (mut requests, mut tapes) = (plan.source(), Vec::new());
    let load = DriveLimits { max_in_flight: NonZeroU32::new(4), ..DriveLimits::default() };
    let run = drive(&mut requests, &server, time, load, &mut tapes, &cancel);
    time.block_on(run)??;
    let level = LevelSummary::of(&tapes, &GoodputGoals::default());
    let rate = level.throughput.requests_per_s.get();
    let ttft = level.metrics.ttft.p50.value().ok_or("no reply")?.get();
    println!("four in flight at a server of one: {rate:.1} requests/s, TTFT p50 {ttft} ms");
    assert!((rate - 10.0).abs() < 1e-9 && ttft == 400.0);
    Ok(())
}
