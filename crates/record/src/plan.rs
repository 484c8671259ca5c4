//! How many devices a rate takes within goals, and what that costs.

mod bound_cost;
mod bursts;
mod document;
mod findings;
mod goals;
mod level;
mod money;
mod replica_capacity;
mod share;
mod table;
mod tested;

use std::num::NonZeroU64;

use fizeau_metrics::Goal;
use fizeau_pareto::{CapacityError, Demand, FigureEstimate, Fleet, Fleets};
use fizeau_roofline::HourlyRate;

pub use bound_cost::{BoundCost, NoBoundCost};
pub use bursts::{
    BurstAccount, BurstSubject, BurstsLevel, BurstsQuery, NoBurstAccount, SimulatedBursts,
};
pub use document::PlanDocument;
pub use goals::{GoalPrice, scaled_limits};
pub use level::{PlanFigure, PlanLevel, UnusableLevel};
pub use money::{MeanLengths, MoneyRange, PlanCost};
pub use replica_capacity::{NoCapacityReason, ReplicaCapacity};
pub use share::NoPromptShare;
pub use table::{TestedLoads, TestedLoadsError};
pub use tested::{NoCommonGoals, TestedReplica};

use crate::{DocumentFields, SpeedOfLightCurve};

/// What a plan is for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlanQuery {
    /// The requests per second, the share of each replica that is kept free, and the replicas that may fail.
    pub demand: Demand,
    /// The goals; at least one. Ranges are planned for at their tight ends, and priced at their loose ones too.
    pub goals: Vec<Goal>,
    /// Other goals whose price is to stand beside, each with what it is called; where there are none, the same goals with
    /// other limits of latency.
    pub others: Vec<(String, Vec<Goal>)>,
}

impl PlanQuery {
    /// For `demand` within `goals`, with the usual others beside them.
    pub fn new(demand: Demand, goals: impl IntoIterator<Item = Goal>) -> Self {
        Self { demand, goals: goals.into_iter().collect(), others: Vec::new() }
    }
}

/// What a plan is made of: one kind of device, and what a replica on it was found to do.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DevicePlanSource {
    /// What it is called.
    pub name: String,
    /// Where the levels are from.
    pub from: String,
    /// How many devices a replica takes.
    pub devices_per_replica: NonZeroU64,
    /// What an hour of a device costs; none where no price is known, and a plan is then one of devices alone.
    pub hour: Option<HourlyRate>,
    /// What a replica was tested at.
    pub levels: Vec<PlanLevel>,
    /// Levels that may not be used: each with the reason.
    pub left_out: Vec<String>,
    /// How long requests are.
    pub lengths: MeanLengths,
    /// The share of its prompt tokens that a prefix cache supplied, from 0 to 1; none where replies do not say.
    pub cached_share: Option<f64>,
    /// What was asked of it, field by field; none where that is not recorded.
    pub workload: Option<DocumentFields>,
    /// The share of the devices' time that prompts take, from 0 to 1; or why that is not known.
    pub prompt_share: Result<f64, NoPromptShare>,
    /// What the hardware could do with these requests; none where model and device are not known.
    pub light: Option<SpeedOfLightCurve>,
    /// What burstier arrivals would change.
    pub bursts: BurstAccount,
}

/// The plan for one kind of device.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DevicePlan {
    /// What it is made of.
    pub source: DevicePlanSource,
    /// The plan; or why there is none.
    pub outcome: Result<PlannedFleet, NoPlanReason>,
    /// What other goals would cost.
    pub prices: Vec<GoalPrice>,
    /// The share of its latency limits below which a goal is met at no tested load; none where it has no such limits.
    pub tightest: Option<f64>,
}

/// Devices and money.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlannedFleet {
    /// What a replica carries, as it was found.
    pub carried: ReplicaCapacity,
    /// What it is planned to carry: the same, but for the arrivals' bursts.
    pub per_replica: FigureEstimate,
    /// How many there are to be; none by the low end where no interval is known.
    pub fleets: Fleets,
    /// What the likely fleet costs; none where no price is known.
    pub cost: Option<PlanCost>,
    /// What the fleet costs where a replica carries as little as it may; none where that is nothing, or no price is known.
    pub cautious_cost: Option<PlanCost>,
    /// What that is beside the speed of light; or why that is not known.
    pub light: Result<BoundCost, NoBoundCost>,
}

/// Why there is no plan.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPlanReason {
    /// It is not known what a replica carries.
    #[error(transparent)]
    NotCarried(#[from] NoCapacityReason),
    /// It carries nothing.
    #[error(transparent)]
    Capacity(#[from] CapacityError),
}

/// Plans for one or several kinds of device, beside one another.
///
/// A [`PlanDocument`] is made of it.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::{LevelLoad, PerSec, UsdPerHour};
/// use fizeau_metrics::{Metric, Slo, Statistic};
/// use fizeau_pareto::{Demand, FigureEstimate};
/// use fizeau_record::{DevicePlanSource, MeanLengths, PlanFigure, PlanLevel, PlanQuery, PlanReport};
/// use fizeau_roofline::HourlyRate;
///
/// let level = |rate: f64, ttft: f64| -> Result<PlanLevel, Box<dyn std::error::Error>> {
///     let value = FigureEstimate::exact(ttft)?;
///     let figure = PlanFigure::new(Metric::Ttft, Statistic::P99, value);
///     Ok(PlanLevel::given(LevelLoad::Rate(PerSec::new(rate)), FigureEstimate::exact(rate)?, vec![figure]))
/// };
/// let slo: Slo = "p99 ttft<500ms".parse()?;
/// let ask = PlanQuery::new(Demand::new(100.0, 0.2, 1)?, slo.goals);
/// let levels = vec![level(4.0, 200.0)?, level(12.0, 300.0)?, level(16.0, 700.0)?];
/// let mut source = DevicePlanSource::new("h100", NonZeroU64::new(8).ok_or("zero")?, levels);
/// source.hour = Some(HourlyRate::given(UsdPerHour::new(2.5))?);
/// source.lengths = MeanLengths { input: Some(1000.0), output: Some(250.0) };
/// let report = PlanReport::new(ask, vec![source]);
/// let planned = report.plans()[0].outcome.clone()?;
/// // 14 requests a second are carried within 500 ms; 100 / (14 x 0.8) = 8.9, and one to spare.
/// assert_eq!(planned.fleets.likely.installed(), 10);
/// assert_eq!(planned.cost.map(|cost| cost.usd_per_hour.low), Some(200.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PlanReport {
    ask: PlanQuery,
    plans: Vec<DevicePlan>,
}

impl PlanReport {
    /// The plans from `sources`, in their order.
    #[must_use]
    pub fn new(ask: PlanQuery, sources: Vec<DevicePlanSource>) -> Self {
        let plans = sources.into_iter().map(|source| DevicePlan::of(&ask, source)).collect();
        Self { ask, plans }
    }

    /// What it is for.
    #[must_use]
    pub const fn ask(&self) -> &PlanQuery {
        &self.ask
    }

    /// The plans, in the order of their sources.
    #[must_use]
    pub fn plans(&self) -> &[DevicePlan] {
        &self.plans
    }

    /// Whether some plan keeps the goals, of ranges at least their loose ends.
    #[must_use]
    pub fn is_met(&self) -> bool {
        let is_loose = |price: &GoalPrice| price.label == goals::LOOSE && price.outcome.is_ok();
        self.plans.iter().any(|plan| plan.outcome.is_ok() || plan.prices.iter().any(is_loose))
    }

    /// The index of the plan that costs least, halfway between its lowest and its highest price; none where no plan has a price,
    /// [workloads differ](Self::unlike_workloads), or [another may cost less](Self::perhaps_cheaper).
    #[must_use]
    pub fn cheapest(&self) -> Option<usize> {
        let is_known = self.unlike_workloads().is_none() && self.perhaps_cheaper().is_none();
        self.least().filter(|_| is_known).map(|(index, _)| index)
    }

    /// The plan that costs least as it stands, and what it costs.
    fn least(&self) -> Option<(usize, f64)> {
        let priced = self.plans.iter().enumerate();
        let priced = priced.filter_map(|(i, plan)| Some((i, plan.outcome.as_ref().ok()?.price()?)));
        priced.reduce(|least, next| if next.1 < least.1 { next } else { least })
    }
}

impl DevicePlan {
    fn of(ask: &PlanQuery, source: DevicePlanSource) -> Self {
        let (prices, tightest) = goals::prices(ask, &source);
        Self { outcome: planned(ask, &source, &ask.goals), prices, tightest, source }
    }
}

/// The plan of one source for `goals`.
fn planned(
    ask: &PlanQuery,
    source: &DevicePlanSource,
    goals: &[Goal],
) -> Result<PlannedFleet, NoPlanReason> {
    let carried = source.capacity(goals)?;
    let per_replica = source.bursts.lower(&carried.requests_per_s);
    let mut fleets = ask.demand.fleets(&per_replica)?;
    // Without an interval the low end is the figure again, and nothing is more cautious than it.
    fleets.cautious = fleets.cautious.filter(|_| has_interval(&per_replica));
    let cost = |installed: u64| source.cost(installed as f64, ask.demand.rate());
    let likely = cost(fleets.likely.installed());
    Ok(PlannedFleet {
        light: BoundCost::of(
            source,
            goals,
            ask.demand.rate(),
            fleets.likely,
            carried.requests_per_s,
        ),
        cautious_cost: fleets.cautious.and_then(|fleet| cost(fleet.installed())),
        cost: likely,
        carried,
        per_replica,
        fleets,
    })
}

/// Whether the ends of a figure are known.
fn has_interval(figure: &FigureEstimate) -> bool {
    figure.low() < figure.high()
}

impl PlannedFleet {
    /// What an hour of it costs, halfway between its lowest and its highest price.
    fn price(&self) -> Option<f64> {
        Some(self.cost?.usd_per_hour.middle())
    }

    /// The least that it may cost: of replicas that may carry more than was tested, one alone may do beside the spare ones.
    fn least_price(&self) -> Option<f64> {
        let Fleet { needed, spare, .. } = self.fleets.likely;
        let fewest = if self.carried.is_open_above { 1 } else { needed };
        let share = fewest.saturating_add(spare) as f64 / needed.saturating_add(spare) as f64;
        Some(self.price()? * share)
    }

    /// Why there is no fleet by the low end of what a replica carries; none where there is one.
    #[must_use]
    pub fn no_cautious_reason(&self) -> Option<&'static str> {
        match (self.fleets.cautious, has_interval(&self.per_replica)) {
            (Some(_), _) => None,
            (None, false) => Some(
                "no interval is known of what a replica carries; repeats, or more requests at each load, give one",
            ),
            (None, true) => Some("at the low end of its interval a replica carries nothing"),
        }
    }
}

impl DevicePlanSource {
    /// Replicas that take so many devices each and were tested at these levels, of which nothing else is known.
    pub fn new(
        name: impl Into<String>,
        devices_per_replica: NonZeroU64,
        levels: Vec<PlanLevel>,
    ) -> Self {
        let name = name.into();
        Self {
            from: name.clone(),
            name,
            devices_per_replica,
            hour: None,
            levels,
            left_out: Vec::new(),
            lengths: MeanLengths::default(),
            cached_share: None,
            workload: None,
            prompt_share: Err(NoPromptShare::NoReference),
            light: None,
            bursts: BurstAccount::NotAccounted(NoBurstAccount::NotAsked),
        }
    }

    /// Replicas that were `tested` and take so many devices each, which cost so much an hour, where they keep `goals`.
    pub fn tested(
        name: impl Into<String>,
        tested: &TestedReplica,
        devices_per_replica: NonZeroU64,
        hour: Option<HourlyRate>,
        goals: &[Goal],
    ) -> Self {
        let mut source = Self::new(name, devices_per_replica, tested.levels.clone());
        source.hour = hour;
        source.left_out.clone_from(&tested.left_out);
        (source.lengths, source.light) = (tested.lengths, tested.light.clone());
        source.cached_share = tested.cached_share;
        source.workload.clone_from(&tested.workload);
        let reference = tested.reference.as_ref().ok_or(NoPromptShare::NoReference);
        source.prompt_share = reference.and_then(|of| source.expected_prompt_share(goals, of));
        source
    }

    /// What a replica carries within `goals`, whatever the arrivals' bursts.
    ///
    /// # Errors
    /// As [`ReplicaCapacity::of`].
    pub fn capacity(&self, goals: &[Goal]) -> Result<ReplicaCapacity, NoCapacityReason> {
        if self.levels.is_empty() {
            return Err(NoCapacityReason::NoLevel { reasons: self.left_out.clone() });
        }
        ReplicaCapacity::of(&self.levels, goals)
    }

    /// What `replicas` cost that serve `rate` requests a second.
    fn cost(&self, replicas: f64, rate: f64) -> Option<PlanCost> {
        let devices = replicas * self.devices_per_replica.get() as f64;
        let prompt_share = self.prompt_share.as_ref().ok().copied();
        Some(PlanCost::of(devices, self.hour.as_ref()?, rate, self.lengths, prompt_share))
    }
}
