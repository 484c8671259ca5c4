//! One level: warm up, drive_with_probe, and say what was measured.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Debug;
use std::future::Future;
use std::num::NonZeroU32;

use fizeau_core::{Nanos, RequestSource, Stamp, Tape, TapeSink, Timer, Transport, WarmUp};
use fizeau_metrics::{
    ClientProof, ClientWatch, GoodputGoals, LevelEnding, LevelExpectations, LevelSummary,
    LevelTally, Precision, PrecisionOutcome, Validity, WindowChoice, judge,
};
use fizeau_workload::{Pacing, RequestWalk, SessionNumbers, Shard, WalkError, Workload};

use crate::drive::{
    DriveEnding, DriveError, DriveLimits, DriveLoop, DriveOutcome, LoadHold, LocalSlots,
    ProbeStream, SinkOutlet, SlotOpening, TextAfter, drive, drive_with_probe,
};
use crate::observe::{DriveNotice, Observer, PrecisionWatch};
use crate::proof::{CpuWatch, SelfWatch, StealWatch};
use crate::{Cancel, InFlight};

/// Whatever can measure one level of a plan after another: a [`WorkerPool`](crate::WorkerPool) of worker threads, or a [`TaskDriver`] on one
/// task, in virtual time too.
pub trait Measure {
    /// Why a request could not be tried.
    type Error: Error;

    /// Measures `level`. Each tape goes to `sink` and then to `observer` as its request ends, and is not kept.
    ///
    /// # Errors
    /// If a request cannot be expressed, or the sink fails. Tapes recorded until then stay recorded.
    fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> impl Future<Output = Result<LevelRun, DriveError<WalkError, Self::Error, K::Error>>>;

    /// What calls the run off.
    fn cancel(&self) -> &Cancel;

    /// The present instant, on the clock that stamps what is measured.
    fn now(&self) -> Stamp;
}

impl<M: Measure> Measure for &mut M {
    type Error = M::Error;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, M::Error, K::Error>> {
        (**self).measure(level, sink, observer).await
    }

    fn cancel(&self) -> &Cancel {
        (**self).cancel()
    }

    fn now(&self) -> Stamp {
        (**self).now()
    }
}

/// The transport, clock and switch with which one task measures every level of a run.
#[derive(Debug, Clone, Copy)]
pub struct TaskDriver<'a, T, C> {
    /// Carries requests out.
    pub transport: &'a T,
    /// Tells the time and waits.
    pub timer: &'a C,
    /// Whether the measuring thread watches its own CPU use.
    pub watch: SelfWatch,
    /// Calls the run off.
    pub cancel: &'a Cancel,
}

impl<T: Transport, C: Timer> Measure for TaskDriver<'_, T, C> {
    type Error = T::Error;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, DriveError<WalkError, T::Error, K::Error>> {
        let numbers = level.warmup_numbers();
        let warmup = warm_up(self, level.plan.warmup(numbers), level.load)
            .await
            .map_err(DriveError::widen)?;
        let in_flight = InFlight::default();
        let off = self.cancel.part();
        let gate = level.begin(self.timer.now(), &off);
        let agreed = level.start.map(|_| gate);
        let (requests, counted) = (warmup.sent, &in_flight);
        observer.notice(DriveNotice::WarmedUp { agreed, requests, in_flight: counted });
        let enough = Cancel::new();
        let mut tee = Tee::of(&level, enough.clone(), sink, observer);
        let mut requests = level.plan.walk(level.shard.sessions());
        if level.start.is_some() {
            // The wait for others is no part of the level.
            off.unless_thrown(self.timer.sleep_until(gate - LEAD)).await;
        }
        let steal = StealWatch::start(self.watch, self.timer);
        let watch = CpuWatch::start(self.watch, self.timer);
        let start = gate.max(self.timer.now());
        if level.start.is_some() {
            off.unless_thrown(self.timer.sleep_until(start)).await;
        }
        let drive_loop = DriveLoop::new(self.transport, self.timer, &off, start);
        let drive_loop =
            drive_loop.with(level.load.stop_after, level.text).until(level.until.map(|_| &enough));
        let drive_loop = drive_loop.counted(in_flight);
        let slots =
            LocalSlots::new(self.timer, level.load.max_in_flight, SlotOpening::at_once(start));
        let (load_hold, over) = LoadHold::new();
        let probe = level.probe.map(|probe| probe.until(&over, level.shard));
        let mut outlet = SinkOutlet::new(&mut tee);
        let driven =
            drive_with_probe(&drive_loop, &mut requests, load_hold, slots, probe, &mut outlet)
                .await?;
        let steal_share = steal.share(self.timer);
        let watch = ClientWatch { steal_share, ..watch.stop(self.timer) };
        Ok(LevelRun::of(tee, watch, driven, warmup))
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }

    fn now(&self) -> Stamp {
        self.timer.now()
    }
}

/// The result of a level. Its tapes went to the sink and the observer as they ended.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelRun {
    /// What the tapes amount to.
    pub summary: LevelSummary,
    /// What the client saw of itself.
    pub client: ClientProof,
    /// When it began, and why it ended.
    pub driven: DriveOutcome,
    /// What came of the warm-up.
    pub warmup: WarmUp,
    /// How well is known what was asked for, of all that was measured; empty if nothing was.
    pub precision: Vec<PrecisionOutcome>,
}

impl LevelRun {
    /// That of a level that was called off at `at`, before anything of it was measured.
    #[must_use]
    pub fn nothing(level: &PlannedLevel<'_>, at: Stamp) -> Self {
        let mut tally = LevelTally::new(level.goals);
        tally.settle();
        let client = tally.proof(ClientWatch::default());
        let (driven, warmup) = (DriveOutcome::none(at), WarmUp::default());
        Self { summary: tally.summary(), client, driven, warmup, precision: Vec::new() }
    }

    /// Whether the level was called off before it was done.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        matches!(self.driven.ended, DriveEnding::Cancelled)
    }

    /// Whether the level is to be believed, by the default thresholds and without knowing the speed of light or what a prefix
    /// cache may supply: who knows more asks [`judge`] themselves.
    #[must_use]
    pub fn validity(&self) -> Validity {
        let ending =
            if self.is_partial() { LevelEnding::Interrupted } else { LevelEnding::Finished };
        let DriveOutcome { held_back, abandoned, .. } = self.driven;
        let expected =
            LevelExpectations { ending, held_back, abandoned, ..LevelExpectations::default() };
        judge(&self.summary, &self.client, &expected)
    }

    /// The level that `tee` was kept of.
    pub(crate) fn of<K, O>(
        tee: Tee<'_, K, O>,
        watch: ClientWatch,
        driven: DriveOutcome,
        warmup: WarmUp,
    ) -> Self {
        let Tee { mut tally, looks, .. } = tee;
        tally.settle();
        let precision = looks.map(|looks| tally.precision(looks.requested)).unwrap_or_default();
        let (mut summary, client) = (tally.summary(), tally.proof(watch));
        let counts = &mut summary.requests;
        (counts.held_back, counts.abandoned) = (driven.held_back, driven.abandoned);
        summary.note_unsent(driven.unsent);
        Self { summary, client, driven, warmup, precision }
    }

    /// Whether all that was asked for is known well enough: the level was ended for that, or its intervals are narrow enough at
    /// its end. Where nothing was asked for, it is.
    ///
    /// What was in flight when a level was ended still counts, so that an interval may be a little wider in the end.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        let reached = self.precision.iter().all(PrecisionOutcome::is_reached);
        reached || self.driven.ended == DriveEnding::Enough
    }
}

/// How far ahead of its start a level's workers are told of it, and its watches begin: longer than it takes to wake a worker or to
/// read the system's accounts, short enough to be no wait.
pub(crate) const LEAD: Nanos = Nanos::from_millis(2);

/// Three sinks in one: the sums of the summary, the caller's own (a file), and whoever watches.
pub(crate) struct Tee<'a, K, O> {
    pub(crate) tally: LevelTally,
    pub(crate) sink: &'a mut K,
    pub(crate) observer: &'a mut O,
    /// Where the level ends once enough is known.
    pub(crate) looks: Option<PrecisionWatch<'a>>,
}

impl<'a, K, O> Tee<'a, K, O> {
    /// What is kept of `level`, which throws `enough` where it is to end early.
    pub(crate) fn of(
        level: &PlannedLevel<'a>,
        enough: Cancel,
        sink: &'a mut K,
        observer: &'a mut O,
    ) -> Self {
        let tally = level.tally();
        let most = level.load.stop_after;
        let looks = level.until.map(|requested| PrecisionWatch::new(requested, enough, most));
        Self { tally, sink, observer, looks }
    }
}

impl<K: TapeSink, O: Observer> TapeSink for Tee<'_, K, O> {
    type Error = K::Error;

    fn record(&mut self, tape: &Tape) -> Result<(), K::Error> {
        self.sink.record(tape)?;
        self.tally.add(tape);
        self.observer.notice(DriveNotice::RequestEnded(tape));
        self.looks.iter_mut().for_each(|looks| looks.grown(&self.tally));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), K::Error> {
        self.sink.flush()
    }
}

async fn warm_up<S: RequestSource, T: Transport, C: Timer>(
    rig: &TaskDriver<'_, T, C>,
    mut requests: S,
    load: DriveLimits,
) -> Result<WarmUp, DriveError<S::Error, T::Error, Infallible>> {
    let load = DriveLimits { stop_after: None, ..load };
    let mut count = WarmUp::default();
    drive(&mut requests, rig.transport, rig.timer, load, &mut count, rig.cancel).await?;
    Ok(count)
}

// One level of a plan, as it is asked for.

/// One level of a plan, to be measured.
#[derive(Debug, Clone, Copy)]
pub struct PlannedLevel<'a> {
    /// The measured requests.
    pub plan: &'a dyn Workload,
    /// Which of the plan's sessions are ours.
    pub shard: Shard,
    /// How many requests to send first that do not count, at the level's own concurrency.
    pub warmup: u64,
    /// The limits of a drive: how many requests may be in flight, and how long it lasts.
    pub load: DriveLimits,
    /// Per-request goals, for goodput.
    pub goals: &'a GoodputGoals,
    /// Which part of it is looked at beside the whole: its steady state, where nothing else is asked.
    pub window: WindowChoice,
    /// A thin stream of requests beside the load.
    pub probe: Option<Probe<'a>>,
    /// What becomes of the text of replies, where the transport keeps it.
    pub text: TextAfter,
    /// Release nothing more once this is known well enough, and let what is in flight finish. The plan has the most requests
    /// that are sent.
    ///
    /// It is looked at when 100 requests have completed, and then each time that there are a fifth more (or as many as the
    /// interval needs). Where it only shortens the level ([`PrecisionGoal::from`](fizeau_metrics::PrecisionGoal::from)), it is looked at
    /// from that time and three requests on, unless 100 complete within half of the level's time. Ending a level because an interval is narrow favours those that happen to come out narrow: the interval
    /// then encloses the truth a little less often than it says.
    pub until: Option<&'a Precision>,
    /// What says when it begins, where other clients measure it too; none to begin as soon as this one is ready.
    pub start: Option<&'a dyn StartGate>,
    /// What it is called among the clients that measure it; empty where there is one alone.
    pub name: &'a str,
}

/// What says when a level begins that several clients measure together.
pub trait StartGate: Debug + Sync {
    /// The client has warmed up and was `ready` then, on the clock that stamps what is measured. Gives the instant at which the level
    /// begins, on the same clock, which may be a while ahead; none to call the level off. It may block: nothing is measured meanwhile.
    fn begin(&self, ready: Stamp) -> Option<Stamp>;
}

/// A thin stream of small requests beside the load, which shows what somebody else's request meets there.
///
/// It runs outside of the load's cap, from the start of the level until the load is over; then no further probe is
/// released, and those in flight finish. At most 256 probes are in flight: who waits for that keeps its intended instant. Their tapes go where the load's go and are marked [`RequestPurpose::Probe`]. They have the
/// numbers of their own plan, so that a tape of the load may have the same.
///
/// [`RequestPurpose::Probe`]: fizeau_core::RequestPurpose::Probe
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// What is sent, and when: an open loop at a small rate, with requests enough for the whole level.
    pub plan: &'a dyn Workload,
}

impl Probe<'_> {
    /// The stream, to be ended by `over`.
    pub(crate) fn until(self, over: &Cancel, shard: Shard) -> ProbeStream<RequestWalk> {
        ProbeStream { requests: self.plan.walk(shard.sessions()), until: over.clone() }
    }
}

impl<'a> PlannedLevel<'a> {
    /// The whole of `plan` under `load`, without warm-up, goals or probes; text is dropped.
    ///
    /// ```
    /// use fizeau_harness::{DriveLimits, PlannedLevel};
    /// use fizeau_workload::{Plan, PlanSpec};
    ///
    /// let plan = Plan::new(PlanSpec::new(100)?)?;
    /// let level = PlannedLevel { warmup: 5, ..PlannedLevel::new(&plan, DriveLimits::default()) };
    /// assert_eq!(level.warmup, 5);
    /// # Ok::<(), fizeau_workload::SpecError>(())
    /// ```
    #[must_use]
    pub const fn new(plan: &'a dyn Workload, load: DriveLimits) -> Self {
        const NO_GOALS: &GoodputGoals = &GoodputGoals::NONE;
        Self {
            plan,
            shard: Shard::WHOLE,
            warmup: 0,
            load,
            goals: NO_GOALS,
            window: WindowChoice::AUTO,
            probe: None,
            text: TextAfter::Drop,
            until: None,
            start: None,
            name: "",
        }
    }

    /// The part of it that falls to `shard`: its sessions, warm-up requests and probes, under its part of the cap. All shards together
    /// send what one would, and of a closed loop each sends in proportion to its slots.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    ///
    /// use fizeau_harness::{DriveLimits, PlannedLevel};
    /// use fizeau_workload::{Plan, PlanSpec, Shard};
    ///
    /// let plan = Plan::new(PlanSpec::new(100)?)?;
    /// let load = DriveLimits { max_in_flight: NonZeroU32::new(7), ..DriveLimits::default() };
    /// let share = PlannedLevel::new(&plan, load).share(Shard::new(1, 3)?);
    /// assert_eq!(share.load.max_in_flight, NonZeroU32::new(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn share(self, shard: Shard) -> Self {
        let Some(cap) = self.load.max_in_flight else { return Self { shard, ..self } };
        // A shard without a slot has no session either.
        let slots = u32::try_from(shard.share_of(cap.get().into())).unwrap_or(u32::MAX);
        let max_in_flight = Some(NonZeroU32::new(slots).unwrap_or(NonZeroU32::MIN));
        let dealt = match self.plan.pacing().waits_for_slots() {
            true => shard.by_slots(cap),
            false => shard.under_cap(cap),
        };
        Self { shard: dealt, load: DriveLimits { max_in_flight, ..self.load }, ..self }
    }

    /// A tally of nothing so far, to which the tapes of this level add up to its summary, whoever measured them.
    #[must_use]
    pub fn tally(&self) -> LevelTally {
        let tally = LevelTally::new(self.goals).with_window(self.window);
        let is_closed = self.plan.pacing() == Pacing::ClosedLoop;
        if is_closed { tally.of_closed_loop() } else { tally }
    }

    /// The numbers of the warm-up requests that are ours.
    fn warmup_numbers(&self) -> SessionNumbers {
        let shard = self.shard;
        Box::new((0..shard.share_of(self.warmup)).map(move |n| shard.session(n)))
    }

    /// The instant at which it begins, for a client that is ready `now`; `off` is thrown where it is called off.
    pub(crate) fn begin(&self, now: Stamp, off: &Cancel) -> Stamp {
        let Some(gate) = self.start else { return now };
        gate.begin(now).unwrap_or_else(|| {
            off.cancel();
            now
        })
    }

    /// How many connections it wants before it begins: see [`connections_ahead`]; and one for its probes.
    #[must_use]
    pub fn connections_ahead(&self) -> u64 {
        let (requests, cap) = (self.plan.requests().get(), self.load.max_in_flight);
        connections_ahead(requests, cap, self.plan.pacing()) + u64::from(self.probe.is_some())
    }
}

/// How many connections a level of so many `requests` wants before it begins: one a slot; without a cap, at a finite rate,
/// one for each request of five seconds, but at least 16, and all at once one a request up to 1,024. An open loop may
/// never need as many as it has requests.
///
/// ```
/// use fizeau_core::PerSec;
/// use fizeau_harness::connections_ahead;
/// use fizeau_workload::Pacing;
///
/// let pacing = Pacing::OpenLoop { peak: Some(PerSec::new(4.0)) };
/// assert_eq!(connections_ahead(1_000, None, pacing), 20);
/// ```
#[must_use]
pub fn connections_ahead(requests: u64, cap: Option<NonZeroU32>, pacing: Pacing) -> u64 {
    let most = match (cap, pacing) {
        (Some(cap), _) => cap.get().into(),
        // A cast of a number above what the type holds gives the greatest there is.
        (None, Pacing::OpenLoop { peak: Some(rate) }) => ((rate.get() * 5.0).ceil() as u64).max(16),
        (None, Pacing::AtOnce | Pacing::ClosedLoop | Pacing::OpenLoop { peak: None }) => 1_024,
    };
    requests.min(most)
}
