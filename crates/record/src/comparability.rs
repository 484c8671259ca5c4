//! May these runs be compared, and what comes of it?

mod agree;
mod files;
mod level;
mod notes;
mod repeats;
mod run;

use std::collections::BTreeSet;
use std::path::PathBuf;

use fizeau_metrics::{
    ComparisonSettings, ComparisonTable, FigureChoice, GoodputGoals, LevelFigure, ReplyOutput,
    RequestPairing, RunToRun, SignificanceLevel, SmallestChange,
};
use thiserror::Error;

use crate::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, FrontierDistance, FrontierPoint,
    RunComparison, RunTime, StoredError, StoredRun,
};
pub(crate) use agree::must_agree;
use agree::{changed, levels_must_agree, of_level};
use repeats::{by_repeats, kept_goals};
use run::{Load, Run, Side};

/// How runs are compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompareOptions {
    /// What is decided over; empty for the usual figures.
    pub figures: Vec<LevelFigure>,
    /// The chance of seeing some difference where there is none.
    pub alpha: SignificanceLevel,
    /// What a difference must be at least.
    pub smallest: SmallestChange,
    /// How much runs of one server differ among themselves, where there are no repeats to show it; absent for
    /// [what is assumed](RunToRun::ASSUMED), and for nothing between runs in virtual time of one plan and seed.
    pub run_to_run: Option<RunToRun>,
    /// What becomes of runs that ought not to be compared.
    pub unlike: UnlikeRuns,
    /// What becomes of a run that lacks a level of the baseline.
    pub missing: MissingLevels,
}

impl Default for CompareOptions {
    fn default() -> Self {
        let ComparisonSettings { alpha, smallest, .. } = ComparisonSettings::default();
        let unlike = UnlikeRuns::default();
        let missing = MissingLevels::default();
        Self { figures: Vec::new(), alpha, smallest, run_to_run: None, unlike, missing }
    }
}

/// What becomes of runs that ought not to be compared: of other workloads, models or goals, or whose verdict is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnlikeRuns {
    /// They are refused.
    #[default]
    Refuse,
    /// They are compared anyway, and the output says in what they differ.
    Compare,
}

/// What becomes of a run that lacks a level of the baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissingLevels {
    /// It [does not pass](ComparisonReport::passes): of that level nothing is shown.
    #[default]
    Fail,
    /// It passes by the levels that both have, and a note names the others.
    Allow,
}

impl MissingLevels {
    /// Those of the `baseline` that are missing among the `candidate`'s, where that is not allowed.
    fn of<'a>(self, baseline: impl Iterator<Item = &'a str>, candidate: &[&str]) -> Vec<String> {
        let lacks = |load: &&str| self == Self::Fail && !candidate.contains(load);
        baseline.filter(lacks).map(str::to_owned).collect()
    }
}

/// Why runs cannot be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There is none, or only one.
    #[error("name at least two runs to compare")]
    NoRuns,
    /// They must agree in these fields, and do not. They [may be compared](UnlikeRuns::Compare) anyway.
    #[error(
        "{baseline} and {candidate} cannot be compared: workload, model and goals must be the same, and these differ:{}",
        agree::words(fields, ["A", "B"])
    )]
    Unlike {
        /// The folder or file of the one.
        baseline: String,
        /// That of the other.
        candidate: String,
        /// The fields.
        fields: Vec<ChangedField>,
    },
    /// Runs that stand for one side must agree in these fields, and do not. They [may be compared](UnlikeRuns::Compare) anyway.
    #[error(
        "{first} and {other} cannot be repeats of one side: workload, model and goals must be the same, and these differ:{}",
        agree::words(fields, ["the first", "the second"])
    )]
    UnlikeRepeats {
        /// The folder or file of the first run of the side.
        first: String,
        /// That of a later one.
        other: String,
        /// The fields.
        fields: Vec<ChangedField>,
    },
    /// What a run says is not to be believed, or of no load. It [may be compared](UnlikeRuns::Compare) anyway.
    #[error("{name}: {reason}")]
    Invalid {
        /// Its folder or file.
        name: String,
        /// Why.
        reason: String,
    },
    /// The same run among repeats, which would seem to differ less than they do. It [may be compared](UnlikeRuns::Compare) anyway.
    #[error("{} is named twice: among repeats a run counts once", .0.display())]
    SameRun(PathBuf),
    /// They were measured at different loads.
    #[error(
        "the runs have no load in common: {baseline} has {baseline_loads}; {candidate} has \
         {candidate_loads}"
    )]
    NoCommonLoad {
        /// The folder or file of the one.
        baseline: String,
        /// Its loads in words.
        baseline_loads: String,
        /// The folder or file of the other.
        candidate: String,
        /// Its loads in words.
        candidate_loads: String,
    },
    /// An A/B run has two sides of its own.
    #[error("{} is an A/B run: its comparison is in {}/ab.json; to compare one turn, name {}/a-01", .0.display(), .0.display(), .0.display())]
    AbRun(PathBuf),
    /// A run was imported without requests.
    #[error("{} was imported without tapes, so its figures have no intervals and cannot be tested", .0.display())]
    FiguresAlone(PathBuf),
    /// A folder has no document that could be compared with a file.
    #[error("{}: a comparison with a file needs sweep.json or summary.json, and neither is there", .0.display())]
    NoDocument(PathBuf),
    /// A file that no run has.
    #[error("{}: this is not a file of a run; name the folder of a run, or its sweep.json or \
        summary.json", .0.display())]
    NotOfRun(PathBuf),
    /// A file of another schema.
    #[error("{}: its schema is {found}, not {}", path.display(), files::READ)]
    Schema {
        /// The file.
        path: PathBuf,
        /// What it names, in words.
        found: String,
    },
    /// A run cannot be read.
    #[error(transparent)]
    Stored(#[from] StoredError),
}

/// In what two runs differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Comparability {
    /// The fields in which they must agree to be compared, and do not: of workload, model and goals.
    pub must_agree: Vec<ChangedField>,
    /// All other fields that differ: what a comparison is made for.
    pub changed: Vec<ChangedField>,
}

impl Comparability {
    /// In what `candidate` differs from `baseline`.
    #[must_use]
    pub fn of(baseline: &StoredRun, candidate: &StoredRun) -> Self {
        let (one, other) = (baseline.document().fields(), candidate.document().fields());
        Self { must_agree: must_agree(&one, &other), changed: changed(&one, &other) }
    }

    /// Whether they may be compared.
    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.must_agree.is_empty()
    }
}

/// What is shown where it differs: a figure is of more or fewer requests, and of the same ones.
const ASKED_OF_A_LEVEL: [&str; 6] =
    ["requests", "warmup_requests", "release_for_ms", "until", "window.warmup", "window.cooldown"];

impl ComparisonReport {
    /// Each of the runs in `paths` compared with the first: [`ComparisonReport::of_sides`] of one run each.
    ///
    /// # Errors
    /// If a run cannot be read, or they may not be compared.
    pub fn of_runs(paths: &[PathBuf], options: &CompareOptions) -> Result<Self, CompareError> {
        let sides: Vec<Vec<PathBuf>> = paths.iter().map(|path| vec![path.clone()]).collect();
        Self::of_sides(&sides, options)
    }

    /// Each of the `sides` compared with the first, each a run or repeats of one: folders, request by request or run by run; where one
    /// of them is a file (`sweep.json`, `summary.json`, levels in JSON), by the intervals of their figures or run by run. Only
    /// levels of a load that both have are compared.
    ///
    /// # Errors
    /// If a run cannot be read, or they may not be compared.
    pub fn of_sides(
        sides: &[Vec<PathBuf>],
        options: &CompareOptions,
    ) -> Result<Self, CompareError> {
        if sides.len() < 2 {
            return Err(CompareError::NoRuns);
        }
        let twice = named_twice(sides.iter().flatten());
        let has_repeats = sides.iter().any(|side| side.len() > 1);
        if let (Some(path), true, UnlikeRuns::Refuse) = (twice, has_repeats, options.unlike) {
            return Err(CompareError::SameRun(path.clone()));
        }
        let mut report = match sides.iter().flatten().any(|path| path.is_file()) {
            true => files::compare(sides, options)?,
            false => of_folders(sides, options)?,
        };
        let levels = report.comparisons.iter_mut().flat_map(|comparison| &mut comparison.levels);
        ComparisonTable::decide_together(levels.map(|level| &mut level.table));
        report
            .notes
            .extend(twice.map(|path| format!("{} is compared with itself", path.display())));
        Ok(report)
    }
}

/// A folder or file that is named twice, by whatever path.
fn named_twice<'a>(mut paths: impl Iterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let mut seen = BTreeSet::new();
    // What cannot be found is refused by its own name when it is opened.
    paths.find(|path| path.canonicalize().is_ok_and(|real| !seen.insert(real)))
}

fn of_folders(
    sides: &[Vec<PathBuf>],
    options: &CompareOptions,
) -> Result<ComparisonReport, CompareError> {
    let sides = sides.iter().map(|paths| Side::open(paths, options));
    let sides: Vec<Side> = sides.collect::<Result<_, CompareError>>()?;
    let (baseline, candidates) = sides.split_first().ok_or(CompareError::NoRuns)?;
    // All that can be refused is, before any tapes are read.
    let plans =
        candidates.iter().map(|candidate| ComparableSide::new(options, baseline, candidate));
    let plans: Vec<ComparableSide<'_>> = plans.collect::<Result<_, CompareError>>()?;
    let job = ComparisonJob { options, baseline };
    let comparisons = plans.into_iter().map(|plan| job.compare(plan));
    let comparisons: Vec<RunComparison> = comparisons.collect::<Result<_, StoredError>>()?;
    let baseline = ComparedRun { name: baseline.name(), notes: baseline.notes() };
    let time = sides.iter().all(Side::is_virtual).then_some(RunTime::Virtual);
    let notes = notes::of_all(&comparisons, time, options);
    Ok(ComparisonReport { baseline, comparisons, notes })
}

/// A side that may be compared with the baseline, load by load.
struct ComparableSide<'a> {
    comparison: RunComparison,
    loads: Vec<RunsOfBoth<'a>>,
    /// The goals of both.
    goals: GoodputGoals,
    candidate: &'a Side,
}

/// All runs of one load, of both sides.
struct RunsOfBoth<'a> {
    baseline: Load<'a>,
    candidate: Load<'a>,
}

impl<'a> ComparableSide<'a> {
    fn new(
        options: &CompareOptions,
        baseline: &'a Side,
        candidate: &'a Side,
    ) -> Result<Self, CompareError> {
        let refuses = options.unlike == UnlikeRuns::Refuse;
        let (one, other) = (baseline.first(), candidate.first());
        let refuse = |fields: &[ChangedField]| match fields {
            [_, ..] if refuses => Err(CompareError::Unlike {
                baseline: one.name(),
                candidate: other.name(),
                fields: fields.to_vec(),
            }),
            _ => Ok(()),
        };
        let mut forced = must_agree(one.fields(), other.fields());
        refuse(&forced)?;
        if refuses {
            baseline.runs().chain(candidate.runs()).try_for_each(must_be_valid)?;
        }
        let MatchedLoads { loads, mut notes, missing } = matched(options, baseline, candidate)?;
        let firsts = || loads.iter().map(|both| (both.baseline.first(), both.candidate.first()));
        forced.extend(
            firsts().flat_map(|(a, b)| levels_must_agree(a, one.fields(), b, other.fields())),
        );
        refuse(&forced)?;
        let goals = one.goals()?;
        if other.goals()? != goals {
            notes.push("goodput uses the goals of A".to_owned());
        }
        notes.extend([("A", one), ("B", other)].into_iter().filter_map(what_is_assumed));
        let mut changed = changed(one.fields(), other.fields());
        changed
            .extend(firsts().flat_map(|(a, b)| {
                of_level(a, one.fields(), b, other.fields(), &ASKED_OF_A_LEVEL)
            }));
        let points = |run: &Run| -> Vec<FrontierPoint> {
            run.levels().iter().filter_map(|level| level.point).collect()
        };
        let comparison = RunComparison {
            frontier_distance: FrontierDistance::between(&points(one), &points(other)),
            candidate: ComparedRun { name: candidate.name(), notes: candidate.notes() },
            forced,
            changed,
            missing_levels: missing,
            levels: Vec::new(),
            notes,
        };
        Ok(Self { comparison, loads, goals, candidate })
    }
}

/// Refuses a run whose verdict is that it is invalid.
fn must_be_valid(run: &Run) -> Result<(), CompareError> {
    let Some(reason) = run.invalid() else { return Ok(()) };
    Err(CompareError::Invalid { name: run.name(), reason: reason.to_owned() })
}

/// What is taken for granted of a side that was imported, whose file lacks some settings.
fn what_is_assumed((side, run): (&str, &Run)) -> Option<String> {
    let tool = run.document().imported_tool()?;
    Some(format!(
        "{side} was imported from {tool}: settings that its file does not have are assumed to be the same"
    ))
}

/// The loads that both have.
struct MatchedLoads<'a> {
    loads: Vec<RunsOfBoth<'a>>,
    /// What is noted on the others.
    notes: Vec<String>,
    /// Those that the candidate lacks.
    missing: Vec<String>,
}

fn matched<'a>(
    options: &CompareOptions,
    baseline: &'a Side,
    candidate: &'a Side,
) -> Result<MatchedLoads<'a>, CompareError> {
    let (of_a, of_b) = (baseline.loads(), candidate.loads());
    let partner = |load: &Load<'a>| of_b.iter().find(|other| other.name() == load.name());
    let both = of_a.iter().filter_map(|load| {
        Some(RunsOfBoth { baseline: load.clone(), candidate: partner(load)?.clone() })
    });
    let mut both: Vec<RunsOfBoth<'_>> = both.collect();
    let (mut notes, mut missing) = (Vec::new(), Vec::new());
    if both.is_empty() {
        let words =
            |loads: &[Load<'_>]| loads.iter().map(Load::name).collect::<Vec<_>>().join(", ");
        let (a, b) = (words(&of_a), words(&of_b));
        match (&*of_a, &*of_b) {
            ([one], [other]) if options.unlike == UnlikeRuns::Compare => {
                notes.push(format!("the loads differ: A has {a}, B has {b}"));
                both.push(RunsOfBoth { baseline: one.clone(), candidate: other.clone() });
            }
            _ => {
                return Err(CompareError::NoCommonLoad {
                    baseline: baseline.name(),
                    baseline_loads: a,
                    candidate: candidate.name(),
                    candidate_loads: b,
                });
            }
        }
    } else {
        let has: Vec<&str> = of_b.iter().map(Load::name).collect();
        missing = options.missing.of(of_a.iter().map(Load::name), &has);
        for (has, lacks, one, other) in [("A", "B", &of_a, &of_b), ("B", "A", &of_b, &of_a)] {
            let lone = one.iter().filter(|load| other.iter().all(|l| l.name() != load.name()));
            let lone: Vec<&str> = lone.map(Load::name).collect();
            if !lone.is_empty() {
                notes.push(format!("only {has} has, and {lacks} has not: {}", lone.join(", ")));
            }
        }
    }
    Ok(MatchedLoads { loads: both, notes, missing })
}

/// What all comparisons share.
struct ComparisonJob<'a> {
    options: &'a CompareOptions,
    baseline: &'a Side,
}

impl ComparisonJob<'_> {
    fn compare(&self, plan: ComparableSide<'_>) -> Result<RunComparison, StoredError> {
        let ComparableSide { mut comparison, loads, goals, candidate } = plan;
        let only = self.baseline.loads().len() == 1 && candidate.loads().len() == 1;
        for both in loads {
            let name = if only { String::new() } else { both.baseline.name().to_owned() };
            let mut notes = Vec::new();
            let (a, b) = (both.baseline.repeats(), both.candidate.repeats());
            let settings = |output| self.options.settings(&goals, output);
            let table = match by_repeats(&a, &b, &mut notes, settings) {
                Some(table) => table,
                None => self.by_requests(&both, &goals, &mut notes)?,
            };
            notes.extend(kept_goals(&a, &b));
            comparison.levels.push(ComparedLevel { name, table, notes });
        }
        Ok(comparison)
    }

    /// The first run of each side, request by request.
    fn by_requests(
        &self,
        RunsOfBoth { baseline, candidate }: &RunsOfBoth<'_>,
        goals: &GoodputGoals,
        notes: &mut Vec<String>,
    ) -> Result<ComparisonTable, StoredError> {
        let (a, b) = (baseline.first(), candidate.first());
        let (run, other) = (baseline.run(), candidate.run());
        // Requests of one number are the same where plan and seed are.
        let is_same = run.sends_as(other) && run.seed(a).is_some() && run.seed(a) == other.seed(b);
        let pairing = if is_same { RequestPairing::ByNumber } else { RequestPairing::None };
        let of_a = a.requests(goals, "A", notes)?;
        let of_b = b.requests(goals, "B", notes)?;
        let output = if of_a.has_tokens() { ReplyOutput::Tokens } else { ReplyOutput::None };
        let mut settings = self.options.settings(goals, output);
        if of_a.failed() + of_b.failed() > 0 {
            settings.figures = settings.figures.with_failures();
        }
        // What is drawn alike is simulated alike, whenever that is.
        let is_repeatable = is_same && run.is_virtual() && other.is_virtual();
        if is_repeatable && self.options.run_to_run.is_none() {
            settings.run_to_run = RunToRun::NONE;
        }
        let table = ComparisonTable::of_requests(&of_a, &of_b, pairing, &settings);
        notes.extend(notes::of_rates(a.pace, &table));
        notes.extend(notes::unpaired(pairing, &of_a, &of_b, &table));
        notes.extend(notes::unsent([a.unsent, b.unsent], &table));
        Ok(table)
    }
}

impl CompareOptions {
    /// How runs of such replies and goals are compared.
    fn settings(&self, goals: &GoodputGoals, output: ReplyOutput) -> ComparisonSettings {
        let figures = FigureChoice::fitting(&self.figures, goals, output);
        let Self { alpha, smallest, run_to_run, .. } = *self;
        let run_to_run = run_to_run.unwrap_or(RunToRun::ASSUMED);
        ComparisonSettings { figures, alpha, smallest, run_to_run, ..ComparisonSettings::default() }
    }
}
