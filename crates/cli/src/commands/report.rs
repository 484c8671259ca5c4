//! `fizeau report`: a stored run, computed again from its tapes.

mod answer;
mod before;
mod export;
mod figures;
mod level;
mod many;
mod missing;
mod page;
mod physics;
mod pictures;
mod search;
mod setup;
mod stored;
mod views;

pub(crate) use level::vllm_run_of;
pub(crate) use page::{PAGE, write as write_page, write_read as write_read_page};
pub(crate) use search::SEARCH;
pub(crate) use stored::{Stored, finished};

use std::path::{Path, PathBuf};

use fizeau::core::Tape;
use fizeau::interop::Concept;
use fizeau::interop::Explanation;
use fizeau::metrics::{GoodputGoals, Verdict, WindowChoice, WindowEnd};
use fizeau::record::ImportedRun;
use fizeau::record::{Checklist, LevelReport, SweepReport};
use fizeau::record::{Cut, StoredLevel, StoredRun};
use fizeau::report::Shown;
use fizeau::roofline::HourlyRate;
use serde::Serialize;

use crate::args::{ChoosingArgs, PhysicsArgs, ReportArgs, TrustArgs};
use crate::commands::shared::checklist;
use crate::commands::shared::folder::holds_whatif;
use crate::commands::shared::imported;
use crate::commands::shared::planned::is_of_sweep;
use crate::commands::sweep;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;
use level::Level;
use page::Place;

/// The width of what is not a table.
const WIDTH: usize = 80;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Fail> {
    let concept = args.view.explain.as_deref().and_then(Concept::from_key);
    judges_a_report(args)?;
    let path = match &*args.runs {
        [] => {
            let concept = concept.ok_or_else(|| Fail::usage("name the folder of a run"))?;
            return definitions(concept, args.json);
        }
        paths if args.pictures.is_asked() => return pictures::run(args, paths),
        [path] => path,
        several => return many::run(args, several),
    };
    let run = match open(path)? {
        Opened::Tapes(run) => run,
        Opened::Figures(run) => return figures::run(&run, path, args),
    };
    let asked = Asked::new(args, &run)?;
    if args.export.is_wanted() {
        return export::run(&run, &asked, &args.export);
    }
    if args.view.is_asked() {
        note_made_up(&run)?;
    }
    if let Some(concept) = concept {
        return views::explain(&run, &asked, concept);
    }
    if !args.view.tools.is_empty() {
        return views::tools(&run, &asked, &args.view.tools);
    }
    if args.view.has_percentiles() {
        return views::percentiles(&run, &asked, &args.view);
    }
    let page = (args.html.is_some() || !(args.json || args.markdown))
        .then(|| Place::of(args.html.as_deref(), path.join(PAGE)));
    let depth = if page.is_some() { Depth::Page } else { Depth::Figures };
    levels(&run, &Asked { depth, page, ..asked })
}

/// Whether rows of the checklist must pass is asked of a report: where none is made it would be asked of nothing.
fn judges_a_report(args: &ReportArgs) -> Result<(), Fail> {
    let makes_none = args.export.is_wanted() || args.pictures.is_asked() || args.view.is_asked();
    match makes_none && args.trust.require.is_some() {
        true => Err(Fail::usage(
            "--require: judges a report; files, pictures and views for themselves are made by a command of their own",
        )),
        false => Ok(()),
    }
}

/// A run that is named.
enum Opened {
    /// With what each request did.
    Tapes(StoredRun),
    /// Another tool's, of which there are figures alone.
    Figures(ImportedRun),
}

/// A run, which may be one of several but not several.
fn open(path: &Path) -> Result<Opened, Fail> {
    if holds_whatif(path) {
        return Err(Fail::usage(format!(
            "{path}: several configurations side by side: report.html shows them; each is a run of its own: \
             `fizeau report {path}/configuration-01`",
            path = path.display()
        )));
    }
    if path.is_file() {
        return Err(is_a_file(path));
    }
    match ImportedRun::read(path).map_err(Fail::usage)? {
        Some(run) => Ok(Opened::Figures(run)),
        None => StoredRun::open(path).map(Opened::Tapes).map_err(Fail::usage),
    }
}

/// Says that some of what is computed of tapes is of nothing that anybody saw.
fn note_made_up(run: &StoredRun) -> Result<(), Fail> {
    for level in run.levels() {
        if let Some(unseen) = imported::unseen(run, level)? {
            tell!(
                "note: imported from {}: of what its file does not tell (`fizeau report RUN` lists it) tapes have made-up values, \
                 gaps between tokens and scheduled latencies among them",
                unseen.tool()
            );
            break;
        }
    }
    Ok(())
}

/// What to name in place of a file: the folder that it lies in, or what takes it in.
fn is_a_file(path: &Path) -> Fail {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or_else(|| Path::new("."));
    let (name, is_of_run) = (path.display(), folder.join("run.json").is_file());
    Fail::usage(match is_of_run {
        true => format!("{name}: a file; name the folder of its run, {}", folder.display()),
        false => format!(
            "{name}: a file, and a run is a folder; another tool's file becomes one by \
             `fizeau convert {name} --out DIR`"
        ),
    })
}

/// What is asked of the tapes, by the command line or by the run itself.
struct Asked {
    goals: GoodputGoals,
    window: WindowChoice,
    json: bool,
    markdown: bool,
    physics: PhysicsArgs,
    /// What an hour of a device costs, where the command line says so.
    price: Option<HourlyRate>,
    trust: TrustArgs,
    choosing: ChoosingArgs,
    depth: Depth,
    /// Where a page goes; none where none is made.
    page: Option<Place>,
}

/// How much is taken of the tapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// What a terminal and JSON show.
    Figures,
    /// What only a page shows, too.
    Page,
}

impl Asked {
    fn new(args: &ReportArgs, run: &StoredRun) -> Result<Self, Fail> {
        let asked = Self::as_run(run, &args.goodput, &args.physics, (args.warmup, args.cooldown))?;
        let (trust, choosing) = (args.trust.clone(), args.choosing.clone());
        let (json, markdown) = (args.json, args.markdown);
        let price = args.price.gpu_hour.clone();
        Ok(Self { json, markdown, price, trust, choosing, ..asked })
    }

    /// As the run itself has it, but for what is given.
    fn as_run(
        run: &StoredRun,
        goodput: &[String],
        physics: &PhysicsArgs,
        (warmup, cooldown): (Option<WindowEnd>, Option<WindowEnd>),
    ) -> Result<Self, Fail> {
        let own = &run.document().goodput;
        let (goals, whose) = match goodput.is_empty() {
            true => (own.join(" "), "run.json: goodput"),
            false => (goodput.join(" "), "--goodput"),
        };
        let window = run.document().levels.first().and_then(|level| level.window.as_ref());
        let end = |given: Option<WindowEnd>, name: &str, own: Option<&String>| match given {
            Some(end) => Ok(end),
            None => match own {
                Some(text) => text.parse().named(&format!("run.json: levels[0].window.{name}")),
                None => Ok(WindowEnd::Auto),
            },
        };
        Ok(Self {
            goals: goals.parse().named(whose)?,
            window: WindowChoice {
                warmup: end(warmup, "warmup", window.map(|own| &own.warmup))?,
                cooldown: end(cooldown, "cooldown", window.map(|own| &own.cooldown))?,
            },
            json: false,
            markdown: false,
            physics: physics.clone(),
            price: None,
            trust: TrustArgs::default(),
            choosing: ChoosingArgs::default(),
            depth: Depth::Figures,
            page: None,
        })
    }

    /// Writes the page of `report`, if one is asked for; where it is.
    fn write(&self, report: &SweepReport) -> Result<Option<PathBuf>, Fail> {
        self.page.as_ref().map_or(Ok(None), |place| place.write(&Shown(report).page()))
    }
}

/// What the run printed at its end, as far as it can be had again.
fn levels(run: &StoredRun, asked: &Asked) -> Result<Exit, Fail> {
    let levels = Level::all(run, asked)?;
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
        asked.write(&report)?;
        say(Shown(&report).markdown().trim_end())?;
        return Ok(checklist::enforce(&report.checklist(), &asked.trust, exit));
    }
    let checklist = match search {
        Some(search) => searched(&search, Stored::of(run, levels, asked)?, asked)?,
        None => match <[Level; 1]>::try_from(levels) {
            Ok([level]) if stored::is_rest(run, &level.report)? => {
                sweep_or_blocks(run, vec![level], asked)?
            }
            Ok([level]) => alone(run, level, asked)?,
            Err(levels) => sweep_or_blocks(run, levels, asked)?,
        },
    };
    Ok(checklist::enforce(&checklist, &asked.trust, exit))
}

/// A search, as it was kept.
fn searched(search: &search::Stored, levels: Stored, asked: &Asked) -> Result<Checklist, Fail> {
    let report = levels.report();
    let page = asked.write(&report)?;
    let checklist = report.checklist();
    say(if asked.json { search.json() } else { search.text() })?;
    if !asked.json {
        checklist::show(&checklist, &asked.trust)?;
        say_page(page.as_deref())?;
    }
    Ok(checklist)
}

/// The only level of a run.
fn alone(run: &StoredRun, level: Level, asked: &Asked) -> Result<Checklist, Fail> {
    let checklist = level.checklist();
    let text = if asked.json {
        // One of a sweep is as its own file has it: the list is that of all levels.
        let own = Some(checklist.clone()).filter(|_| level.name.is_empty());
        let report = LevelReport { checklist: own, ..level.report.clone() };
        report.to_json().map_err(Fail::broken)?
    } else {
        level.text()
    };
    let page = match &asked.page {
        Some(_) => asked.write(&Stored::of(run, vec![level], asked)?.report())?,
        None => None,
    };
    say(text.trim_end())?;
    if !asked.json {
        checklist::show(&checklist, &asked.trust)?;
        say_page(page.as_deref())?;
    }
    Ok(checklist)
}

/// A sweep has its table; levels of any other kind are shown one after another.
fn sweep_or_blocks(run: &StoredRun, levels: Vec<Level>, asked: &Asked) -> Result<Checklist, Fail> {
    if levels.iter().any(|level| !is_of_sweep(&level.name)) {
        return blocks(run, levels, asked);
    }
    let report = Stored::of(run, levels, asked)?.report();
    let page = asked.write(&report)?;
    if asked.json {
        say(serde_json::to_string_pretty(&report).map_err(Fail::broken)?)?;
    } else {
        sweep::show(&report, page.as_deref(), &asked.trust)?;
    }
    Ok(report.checklist())
}

/// What stands where a page of an A/B run has no tests of its own.
const OWN_ROUNDS: &str = "its rounds are compared in ab.json";

/// Levels that are none of a sweep: of an A/B run the turns of both sides.
fn blocks(run: &StoredRun, levels: Vec<Level>, asked: &Asked) -> Result<Checklist, Fail> {
    let all: Vec<&LevelReport> = levels.iter().map(|level| &level.report).collect();
    let checklist = Checklist::of(&run.document().setup, &all);
    if asked.json {
        document("fizeau.levels/1", run, &all)?;
    } else {
        levels.iter().try_for_each(|level| say(level.text()))?;
        answer::show(run)?;
        checklist::show(&checklist, &asked.trust)?;
    }
    let page = match &asked.page {
        Some(place) => {
            place.write(&many::page(&many::sides(run, levels, asked)?, Err(OWN_ROUNDS)))?
        }
        None => None,
    };
    if !asked.json {
        say_page(page.as_deref())?;
    }
    Ok(checklist)
}

/// Where the page is.
fn say_page(page: Option<&Path>) -> Result<(), Fail> {
    page.map_or(Ok(()), |page| say(format!("report: {}", page.display())))
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
        tell!(
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
