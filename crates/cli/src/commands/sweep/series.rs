//! A sweep, decided: what is asked and what is to be kept of it, whoever answers.

use fizeau::experiment::{PreparedSweep, PromptReader, SweepProtocol, SweepSettings};
use fizeau::record::Profile;

use super::flags::{loads_of, size_of};
use crate::args::SeriesArgs;
use crate::commands::shared::workload::{self, Nominal};
use crate::exit::{Fail, Named};
use crate::terminal::progress::View;

/// A sweep, decided, and how it is watched. Nothing has been sent.
pub(crate) struct Series<'a> {
    pub(crate) args: SeriesArgs<'a>,
    pub(crate) sweep: PreparedSweep,
    pub(crate) view: View,
}

impl<'a> SeriesArgs<'a> {
    /// The sweep that is asked for, whoever answers.
    pub(crate) fn settings(
        self,
        protocol: SweepProtocol,
        reader: PromptReader,
    ) -> Result<SweepSettings, Fail> {
        let (plan, verdict) = (self.plan, self.verdict);
        let mut settings = SweepSettings::default();
        settings.slo = Some(verdict.goals.slo()?);
        settings.goals = verdict.goodput.join(" ").parse().named("--goodput")?;
        settings.profile = verdict.choosing.choice().over(Profile::GENERAL);
        settings.protocol = protocol;
        settings.check()?;
        settings.loads = loads_of(plan)?;
        settings.until = plan.until.as_deref().map(str::parse).transpose().named("--until")?;
        settings.size = size_of(plan, reader)?;
        settings.workload = workload::spec(self.workload, self.nominal())?;
        settings.window = self.window.choice();
        settings.price.clone_from(&verdict.price.gpu_hour);
        Ok(settings)
    }

    /// The two flags of lengths.
    pub(crate) fn nominal(self) -> Nominal<'a> {
        let (input, output) = (&*self.plan.isl, &*self.plan.osl);
        Nominal { input: ("--isl", input), output: ("--osl", output) }
    }
}

impl Series<'_> {
    /// What of the workload is not as one might think, each in one line.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.sweep.notes().into_iter().chain(workload::unread(self.args.workload)).collect()
    }
}
