//! A stored run, read again: its levels computed from their tapes, and all of it side by side.

mod content;
mod context;
mod goals;
mod imported;
mod level;
mod missing;
mod named;
mod opened;
mod planned;
mod reference;
mod sides;
mod summaries;
pub(crate) mod sweep;
mod views;

use fizeau_metrics::{GoodputGoals, LevelTally, ShapeTally, Slo, WindowChoice, WindowEnd};
use fizeau_roofline::{Device, HourlyRate};
use fizeau_workload::Shard;

use crate::{
    DocumentFields, GoalSource, LevelDetail, LevelReport, Profile, ProfileChoice, RunSetup,
    SpeedOfLightCurve, SpeedOfLightReference, StoredError, StoredRun, SweepDocument, SweepEnding,
    SweepReport, Unmeasured, file,
};

pub use content::{AbOutcome, RunContent, RunContentKind};
pub use context::StoredLevelContext;
pub(crate) use context::unkept_doubts;
pub(crate) use goals::StoredGoals;
pub use level::ReadLevel;
pub use named::{NamedRun, NamedValueError, RunInputError, UnnamedValue};
pub use opened::OpenedRun;
pub(crate) use planned::LevelAhead;
pub use planned::is_level_folder;
pub(crate) use planned::is_sustained_folder;
pub use summaries::SummariesError;
pub use views::{LEVELS_SCHEMA, LevelView};

/// A stored run, to be read again: by the goals, the window and the speed of light that it was measured with, unless others are
/// said.
///
/// ```no_run
/// use fizeau_record::StoredRun;
///
/// let run = StoredRun::open("fizeau-runs/20261120-184500-sweep")?;
/// let reader = run.reader()?.with_goals("ttft:300 tpot:40".parse()?);
/// let report = reader.report()?;
/// println!("{}", report.to_json()?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct RunReader<'a> {
    run: &'a StoredRun,
    goals: GoodputGoals,
    slo: Option<Slo>,
    window: WindowChoice,
    reference: Option<SpeedOfLightReference>,
    precision: Precision,
    price: Option<HourlyRate>,
    choice: ProfileChoice,
    /// How many requests of a level are kept one by one.
    kept: usize,
}

/// Whose the formats of weights and cache are that a setup names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Precision {
    /// The run's.
    Own,
    /// Those of the speed of light.
    OfReference,
}

/// A run as its folder has it, computed again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadRun {
    /// What was run, and on what; of an A/B run as A has it.
    pub setup: RunSetup,
    /// What was asked for, field by field: its `run.json`.
    pub requested: DocumentFields,
    /// The levels, in the order of [`StoredRun::levels`].
    pub levels: Vec<LevelReport>,
    /// The goals of its levels; none where nobody gave any.
    pub slo: Option<Slo>,
    /// Whose these goals are.
    pub goal_source: GoalSource,
    /// What the sweep put first where several levels keep the goals.
    pub profile: Profile,
    /// What the hardware could do with the requests; none where model or device are not known.
    pub curve: Option<SpeedOfLightCurve>,
    /// The loads that were planned and of which nothing is there.
    pub unmeasured: Vec<Unmeasured>,
    /// Whether the run is a search.
    pub is_search: bool,
    /// Which part of a run of several shards it is; none of a whole run. Its levels are of the loads that fell to it, so that two of one
    /// load are no repeats: the endpoint had another.
    pub part: Option<Shard>,
    /// The run at the operating point, after all levels; of a search its long levels, rising.
    pub sustained: Vec<LevelReport>,
    /// What the speed of light is computed from; none where model or device are not known.
    pub reference: Option<SpeedOfLightReference>,
    /// What an hour of a device costs; none where it is not known.
    pub price: Option<HourlyRate>,
    /// How it came to its end, as far as it lived to say.
    pub ending: SweepEnding,
}

impl StoredRun {
    /// The whole run, computed again from its tapes as it was measured: what `sweep.json` has, and what pages and pictures show
    /// of tapes besides. A run of one level is a sweep of one.
    ///
    /// # Errors
    /// If a file of the folder cannot be read or is not understood.
    pub fn report(&self) -> Result<SweepReport, StoredError> {
        self.reader()?.report()
    }

    /// To be read by its own goals, window and speed of light.
    ///
    /// # Errors
    /// If `run.json` has others than can be understood, or what its speed of light is computed from cannot be.
    pub fn reader(&self) -> Result<RunReader<'_>, StoredError> {
        RunReader::new(self, self.reference()?)
    }

    /// Whether it is a sweep or a part of one, by its levels' folders; a level of it by itself is none.
    fn is_sweep(&self) -> bool {
        let is_whole = self.document_path().parent() == Some(self.path());
        is_whole && self.levels().iter().any(|level| is_level_folder(level.name()))
    }

    /// Whether `level`, computed again, is all that is there of a sweep that had more.
    ///
    /// # Errors
    /// If `sweep.json` cannot be read or is of another schema.
    pub fn is_rest(&self, level: &LevelReport) -> Result<bool, StoredError> {
        let sweep = sweep::read(self)?;
        Ok(!missing::of(self, std::slice::from_ref(level), sweep.as_ref()).is_empty())
    }
}

impl<'a> RunReader<'a> {
    /// To be read by the run's own goals and window, and compared with `reference`.
    ///
    /// # Errors
    /// If `run.json` has others than can be understood.
    pub fn new(
        run: &'a StoredRun,
        reference: Option<SpeedOfLightReference>,
    ) -> Result<Self, StoredError> {
        let document = run.document();
        let goals = document.goodput.join(" ").parse();
        let goals = goals.map_err(|error| run.wrong("goodput", error))?;
        let window = document.levels.first().and_then(|level| level.window.as_ref());
        let end = |name: &str, text: Option<&String>| match text {
            Some(text) => {
                let end = text.parse::<WindowEnd>();
                end.map_err(|error| run.wrong(&format!("levels[0].window.{name}"), error))
            }
            None => Ok(WindowEnd::Auto),
        };
        let window = WindowChoice {
            warmup: end("warmup", window.map(|window| &window.warmup))?,
            cooldown: end("cooldown", window.map(|window| &window.cooldown))?,
        };
        let price = document.gpu_hour_usd.map(HourlyRate::given).transpose();
        let price = price.map_err(|error| run.wrong("gpu_hour_usd", error))?;
        let precision = Precision::Own;
        let choice = ProfileChoice::default();
        let (slo, kept) = (None, LevelTally::EXACT);
        Ok(Self { run, goals, slo, window, reference, precision, price, choice, kept })
    }

    /// By other goals of single requests.
    pub fn with_goals(self, goals: GoodputGoals) -> Self {
        Self { goals, ..self }
    }

    /// By other goals of its levels, which count as given. A search keeps its answer, which follows from the goals that it had.
    pub fn with_slo(self, slo: Slo) -> Self {
        Self { slo: Some(slo), ..self }
    }

    /// With another cut at the beginning.
    pub fn with_warmup(self, warmup: WindowEnd) -> Self {
        Self { window: WindowChoice { warmup, ..self.window }, ..self }
    }

    /// With another cut at the end.
    pub fn with_cooldown(self, cooldown: WindowEnd) -> Self {
        Self { window: WindowChoice { cooldown, ..self.window }, ..self }
    }

    /// With every value in memory, so that percentiles of however many requests and gaps are exact.
    pub fn exact(self) -> Self {
        Self { kept: usize::MAX, ..self }
    }

    /// With another choice among the levels within the goals, as far as one is made.
    pub fn with_choice(self, choice: ProfileChoice) -> Self {
        Self { choice, ..self }
    }

    /// With what an hour of a device costs.
    pub fn with_price(self, price: HourlyRate) -> Self {
        Self { price: Some(price), ..self }
    }

    /// With formats of weights and cache that are not those of the run.
    pub fn with_precision_of_reference(self) -> Self {
        Self { precision: Precision::OfReference, ..self }
    }

    /// The goals of single requests.
    #[must_use]
    pub const fn goals(&self) -> &GoodputGoals {
        &self.goals
    }

    /// The run.
    #[must_use]
    pub const fn run(&self) -> &'a StoredRun {
        self.run
    }

    /// All levels, each with what pages and pictures show of its tapes.
    ///
    /// # Errors
    /// If a file of the folder cannot be read or is not understood.
    pub fn levels(&self) -> Result<Vec<ReadLevel>, StoredError> {
        let one = |stored| {
            let mut shape = ShapeTally::default();
            let mut level = self.level(stored, |tape| shape.add(&tape))?;
            let detail = LevelDetail { shape: shape.shape(), peers: Vec::new() };
            level.report.detail = Some(Box::new(detail));
            Ok(level)
        };
        self.run.levels().iter().map(one).collect()
    }

    /// Levels of the run side by side, in the order of [`StoredRun::levels`].
    ///
    /// # Errors
    /// If `sweep.json` cannot be read or is of another schema.
    pub fn together(&self, levels: Vec<ReadLevel>) -> Result<ReadRun, StoredError> {
        let part = self.run.document().part();
        let is_alone = levels.len() == 1 || part.is_some();
        let (sustained, levels): (Vec<ReadLevel>, Vec<ReadLevel>) =
            levels.into_iter().partition(|level| !is_alone && is_sustained_folder(&level.name));
        let mut setup = self.run.document().setup.clone();
        self.describe(&mut setup);
        let curve = self.curve(&levels);
        let levels: Vec<LevelReport> = levels.into_iter().map(|level| level.report).collect();
        let sweep = sweep::read(self.run)?;
        let profile = sweep.as_ref().map(|stored| sweep::profile(stored, self.run)).transpose()?;
        let unmeasured = missing::of(self.run, &levels, sweep.as_ref());
        let (slo, goal_source) = match &self.slo {
            Some(slo) => (Some(slo.clone()), GoalSource::Given),
            None => {
                let source = sweep.as_ref().map(SweepDocument::goal_source);
                (self.run.goals()?.slo, source.unwrap_or_default())
            }
        };
        let device = match &self.reference {
            Some(reference) => Some(reference.reference().system.device()),
            // A run may name a device in words that no table has.
            None => setup.hardware.as_deref().and_then(|name| Device::named(name).ok()),
        };
        let published = || HourlyRate::lowest_published(device?).ok();
        let price = self.price.clone().or_else(published);
        Ok(ReadRun {
            setup,
            requested: self.run.document().fields(),
            levels,
            slo,
            goal_source,
            profile: self.choice.over(profile.unwrap_or(Profile::GENERAL)),
            curve,
            unmeasured,
            // A sweep has one long level; a search that was killed, as many as it came to.
            is_search: self.run.path().join(file::SEARCH).is_file()
                || (sweep.is_none() && sustained.len() > 1),
            part,
            sustained: sustained.into_iter().map(|level| level.report).collect(),
            reference: self.reference.clone(),
            price,
            ending: match sweep {
                Some(stored) => stored.ending,
                // What came of all of it shard 0 has.
                None if self.run.is_sweep() && part.is_none() => SweepEnding::Unfinished,
                None => SweepEnding::Complete,
            },
        })
    }

    /// The whole run.
    ///
    /// # Errors
    /// If a file of the folder cannot be read or is not understood.
    pub fn report(&self) -> Result<SweepReport, StoredError> {
        Ok(self.together(self.levels()?)?.report())
    }

    /// What the hardware could do with the requests of all levels.
    fn curve(&self, levels: &[ReadLevel]) -> Option<SpeedOfLightCurve> {
        let reference = self.reference.as_ref()?;
        let mut all = reference.lengths();
        levels.iter().filter_map(|level| level.lengths.as_ref()).for_each(|own| all.merge(own));
        let reports: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
        reference.curve(&all, &reports)
    }

    /// Says in `setup` what the speed of light is computed from.
    fn describe(&self, setup: &mut RunSetup) {
        let Some(reference) = &self.reference else { return };
        if self.precision == Precision::OfReference {
            setup.precision = None;
        }
        reference.describe_in(setup);
    }
}

impl ReadRun {
    /// The levels of a sweep as its own table has them: of a load that was measured more than once the run that stands for all, since
    /// the luckiest of its runs is no configuration of its own. Levels of any other kind of run are all kept.
    #[must_use]
    pub fn one_a_load(&self) -> Vec<LevelReport> {
        let is_of_sweep = |at: &LevelReport| at.folder.as_deref().is_some_and(is_level_folder);
        match self.part.is_none() && self.levels.iter().all(is_of_sweep) {
            true => {
                let (setup, levels) = (self.setup.clone(), self.levels.clone());
                let report = match &self.slo {
                    Some(slo) if self.is_search => {
                        let long = self.sustained.clone();
                        SweepReport::of_search(setup, levels, long, slo.clone())
                    }
                    _ => SweepReport::of_runs(setup, levels, None),
                };
                report.levels().to_vec()
            }
            false => self.levels.clone(),
        }
    }

    /// All of it side by side.
    #[must_use]
    pub fn report(self) -> SweepReport {
        let (sustained, report) = match self.slo {
            Some(slo) if self.is_search => {
                let report = SweepReport::of_search(self.setup, self.levels, self.sustained, slo);
                (None, report)
            }
            slo if self.part.is_some() => (None, SweepReport::new(self.setup, self.levels, slo)),
            slo => {
                let sustained = self.sustained.into_iter().next();
                (sustained, SweepReport::of_runs(self.setup, self.levels, slo))
            }
        };
        let report = report.with_goal_source(self.goal_source);
        let report = report.with_profile(self.profile).with_unmeasured(self.unmeasured);
        let report = report.with_curve(self.curve).with_price(self.price).with_ending(self.ending);
        match sustained {
            Some(run) => report.with_sustained(Some(run)),
            None => report,
        }
    }
}
