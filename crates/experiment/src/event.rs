//! What happens in a run, told as it happens.

use std::fmt::{Display, Formatter};
use std::num::{NonZeroU32, NonZeroU64};

use fizeau_core::{FailureClass, Nanos, Outcome, RequestPurpose, Tape, Tokens};
use fizeau_harness::{DriveNotice, InFlight, Observer};
use fizeau_metrics::{GoodputGoals, RequestMetrics};
use fizeau_record::{LevelDetail, LevelDetailTally, LevelReport, RunSetup};

use crate::endpoint::DetectedEndpoint;

/// What happens in a run. Each is owned and can be sent to another thread.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum RunEvent {
    /// It was found out what an endpoint is.
    Detected(Box<DetectedEndpoint>),
    /// The server at this address is asked for a reply, to see whether it can be used.
    Asking(String),
    /// All is decided, and nothing that counts has been sent.
    Prepared(Box<RunSetup>),
    /// A sweep that was interrupted is resumed.
    Resumed {
        /// How many of its levels are finished.
        finished: usize,
    },
    /// A level begins, with its warm-up.
    LevelStarted(LevelStarted),
    /// The warm-up of a level ends and the measuring begins.
    WarmedUp {
        /// How many requests were sent and did not count.
        requests: u64,
        /// How many measured requests are in flight, from now to the end of the level.
        in_flight: InFlight,
    },
    /// A measured request ended.
    RequestEnded(Box<RequestEnded>),
    /// A level is over, judged, and on disk where the run has a folder.
    LevelEnded(Box<LevelReport>),
    /// Something that who reads the result should know.
    Note(RunNote),
}

/// A level that begins.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelStarted {
    /// Its load in words, such as `concurrency 16`; of a turn of an A/B run the side, `A` or `B`.
    pub name: String,
    /// Its position in the run; none of a run of one level.
    pub position: Option<LevelPosition>,
    /// How many requests it has at the most.
    pub requests: u64,
    /// How long it goes on, where that alone ends it.
    pub time: Option<Nanos>,
    /// What comes after it.
    pub after: AfterLevel,
    /// How many clients measure it. Of several, requests that ended are told only once the level is over.
    pub clients: u64,
}

impl LevelStarted {
    /// The level `name` of at most so many requests, which end it, measured by this client alone; of what comes after it nothing is known.
    #[must_use]
    pub const fn new(name: String, requests: u64) -> Self {
        let (position, time, after) = (None, None, AfterLevel::Unknown);
        Self { name, position, requests, time, after, clients: 1 }
    }
}

/// The position of a level in its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LevelPosition {
    /// Its number, from 1; of an A/B run that of the round.
    pub number: usize,
    /// How many there are, as far as is known; none where what comes of them decides, as in a search.
    pub of: Option<usize>,
}

/// `[3/8]`, or `[3]` where nobody knows how many there are.
impl Display for LevelPosition {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self.of {
            Some(of) => write!(f, "[{}/{of}]", self.number),
            None => write!(f, "[{}]", self.number),
        }
    }
}

/// What comes after a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AfterLevel {
    /// Nobody knows how much.
    #[default]
    Unknown,
    /// What takes so long, about.
    Takes(Nanos),
    /// What fits into this time, counted from when the level begins.
    Budget(Nanos),
    /// So many more levels that are all alike.
    Alike(u32),
}

/// What is told of a request that ended.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct RequestEnded {
    /// What class of failure it was; none of a success.
    pub failure: Option<FailureClass>,
    /// How many tokens came.
    pub output: Tokens,
    /// Its figures.
    pub metrics: RequestMetrics,
}

impl RequestEnded {
    /// What `tape` shows.
    #[must_use]
    pub fn of(tape: &Tape) -> Self {
        Self {
            failure: match &tape.outcome {
                Outcome::Failed(failure) => Some(failure.class),
                Outcome::Complete(_) => None,
            },
            output: tape.output_tokens(),
            metrics: RequestMetrics::of(tape),
        }
    }
}

/// Something that who reads the result should know. Its text names no option of any program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunNote {
    /// A level is shorter than what shows whether it is steady.
    #[error(
        "{} s are left for a level, and levels shorter than {} s cannot show queues that grow slowly",
        time.as_secs_f64().round(), needs.as_secs_f64()
    )]
    ShortLevel {
        /// How long it is.
        time: Nanos,
        /// How long it should be.
        needs: Nanos,
    },
    /// The tapes of a level of an earlier run are cut, though it came to its end.
    #[error("{level}: its tapes.jsonl is not whole, so that it is measured again")]
    CutTapes {
        /// Its folder's name.
        level: String,
    },
    /// The sweep that was resumed did not come to a level of the earlier run.
    #[error(
        "{level} was measured before, and the resumed sweep did not come to it; its folder is set aside"
    )]
    LevelSetAside {
        /// Its folder's name.
        level: String,
    },
    /// There was no time left for all repeated measurements.
    #[error("no time was left for {missing} of the repeated levels")]
    RepeatsLeftOut {
        /// How many were left out.
        missing: u32,
    },
    /// The level that the server's profiler was to run around did not come.
    #[error(
        "the server's profiler was not started, because it was planned for level {level} and the \
        run has fewer levels (levels measured: {measured})"
    )]
    ProfiledLevelNotReached {
        /// Its number, from 1.
        level: NonZeroU32,
        /// How many levels were measured.
        measured: usize,
    },
    /// All levels are shorter than what shows whether they are steady.
    #[error(
        "levels of {} s cannot show queues that grow slowly; levels of {} s can",
        time.as_secs_f64(), needs.as_secs_f64()
    )]
    ShortLevels {
        /// How long they are.
        time: Nanos,
        /// How long they should be.
        needs: Nanos,
    },
    /// The cache of a simulated engine was full.
    #[error(
        "the key-value cache was full, and {times} times a request was evicted from it and prefilled again; fewer requests at \
         once or shorter ones avoid that"
    )]
    Preempted {
        /// How often.
        times: NonZeroU64,
    },
    /// No certificate is checked.
    #[error(
        "no certificate is checked; anyone on the network path can read and change everything, \
         including the API key"
    )]
    Unchecked,
    /// A proxy stands between.
    #[error("requests go through the proxy {0}, and every latency includes its time")]
    Proxy(String),
    /// A connection for each request may use up the local ports. Whether it does depends on how fast the server answers.
    #[error(
        "each of {requests} requests makes a connection: a closed one keeps its port for a \
         minute, and more than {limit} in a minute will fail"
    )]
    ScarcePorts {
        /// How many requests there are.
        requests: u64,
        /// How many ports.
        limit: u64,
    },
    /// A run without a limit of requests in flight may want more connections than there is room for. Only a server that falls far behind
    /// the rate makes so many.
    #[error(
        "if the server falls far behind the rate, this run of {requests} requests may need more \
         connections than the {limit} that the system has room for"
    )]
    ScarceConnections {
        /// How many requests there are.
        requests: u64,
        /// For how many connections there is room.
        limit: u64,
    },
    /// A server refuses token ids.
    #[error(
        "{refused}; it takes the same prompt as text, so all prompts are sent as text; their \
         lengths are close to those requested, and the server counts them"
    )]
    TextPrompts {
        /// What it said to them.
        refused: String,
    },
    /// A server lists another model than the one that is asked, and answers anyway.
    #[error(
        "the server answers to `{requested}` but lists `{served}`: the figures are those of that model"
    )]
    OtherModel {
        /// The name in the requests.
        requested: String,
        /// The one that the server lists.
        served: String,
    },
    /// Servers' own pages of metrics are not there: nothing is said of what they did meanwhile.
    #[error("no server metrics: {0}")]
    NoServerMetrics(String),
    /// The same, since a page is behind a key.
    #[error("no server metrics: {0}")]
    ServerMetricsNeedKey(String),
    /// Anything else, in words.
    #[error("{0}")]
    Other(String),
}

/// Whoever watches a run. It is called on the task that collects what was measured, where it should be quick.
pub trait Watcher {
    /// Takes note.
    fn event(&mut self, _: RunEvent) {}

    /// Looks at the tape of a measured request or probe that ended, where more of it is wanted than [`RunEvent::RequestEnded`] tells.
    fn tape(&mut self, _: &Tape) {}

    /// What it saw of the tapes of a level that is over, which had at most so many requests in flight if there was a limit, for a page
    /// or a picture of it: it becomes a part of the level's report.
    fn detail(&mut self, _: &LevelReport, _: Option<NonZeroU32>) -> Option<LevelDetail> {
        None
    }

    /// Whether it wants to hear of each request that ended.
    fn watches_requests(&self) -> bool {
        true
    }
}

/// Keeps what the tapes of each level show beside its figures, for pages and pictures: some 100 kB a level. Where a run has a folder, it may be
/// read from there at the end instead (`with_details` of `fizeau-interop`).
#[derive(Debug)]
pub struct DetailWatcher<T> {
    tally: T,
    goals: GoodputGoals,
}

impl<T: LevelDetailTally> DetailWatcher<T> {
    /// By these goals of single requests.
    #[must_use]
    pub fn new(goals: &GoodputGoals) -> Self {
        Self { tally: T::default(), goals: goals.clone() }
    }
}

impl<T: LevelDetailTally> Watcher for DetailWatcher<T> {
    fn tape(&mut self, tape: &Tape) {
        self.tally.add(tape);
    }

    fn detail(&mut self, level: &LevelReport, cap: Option<NonZeroU32>) -> Option<LevelDetail> {
        let tally = std::mem::take(&mut self.tally);
        Some(tally.finish(&level.summary, &self.goals, cap.map(NonZeroU32::get)))
    }

    fn watches_requests(&self) -> bool {
        false
    }
}

/// Adds up what it wants of the tapes of requests that end.
///
/// ```
/// use fizeau_core::Tape;
/// use fizeau_experiment::TapeWatcher;
///
/// let watcher = TapeWatcher::new(0_usize, |events, tape: &Tape| *events += tape.arrivals.len());
/// assert_eq!(watcher.into_inner(), 0);
/// ```
#[derive(Debug)]
pub struct TapeWatcher<T> {
    tally: T,
    add: fn(&mut T, &Tape),
}

impl<T> TapeWatcher<T> {
    /// By `add`, to what `tally` has.
    #[must_use]
    pub fn new(tally: T, add: fn(&mut T, &Tape)) -> Self {
        Self { tally, add }
    }

    /// What it added up.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.tally
    }
}

impl<T> Watcher for TapeWatcher<T> {
    fn tape(&mut self, tape: &Tape) {
        (self.add)(&mut self.tally, tape);
    }

    fn watches_requests(&self) -> bool {
        false
    }
}

/// Both watch, the first first.
impl<A: Watcher, B: Watcher> Watcher for (A, B) {
    fn event(&mut self, event: RunEvent) {
        self.0.event(event.clone());
        self.1.event(event);
    }

    fn tape(&mut self, tape: &Tape) {
        self.0.tape(tape);
        self.1.tape(tape);
    }

    fn detail(&mut self, level: &LevelReport, cap: Option<NonZeroU32>) -> Option<LevelDetail> {
        self.0.detail(level, cap).or_else(|| self.1.detail(level, cap))
    }

    fn watches_requests(&self) -> bool {
        self.0.watches_requests() || self.1.watches_requests()
    }
}

/// Nobody watches.
impl Watcher for () {
    fn watches_requests(&self) -> bool {
        false
    }
}

/// It watches, if there is one.
impl<W: Watcher> Watcher for Option<W> {
    fn event(&mut self, event: RunEvent) {
        self.iter_mut().for_each(|watcher| watcher.event(event.clone()));
    }

    fn tape(&mut self, tape: &Tape) {
        self.iter_mut().for_each(|watcher| watcher.tape(tape));
    }

    fn detail(&mut self, level: &LevelReport, cap: Option<NonZeroU32>) -> Option<LevelDetail> {
        self.as_mut().and_then(|watcher| watcher.detail(level, cap))
    }

    fn watches_requests(&self) -> bool {
        self.as_ref().is_some_and(Watcher::watches_requests)
    }
}

impl<W: Watcher + ?Sized> Watcher for &mut W {
    fn event(&mut self, event: RunEvent) {
        (**self).event(event);
    }

    fn tape(&mut self, tape: &Tape) {
        (**self).tape(tape);
    }

    fn detail(&mut self, level: &LevelReport, cap: Option<NonZeroU32>) -> Option<LevelDetail> {
        (**self).detail(level, cap)
    }

    fn watches_requests(&self) -> bool {
        (**self).watches_requests()
    }
}

/// Tells a [`Watcher`] of the requests of a level.
pub(crate) struct Telling<'a, W>(pub(crate) &'a mut W);

impl<W: Watcher> Observer for Telling<'_, W> {
    fn notice(&mut self, notice: DriveNotice<'_>) {
        if let DriveNotice::RequestEnded(tape) = notice {
            self.0.tape(tape);
        }
        match notice {
            DriveNotice::WarmedUp { requests, in_flight, .. } => {
                self.0.event(RunEvent::WarmedUp { requests, in_flight: in_flight.clone() });
            }
            // Probes are no part of what is told.
            DriveNotice::RequestEnded(tape)
                if tape.part == RequestPurpose::Load && self.0.watches_requests() =>
            {
                self.0.event(RunEvent::RequestEnded(Box::new(RequestEnded::of(tape))));
            }
            _ => {}
        }
    }
}
