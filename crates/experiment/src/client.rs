//! The client that measures: its worker threads, what it needs of the system, and when it is to be believed.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use fizeau_core::PerSec;
use fizeau_harness::{Cancel, Recounted, SystemNeeds, WorkerPool, connections_ahead, headroom};
use fizeau_metrics::{ClientCeiling, OnTimeLimit, SystemHeadroom, Thresholds};
use fizeau_record::{CalibrationEnd, ClientCalibration, ClientPlan, OnTimeStreams};
use fizeau_transport::{HttpTransport, MonotonicClock, RequestError, Target};
use fizeau_workload::{Pacing, TextCodec};

use crate::input::{Blame, ExperimentError, InputError, InputField};
use crate::shards::ShardGroup;

/// The client that is asked for.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ClientSpec {
    /// How many threads measure; none for one for each logical core.
    pub threads: Option<NonZeroUsize>,
    /// Where the verdict begins to doubt.
    pub thresholds: Thresholds,
    /// The same in the words of whoever asked, for the record; empty where nobody did.
    pub threshold_words: Vec<String>,
}

impl ClientSpec {
    /// The client, with the connections that are `wanted`.
    ///
    /// # Errors
    /// If the system has no room for them.
    pub(crate) fn prepare(&self, wanted: ConnectionNeeds) -> Result<MeasuringClient, InputError> {
        let threads = self
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let needs = wanted.needs(threads.get() as u64);
        let headroom = headroom(&needs).blame(InputField::Connections)?;
        let client = MeasuringClient::of_record(self.thresholds, Some(headroom), None);
        Ok(MeasuringClient { threads, threshold_words: self.threshold_words.clone(), ..client })
    }
}

/// The client that measures. Nothing runs yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct MeasuringClient {
    threads: NonZeroUsize,
    threshold_words: Vec<String>,
    calibration: Option<ClientCalibration>,
    /// The clients that measure with it; none where it does alone.
    pub(crate) shards: Option<ShardGroup>,
    /// Where the verdict begins to doubt.
    pub thresholds: Thresholds,
    /// What the run needs of the system beside what there is; none where it needs nothing.
    pub headroom: Option<SystemHeadroom>,
    /// What it can do at most, where that was measured.
    pub ceiling: Option<ClientCeiling>,
}

impl Default for MeasuringClient {
    /// One of which nothing is known, as that of a simulation in virtual time.
    fn default() -> Self {
        Self::of_record(Thresholds::default(), None, None)
    }
}

impl MeasuringClient {
    /// That of a run that is over, or of one that nobody measures.
    pub(crate) const fn of_record(
        thresholds: Thresholds,
        headroom: Option<SystemHeadroom>,
        ceiling: Option<ClientCeiling>,
    ) -> Self {
        let threads = NonZeroUsize::MIN;
        let threshold_words = Vec::new();
        let (calibration, shards) = (None, None);
        Self { threads, threshold_words, calibration, shards, thresholds, headroom, ceiling }
    }

    /// The same, of which is known what it can do at most.
    #[must_use]
    pub fn calibrated(self, calibration: ClientCalibration) -> Self {
        let ceiling = Some(client_ceiling(&calibration));
        Self { calibration: Some(calibration), ceiling, ..self }
    }

    /// How many clients measure together, this one among them.
    pub(crate) fn count(&self) -> u64 {
        self.shards.as_ref().map_or(1, |group| group.shard().count().get())
    }

    /// The same, measuring by itself.
    pub(crate) fn alone(self) -> Self {
        Self { shards: None, ..self }
    }

    /// For the record.
    pub(crate) fn plan(&self) -> ClientPlan {
        let thresholds = self.threshold_words.clone();
        ClientPlan { threads: self.threads.get(), thresholds, calibration: self.calibration }
    }

    /// How many local ports there are, where a connection for each of `requests` may use them up: a closed one keeps its port
    /// for a minute. Whether it does depends on how fast the server answers.
    pub(crate) fn scarce_ports(&self, requests: u64) -> Option<u64> {
        let ports = self.headroom.and_then(|headroom| headroom.ports);
        ports.map(|room| room.limit).filter(|limit| requests > *limit)
    }

    /// For how many connections there is room, where an uncapped run of `requests` may want more: only a server that falls far
    /// behind the rate makes so many.
    pub(crate) fn scarce_connections(&self, requests: u64) -> Option<u64> {
        let SystemHeadroom { file_descriptors, ports } = self.headroom.unwrap_or_default();
        let limits = [file_descriptors, ports].into_iter().flatten().map(|room| room.limit);
        limits.min().filter(|least| requests > *least)
    }

    /// How many threads measure.
    pub const fn threads(&self) -> usize {
        self.threads.get()
    }

    /// Starts the threads, each with connections of its own to `target`; `tokenizer` counts where the server does not.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn start(
        &self,
        target: &Target,
        clock: MonotonicClock,
        tokenizer: Option<Arc<dyn TextCodec>>,
        cancel: &Cancel,
    ) -> Result<WorkerPool<RequestError>, ExperimentError> {
        let target = target.clone();
        let make = move |_| Recounted {
            transport: HttpTransport::new(target.clone(), clock),
            counter: tokenizer.clone(),
        };
        let pool = WorkerPool::start(self.threads, clock, cancel.clone(), make);
        let refused = |error| format!("the system cannot start a thread: {error}");
        pool.map_err(|error| ExperimentError::broken(refused(error)))
    }
}

/// What a run is compared with. The paced streams limit it only where the search came to a limit. A client that had not even the fewest
/// of them on time has shown that it can do none, and is taken to do one: not to be one without a limit.
fn client_ceiling(of: &ClientCalibration) -> ClientCeiling {
    let OnTimeStreams { streams, reached, .. } = of.on_time;
    let streams = streams.max(1);
    let on_time = OnTimeLimit {
        streams: streams.into(),
        // Before its tokens a stream waits for the first one.
        tokens_per_s: PerSec::new(f64::from(streams) * PACED_TOKENS as f64 / PACED_SECONDS),
    };
    let has_limit = reached == CalibrationEnd::Limit;
    ClientCeiling {
        streams: of.streams,
        tokens_per_s: of.tokens_per_s,
        on_time: has_limit.then_some(on_time),
    }
}

/// The tokens of a paced stream of a calibration.
pub(crate) const PACED_TOKENS: u64 = 50;

/// How long a paced stream takes.
pub(crate) const PACED_SECONDS: f64 = 0.54;

/// What a run wants of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ConnectionNeeds {
    /// The most requests in flight, as far as that can be told before the server has shown itself.
    pub(crate) in_flight: u64,
    /// Over how many addresses they are shared.
    pub(crate) addresses: u64,
    /// How many requests share a connection; none where each has one of its own.
    pub(crate) streams: Option<NonZeroU32>,
}

impl ConnectionNeeds {
    /// For `in_flight` requests, each with a connection of its own, to one address.
    pub(crate) const fn of(in_flight: u64) -> Self {
        Self { in_flight, addresses: 1, streams: None }
    }

    fn needs(&self, threads: u64) -> SystemNeeds {
        let connections = match self.streams {
            // Each thread has connections of its own to each address, the last of which may be all but empty.
            Some(streams) => {
                let shared = self.in_flight.div_ceil(streams.get().into());
                shared.saturating_add(threads * self.addresses).min(self.in_flight)
            }
            None => self.in_flight,
        };
        SystemNeeds {
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

    use fizeau_core::{Millis, PerSec};
    use fizeau_record::{CalibrationEnd, ClientCalibration, OnTimeStreams};
    use fizeau_workload::Pacing;

    use super::{ConnectionNeeds, client_ceiling, in_flight};

    #[test]
    fn a_client_that_has_no_stream_on_time_has_the_lowest_limit_and_not_none() {
        let limit = |streams, reached| {
            let rate = PerSec::new(100.0);
            let lateness_ms = Millis::new(1.0);
            let on_time =
                OnTimeStreams { streams, stream_tokens_per_s: rate, lateness_ms, reached };
            let (tokens_per_s, requests_per_s) = (rate, rate);
            let of = ClientCalibration {
                threads: 1,
                streams: 64,
                tokens_per_s,
                requests_per_s,
                on_time,
            };
            client_ceiling(&of).on_time.map(|limit| limit.streams)
        };
        assert_eq!(limit(0, CalibrationEnd::Limit), Some(1));
        assert_eq!(limit(16, CalibrationEnd::Limit), Some(16));
        assert_eq!(limit(256, CalibrationEnd::EndOfSearch), None);
    }

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
            let needs = ConnectionNeeds { in_flight: 1_000, addresses, streams }.needs(2);
            (needs.connections, needs.fresh_connections)
        };
        assert_eq!(needs(1, None), (1_000, 1_000));
        assert_eq!(needs(3, None), (1_000, 334));
        assert_eq!(needs(1, NonZeroU32::new(100)), (12, 12));
        assert_eq!(needs(2, NonZeroU32::new(100)), (14, 7));
        assert_eq!(needs(1, Some(NonZeroU32::MIN)), (1_000, 1_000));
    }
}
