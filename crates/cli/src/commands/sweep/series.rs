//! A sweep, decided: what is asked and what is to be kept of it, whoever answers.

use std::num::NonZeroU64;

use fizeau::experiment::{
    Client, PlanParts, PreparedSweep, PreparedWorkload, SpeedOfLightReference, SweepLoads,
    SweepProtocol, SweepSpec, WallTime, WorkloadSpec,
};
use fizeau::metrics::{GoodputGoals, Slo, Thresholds};
use fizeau::record::{Endpoint, Engine, Profile, Setup};
use fizeau::roofline::HourlyRate;
use fizeau::transport::Target;
use fizeau::workload::Spacing;

use super::flags::{is_by_time, loads_of, most_requests, size_of, until_of};
use crate::args::SeriesArgs;
use crate::args::goodput;
use crate::commands::bench::Reader;
use crate::commands::shared::workload::{self, Nominal};
use crate::commands::shared::{price, record};
use crate::exit::{Fail, Named};
use crate::terminal::progress::View;

/// A sweep, decided. Nothing has been sent.
pub(crate) struct Series<'a> {
    pub(super) args: SeriesArgs<'a>,
    pub(crate) spec: SweepSpec,
    /// A plan of the workload at the largest level.
    pub(super) sample: PreparedWorkload,
    pub(crate) slo: Slo,
    /// What the speed of light is computed from, or why there is none.
    pub(super) physics: Result<SpeedOfLightReference, &'static str>,
    pub(crate) setup: Setup,
    /// How it goes on from level to level.
    pub(super) protocol: SweepProtocol,
    pub(super) loads: SweepLoads,
    /// Whether a closed loop goes on until its time is up.
    pub(super) is_by_time: bool,
    /// How it is watched.
    pub(crate) view: View,
}

/// Who is to answer.
pub(crate) struct Answering {
    /// For the record.
    pub(crate) endpoint: Endpoint,
    pub(crate) engine: Engine,
    /// What the speed of light is computed from, or why there is none.
    pub(crate) physics: Result<SpeedOfLightReference, &'static str>,
    /// Who reads the prompts.
    pub(crate) reader: Reader,
}

impl<'a> SeriesArgs<'a> {
    /// Refuses what no workload and no server could mend.
    pub(crate) fn check(self) -> Result<(), Fail> {
        let (slo, _) = self.goals()?;
        goodput::check(&slo, &self.verdict.choosing, &self.verdict.goodput)?;
        loads_of(self.plan)?;
        until_of(self.plan)?;
        size_of(self.plan).map(drop)
    }

    fn goals(self) -> Result<(Slo, GoodputGoals), Fail> {
        let slo = self.verdict.goals.slo()?;
        Ok((slo, self.verdict.goodput.join(" ").parse().named("--goodput")?))
    }

    /// The workload for `target`, and a plan of the largest level.
    pub(crate) fn ask(self, target: &Target) -> Result<(PlanParts, PreparedWorkload), Fail> {
        let refused = workload::refused(self.nominal(), "--levels");
        let mut spec = self.asked()?;
        spec.requests = workload::requests(most_requests(self)?)?;
        let parts = spec.parts(target).map_err(&refused)?;
        let sample = PreparedWorkload::of(parts.clone()).map_err(&refused)?;
        Ok((parts, sample))
    }

    /// The workload, but for how many requests there are.
    pub(crate) fn asked(self) -> Result<WorkloadSpec, Fail> {
        workload::spec(self.workload, self.nominal())
    }

    fn nominal(self) -> Nominal<'a> {
        let (input, output) = (&*self.plan.isl, &*self.plan.osl);
        Nominal { input: ("--isl", input), output: ("--osl", output) }
    }
}

impl<'a> Series<'a> {
    /// The sweep that `args` ask for, of the workload that [they ask](SeriesArgs::ask).
    pub(crate) fn new(
        args: SeriesArgs<'a>,
        (ask, sample): (PlanParts, PreparedWorkload),
        answering: Answering,
        now: WallTime,
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
            workload: sample.described(NonZeroU64::MIN),
            host: record::host(),
            model_config: None,
            hardware: None,
            deployment: None,
            precision: None,
        };
        let loads = loads_of(args.plan)?;
        if let Some(arrivals) = loads.words() {
            setup.workload.arrivals = arrivals;
        }
        physics.iter().for_each(|physics| physics.describe_in(&mut setup));
        let workload = match reader {
            Reader::Server => ask.spec,
            Reader::Simulation => ask.unread_spec(),
        };
        let spec = SweepSpec {
            levels: loads.known(),
            spacing: loads.spacing(),
            workload,
            tokenizer: ask.tokenizer,
            dataset: ask.dataset,
            size,
            goals,
            window: args.window.choice(),
            until,
        };
        let protocol = SweepProtocol::default();
        let is_by_time = reader == Reader::Server && is_by_time(args);
        let view = View::default();
        Ok(Self { args, spec, sample, slo, physics, setup, protocol, loads, is_by_time, view })
    }

    /// The same, going on as `protocol` says.
    pub(crate) fn with_protocol(self, protocol: SweepProtocol) -> Self {
        Self { protocol, ..self }
    }

    /// The same, watched as `view` has it.
    pub(crate) fn watched(self, view: View) -> Self {
        Self { view, ..self }
    }

    /// The same for whoever measures it with `client`.
    pub(crate) fn prepared<'b>(&'b self, client: &'b Client) -> PreparedSweep<'b> {
        PreparedSweep {
            spec: self.spec.clone(),
            loads: self.loads.clone(),
            protocol: self.protocol.clone(),
            slo: Some(self.slo.clone()),
            profile: self.args.verdict.choosing.over(Profile::GENERAL),
            setup: self.setup.clone(),
            price: self.price(),
            light: self.physics.as_ref().map_err(|reason| *reason),
            client,
            sample: &self.sample,
            is_by_time: self.is_by_time,
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
    pub(crate) fn physics(&self) -> Option<&SpeedOfLightReference> {
        self.physics.as_ref().ok()
    }

    /// What an hour of a device costs; none where nobody knows.
    pub(crate) fn price(&self) -> Option<HourlyRate> {
        let given = self.args.verdict.price.gpu_hour.as_ref();
        price::of(given, self.physics(), self.setup.hardware.as_deref())
    }

    /// What of the workload is not as one might think, each in one line.
    pub(crate) fn notes(&self) -> Vec<String> {
        let notes = workload::notes(&self.sample, self.args.workload);
        self.sample.repeated().into_iter().chain(notes).collect()
    }

    /// What goes on record before the first request, but for who carried it out.
    pub(crate) fn document(&self) -> Result<record::RunDocument<'_>, Fail> {
        let client = Client::of_record(Thresholds::default(), None, None);
        let (prepared, loads) = (self.prepared(&client), self.spec.levels.iter());
        let levels = loads.map(|&load| self.spec.level_plan(prepared.ask(load, 0))).collect();
        let asked = record::AskedPlan {
            plan: self.sample.record()?,
            lengths: self.sample.asked_lengths(),
            probe: None,
            shard: None,
        };
        let goodput = &self.args.verdict.goodput;
        let document = record::RunDocument::new(&self.setup, asked, levels, goodput)?;
        let document =
            document.with_deployment(self.physics().map(SpeedOfLightReference::deployment));
        Ok(document.with_price(self.args.verdict.price.gpu_hour.as_ref()))
    }
}
