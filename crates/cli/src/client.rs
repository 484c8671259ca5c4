//! The client that measures: its worker threads, what it needs of the system, and when it is to be believed.

use std::num::{NonZeroU32, NonZeroUsize};
use std::sync::Arc;

use fizeau::harness::{Cancel, Crew, Needs, Recounted, TextAfter, headroom};
use fizeau::metrics::{Ceiling, Headroom, Thresholds};
use fizeau::transport::{HttpTransport, MonotonicClock, RequestError, Target};
use fizeau::workload::TextCodec;

use crate::args::ClientArgs;
use crate::exit::{Fail, Named};

/// The client as the command line wants it. Nothing runs yet.
pub(crate) struct Client {
    threads: NonZeroUsize,
    pub(crate) thresholds: Thresholds,
    /// What the run needs of the system beside what there is.
    pub(crate) headroom: Headroom,
    /// What it can do at most, where that was measured.
    pub(crate) ceiling: Option<Ceiling>,
}

impl Client {
    /// The client that `args` describe, for at most `connections` at a time. Refused if the system has no room for them.
    pub(crate) fn new(args: &ClientArgs, connections: u64) -> Result<Self, Fail> {
        let threads = args
            .threads
            .unwrap_or_else(|| std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
        let thresholds = args.threshold.join(",").parse().named("--threshold")?;
        let threads_u64 = threads.get() as u64;
        let needs = Needs { connections, fresh_connections: connections, threads: threads_u64 };
        let headroom = headroom(&needs).map_err(Fail::usage)?;
        Ok(Self { threads, thresholds, headroom, ceiling: None })
    }

    /// Says so where a connection for each of `requests` may use up the local ports. No more than a note: whether it
    /// does depends on how fast the server answers.
    pub(crate) fn note_ports(&self, requests: u64) {
        if let Some(ports) = self.headroom.ports.filter(|ports| requests > ports.limit) {
            eprintln!(
                "note: --new-connection-per-request makes {requests} connections, and a closed one keeps its port for a \
                 minute: more than {} in a minute will fail",
                ports.limit
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
            text: counting.text,
        };
        let crew = Crew::start(self.threads, clock, cancel.clone(), make);
        crew.map_err(|error| Fail::broken(format!("the system refuses a thread: {error}")))
    }
}

/// What becomes of the text of replies.
#[derive(Clone)]
pub(crate) struct Counting {
    /// Counts where the server does not.
    pub(crate) tokenizer: Option<Arc<dyn TextCodec>>,
    pub(crate) text: TextAfter,
}

/// The most connections that a run of `requests` may have at a time. An open loop at a finite rate may never need as many
/// as it has requests, and nobody knows how many before the server has shown itself.
pub(crate) fn connections(cap: Option<NonZeroU32>, requests: u64, all_at_once: AllAtOnce) -> u64 {
    let most = match (cap, all_at_once) {
        (Some(cap), _) => cap.get().into(),
        (None, AllAtOnce::Yes) => u64::MAX,
        (None, AllAtOnce::No) => MOST_AHEAD,
    };
    requests.min(most)
}

/// Whether an uncapped run sends all its requests at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AllAtOnce {
    No,
    Yes,
}

const MOST_AHEAD: u64 = 1_024;
