//! `fizeau report`: a stored run, computed again from its tapes.

mod answer;
mod before;
mod export;
mod level;
mod physics;
mod search;
mod setup;
mod stored;
mod views;

pub(crate) use level::vllm_run_of;
pub(crate) use search::SEARCH;
pub(crate) use setup::setup;
pub(crate) use stored::{Stored, finished};

use std::path::Path;

use fizeau::core::Tape;
use fizeau::harness::{Cut, RunFolder, StoredLevel, StoredRun};
use fizeau::metrics::{Concept, GoodputGoals, Verdict, WindowChoice, WindowEnd};
use fizeau::report::{Checklist, Explanation, ImportedRun, LevelReport};
use serde::Serialize;

use crate::args::{ChoosingArgs, PhysicsArgs, ReportArgs, TrustArgs};
use crate::checklist;
use crate::exit::{Exit, Fail, Named};
use crate::folder::holds_whatif;
use crate::imported;
use crate::planned::is_of_sweep;
use crate::say::say;
use crate::sweep;
use level::Level;

/// The width of what is not a table.
const WIDTH: usize = 80;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Fail> {
    let concept = args.view.explain.as_deref().and_then(Concept::from_key);
    let Some(path) = &args.run else {
        let concept = concept.ok_or_else(|| Fail::usage("name the folder of a run"))?;
        return definitions(concept, args.json);
    };
    if holds_whatif(path) {
        return Err(Fail::usage(format!(
            "{path}: several configurations side by side: report.html shows them; each is a run of its own: \
             `fizeau report {path}/configuration-01`",
            path = path.display()
        )));
    }
    if let Some(run) = imported::without_tapes(path)? {
        return figures_alone(&run, path, args, concept);
    }
    let run = StoredRun::open(path).map_err(Fail::usage)?;
    let asked = Asked::new(args, &run)?;
    if args.export.is_wanted() {
        return export::run(&run, &asked, &args.export);
    }
    if let Some(concept) = concept {
        return views::explain(&run, &asked, concept);
    }
    if !args.view.tools.is_empty() {
        return views::tools(&run, &asked, &args.view.tools);
    }
    if args.view.percentile_rule.is_some() || !args.view.percentiles.is_empty() {
        return views::percentiles(&run, &asked, &args.view);
    }
    levels(&run, &asked)
}

/// A run of another tool of which there are figures and no tapes: what is known, and what is not.
fn figures_alone(
    run: &ImportedRun,
    path: &Path,
    args: &ReportArgs,
    concept: Option<Concept>,
) -> Result<Exit, Fail> {
    let needs_tapes = concept.is_some()
        || !args.view.tools.is_empty()
        || args.view.percentile_rule.is_some()
        || !args.view.percentiles.is_empty()
        || !args.goodput.is_empty();
    if needs_tapes {
        return Err(Fail::usage(format!(
            "{}: imported without tapes: its figures are those of another tool's file, and no other can be computed",
            run.name()
        )));
    }
    if args.export.is_wanted() {
        return Err(Fail::usage(format!(
            "{}: imported without tapes; `fizeau pareto DIR --table` prints its levels as CSV",
            run.name()
        )));
    }
    match args.json {
        true => say(serde_json::to_string_pretty(run).map_err(Fail::broken)?)?,
        false => {
            say(run.text())?;
            let folder = RunFolder::again(path);
            say(folder.write_text("report.html", &run.page()).map_err(Fail::broken)?.display())?;
        }
    }
    Ok(Exit::Good)
}

/// What is asked of the tapes, by the command line or by the run itself.
struct Asked {
    goals: GoodputGoals,
    window: WindowChoice,
    json: bool,
    markdown: bool,
    physics: PhysicsArgs,
    trust: TrustArgs,
    choosing: ChoosingArgs,
}

impl Asked {
    fn new(args: &ReportArgs, run: &StoredRun) -> Result<Self, Fail> {
        let asked = Self::as_run(run, &args.goodput, &args.physics, (args.warmup, args.cooldown))?;
        let (trust, choosing) = (args.trust.clone(), args.choosing.clone());
        let (json, markdown) = (args.json, args.markdown);
        Ok(Self { json, markdown, trust, choosing, ..asked })
    }

    /// As the run itself has it, but for what is given.
    fn as_run(
        run: &StoredRun,
        goodput: &[String],
        physics: &PhysicsArgs,
        (warmup, cooldown): (Option<WindowEnd>, Option<WindowEnd>),
    ) -> Result<Self, Fail> {
        let own = setup::list(run.record(), "goodput");
        let (goals, whose) = match goodput.is_empty() {
            true => (own.join(" "), "run.json: goodput"),
            false => (goodput.join(" "), "--goodput"),
        };
        let end = |given: Option<WindowEnd>, name: &str| match given {
            Some(end) => Ok(end),
            None => match run.record().text(&format!("levels[0].window.{name}")) {
                Some(text) => text.parse().named(&format!("run.json: levels[0].window.{name}")),
                None => Ok(WindowEnd::Auto),
            },
        };
        Ok(Self {
            goals: goals.parse().named(whose)?,
            window: WindowChoice {
                warmup: end(warmup, "warmup")?,
                cooldown: end(cooldown, "cooldown")?,
            },
            json: false,
            markdown: false,
            physics: physics.clone(),
            trust: TrustArgs::default(),
            choosing: ChoosingArgs::default(),
        })
    }
}

/// What the run printed at its end, as far as it can be had again.
fn levels(run: &StoredRun, asked: &Asked) -> Result<Exit, Fail> {
    let levels: Vec<Level> = run
        .levels()
        .iter()
        .map(|stored| Level::of(run, stored, asked))
        .collect::<Result<_, _>>()?;
    let is_missed = |level: &Level| {
        let LevelReport { validity, until, .. } = &level.report;
        validity.verdict == Verdict::Invalid
            || until.as_ref().is_some_and(|until| !until.is_reached)
    };
    let search = search::Stored::of(run)?;
    let is_missed = match &search {
        // A load beyond the edge may fail as it likes.
        Some(search) => search.is_invalid(),
        None => levels.iter().any(is_missed),
    };
    let exit = if is_missed { Exit::Missed } else { Exit::Good };
    if asked.markdown {
        let report = Stored::of(run, levels, asked)?.report();
        say(report.markdown().trim_end())?;
        return Ok(checklist::enforce(&report.checklist(), &asked.trust, exit));
    }
    let checklist = match (search, <[Level; 1]>::try_from(levels)) {
        (Some(search), Ok(levels)) => {
            searched(&search, Stored::of(run, levels.into(), asked)?, asked)?
        }
        (Some(search), Err(levels)) => searched(&search, Stored::of(run, levels, asked)?, asked)?,
        (None, Ok([level])) => alone(&level, asked)?,
        (None, Err(levels)) => sweep_or_blocks(run, levels, asked)?,
    };
    Ok(checklist::enforce(&checklist, &asked.trust, exit))
}

/// A search, as it was kept.
fn searched(search: &search::Stored, levels: Stored, asked: &Asked) -> Result<Checklist, Fail> {
    let checklist = levels.report().checklist();
    say(if asked.json { search.json() } else { search.text() })?;
    if !asked.json {
        checklist::show(&checklist, &asked.trust)?;
    }
    Ok(checklist)
}

/// The only level of a run.
fn alone(level: &Level, asked: &Asked) -> Result<Checklist, Fail> {
    let checklist = level.checklist();
    if asked.json {
        // One of a sweep is as its own file has it: the list is that of all levels.
        let own = Some(checklist.clone()).filter(|_| level.name.is_empty());
        let report = LevelReport { checklist: own, ..level.report.clone() };
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        say(level.text())?;
        checklist::show(&checklist, &asked.trust)?;
    }
    Ok(checklist)
}

/// A sweep has its table; levels of any other kind are shown one after another.
fn sweep_or_blocks(run: &StoredRun, levels: Vec<Level>, asked: &Asked) -> Result<Checklist, Fail> {
    let json = asked.json;
    if levels.iter().any(|level| !is_of_sweep(&level.name)) {
        let all: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
        let checklist = Checklist::of(&setup(run.record()), &all);
        if json {
            document("fizeau.levels/1", run, &all)?;
        } else {
            levels.iter().try_for_each(|level| say(level.text()))?;
            answer::show(run)?;
            checklist::show(&checklist, &asked.trust)?;
        }
        return Ok(checklist);
    }
    let report = Stored::of(run, levels, asked)?.report();
    if json {
        say(serde_json::to_string_pretty(&report).map_err(Fail::broken)?)?;
    } else {
        sweep::show(&report, None, &asked.trust)?;
    }
    Ok(report.checklist())
}

/// Every tape of a level goes to `each`; what a killed run left over is said.
pub(crate) fn each_tape(
    level: &StoredLevel,
    mut each: impl FnMut(Tape),
) -> Result<Option<Cut>, Fail> {
    let mut tapes = level.tapes().map_err(Fail::usage)?;
    for tape in tapes.by_ref() {
        each(tape.map_err(Fail::usage)?);
    }
    if let Some(cut) = tapes.cut() {
        eprintln!(
            "note: {}: cut in mid-line: {} whole tapes are used, {} bytes are left over",
            level.path().join("tapes.jsonl").display(),
            cut.whole,
            cut.rest_bytes
        );
    }
    Ok(tapes.cut())
}

/// A word without a run.
fn definitions(concept: Concept, json: bool) -> Result<Exit, Fail> {
    let explanation = Explanation::new(concept);
    if json {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'a str,
            version: &'a str,
            #[serde(flatten)]
            explanation: &'a Explanation,
        }
        let (schema, version) = ("fizeau.explanation/1", env!("CARGO_PKG_VERSION"));
        let document = Document { schema, version, explanation: &explanation };
        say(serde_json::to_string_pretty(&document).map_err(Fail::broken)?)?;
    } else {
        say(explanation.text(WIDTH))?;
    }
    Ok(Exit::Good)
}

/// One JSON document about some levels of a run.
fn document(schema: &str, run: &StoredRun, levels: &impl Serialize) -> Result<(), Fail> {
    #[derive(Serialize)]
    struct Document<'a, L> {
        schema: &'a str,
        version: &'a str,
        run: String,
        levels: &'a L,
    }
    let run = run.path().display().to_string();
    let document = Document { schema, version: env!("CARGO_PKG_VERSION"), run, levels };
    say(serde_json::to_string_pretty(&document).map_err(Fail::broken)?)
}
