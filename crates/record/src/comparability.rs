//! May these runs be compared, and what comes of it?

mod agree;
mod files;
mod level;
mod notes;
mod run;

use std::path::PathBuf;

use fizeau_metrics::{
    Alpha, ComparedRequests, ComparisonSettings, ComparisonTable, Figure, FigureChoice,
    GoodputGoals, Pace, Pairing, ReplyOutput, Smallest,
};
use thiserror::Error;

use crate::{
    ChangedField, ComparedLevel, ComparedRun, ComparisonReport, FrontierDistance, FrontierPoint,
    RunComparison, StoredError, StoredRun,
};
use agree::{changed, must_agree, of_level};
use level::Level;
use run::Run;

/// How runs are compared.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompareOptions {
    /// What is decided over; empty for the usual figures.
    pub figures: Vec<Figure>,
    /// The chance of seeing some difference where there is none.
    pub alpha: Alpha,
    /// What a difference must be at least.
    pub smallest: Smallest,
    /// What becomes of runs that ought not to be compared.
    pub unlike: UnlikeRuns,
}

impl Default for CompareOptions {
    fn default() -> Self {
        let ComparisonSettings { alpha, smallest, .. } = ComparisonSettings::default();
        Self { figures: Vec::new(), alpha, smallest, unlike: UnlikeRuns::default() }
    }
}

/// What becomes of runs that ought not to be compared: of other workloads, models or goals, or whose verdict is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnlikeRuns {
    /// They are refused.
    #[default]
    Refuse,
    /// They are compared all the same, and it is said in what they differ.
    Compare,
}

/// Why runs cannot be compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CompareError {
    /// There are none.
    #[error("name the runs to compare")]
    NoRuns,
    /// They must agree in these fields, and do not. They [may be compared](UnlikeRuns::Compare) all the same.
    #[error(
        "{baseline} and {candidate} cannot be compared: workload, model and goals must be the same, and these differ:{}",
        agree::words(fields)
    )]
    Unlike {
        /// The folder or file of the one.
        baseline: String,
        /// That of the other.
        candidate: String,
        /// The fields.
        fields: Vec<ChangedField>,
    },
    /// What a run says is not to be believed. It [may be compared](UnlikeRuns::Compare) all the same.
    #[error("{name}: the verdict of the run is invalid: {reason}")]
    Invalid {
        /// Its folder or file.
        name: String,
        /// Why.
        reason: String,
    },
    /// They were measured at different loads.
    #[error(
        "no load in common: {baseline} has {baseline_loads}; {candidate} has {candidate_loads}"
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
    #[error("{}: an A/B run; its comparison is in {}/ab.json, and a single turn of it is {}/a-01", .0.display(), .0.display(), .0.display())]
    AbRun(PathBuf),
    /// A run was imported without requests.
    #[error("{}: imported without tapes: its figures have no requests behind them and no intervals", .0.display())]
    FiguresAlone(PathBuf),
    /// A folder has no document that could be held against a file.
    #[error("{}: no sweep.json and no summary.json, which a comparison with a file takes", .0.display())]
    NoDocument(PathBuf),
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

/// What no test within two runs can see.
const TWO_RUNS: &str = "each run is one measurement: what differs between any two, such as the state of a machine, counts as \
                        a difference here; `fizeau ab` measures both sides in turns and tells it apart";

/// The same where nothing was measured.
const TWO_SIMULATIONS: &str = "all of these were simulated in virtual time, not measured: what differs follows from what was asked, \
                               and an interval is of requests, not of another run";

impl ComparisonReport {
    /// Each of the runs in `paths` held against the first: folders, request by request; where one of them is a file (`sweep.json`,
    /// `summary.json`, levels in JSON), all of them by the intervals of their figures. Of folders only levels of a load that both
    /// have are compared.
    ///
    /// # Errors
    /// If a run cannot be read, or they may not be compared.
    pub fn of_runs(paths: &[PathBuf], options: &CompareOptions) -> Result<Self, CompareError> {
        if paths.iter().any(|path| path.is_file()) {
            return files::compare(paths, options);
        }
        let mut runs = Vec::new();
        for path in paths {
            runs.push(Run::open(path)?);
        }
        let mut runs = runs.into_iter();
        let baseline = runs.next().ok_or(CompareError::NoRuns)?;
        // All that can be refused is, before any tapes are read.
        let plans = runs.map(|candidate| Plan::new(options, &baseline, candidate));
        let plans: Vec<Plan<'_>> = plans.collect::<Result<_, CompareError>>()?;
        let all_simulated = baseline.document().is_virtual()
            && plans.iter().all(|plan| plan.candidate.document().is_virtual());
        let note = if all_simulated { TWO_SIMULATIONS } else { TWO_RUNS };
        let job = Job { options, baseline: &baseline };
        let comparisons =
            plans.into_iter().map(|plan| job.compare(plan)).collect::<Result<_, StoredError>>()?;
        let baseline = ComparedRun { name: baseline.name(), notes: baseline.notes() };
        Ok(Self { baseline, comparisons, notes: vec![note.to_owned()] })
    }
}

/// A run that may be held against the baseline, level by level.
struct Plan<'a> {
    comparison: RunComparison,
    levels: Vec<(&'a Level, Level)>,
    /// The goals of both.
    goals: GoodputGoals,
    candidate: Run,
}

impl<'a> Plan<'a> {
    fn new(
        options: &CompareOptions,
        baseline: &'a Run,
        candidate: Run,
    ) -> Result<Self, CompareError> {
        let refuses = options.unlike == UnlikeRuns::Refuse;
        let refuse = |fields: &[ChangedField]| match fields {
            [_, ..] if refuses => Err(CompareError::Unlike {
                baseline: baseline.name(),
                candidate: candidate.name(),
                fields: fields.to_vec(),
            }),
            _ => Ok(()),
        };
        let mut forced = must_agree(baseline.fields(), candidate.fields());
        refuse(&forced)?;
        for run in [baseline, &candidate] {
            if let Some(reason) = run.invalid().filter(|_| refuses) {
                let (name, reason) = (run.name(), reason.to_owned());
                return Err(CompareError::Invalid { name, reason });
            }
        }
        let Matched { levels, mut notes } = matched(options, baseline, &candidate)?;
        // The load of a closed loop is its cap; of a rate the cap is a part of the workload.
        let differing = |fields: &[&str]| -> Vec<ChangedField> {
            let records = (baseline.fields(), candidate.fields());
            let of = |(a, b): &(&Level, Level)| of_level((a, records.0), (b, records.1), fields);
            levels.iter().flat_map(of).collect()
        };
        if baseline.pace() != Pace::ClosedLoop {
            forced.extend(differing(&["max_in_flight"]));
            refuse(&forced)?;
        }
        let goals = baseline.goals()?;
        if candidate.goals()? != goals {
            notes.push("goodput is by the goals of A".to_owned());
        }
        let all = [("A", baseline), ("B", &candidate)];
        let untold = all.into_iter().filter_map(|(side, run)| {
            let tool = run.document().imported_tool()?;
            Some(format!(
                "{side} was measured by {tool} and imported: where its file does not tell what was asked, that is taken to be the same"
            ))
        });
        notes.extend(untold);
        let name = candidate.name();
        let mut changed = changed(baseline.fields(), candidate.fields());
        changed.extend(differing(&ASKED_OF_A_LEVEL));
        let points = |run: &Run| -> Vec<FrontierPoint> {
            run.levels().iter().filter_map(|level| level.point).collect()
        };
        let comparison = RunComparison {
            frontier_distance: FrontierDistance::between(&points(baseline), &points(&candidate)),
            candidate: ComparedRun { name, notes: candidate.notes() },
            forced,
            changed,
            levels: Vec::new(),
            notes,
        };
        Ok(Self { comparison, levels, goals, candidate })
    }
}

/// The levels that both have.
struct Matched<'a> {
    levels: Vec<(&'a Level, Level)>,
    /// What is to be said of the others.
    notes: Vec<String>,
}

fn matched<'a>(
    options: &CompareOptions,
    baseline: &'a Run,
    candidate: &Run,
) -> Result<Matched<'a>, CompareError> {
    let partner = |level: &Level| candidate.levels().iter().find(|other| other.load == level.load);
    let both = baseline.levels().iter();
    let both = both.filter_map(|level| Some((level, partner(level)?.clone())));
    let mut both: Vec<(&Level, Level)> = both.collect();
    let mut notes = Vec::new();
    if both.is_empty() {
        let loads = |run: &Run| {
            run.levels().iter().map(|level| level.load.clone()).collect::<Vec<_>>().join(", ")
        };
        let (a, b) = (loads(baseline), loads(candidate));
        match (baseline.levels(), candidate.levels()) {
            ([one], [other]) if options.unlike == UnlikeRuns::Compare => {
                notes.push(format!("the loads differ: A has {a}, B has {b}"));
                both.push((one, other.clone()));
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
        let sides = [("A", "B", baseline, candidate), ("B", "A", candidate, baseline)];
        for (has, lacks, one, other) in sides {
            let lone = one.levels().iter();
            let lone = lone.filter(|level| other.levels().iter().all(|l| l.load != level.load));
            let lone: Vec<&str> = lone.map(|level| level.load.as_str()).collect();
            if !lone.is_empty() {
                notes.push(format!("only {has} has, and {lacks} has not: {}", lone.join(", ")));
            }
        }
    }
    Ok(Matched { levels: both, notes })
}

/// What all comparisons share.
struct Job<'a> {
    options: &'a CompareOptions,
    baseline: &'a Run,
}

impl Job<'_> {
    fn compare(&self, plan: Plan<'_>) -> Result<RunComparison, StoredError> {
        let Plan { mut comparison, levels, goals, candidate } = plan;
        let only = self.baseline.levels().len() == 1 && candidate.levels().len() == 1;
        for (a, b) in levels {
            let pairing = self.pairing(a, &candidate, &b);
            let mut notes = Vec::new();
            let baseline = a.requests(self.baseline.pace(), &goals, "A", &mut notes)?;
            let other = b.requests(candidate.pace(), &goals, "B", &mut notes)?;
            let settings = self.settings(&baseline, &goals);
            let table = ComparisonTable::of_requests(&baseline, &other, pairing, &settings);
            notes.extend(notes::of_rates(self.baseline.pace(), &table));
            notes.extend(notes::unpaired(pairing, &baseline, &other, &table));
            let name = if only { String::new() } else { a.load.clone() };
            comparison.levels.push(ComparedLevel { name, table, notes });
        }
        Ok(comparison)
    }

    /// Requests of one number are the same where plan and seed are.
    fn pairing(&self, level: &Level, candidate: &Run, other: &Level) -> Pairing {
        let same = self.baseline.sends_as(candidate)
            && self.baseline.seed(level).is_some()
            && self.baseline.seed(level) == candidate.seed(other);
        if same { Pairing::ByNumber } else { Pairing::None }
    }

    fn settings(&self, baseline: &ComparedRequests, goals: &GoodputGoals) -> ComparisonSettings {
        let output = if baseline.has_tokens() { ReplyOutput::Tokens } else { ReplyOutput::None };
        let CompareOptions { figures, alpha, smallest, .. } = self.options;
        let figures = FigureChoice::fitting(figures, goals, output);
        let (alpha, smallest) = (*alpha, *smallest);
        ComparisonSettings { figures, alpha, smallest, ..ComparisonSettings::default() }
    }
}
