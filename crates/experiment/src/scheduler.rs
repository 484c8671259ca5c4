//! A sweep under way: which level comes next, and when there are enough.

mod between;
mod rising;
mod run;

use fizeau_core::{LevelLoad, Nanos, PerSec};
use fizeau_harness::Measure;
use fizeau_metrics::Slo;
use fizeau_record::{LevelReport, RunFolder, SweepReport, Unmeasured};

use crate::event::{AfterLevel, RunNote, Watcher};
use crate::input::ExperimentError;
use crate::runner::{LevelRunner, NextLevel, ResumedLevels};
use crate::sweep::{
    Budget, LEVEL_TIME, LevelSpec, LevelYield, PreparedSweep, SweepProtocol, rates_up_to,
};
use rising::why;

/// A sweep under way: rising loads of each kind until more load no longer pays, further ones where they tell most, all of them again
/// as often as was asked, and the operating point at length, within the time that there is.
#[derive(Debug)]
pub struct SweepScheduler<'a, M, W> {
    prepared: &'a PreparedSweep,
    runner: LevelRunner<'a, M, W>,
    budget: Option<Budget>,
    /// What was measured, in that order.
    runs: Vec<(LevelLoad, LevelReport)>,
    left_out: Vec<Unmeasured>,
    /// How many levels are still to come, as far as is known.
    to_go: u32,
    has_said_short: bool,
}

/// Whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SchedulerState {
    On,
    /// Not of this level: there is too little left of the budget.
    NoTime,
    /// The run was interrupted.
    Over,
}

/// Why a level was left out that there was no time for.
const NO_TIME: &str = "it would take longer than the rest of the budget";

/// Why a level was left out that was still to come when the run was called off.
const INTERRUPTED: &str = "the run was interrupted";

/// How many further levels a budget keeps time for, and how many it may have at the most.
const REFINED: u32 = 3;
const MOST_REFINED: u32 = 8;

/// How many further levels there may be.
fn most_refined(protocol: &SweepProtocol) -> u32 {
    let by_budget = match (protocol.budget, protocol.repeats.get()) {
        (None, _) => 0,
        (Some(_), 1) => MOST_REFINED,
        (Some(_), _) => REFINED,
    };
    protocol.refine.unwrap_or(by_budget)
}

impl<'a, M: Measure, W: Watcher> SweepScheduler<'a, M, W> {
    /// Without a level so far: the time that `prepared` has begins now. With a `folder`, each level gets one of its own inside it.
    pub fn new(
        prepared: &'a PreparedSweep,
        with: M,
        folder: Option<&'a RunFolder>,
        watcher: W,
    ) -> Self {
        let protocol = &prepared.settings.protocol;
        let runner = LevelRunner::new(prepared, with, folder, watcher);
        let of = |total: Nanos| Budget::new(runner.now(), total.into(), protocol.sustain);
        let budget = protocol.budget.map(of);
        let by_default = if budget.is_some() { REFINED } else { 0 };
        let further = protocol.refine.unwrap_or(by_default);
        let levels = u32::try_from(prepared.spec.levels.len()).unwrap_or(u32::MAX);
        let all = levels.saturating_add(prepared.settings.loads.to_place()).saturating_add(further);
        Self {
            runner,
            budget,
            runs: Vec::new(),
            left_out: Vec::new(),
            to_go: all.saturating_mul(protocol.repeats.get()),
            has_said_short: false,
            prepared,
        }
    }

    /// The same, going on with what was measured before.
    pub(crate) fn resuming(self, resumed: ResumedLevels) -> Self {
        Self { runner: self.runner.resuming(resumed), ..self }
    }

    /// Measures all that there is to measure, and says what came of it. A run that is interrupted gives what it has.
    ///
    /// # Errors
    /// If the workload is impossible, a file cannot be written, or a request cannot be expressed for the endpoint.
    pub async fn run(mut self) -> Result<SweepReport, ExperimentError> {
        let closed = |load: &LevelLoad| load.concurrency().is_some();
        let (closed, open): (Vec<LevelLoad>, Vec<LevelLoad>) =
            self.prepared.spec.levels.iter().copied().partition(closed);
        let mut going = self.rise(&closed, SchedulerState::On).await?;
        let open = match self.prepared.settings.loads.to_place() {
            0 => open,
            // Of a sweep that was interrupted nobody knows them.
            _ if going == SchedulerState::Over => Vec::new(),
            count => self.auto(count),
        };
        going = self.rise(&open, going).await?;
        going = self.refine(going).await?;
        self.repeat(going).await?;
        // Time was kept for it, whatever became of the levels.
        let sustained = match self.runner.is_cancelled() {
            true => None,
            false => self.sustain().await?,
        };
        self.runner.note_end();
        self.runner.set_others_aside()?;
        let report = self.report();
        Ok(report.with_sustained(sustained))
    }

    /// Measures rising loads of one kind, until they are done or more load no longer pays.
    async fn rise(
        &mut self,
        loads: &[LevelLoad],
        mut going: SchedulerState,
    ) -> Result<SchedulerState, ExperimentError> {
        let mut yields: Vec<LevelYield> = Vec::new();
        let mut stopped: Option<String> = None;
        for &load in loads {
            let stop = self.prepared.settings.protocol.stop;
            if stopped.is_none()
                && let Some(found) = stop.and_then(|rule| rule.saturated(&yields))
            {
                stopped = Some(why(&found));
            }
            let mut reason = stopped.clone();
            if stopped.is_none() && going == SchedulerState::On {
                match self.level(load, 0).await? {
                    SchedulerState::NoTime => reason = Some(NO_TIME.to_owned()),
                    on_or_over => going = on_or_over,
                }
            }
            match self.run_of(load) {
                Some(run) => yields.extend(LevelYield::of(load, run)),
                None => {
                    let is_over = going == SchedulerState::Over;
                    let reason = reason.or_else(|| is_over.then(|| INTERRUPTED.to_owned()));
                    self.left_out.push(Unmeasured::never(load, reason));
                    self.to_go =
                        self.to_go.saturating_sub(self.prepared.settings.protocol.repeats.get());
                }
            }
        }
        Ok(going)
    }

    /// Rates up to what the closed loops reached at most.
    fn auto(&self, count: u32) -> Vec<LevelLoad> {
        let most = self.best().unwrap_or_default();
        rates_up_to(PerSec::new(most), count).into_iter().map(LevelLoad::Rate).collect()
    }

    /// Further levels where they tell most.
    async fn refine(
        &mut self,
        mut going: SchedulerState,
    ) -> Result<SchedulerState, ExperimentError> {
        let protocol = &self.prepared.settings.protocol;
        let repeats = protocol.repeats.get();
        // A range has two edges, which take turns: the tight one first.
        let slo = self.prepared.settings.slo.as_ref();
        let (mut edges, mut others) = (slo.map(Slo::tight), slo.map(Slo::loose));
        for _ in 0..most_refined(protocol) {
            if going != SchedulerState::On {
                break;
            }
            let Some(load) =
                self.next_load(edges.as_ref()).or_else(|| self.next_load(others.as_ref()))
            else {
                break;
            };
            std::mem::swap(&mut edges, &mut others);
            going = self.level(load, 0).await?;
        }
        // No further one is worth it, or may be had: what was kept for them is for what comes.
        self.to_go = self.loads().len() as u32 * (repeats - 1);
        Ok(if going == SchedulerState::NoTime { SchedulerState::On } else { going })
    }

    /// All loads once more, as often as was asked.
    async fn repeat(&mut self, mut going: SchedulerState) -> Result<(), ExperimentError> {
        let loads = self.loads();
        let mut missing = 0;
        for visit in 1..self.prepared.settings.protocol.repeats.get() {
            for &load in &loads {
                if going == SchedulerState::On {
                    match self.level(load, visit).await? {
                        SchedulerState::NoTime => missing += 1,
                        on_or_over => going = on_or_over,
                    }
                }
            }
        }
        if missing > 0 {
            self.runner.note(RunNote::RepeatsLeftOut { missing });
        }
        Ok(())
    }

    /// A run at the operating point; none where there is none, or no time.
    async fn sustain(&mut self) -> Result<Option<LevelReport>, ExperimentError> {
        let protocol = &self.prepared.settings.protocol;
        let time = match (protocol.sustain, &self.budget) {
            (Some(time), _) => Some(time),
            (None, Some(budget)) => budget.of_sustained(self.runner.now()),
            (None, None) => None,
        };
        let report = self.report();
        let chosen = report.operating_point().level().and_then(|i| report.levels().get(i));
        let load =
            chosen.and_then(|level| self.loads().into_iter().find(|load| *load == level.load));
        let (Some(time), Some(load)) = (time, load) else { return Ok(None) };
        let size = self.prepared.sustained_size(load, time);
        let ask = LevelSpec { load, visit: protocol.repeats.get(), size };
        let of = Some(self.runs.len() + 1);
        let next = NextLevel { of, after: AfterLevel::Takes(Nanos::ZERO) };
        self.runner.sustained(ask, next).await
    }

    /// Measures one level, if there is time.
    async fn level(
        &mut self,
        load: LevelLoad,
        visit: u32,
    ) -> Result<SchedulerState, ExperimentError> {
        let mut ask = self.prepared.ask(load, visit);
        if let (Some(budget), Some(most)) = (&self.budget, ask.size.time)
            && !self.runner.has(ask)
        {
            let Some(time) =
                budget.of_level(self.runner.now(), self.to_go, most, self.expected(load))
            else {
                return Ok(SchedulerState::NoTime);
            };
            ask.size.time = Some(time);
            self.note_short(time);
        }
        let of = Some(self.runs.len() + self.to_go as usize);
        let next = NextLevel { of, after: self.after(ask.size.time) };
        // On the heap: a thread of somebody else's may have a small stack.
        let Some(run) = Box::pin(self.runner.level(ask, next)).await? else {
            return Ok(SchedulerState::Over);
        };
        self.to_go = self.to_go.saturating_sub(1);
        self.runs.push((load, run));
        Ok(if self.runner.is_cancelled() { SchedulerState::Over } else { SchedulerState::On })
    }

    /// What comes after a level that takes `time`, as far as is known.
    fn after(&self, time: Option<Nanos>) -> AfterLevel {
        let sustain = self.prepared.settings.protocol.sustain.unwrap_or_default();
        let others = u64::from(self.to_go.saturating_sub(1));
        match (&self.budget, time.filter(|_| self.prepared.is_by_time)) {
            (Some(budget), _) => AfterLevel::Budget(budget.left(self.runner.now()).into()),
            (None, Some(time)) => AfterLevel::Takes(time * others + sustain),
            (None, None) if others == 0 => AfterLevel::Takes(sustain),
            (None, None) => AfterLevel::Unknown,
        }
    }

    /// How many requests per second are expected to complete at `load`, at least: of a closed loop as many as at any lower one.
    fn expected(&self, load: LevelLoad) -> Option<f64> {
        match load {
            LevelLoad::Rate(rate) => Some(rate.get()),
            LevelLoad::Concurrency(_) => self.best(),
        }
    }

    /// Says once that a level is shorter than what shows whether it is steady.
    fn note_short(&mut self, time: Nanos) {
        if time < LEVEL_TIME && !self.has_said_short {
            self.has_said_short = true;
            self.runner.note(RunNote::ShortLevel { time, needs: LEVEL_TIME });
        }
    }

    /// The loads that were measured, closed loops first, each kind rising.
    fn loads(&self) -> Vec<LevelLoad> {
        let mut loads: Vec<LevelLoad> = self.runs.iter().map(|(load, _)| *load).collect();
        loads.sort_by(LevelLoad::rising);
        loads.dedup();
        loads
    }

    fn run_of(&self, load: LevelLoad) -> Option<&LevelReport> {
        self.runs.iter().find(|(measured, _)| *measured == load).map(|(_, run)| run)
    }

    /// The most requests per second that any level completed.
    fn best(&self) -> Option<f64> {
        let rates = self.runs.iter().map(|(_, run)| run.summary.throughput.requests_per_s.get());
        rates.reduce(f64::max)
    }

    fn report(&self) -> SweepReport {
        let prepared = self.prepared;
        let mut runs = self.runs.clone();
        // The sort is stable: runs of one load stay in the order in which they were made.
        runs.sort_by(|(one, _), (other, _)| one.rising(other));
        let runs: Vec<LevelReport> = runs.into_iter().map(|(_, run)| run).collect();
        let curve = self.runner.curve(&runs);
        SweepReport::of_runs(prepared.basis.setup.clone(), runs, prepared.settings.slo.clone())
            .with_goal_source(prepared.goal_source)
            .with_profile(prepared.settings.profile)
            .with_unmeasured(self.left_out.clone())
            .with_curve(curve)
            .with_price(prepared.price.clone())
            .with_ending(self.runner.ending())
    }
}
