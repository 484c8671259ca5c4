//! The client that measures: its worker threads, what it needs of the system, and when it is to be believed.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use fizeau::harness::{Cancel, Crew, Needs, Recounted, connections_ahead, headroom};
use fizeau::metrics::{Ceiling, Headroom, Thresholds};
use fizeau::transport::{HttpTransport, MonotonicClock, RequestError, Target};
use fizeau::workload::{Pacing, TextCodec};

use crate::args::ClientArgs;
use crate::exit::{Fail, Named};

/// The client as the command line wants it. Nothing runs yet.
pub(crate) struct Client {
    threads: NonZeroUsize,
    pub(crate) thresholds: Thresholds,
    /// What the run needs of the system beside what there is; none where it needs nothing.
    pub(crate) headroom: Option<Headroom>,
    /// What it can do at most, where that was measured.
    pub(crate) ceiling: Option<Ceiling>,
}

impl Client {
    /// The client that `args` describe, with the connections that are `wanted`. Refused if the system has no room for them.
    pub(crate) fn new(args: &ClientArgs, wanted: Wanted) -> Result<Self, Fail> {
        let threads = args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let thresholds = args.threshold.join(",").parse().named("--threshold")?;
        let headroom = headroom(&wanted.needs(threads.get() as u64)).map_err(Fail::usage)?;
        Ok(Self { threads, thresholds, headroom: Some(headroom), ceiling: None })
    }

    /// That of a run that is over, or of one that nobody measures.
    pub(crate) const fn of_record(
        thresholds: Thresholds,
        headroom: Option<Headroom>,
        ceiling: Option<Ceiling>,
    ) -> Self {
        Self { threads: NonZeroUsize::MIN, thresholds, headroom, ceiling }
    }

    /// Says so where a connection for each of `requests` may use up the local ports. No more than a note: whether it
    /// does depends on how fast the server answers.
    pub(crate) fn note_ports(&self, requests: u64) {
        if let Some(ports) =
            self.headroom.and_then(|headroom| headroom.ports).filter(|ports| requests > ports.limit)
        {
            tell!(
                "note: --new-connection-per-request makes {requests} connections, and a closed one keeps its port for a \
                 minute: more than {} in a minute will fail",
                ports.limit
            );
        }
    }

    /// Says so where an uncapped run of `requests` may want more connections than there is room for. No more than a note:
    /// only a server that falls far behind the rate makes so many.
    pub(crate) fn note_backlog(&self, requests: u64) {
        let Headroom { file_descriptors, ports } = self.headroom.unwrap_or_default();
        let limits = [file_descriptors, ports].into_iter().flatten().map(|room| room.limit);
        if let Some(least) = limits.min().filter(|least| requests > *least) {
            tell!(
                "note: should the server fall far behind the rate, there is room for fewer than {least} connections, and \
                 this run has {requests} requests; `ulimit -n` makes room, --max-concurrency bounds them"
            );
        }
    }

    /// How many threads measure.
    pub(crate) const fn threads(&self) -> usize {
        self.threads.get()
    }

    /// Starts the threads, each with connections of its own to `target`.
    pub(crate) fn start(
        &self,
        target: &Target,
        clock: MonotonicClock,
        counting: &Counting,
        cancel: &Cancel,
    ) -> Result<Crew<RequestError>, Fail> {
        let (target, counting) = (target.clone(), counting.clone());
        let make = move |_| Recounted {
            transport: HttpTransport::new(target.clone(), clock),
            counter: counting.tokenizer.clone(),
        };
        let crew = Crew::start(self.threads, clock, cancel.clone(), make);
        crew.map_err(|error| Fail::broken(format!("the system refuses a thread: {error}")))
    }
}

/// Who counts tokens where the server does not.
#[derive(Clone)]
pub(crate) struct Counting {
    pub(crate) tokenizer: Option<Arc<dyn TextCodec>>,
}

/// What a run wants of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The most requests in flight, as far as that can be told before the server has shown itself.
    pub(crate) in_flight: u64,
    /// Over how many addresses they are shared.
    pub(crate) addresses: u64,
    /// How many requests share a connection; none where each has one of its own.
    pub(crate) streams: Option<NonZeroU32>,
}

impl Wanted {
    /// For `in_flight` requests, each with a connection of its own, to one address.
    pub(crate) const fn of(in_flight: u64) -> Self {
        Self { in_flight, addresses: 1, streams: None }
    }

    fn needs(&self, threads: u64) -> Needs {
        let connections = match self.streams {
            // Each thread has connections of its own to each address, the last of which may be all but empty.
            Some(streams) => {
                let shared = self.in_flight.div_ceil(streams.get().into());
                shared.saturating_add(threads * self.addresses).min(self.in_flight)
            }
            None => self.in_flight,
        };
        Needs {
            connections,
            fresh_connections: connections.div_ceil(self.addresses.max(1)),
            threads,
        }
    }
}

/// The most requests in flight in a run of `requests` with such arrivals. In an open loop at a finite rate nobody knows
/// before the server has shown itself: what is opened ahead is what is asked for.
pub(crate) fn in_flight(requests: u64, cap: Option<NonZeroU32>, pacing: Pacing) -> u64 {
    match (cap, pacing) {
        (None, Pacing::AtOnce) => requests,
        _ => connections_ahead(requests, cap, pacing),
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use fizeau::core::PerSec;
    use fizeau::workload::Pacing;

    use super::{Wanted, in_flight};

    #[test]
    fn an_open_loop_wants_what_its_rate_may_need() {
        let at = |rate| Pacing::OpenLoop { peak: Some(PerSec::new(rate)) };
        assert_eq!(in_flight(1_000, None, at(4.0)), 20);
        assert_eq!(in_flight(1_000, None, at(0.1)), 16);
        assert_eq!(in_flight(3, None, at(4.0)), 3);
        assert_eq!(in_flight(1_000, None, at(1e9)), 1_000);
        assert_eq!(in_flight(1_000, NonZeroU32::new(7), at(4.0)), 7);
        assert_eq!(in_flight(9_999, None, Pacing::AtOnce), 9_999);
    }

    #[test]
    fn connections_are_shared_over_addresses_and_by_streams() {
        let needs = |addresses, streams| {
            let needs = Wanted { in_flight: 1_000, addresses, streams }.needs(2);
            (needs.connections, needs.fresh_connections)
        };
        assert_eq!(needs(1, None), (1_000, 1_000));
        assert_eq!(needs(3, None), (1_000, 334));
        assert_eq!(needs(1, NonZeroU32::new(100)), (12, 12));
        assert_eq!(needs(2, NonZeroU32::new(100)), (14, 7));
        assert_eq!(needs(1, Some(NonZeroU32::MIN)), (1_000, 1_000));
    }
}
