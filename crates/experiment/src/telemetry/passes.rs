//! Streams of forward-pass records, subscribed to for a whole run and cut into its levels.

use std::sync::Arc;
use std::time::{Duration, Instant};

use fizeau_record::PassSource;
use fizeau_telemetry::{ForwardPassLine, ForwardPassSubscriber};
use fizeau_transport::MonotonicClock;

use crate::input::{InputError, InputField};

/// One stream. Its thread reads it whether a level lasts or not, so that nothing is lost between them.
#[derive(Debug, Clone)]
pub(super) struct PassStream {
    address: Arc<str>,
    subscriber: Arc<ForwardPassSubscriber>,
}

/// What was counted of a stream when a level began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PassCounts {
    lost: u64,
    unreadable: u64,
    forgotten: u64,
    restarts: u64,
}

/// As long as nothing comes for that long, nothing is on its way: records follow the tokens of their pass.
const QUIET: Duration = Duration::from_millis(50);
/// How long a stream that goes on is waited for: somebody else uses the engine then.
const PATIENCE: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);
const GREETING: Duration = Duration::from_secs(3);

impl PassStream {
    /// Subscribes at all of `addresses`, with stamps from `clock`.
    pub(super) fn all(
        addresses: &[String],
        clock: MonotonicClock,
    ) -> Result<Vec<Self>, InputError> {
        addresses.iter().map(|address| Self::new(address, clock)).collect()
    }

    fn new(address: &str, clock: MonotonicClock) -> Result<Self, InputError> {
        let wrong = |error: &dyn std::error::Error| {
            InputError::new(InputField::ForwardPasses, fizeau_telemetry::in_one_line(error))
        };
        let subscriber =
            ForwardPassSubscriber::connect(address, clock).map_err(|error| wrong(&error))?;
        let since = Instant::now();
        while !subscriber.is_ready() && subscriber.ended().is_none() && since.elapsed() < GREETING {
            std::thread::sleep(LOOK);
        }
        match subscriber.is_ready() {
            true => Ok(Self { address: address.into(), subscriber: Arc::new(subscriber) }),
            false => {
                let why = subscriber.ended();
                let why =
                    why.unwrap_or_else(|| "no ZeroMQ publisher answers at that address".to_owned());
                Err(InputError::new(InputField::ForwardPasses, format!("{address}: {why}")))
            }
        }
    }

    /// Waits until what was sent has come.
    fn settle(&self) {
        let begun = Instant::now();
        let (mut seen, mut since) = (self.subscriber.messages(), begun);
        while since.elapsed() < QUIET && begun.elapsed() < PATIENCE {
            std::thread::sleep(LOOK);
            let now = self.subscriber.messages();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
    }

    fn counts(&self) -> PassCounts {
        self.subscriber.look(|passes| PassCounts {
            lost: passes.lost,
            unreadable: passes.unreadable,
            forgotten: passes.forgotten,
            restarts: passes.restarts,
        })
    }

    /// Forgets what came before a level: its warm-up.
    pub(super) fn begin(streams: &[Self]) -> Vec<PassCounts> {
        let begin = |stream: &Self| {
            stream.settle();
            drop(stream.subscriber.take_passes());
            stream.counts()
        };
        streams.iter().map(begin).collect()
    }

    /// What came of each since it was counted `before`.
    pub(super) fn finish(
        streams: &[Self],
        before: &[PassCounts],
    ) -> (Vec<PassSource>, Vec<ForwardPassLine>) {
        let mut lines = Vec::new();
        let mut sources = Vec::new();
        for ((source, stream), before) in (0..).zip(streams).zip(before) {
            stream.settle();
            let own = stream.subscriber.take_passes();
            let now = stream.counts();
            sources.push(PassSource {
                address: stream.address.to_string(),
                passes: own.len() as u64,
                lost: now.lost - before.lost,
                unreadable: now.unreadable - before.unreadable,
                forgotten: now.forgotten - before.forgotten,
                restarts: now.restarts - before.restarts,
                timing_scope: own
                    .back()
                    .and_then(|(_, pass)| pass.timing_scope.as_ref())
                    .map(ToString::to_string),
                failure: stream.subscriber.ended().filter(|_| !stream.subscriber.is_ready()),
            });
            let line = |(at, pass)| ForwardPassLine { source, at, pass };
            lines.extend(own.into_iter().map(line));
        }
        (sources, lines)
    }
}
