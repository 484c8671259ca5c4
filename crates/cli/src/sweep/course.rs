//! A sweep under way: which level comes next, and when there are enough.

mod between;
mod rising;

use std::time::Duration;

use fizeau::core::LevelLoad;
use fizeau::core::{Nanos, PerSec};
use fizeau::experiment::LevelAsk;
use fizeau::experiment::{LevelYield, rates_up_to};
use fizeau::harness::Measure;
use fizeau::record::RunFolder;
use fizeau::report::{LevelReport, Profile, SweepReport, Unmeasured};

use super::budget::Budget;
use super::campaign::{Campaign, load_point};
use super::loads::Rates;
use super::resume::Resumed;
use super::series::Series;
use super::size::SECONDS;
use crate::client::Client;
use crate::exit::Fail;
use crate::progress::After;
use rising::{why, yield_of};

/// A sweep under way.
pub(super) struct Course<'a, M> {
    series: &'a Series<'a>,
    campaign: Campaign<'a, M>,
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
enum Going {
    On,
    /// Not of this level: there is too little left of the budget.
    NoTime,
    /// The run was called off.
    Over,
}

/// Why a level was left out that there was no time for.
const NO_TIME: &str = "it would take longer than what was left of --budget";

/// How many further levels a budget keeps time for, and how many it may have at the most.
const REFINED: u32 = 3;
const MOST_REFINED: u32 = 8;

impl<'a, M: Measure> Course<'a, M> {
    /// Of nothing yet.
    pub(super) fn new(
        with: M,
        series: &'a Series<'a>,
        client: &'a Client,
        folder: Option<&'a RunFolder>,
        resumed: Resumed,
    ) -> Self {
        let protocol = &series.protocol;
        let budget = protocol.budget.map(|total| Budget::new(total, protocol.sustain));
        let rates = match series.rates {
            Rates::Auto(count) => count,
            Rates::Named(_) => 0,
        };
        let by_default = if budget.is_some() { REFINED } else { 0 };
        let further = protocol.refine.unwrap_or(by_default);
        let levels = u32::try_from(series.spec.levels.len()).unwrap_or(u32::MAX);
        let all = levels.saturating_add(rates).saturating_add(further);
        Self {
            campaign: Campaign::new("sweep", with, series, client, folder, resumed),
            budget,
            runs: Vec::new(),
            left_out: Vec::new(),
            to_go: all.saturating_mul(protocol.repeats.get()),
            has_said_short: false,
            series,
        }
    }

    /// Measures all that there is to measure, and says what came of it.
    pub(super) async fn run(mut self) -> Result<SweepReport, Fail> {
        let closed = |load: &LevelLoad| load.concurrency().is_some();
        let (closed, open): (Vec<LevelLoad>, Vec<LevelLoad>) =
            self.series.spec.levels.iter().copied().partition(closed);
        let mut going = self.rise(&closed, Going::On).await?;
        let open = match self.series.rates {
            // Of a sweep that was called off nobody knows them.
            Rates::Auto(_) if going == Going::Over => Vec::new(),
            Rates::Auto(count) => self.auto(count),
            Rates::Named(_) => open,
        };
        going = self.rise(&open, going).await?;
        going = self.refine(going).await?;
        self.repeat(going).await?;
        // Time was kept for it, whatever became of the levels.
        let sustained = match self.campaign.is_cancelled() {
            true => None,
            false => self.sustain().await?,
        };
        let report = self.report();
        Ok(report.with_sustained(sustained))
    }

    /// Measures rising loads of one kind, until they are done or more load no longer pays.
    async fn rise(&mut self, loads: &[LevelLoad], mut going: Going) -> Result<Going, Fail> {
        let mut yields: Vec<LevelYield> = Vec::new();
        let mut stopped: Option<String> = None;
        for &load in loads {
            let stop = self.series.protocol.stop;
            if stopped.is_none()
                && let Some(found) = stop.and_then(|rule| rule.saturated(&yields))
            {
                stopped = Some(why(&found));
            }
            let mut reason = stopped.clone();
            if stopped.is_none() && going == Going::On {
                match self.level(load, 0).await? {
                    Going::NoTime => reason = Some(NO_TIME.to_owned()),
                    on_or_over => going = on_or_over,
                }
            }
            match self.run_of(load) {
                Some(run) => yields.extend(yield_of(load, run)),
                None => {
                    self.left_out.push(Unmeasured::never(load_point(load), reason));
                    self.to_go = self.to_go.saturating_sub(self.series.protocol.repeats.get());
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
    async fn refine(&mut self, mut going: Going) -> Result<Going, Fail> {
        let repeats = self.series.protocol.repeats.get();
        let by_budget = match (&self.budget, repeats) {
            (None, _) => 0,
            (Some(_), 1) => MOST_REFINED,
            (Some(_), _) => REFINED,
        };
        // A range has two edges, which take turns: the tight one first.
        let (mut edges, mut others) = (self.series.slo.tight(), self.series.slo.loose());
        for _ in 0..self.series.protocol.refine.unwrap_or(by_budget) {
            if going != Going::On {
                break;
            }
            let Some(load) = self.next_load(&edges).or_else(|| self.next_load(&others)) else {
                break;
            };
            std::mem::swap(&mut edges, &mut others);
            going = self.level(load, 0).await?;
        }
        // No further one is worth it, or may be had: what was kept for them is for what comes.
        self.to_go = self.loads().len() as u32 * (repeats - 1);
        Ok(if going == Going::NoTime { Going::On } else { going })
    }

    /// All loads once more, as often as was asked.
    async fn repeat(&mut self, mut going: Going) -> Result<(), Fail> {
        let loads = self.loads();
        let mut missing = 0;
        for visit in 1..self.series.protocol.repeats.get() {
            for &load in &loads {
                if going == Going::On {
                    match self.level(load, visit).await? {
                        Going::NoTime => missing += 1,
                        on_or_over => going = on_or_over,
                    }
                }
            }
        }
        if missing > 0 {
            self.campaign.note(&format!(
                "note: --repeats: there was no time left of --budget for {missing} of them"
            ));
        }
        Ok(())
    }

    /// A run at the operating point; none where there is none, or no time.
    async fn sustain(&mut self) -> Result<Option<LevelReport>, Fail> {
        let protocol = &self.series.protocol;
        let time = match (protocol.sustain, &self.budget) {
            (Some(time), _) => Some(time),
            (None, Some(budget)) => budget.of_sustained(),
            (None, None) => None,
        };
        let report = self.report();
        let chosen = report.operating_point().level().and_then(|i| report.levels().get(i));
        let load = chosen.and_then(|level| {
            self.loads().into_iter().find(|load| load_point(*load) == level.load)
        });
        let (Some(time), Some(load)) = (time, load) else { return Ok(None) };
        let size = self.series.sustained_size(load, time);
        let ask = LevelAsk { load, visit: protocol.repeats.get(), size };
        self.campaign.sustained(ask).await
    }

    /// Measures one level, if there is time.
    async fn level(&mut self, load: LevelLoad, visit: u32) -> Result<Going, Fail> {
        let mut ask = self.series.ask(load, visit);
        if let (Some(budget), Some(most)) = (&self.budget, ask.size.time)
            && !self.campaign.has(ask)
        {
            let Some(time) = budget.of_level(self.to_go, most, self.expected(load)) else {
                return Ok(Going::NoTime);
            };
            ask.size.time = Some(time);
            self.note_short(time);
        }
        let of = self.runs.len() + self.to_go as usize;
        self.campaign.shows(of, ask.size.time, self.after(ask.size.time));
        let Some(run) = self.campaign.level(ask).await? else { return Ok(Going::Over) };
        self.to_go = self.to_go.saturating_sub(1);
        self.runs.push((load, run));
        Ok(if self.campaign.is_cancelled() { Going::Over } else { Going::On })
    }

    /// What comes after a level that takes `time`, as far as is known.
    fn after(&self, time: Option<Nanos>) -> After {
        let sustain = self.series.protocol.sustain.unwrap_or_default();
        let others = u64::from(self.to_go.saturating_sub(1));
        match (&self.budget, time.filter(|_| self.series.is_by_time)) {
            (Some(budget), _) => After::Budget(budget.left()),
            (None, Some(time)) => {
                After::Takes(Duration::from_nanos((time * others + sustain).as_nanos()))
            }
            (None, None) if others == 0 => After::Takes(Duration::from_nanos(sustain.as_nanos())),
            (None, None) => After::Unknown,
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
        let seconds = time.as_secs_f64();
        if seconds < SECONDS && !self.has_said_short {
            self.has_said_short = true;
            self.campaign.note(&format!(
                "note: --budget leaves {seconds:.0} s for a level: what takes longer to build up is not seen in less than \
                 {SECONDS} s"
            ));
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
        let series = self.series;
        let mut runs = self.runs.clone();
        // The sort is stable: runs of one load stay in the order in which they were made.
        runs.sort_by(|(one, _), (other, _)| one.rising(other));
        let runs: Vec<LevelReport> = runs.into_iter().map(|(_, run)| run).collect();
        let curve = self.campaign.curve(&runs);
        SweepReport::of_runs(series.setup.clone(), runs, Some(series.slo.clone()))
            .with_profile(series.args.verdict.choosing.over(Profile::GENERAL))
            .with_unmeasured(self.left_out.clone())
            .with_curve(curve)
            .with_price(series.price())
    }
}
