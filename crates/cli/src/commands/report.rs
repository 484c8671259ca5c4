//! `fizeau report`: a stored run, computed again from its tapes.

mod export;
mod figures;
mod level;
mod many;
mod page;
mod pictures;
mod reader;
mod views;

pub(crate) use level::note_cut;
pub(crate) use page::{PAGE, write as write_page};
pub(crate) use reader::{read, reader};

use std::path::{Path, PathBuf};

use fizeau::interop::{ExtraTallies, PeerTerm, RereadLevel, TermExplanation};
use fizeau::metrics::Verdict;
use fizeau::record::{
    Checklist, LEVELS_SCHEMA, LevelReport, OpenedRun, RunReader, SearchDocument, StoredRun,
    SummaryDocument, SweepReport, is_level_folder,
};
use fizeau::report::{Shown, Verbosity};

use crate::args::{ReportArgs, TrustArgs};
use crate::commands::shared::{checklist, folder, speed};
use crate::commands::sweep;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{say, say_json};
use page::PageLocation;

/// The width of what is not a table.
const WIDTH: usize = 80;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Fail> {
    let concept = args.view.explain.as_deref().and_then(PeerTerm::from_key);
    if let Some(flag) = args.pictures.flag().or_else(|| args.view.flag()) {
        refuse_if!(
            !args.trust.require.is_empty(),
            "--require needs a report of the whole run, and {flag} makes none; leave one out, or run \
             the command twice"
        );
    }
    let path = match &*args.runs {
        [] => {
            let concept = concept.ok_or_else(|| usage!("name the folder of a run"))?;
            return definitions(concept, args.json);
        }
        paths if args.pictures.is_asked() => return pictures::run(args, paths),
        [path] => path,
        several => return many::run(args, several),
    };
    let run = match open(path)? {
        OpenedRun::Tapes(run) => run,
        OpenedRun::Figures(run) => return figures::run(&run, path, args),
    };
    let asked = ReportRequest::new(args, &run)?;
    if args.export.is_wanted() {
        export::run(&asked, args)?;
        if !args.is_shown() {
            return required(&asked);
        }
    }
    if args.view.is_asked() {
        note_made_up(&run)?;
    }
    if let Some(concept) = concept {
        return views::explain(&asked, concept);
    }
    if !args.view.tools.is_empty() {
        return views::tools(&asked, &args.view.tools);
    }
    if args.view.has_percentiles() {
        return views::percentiles(&asked, &args.view);
    }
    let page = PageLocation::of_run(args, path);
    levels(&run, &ReportRequest { page, ..asked })
}

/// Whether a run that is not shown has what is required of it; nothing is read again where nothing is.
fn required(asked: &ReportRequest<'_>) -> Result<Exit, Fail> {
    if asked.trust.require.is_empty() {
        return Ok(Exit::Good);
    }
    let levels = level::all(asked, ExtraTallies::default())?;
    Ok(checklist::enforce(&asked.together(levels)?.checklist(), &asked.trust, Exit::Good))
}

/// A run, which may be one of several but not several.
fn open(path: &Path) -> Result<OpenedRun, Fail> {
    folder::refuse_file(path)?;
    Ok(OpenedRun::open(path)?)
}

/// Says that some of what is computed of tapes is of nothing that anybody saw.
fn note_made_up(run: &StoredRun) -> Result<(), Fail> {
    if let Some(unseen) = run.unseen()? {
        tell!(
            "note: imported from {}: its file lacks some facts (`fizeau report RUN` lists them), and the tapes have \
             made-up values for them, such as gaps between tokens and latencies from schedule",
            unseen.tool()
        );
    }
    Ok(())
}

/// What is asked of a run, by the command line or by the run itself.
struct ReportRequest<'a> {
    reader: RunReader<'a>,
    json: bool,
    markdown: bool,
    trust: TrustArgs,
    /// Whether the command line names goals, which are then missed or kept.
    has_goals: bool,
    /// Where a page goes; none where none is made.
    page: Option<PageLocation>,
}

impl<'a> ReportRequest<'a> {
    fn new(args: &ReportArgs, run: &'a StoredRun) -> Result<Self, Fail> {
        let reader = reader::of_args(run, args)?;
        let (json, markdown, trust) = (args.json, args.markdown, args.trust.clone());
        let has_goals = !args.slo.is_empty();
        Ok(Self { reader, json, markdown, trust, has_goals, page: None })
    }

    /// Levels side by side.
    fn together(&self, levels: Vec<RereadLevel>) -> Result<SweepReport, Fail> {
        let run = self.reader.together(level::read(levels)).map_err(Fail::usage)?;
        Ok(run.report())
    }

    /// Whether goals are named and no level of `report` keeps them.
    fn misses_goals(&self, report: &SweepReport) -> bool {
        self.has_goals && !report.passes()
    }

    /// Writes the page of `report`, if one is asked for; where it is.
    fn write(&self, report: &SweepReport) -> Result<Option<PathBuf>, Fail> {
        self.page.as_ref().map_or(Ok(None), |place| place.write(&Shown(report).page()))
    }
}

/// What the run printed at its end, as far as it can be obtained again.
fn levels(run: &StoredRun, asked: &ReportRequest<'_>) -> Result<Exit, Fail> {
    let mut wanted = ExtraTallies::default();
    (wanted.detail, wanted.vllm) = (asked.page.is_some(), !(asked.json || asked.markdown));
    let levels = level::all(asked, wanted)?;
    let search = level::search(run)?;
    let is_missed = match &search {
        // A load beyond the edge may fail as it likes.
        Some((search, _)) => search.verdict == Verdict::Invalid,
        None => levels.iter().any(|level| level.read.report.is_missed()),
    };
    // Of a sweep another level may keep the goals.
    let is_alone = matches!(&*levels, [level] if level.read.name.is_empty());
    let exit = |report: &SweepReport| {
        let misses = is_alone && report.leaves_goals_open() || asked.misses_goals(report);
        Exit::missed(is_missed || misses)
    };
    if asked.markdown {
        let report = asked.together(levels)?;
        asked.write(&report)?;
        say(Shown(&report).markdown().trim_end())?;
        return Ok(checklist::enforce(&report.checklist(), &asked.trust, exit(&report)));
    }
    let (checklist, report) = match search {
        Some(search) => (searched(&search, &asked.together(levels)?, asked)?, None),
        None => match <[RereadLevel; 1]>::try_from(levels) {
            Ok([level]) if run.is_rest(&level.read.report).map_err(Fail::usage)? => {
                sweep_or_blocks(run, vec![level], asked)?
            }
            Ok([level]) => alone(&level, asked)?,
            Err(levels) => sweep_or_blocks(run, levels, asked)?,
        },
    };
    let exit = report.as_ref().map_or_else(|| Exit::missed(is_missed), exit);
    Ok(checklist::enforce(&checklist, &asked.trust, exit))
}

/// A search, as it was kept.
fn searched(
    (search, text): &(SearchDocument, String),
    report: &SweepReport,
    asked: &ReportRequest<'_>,
) -> Result<Checklist, Fail> {
    let page = asked.write(report)?;
    let checklist = report.checklist();
    if asked.json {
        say_json(search)?;
    } else {
        say(text)?;
        checklist::show(&checklist, &asked.trust)?;
        say_page(page.as_deref())?;
    }
    Ok(checklist)
}

/// The only level of a run, which is given back as a sweep of one.
fn alone(
    level: &RereadLevel,
    asked: &ReportRequest<'_>,
) -> Result<(Checklist, Option<SweepReport>), Fail> {
    let checklist = level.read.checklist();
    let run = asked.together(vec![level.clone()])?;
    let text = if asked.json {
        // One of a sweep is as its own file has it: the list is that of all levels.
        let own = Some(checklist.clone()).filter(|_| level.read.name.is_empty());
        let mut report = level.read.report.clone();
        report.checklist = own;
        report.to_json().map_err(Fail::broken)?
    } else {
        level::text(level, Some(&run), asked.trust.output.verbosity())
    };
    let page = asked.write(&run)?;
    say(text.trim_end())?;
    if !asked.json {
        speed::say_missing(run.levels())?;
        checklist::show(&checklist, &asked.trust)?;
        say_page(page.as_deref())?;
    }
    Ok((checklist, Some(run)))
}

/// A sweep has its table, and is given back; levels of any other kind are shown one after another.
fn sweep_or_blocks(
    run: &StoredRun,
    levels: Vec<RereadLevel>,
    asked: &ReportRequest<'_>,
) -> Result<(Checklist, Option<SweepReport>), Fail> {
    if levels.iter().any(|level| !is_level_folder(&level.read.name)) {
        return Ok((blocks(run, levels, asked)?, None));
    }
    let report = asked.together(levels)?;
    let page = asked.write(&report)?;
    if asked.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        sweep::show(&report, page.as_deref(), &asked.trust)?;
    }
    Ok((report.checklist(), Some(report)))
}

/// What stands where a page of an A/B run has no tests of its own.
const OWN_ROUNDS: &str = "its rounds are compared in ab.json";

/// Levels that belong to no sweep: of an A/B run the turns of both sides.
fn blocks(
    run: &StoredRun,
    levels: Vec<RereadLevel>,
    asked: &ReportRequest<'_>,
) -> Result<Checklist, Fail> {
    let all: Vec<&LevelReport> = levels.iter().map(|level| &level.read.report).collect();
    let checklist = Checklist::of(&run.document().setup, &all);
    if asked.json {
        let all: Vec<SummaryDocument> = all.into_iter().map(SummaryDocument::from).collect();
        say(run.levels_json(LEVELS_SCHEMA, &all).map_err(Fail::broken)?)?;
    } else {
        let verbosity = asked.trust.output.verbosity();
        // What the turns of an A/B run come to fits on a screen, and each of them does not.
        if verbosity == Verbosity::Full || !answers(run)? {
            levels.iter().try_for_each(|level| say(level::text(level, None, verbosity)))?;
        }
        if verbosity == Verbosity::Full {
            answers(run)?;
        }
        speed::say_missing(all)?;
        checklist::show(&checklist, &asked.trust)?;
    }
    let page = match &asked.page {
        Some(place) => {
            let sides = asked.reader.sides(level::read(levels)).map_err(Fail::usage)?;
            place.write(&many::page(&sides, Err(OWN_ROUNDS)))?
        }
        None => None,
    };
    if !asked.json {
        say_page(page.as_deref())?;
    }
    Ok(checklist)
}

/// What the rounds of an A/B run came to; nothing of any other run. Whether there was an answer.
fn answers(run: &StoredRun) -> Result<bool, Fail> {
    if run.document().ab.is_none() {
        return Ok(false);
    }
    let Some(document) = run.ab().map_err(Fail::usage)? else {
        say("This A/B run did not finish: there is no ab.json")?;
        return Ok(false);
    };
    let name = run.path().join("ab.json");
    say(format!("An A/B run; its comparison, from {}:", name.display()))?;
    say(Shown(&document).answers())?;
    Ok(true)
}

/// Where the page is.
pub(crate) fn say_page(page: Option<&Path>) -> Result<(), Fail> {
    page.map_or(Ok(()), |page| say(format!("Report: {}", page.display())))
}

/// A word without a run.
fn definitions(concept: PeerTerm, json: bool) -> Result<Exit, Fail> {
    let explanation = TermExplanation::new(concept);
    say(match json {
        true => explanation.to_json().map_err(Fail::broken)?,
        false => explanation.text(WIDTH),
    })?;
    Ok(Exit::Good)
}
