//! A transport of your own (gRPC, an in-process engine, a mock), driven by the harness like any other.
//!
//! This one plays a server that serves one request at a time. It runs in virtual time, so nothing sleeps; with a real
//! clock the same code would.

use std::cell::Cell;
use std::convert::Infallible;
use std::num::NonZeroU32;

use fizeau::core::{
    Arrival, Asked, Channel, Clock, Marks, Nanos, Request, Stamp, Tape, Timer, TokenSource,
    Transport,
};
use fizeau::harness::{Cancel, LevelSpec, Load, Rig, SelfWatch, run_level};
use fizeau::metrics::GoodputGoals;
use fizeau::sim::VirtualTime;
use fizeau::workload::{Plan, Spec};

struct OneAtATime<'a> {
    time: &'a VirtualTime,
    free_at: Cell<Stamp>,
}

impl Transport for OneAtATime<'_> {
    type Error = Infallible;

    async fn send(
        &self,
        request: &Request,
        intended: Stamp,
        released: Stamp,
    ) -> Result<Tape, Infallible> {
        let sent = self.time.now();
        let done = self.free_at.get().max(sent) + Nanos::from_millis(100);
        self.free_at.set(done);
        self.time.sleep_until(done).await;
        let mut tape = Tape::sent_at(sent);
        tape.request = request.id;
        tape.asked = Asked {
            output_tokens: request.max_output_tokens,
            ..Asked::default()
        };
        tape.marks = Marks {
            send_start: Some(sent),
            end: Some(done),
            ..Marks::released(intended, released)
        };
        tape.token_source = TokenSource::TokenIds;
        tape.arrivals
            .push(Arrival::tokens(done, 1, Channel::Visible));
        Ok(tape)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let time = VirtualTime::new();
    let transport = OneAtATime {
        time: &time,
        free_at: Cell::default(),
    };
    let plan = Plan::new(Spec::new(200)?)?;
    let (cancel, goals) = (Cancel::new(), GoodputGoals::default());
    let rig = Rig {
        transport: &transport,
        timer: &time,
        watch: SelfWatch::Off,
        cancel: &cancel,
    };
    let load = Load {
        max_in_flight: NonZeroU32::new(4),
        stop_after: None,
    };
    let spec = LevelSpec {
        requests: plan.source(),
        warmup: Vec::new(),
        load,
        goals: &goals,
    };
    let run = time.block_on(run_level(&rig, spec, &mut Vec::new(), &mut ()))??;
    let (rate, ttft) = (
        run.summary.throughput.requests_per_s.get(),
        run.summary.metrics.ttft.p50,
    );
    println!("four in flight at a server of one: {rate:.1} requests/s, TTFT p50 {ttft:?}");
    assert!((rate - 10.0).abs() < 1e-9 && ttft.value().is_some_and(|p50| p50.get() == 400.0));
    Ok(())
}
