//! One level: warm up, press, and say what was measured.

mod planned;

pub use planned::{PlannedLevel, Probe, connections_ahead};

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;

use fizeau_core::{RequestSource, TapeSink, Timer, Transport, WarmUp};
use fizeau_metrics::{
    ClientProof, ClientWatch, Ending, Expectations, GoodputGoals, LevelSummary, LevelTally,
    Precision, PrecisionOutcome, Validity, WindowChoice, judge,
};
use fizeau_workload::{Pacing, Shard, WalkError};

use crate::drive::{
    Course, DriveError, Driven, Ended, Keep, Load, Opening, OwnSlots, Probing, TextAfter, Underway,
    drive, press,
};
use crate::observe::{Notice, Observer, Tee};
use crate::proof::{SelfWatch, Watch};
use crate::until::Looks;
use crate::{Cancel, InFlight};

/// Whatever can measure one level of a plan after another: a [`Crew`](crate::Crew) of worker threads, or a [`Rig`] on one
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
    ) -> impl Future<Output = Result<LevelRun, LevelError<WalkError, Self::Error, K::Error>>>;

    /// What calls the run off.
    fn cancel(&self) -> &Cancel;
}

impl<M: Measure> Measure for &mut M {
    type Error = M::Error;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, LevelError<WalkError, M::Error, K::Error>> {
        (**self).measure(level, sink, observer).await
    }

    fn cancel(&self) -> &Cancel {
        (**self).cancel()
    }
}

/// What every level of a run is measured with, on one task.
#[derive(Debug, Clone, Copy)]
pub struct Rig<'a, T, C> {
    /// Carries requests out.
    pub transport: &'a T,
    /// Tells the time and waits.
    pub timer: &'a C,
    /// Whether the measuring thread watches its own CPU use.
    pub watch: SelfWatch,
    /// Calls the run off.
    pub cancel: &'a Cancel,
}

impl<T: Transport, C: Timer> Measure for Rig<'_, T, C> {
    type Error = T::Error;

    async fn measure<K: TapeSink, O: Observer>(
        &mut self,
        level: PlannedLevel<'_>,
        sink: &mut K,
        observer: &mut O,
    ) -> Result<LevelRun, LevelError<WalkError, T::Error, K::Error>> {
        let spec = LevelSpec {
            requests: level.plan.walk(level.shard.sessions()),
            warmup: level.plan.warmup(Box::new(0..level.warmup)),
            load: level.load,
            goals: level.goals,
            window: level.window,
            pacing: level.plan.pacing(),
            probe: level.probe.map(|probe| probe.plan.walk(Shard::WHOLE.sessions())),
            text: level.text,
            until: level.until,
        };
        run_level(self, spec, sink, observer).await
    }

    fn cancel(&self) -> &Cancel {
        self.cancel
    }
}

/// One level to be measured, with requests of any source.
#[derive(Debug)]
pub struct LevelSpec<'a, S> {
    /// The measured requests.
    pub requests: S,
    /// Requests sent first that do not count, at the level's own concurrency.
    pub warmup: S,
    /// How hard to press.
    pub load: Load,
    /// Per-request goals, for goodput.
    pub goals: &'a GoodputGoals,
    /// Which part of it is looked at beside the whole.
    pub window: WindowChoice,
    /// Who sets the pace.
    pub pacing: Pacing,
    /// The requests of a thin stream beside the load; see [`Probe`].
    pub probe: Option<S>,
    /// What becomes of the text of replies, where the transport keeps it.
    pub text: TextAfter,
    /// Release nothing more once this is known well enough; see [`PlannedLevel::until`].
    pub until: Option<&'a Precision>,
}

/// What came of a level. Its tapes went to the sink and the observer as they ended.
#[derive(Debug, Clone)]
pub struct LevelRun {
    /// What the tapes amount to.
    pub summary: LevelSummary,
    /// What the client saw of itself.
    pub client: ClientProof,
    /// When it began, and why it ended.
    pub driven: Driven,
    /// What came of the warm-up.
    pub warmup: WarmUp,
    /// How well is known what was asked for, of all that was measured; empty if nothing was.
    pub precision: Vec<PrecisionOutcome>,
}

impl LevelRun {
    /// Whether the level was called off before it was done.
    #[must_use]
    pub const fn is_partial(&self) -> bool {
        matches!(self.driven.ended, Ended::Cancelled)
    }

    /// Whether the level is to be believed, by the default thresholds and without knowing the speed of light or what a prefix
    /// cache may supply: who knows more asks [`judge`] themselves.
    #[must_use]
    pub fn validity(&self) -> Validity {
        let ending = if self.is_partial() { Ending::Interrupted } else { Ending::Finished };
        let Driven { held_back, abandoned, .. } = self.driven;
        let expected = Expectations { ending, held_back, abandoned, ..Expectations::default() };
        judge(&self.summary, &self.client, &expected)
    }

    /// The level that `tally` was kept of.
    pub(crate) fn of(
        tally: &LevelTally,
        watch: ClientWatch,
        driven: Driven,
        warmup: WarmUp,
    ) -> Self {
        let (mut summary, client) = (tally.summary(), tally.proof(watch));
        let Driven { held_back, abandoned, .. } = driven;
        (summary.requests.held_back, summary.requests.abandoned) = (held_back, abandoned);
        Self { summary, client, driven, warmup, precision: Vec::new() }
    }

    /// The same, with what is known of what was `asked` for.
    pub(crate) fn until(self, asked: Option<&Precision>, tally: &LevelTally) -> Self {
        Self { precision: asked.map_or_else(Vec::new, |asked| tally.precision(asked)), ..self }
    }

    /// Whether all that was asked for is known well enough: the level was ended for that, or its intervals are narrow enough at
    /// its end. Where nothing was asked for, it is.
    ///
    /// What was in flight when a level was ended still counts, so that an interval may be a little wider in the end.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        let reached = self.precision.iter().all(PrecisionOutcome::is_reached);
        reached || self.driven.ended == Ended::Enough
    }
}

/// Why a level broke off: see [`DriveError`].
pub type LevelError<S, T, K> = DriveError<S, T, K>;

/// Measures one level on one task: sends the warm-up, then the requests, and summarises what came.
///
/// # Errors
/// As [`drive`]. Tapes that `sink` took until then are kept there.
pub async fn run_level<S, T, C, K, O>(
    rig: &Rig<'_, T, C>,
    mut spec: LevelSpec<'_, S>,
    sink: &mut K,
    observer: &mut O,
) -> Result<LevelRun, LevelError<S::Error, T::Error, K::Error>>
where
    S: RequestSource,
    T: Transport,
    C: Timer,
    K: TapeSink,
    O: Observer,
{
    let warmup = warm_up(rig, spec.warmup, spec.load).await.map_err(widen)?;
    let in_flight = InFlight::default();
    observer.notice(Notice::WarmedUp { requests: warmup.sent, in_flight: &in_flight });
    let watch = Watch::start(rig.watch, rig.timer);
    let tally = tally(spec.goals, spec.window, spec.pacing);
    let (asked, enough) = (spec.until, Cancel::new());
    let looks = asked.map(|asked| Looks::new(asked, enough.clone()));
    let mut tee = Tee { tally, sink, observer, looks };
    let start = rig.timer.now();
    let course = Course::new(rig.transport, rig.timer, rig.cancel, start);
    let course = course.with(spec.load.stop_after, spec.text).until(asked.map(|_| &enough));
    let course = course.counted(in_flight);
    let slots = OwnSlots::new(rig.timer, spec.load.max_in_flight, Opening::at_once(start));
    let (underway, over) = Underway::new();
    let probe = spec.probe.map(|requests| Probing { requests, until: over });
    let load = (&mut spec.requests, underway);
    let driven = press(&course, load, slots, probe, &mut Keep::new(&mut tee)).await?;
    tee.tally.settle();
    let run = LevelRun::of(&tee.tally, watch.stop(rig.timer), driven, warmup);
    Ok(run.until(asked, &tee.tally))
}

/// The tally of a level, which knows what its summary is to say.
pub(crate) fn tally(goals: &GoodputGoals, window: WindowChoice, pacing: Pacing) -> LevelTally {
    let tally = LevelTally::new(goals).with_window(window);
    if pacing == Pacing::ClosedLoop { tally.of_closed_loop() } else { tally }
}

async fn warm_up<S: RequestSource, T: Transport, C: Timer>(
    rig: &Rig<'_, T, C>,
    mut requests: S,
    load: Load,
) -> Result<WarmUp, DriveError<S::Error, T::Error, Infallible>> {
    let load = Load { stop_after: None, ..load };
    let mut count = WarmUp::default();
    drive(&mut requests, rig.transport, rig.timer, load, &mut count, rig.cancel).await?;
    Ok(count)
}

/// An error of a drive whose sink cannot fail, as that of one whose can.
pub(crate) fn widen<S: Error, T: Error, K: Error>(
    error: DriveError<S, T, Infallible>,
) -> DriveError<S, T, K> {
    match error {
        DriveError::Source(error) => DriveError::Source(error),
        DriveError::Sink(never) => match never {},
        DriveError::Unsendable { request, error } => DriveError::Unsendable { request, error },
    }
}
