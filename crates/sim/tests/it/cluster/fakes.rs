//! Engines whose doings are plain to see.

use std::cell::RefCell;
use std::num::{NonZeroU32, NonZeroU64};
use std::rc::Rc;

use fizeau_core::{Bytes, BytesPerSec, Nanos, Stamp, Tokens};
use fizeau_roofline::CacheTransfer;
use fizeau_sim::{Emission, EngineJob, FixedTiming, Gauges, Handover, JobId, Serve, SubmitError};
use proptest::prelude::*;

use crate::support::ms;

/// Which engine was given which job, in order.
pub(crate) type Log = Rc<RefCell<Vec<(usize, u64)>>>;

/// [`FixedTiming`] that writes down what it is given, finds prefixes, and has a limit on jobs.
pub(crate) struct Logged {
    pub(crate) number: usize,
    pub(crate) log: Log,
    pub(crate) inner: FixedTiming,
    pub(crate) limit: u64,
    pub(crate) block: Option<NonZeroU64>,
}

impl Logged {
    /// `count` engines with 20 ms to the first token and 5 ms between tokens.
    pub(crate) fn some(count: usize, log: &Log) -> Vec<Self> {
        let one = |number| Self {
            number,
            log: Rc::clone(log),
            inner: FixedTiming::new(Nanos::from_millis(20), Nanos::from_millis(5)),
            limit: u64::MAX,
            block: NonZeroU64::new(16),
        };
        (0..count).map(one).collect()
    }
}

impl Serve for Logged {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        let waiting = self.inner.gauges().running;
        if waiting >= self.limit {
            return Err(SubmitError::QueueFull { waiting });
        }
        self.log.borrow_mut().push((self.number, job.id.0));
        self.inner.submit(job)
    }

    fn cancel(&mut self, id: JobId) {
        self.inner.cancel(id);
    }

    fn next_event(&self) -> Option<Stamp> {
        self.inner.next_event()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        self.inner.advance(to, emit);
    }

    fn longest_job(&self) -> Option<Tokens> {
        self.inner.longest_job()
    }

    fn prefix_block(&self) -> Option<NonZeroU64> {
        self.block
    }

    fn gauges(&self) -> Gauges {
        self.inner.gauges()
    }
}

/// Goes on with jobs that have begun: a token every 5 ms from when it gets them. Nothing is ever too much for it.
#[derive(Default)]
pub(crate) struct Decoder {
    /// The next token of each job: when, whose, and which.
    due: Vec<(Stamp, EngineJob, u64)>,
}

impl Serve for Decoder {
    fn submit(&mut self, job: EngineJob) -> Result<(), SubmitError> {
        assert!(job.begun.is_some(), "a decode engine reads no prompts");
        self.due.push((job.at + ms(5).saturating_since(ms(0)), job, 1));
        Ok(())
    }

    fn cancel(&mut self, id: JobId) {
        self.due.retain(|(_, job, _)| job.id != id);
    }

    fn next_event(&self) -> Option<Stamp> {
        self.due.iter().map(|(at, ..)| *at).min()
    }

    fn advance(&mut self, to: Stamp, emit: &mut dyn FnMut(Emission)) {
        while let Some(at) = self.next_event().filter(|&at| at <= to) {
            let place = self.due.iter().position(|(due, ..)| *due == at).unwrap();
            let (at, job, index) = self.due.remove(place);
            let last = index + 1 == job.output_tokens.get();
            let timing = job.begun.unwrap();
            emit(Emission { job: job.id, rank: 0, at, index, count: 1, last, timing });
            if !last {
                self.due.push((at + Nanos::from_millis(5), job, index + 1));
            }
        }
    }

    fn longest_job(&self) -> Option<Tokens> {
        None
    }

    fn gauges(&self) -> Gauges {
        Gauges { running: self.due.len() as u64, ..Gauges::default() }
    }
}

/// A millisecond for a hundred tokens, and one of latency.
pub(crate) fn handover(transfer: CacheTransfer) -> Handover {
    Handover {
        per_token: Bytes::new(1.0),
        per_sequence: Bytes::new(0.0),
        links: NonZeroU32::MIN,
        bandwidth: BytesPerSec::new(100_000.0),
        latency: Nanos::from_millis(1),
        transfer,
        layers: NonZeroU32::new(5).unwrap(),
    }
}

/// When a cache may be sent.
pub(crate) fn transfers() -> impl Strategy<Value = CacheTransfer> {
    let all = [
        CacheTransfer::BeforeFirstToken,
        CacheTransfer::BeforeSecondToken,
        CacheTransfer::LayerWise,
    ];
    prop::sample::select(all.to_vec())
}
