//! `fizeau compare`: stored runs, each held against the first.

mod agree;
mod files;
mod level;
mod notes;
mod run;

use std::path::Path;

use fizeau::metrics::{
    Alpha, ComparedRequests, ComparisonSettings, ComparisonTable, Figure, FigureChoice,
    GoodputGoals, Pace, Pairing, ReplyOutput, Smallest,
};
use fizeau::record::{ChangedField, ComparedLevel, ComparedRun, ComparisonReport, RunComparison};
use fizeau::report::Shown;

use crate::args::{CompareArgs, FailOn};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use agree::{changed, must_agree, of_level, refused};
use level::Level;
use run::Run;

/// What is shown where it differs: a figure is of more or fewer requests, and of the same ones.
const ASKED_OF_A_LEVEL: [&str; 6] =
    ["requests", "warmup_requests", "release_for_ms", "until", "window.warmup", "window.cooldown"];

/// What no test within two runs can see.
const TWO_RUNS: &str = "each run is one measurement: what differs between any two, such as the state of a machine, counts as \
                        a difference here; `fizeau ab` measures both sides in turns and tells it apart";

/// The same where nothing was measured.
const TWO_SIMULATIONS: &str = "all of these were simulated in virtual time, not measured: what differs follows from what was asked, \
                               and an interval is of requests, not of another run";

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Fail> {
    let report = compared(args)?;
    show(args, &report)?;
    if let Some(path) = &args.out {
        write(path, &report.to_json().map_err(Fail::broken)?)?;
    }
    if let Some(path) = &args.junit {
        write(path, &Shown(&report).junit())?;
    }
    let fails = args.fail_on_worse || args.fail_on == FailOn::Regression;
    Ok(if fails && !report.passes() { Exit::Missed } else { Exit::Good })
}

/// The runs that `args` name, each held against the first.
pub(crate) fn compared(args: &CompareArgs) -> Result<ComparisonReport, Fail> {
    let decided = Decided::of(args)?;
    if files::is_any(args) { files::compare(args, &decided) } else { stored(args, decided) }
}

fn write(path: &Path, text: &str) -> Result<(), Fail> {
    std::fs::write(path, text)
        .map_err(|error| Fail::broken(format!("cannot write {}: {error}", path.display())))
}

fn show(args: &CompareArgs, report: &ComparisonReport) -> Result<(), Fail> {
    if args.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())
    } else if args.markdown {
        say(Shown(report).markdown().trim_end())
    } else {
        say(Shown(report).text())
    }
}

/// What is decided over, and how.
struct Decided {
    asked: Vec<Figure>,
    alpha: Alpha,
    smallest: Smallest,
}

impl Decided {
    fn of(args: &CompareArgs) -> Result<Self, Fail> {
        let asked = args.decision.metrics.iter().map(|text| text.parse().named("--metrics"));
        Ok(Self {
            asked: asked.collect::<Result<_, Fail>>()?,
            alpha: Alpha::new(args.decision.alpha).named("--alpha")?,
            smallest: args.decision.smallest.parse().named("--smallest")?,
        })
    }
}

/// Runs with their tapes.
fn stored(args: &CompareArgs, decided: Decided) -> Result<ComparisonReport, Fail> {
    let mut runs =
        args.runs.iter().map(|path| Run::open(path)).collect::<Result<Vec<_>, Fail>>()?;
    let baseline = runs.remove(0);
    // All that can be refused is, before any tapes are read.
    let plans = runs.into_iter().map(|candidate| Plan::new(args, &baseline, candidate));
    let plans: Vec<Plan<'_>> = plans.collect::<Result<_, Fail>>()?;
    let is_simulated = |run: &Run| run.document().is_virtual();
    let all_simulated =
        is_simulated(&baseline) && plans.iter().all(|plan| is_simulated(&plan.candidate));
    let note = if all_simulated { TWO_SIMULATIONS } else { TWO_RUNS };
    let job = Job { decided, baseline: &baseline };
    let comparisons =
        plans.into_iter().map(|plan| job.compare(plan)).collect::<Result<_, Fail>>()?;
    let baseline = ComparedRun { name: baseline.name(), notes: baseline.notes() };
    Ok(ComparisonReport { baseline, comparisons, notes: vec![note.to_owned()] })
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
    fn new(args: &CompareArgs, baseline: &'a Run, candidate: Run) -> Result<Self, Fail> {
        let refuse = |fields: &[ChangedField]| match fields {
            [] => Ok(()),
            _ if args.force => Ok(()),
            _ => Err(refused(&baseline.name(), &candidate.name(), fields)),
        };
        let mut forced = must_agree(baseline.fields(), candidate.fields());
        refuse(&forced)?;
        for run in [baseline, &candidate] {
            if let Some(reason) = run.invalid().filter(|_| !args.force) {
                let name = run.name();
                return Err(Fail::usage(format!(
                    "{name}: the verdict of the run is invalid: {reason}; --force compares it all the same"
                )));
            }
        }
        let Matched { levels, mut notes } = matched(args, baseline, &candidate)?;
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
        let comparison = RunComparison {
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
    args: &CompareArgs,
    baseline: &'a Run,
    candidate: &Run,
) -> Result<Matched<'a>, Fail> {
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
            ([one], [other]) if args.force => {
                notes.push(format!("the loads differ: A has {a}, B has {b}"));
                both.push((one, other.clone()));
            }
            _ => {
                let (one, other) = (baseline.name(), candidate.name());
                let text = format!("no load in common: {one} has {a}; {other} has {b}");
                return Err(Fail::usage(text));
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
    decided: Decided,
    baseline: &'a Run,
}

impl Job<'_> {
    fn compare(&self, plan: Plan<'_>) -> Result<RunComparison, Fail> {
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
        let Decided { alpha, smallest, .. } = self.decided;
        let figures = FigureChoice::fitting(&self.decided.asked, goals, output);
        ComparisonSettings { figures, alpha, smallest, ..ComparisonSettings::default() }
    }
}
