//! A sweep, decided: what is asked and what is to be kept of it, whoever answers.

use std::num::NonZeroU64;

use fizeau::core::LevelLoad;
use fizeau::core::Nanos;
use fizeau::experiment::SweepSpec;
use fizeau::experiment::{LevelAsk, LevelSize};
use fizeau::metrics::{GoodputGoals, Slo};
use fizeau::report::{Endpoint, Engine, LevelReport, OperatingPoint, Setup, SweepReport};
use fizeau::roofline::HourlyRate;
use fizeau::transport::Target;
use fizeau::workload::{Arrivals, Spacing, TracePacing};

use super::loads::{MOST_BY_TIME, Rates, described, levels_of, spacing};
use super::protocol::Protocol;
use super::size::{is_by_time, most_requests, size_of, until_of};
use crate::args::{LevelsArgs, VerdictArgs, WindowArgs, WorkloadArgs};
use crate::bench::Reader;
use crate::exit::{Fail, Named};
use crate::progress::View;
use crate::speed::Physics;
use crate::workload::{Ask, Nominal, Wish, Work};
use crate::{goodput, price, record};

/// The flags of a sweep that are not of who answers.
#[derive(Clone, Copy)]
pub(crate) struct SeriesArgs<'a> {
    pub(crate) workload: &'a WorkloadArgs,
    pub(crate) plan: &'a LevelsArgs,
    pub(crate) verdict: &'a VerdictArgs,
    pub(crate) window: &'a WindowArgs,
}

/// A sweep, decided. Nothing has been sent.
pub(crate) struct Series<'a> {
    pub(super) args: SeriesArgs<'a>,
    pub(crate) spec: SweepSpec,
    /// A plan of the workload at the largest level.
    pub(super) sample: Work,
    pub(crate) slo: Slo,
    /// What the speed of light is computed from, or why there is none.
    pub(super) physics: Result<Physics, &'static str>,
    pub(crate) setup: Setup,
    /// How it goes on from level to level.
    pub(super) protocol: Protocol,
    /// The rates of its open loops.
    pub(super) rates: Rates,
    /// Whether a closed loop goes on until its time is up.
    pub(super) is_by_time: bool,
    /// How it is watched.
    pub(super) view: View,
}

/// Who is to answer.
pub(crate) struct Answering {
    /// For the record.
    pub(crate) endpoint: Endpoint,
    pub(crate) engine: Engine,
    /// What the speed of light is computed from, or why there is none.
    pub(crate) physics: Result<Physics, &'static str>,
    /// Who reads the prompts.
    pub(crate) reader: Reader,
}

impl<'a> SeriesArgs<'a> {
    /// Refuses what no workload and no server could mend.
    pub(crate) fn check(self) -> Result<(), Fail> {
        let (slo, _) = self.goals()?;
        goodput::check(&slo, &self.verdict.choosing, &self.verdict.goodput)?;
        levels_of(self.plan)?;
        spacing(self.plan)?;
        until_of(self.plan)?;
        size_of(self.plan).map(drop)
    }

    fn goals(self) -> Result<(Slo, GoodputGoals), Fail> {
        let slo = self.verdict.slo.parse().named("--slo")?;
        Ok((slo, self.verdict.goodput.join(" ").parse().named("--goodput")?))
    }

    /// The workload for `target`, and a plan of the largest level.
    pub(crate) fn ask(self, target: &Target) -> Result<(Ask, Work), Fail> {
        let (input, output) = (&*self.plan.isl, &*self.plan.osl);
        let wish = Wish {
            args: self.workload,
            nominal: Nominal { input: ("--isl", input), output: ("--osl", output) },
            requests: most_requests(self)?,
            arrivals: Arrivals::ClosedLoop,
            arrivals_flag: "--levels",
            replay: TracePacing::ClosedLoop,
        };
        let ask = wish.ask(target)?;
        Ok((ask.clone(), Work::Plan { plan: ask.plan()?, ask: Box::new(ask) }))
    }
}

impl<'a> Series<'a> {
    /// The sweep that `args` ask for, of the workload that [they ask](SeriesArgs::ask).
    pub(crate) fn new(
        args: SeriesArgs<'a>,
        (ask, sample): (Ask, Work),
        answering: Answering,
        now: record::WallTime,
    ) -> Result<Self, Fail> {
        let (slo, goals) = args.goals()?;
        let (mut size, until) = (size_of(args.plan)?, until_of(args.plan)?);
        if until.is_some() {
            size.requests = Some(sample.requests());
        }
        let Answering { endpoint, engine, physics, reader } = answering;
        if reader == Reader::Simulation && args.plan.level_seconds.is_none() {
            // Virtual time costs nobody any.
            size.time = None;
        }
        let mut setup = Setup {
            tool: record::tool(),
            started: now.rfc3339(),
            command_line: record::command_line(),
            endpoint,
            engine,
            workload: sample.described(args.workload, NonZeroU64::MIN),
            host: record::host(),
            model_config: None,
            hardware: None,
            deployment: None,
            precision: None,
        };
        if let Some(arrivals) = described(args.plan)? {
            setup.workload.arrivals = arrivals;
        }
        physics.iter().for_each(|physics| physics.describe_in(&mut setup));
        let workload = match reader {
            Reader::Server => ask.spec,
            Reader::Simulation => ask.unread_spec(),
        };
        let spec = SweepSpec {
            levels: levels_of(args.plan)?,
            spacing: spacing(args.plan)?,
            workload,
            tokenizer: ask.tokenizer,
            dataset: ask.dataset,
            size,
            goals,
            window: args.window.choice(),
            until,
        };
        let (protocol, rates) = (Protocol::default(), Rates::of(args.plan)?);
        let is_by_time = reader == Reader::Server && is_by_time(args);
        let view = View::default();
        Ok(Self { args, spec, sample, slo, physics, setup, protocol, rates, is_by_time, view })
    }

    /// The same, going on as `protocol` says.
    pub(crate) fn with_protocol(self, protocol: Protocol) -> Self {
        Self { protocol, ..self }
    }

    /// The same, watched as `view` has it.
    pub(crate) fn watched(self, view: View) -> Self {
        Self { view, ..self }
    }

    /// A level of it, of the usual size.
    pub(crate) fn ask(&self, load: LevelLoad, visit: u32) -> LevelAsk {
        let mut size = self.spec.size;
        if self.is_by_time && load.concurrency().is_some() {
            size.requests = Some(MOST_BY_TIME);
        }
        LevelAsk { load, visit, size }
    }

    /// The size of a run at `load` that takes `time`.
    pub(super) fn sustained_size(&self, load: LevelLoad, time: Nanos) -> LevelSize {
        let requests = load.concurrency().map(|_| MOST_BY_TIME);
        LevelSize { requests, time: Some(time), warmup: self.spec.size.warmup }
    }

    /// Whether a level is within `slo`; none if it may not be compared with others.
    pub(super) fn is_within(&self, slo: &Slo, level: &LevelReport) -> Option<bool> {
        let alone = SweepReport::new(self.setup.clone(), vec![level.clone()], Some(slo.clone()));
        match alone.operating_point() {
            OperatingPoint::NoGoal | OperatingPoint::NoLevel | OperatingPoint::Unjudged { .. } => {
                None
            }
            OperatingPoint::Met { .. } => Some(true),
            OperatingPoint::Missed { .. } => Some(false),
        }
    }

    /// The same without levels that are planned ahead: what was measured decides on the next. `burstiness` is that of rates.
    pub(crate) fn of_loads_to_come(mut self, burstiness: f64) -> Self {
        self.spec.levels.clear();
        self.spec.spacing = match burstiness.is_finite() {
            true => Spacing::Random { burstiness },
            false => Spacing::Even,
        };
        self
    }

    /// What the speed of light is computed from.
    pub(crate) fn physics(&self) -> Option<&Physics> {
        self.physics.as_ref().ok()
    }

    /// What an hour of a device costs; none where nobody knows.
    pub(crate) fn price(&self) -> Option<HourlyRate> {
        let given = self.args.verdict.price.gpu_hour.as_ref();
        price::of(given, self.physics(), self.setup.hardware.as_deref())
    }

    /// What of the workload is not as one might think, each in one line.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = self.sample.notes(self.args.workload);
        self.sample.repeated().into_iter().chain(notes).collect()
    }

    /// What goes on record before the first request, but for who carried it out.
    pub(crate) fn document(&self) -> Result<record::RunDocument<'_>, Fail> {
        let level = |&load: &LevelLoad| self.spec.level_plan(self.ask(load, 0));
        let levels = self.spec.levels.iter().map(level).collect();
        let asked = record::AskedPlan {
            plan: self.sample.record(self.args.workload.tokenizer.as_deref())?,
            lengths: self.sample.asked_lengths(),
            probe: None,
            shard: None,
        };
        let goodput = &self.args.verdict.goodput;
        let document = record::RunDocument::new(&self.setup, asked, levels, goodput)?;
        let document = document.with_spread(self.physics().map(Physics::spread));
        Ok(document.with_price(self.args.verdict.price.gpu_hour.as_ref()))
    }
}
