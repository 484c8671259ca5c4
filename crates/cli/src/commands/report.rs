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

use std::path::Path;

use fizeau::interop::{ExtraTallies, PeerTerm, RereadLevel, TermExplanation};
use fizeau::record::{LevelReport, OpenedRun, RunContent, RunContentKind, RunReader, StoredRun};
use fizeau::report::Shown;

use crate::args::{ReportArgs, TrustArgs};
use crate::commands::shared::{checklist, folder, speed};
use crate::commands::sweep;
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
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
    levels(&ReportRequest { page, ..asked })
}

/// Whether a run that is not shown has what is required of it; nothing is read again where nothing is.
fn required(asked: &ReportRequest<'_>) -> Result<Exit, Fail> {
    if asked.trust.require.is_empty() {
        return Ok(Exit::Good);
    }
    let levels = level::all(asked, ExtraTallies::default())?;
    Ok(checklist::enforce(&asked.content(levels)?.checklist(), &asked.trust, Exit::Good))
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
    /// Where a page goes; none where none is made.
    page: Option<PageLocation>,
}

impl<'a> ReportRequest<'a> {
    fn new(args: &ReportArgs, run: &'a StoredRun) -> Result<Self, Fail> {
        let reader = reader::of_args(run, args)?;
        let (json, markdown, trust) = (args.json, args.markdown, args.trust.clone());
        Ok(Self { reader, json, markdown, trust, page: None })
    }

    /// What the run says by `levels`.
    fn content(&self, levels: Vec<RereadLevel>) -> Result<RunContent<'a>, Fail> {
        self.reader.content(level::read(levels)).map_err(Fail::usage)
    }
}

/// What the run printed at its end, as far as it can be obtained again.
fn levels(asked: &ReportRequest<'_>) -> Result<Exit, Fail> {
    let mut wanted = ExtraTallies::default();
    (wanted.detail, wanted.vllm) = (asked.page.is_some(), !(asked.json || asked.markdown));
    let levels = level::all(asked, wanted)?;
    let heads: Vec<String> = levels.iter().map(level::head).collect();
    let content = asked.content(levels)?;
    let page = asked.page.as_ref().map(|place| place.write(&Shown(&content).page()));
    let page = page.transpose()?.flatten();
    if asked.markdown {
        say(Shown(&content).markdown().trim_end())?;
    } else if asked.json {
        say(content.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        show(&content, &heads, page.as_deref(), &asked.trust)?;
    }
    let exit = Exit::missed(!content.passes());
    Ok(checklist::enforce(&content.checklist(), &asked.trust, exit))
}

/// A sweep has its table; what is of any other kind is shown one after another.
fn show(
    content: &RunContent<'_>,
    heads: &[String],
    page: Option<&Path>,
    trust: &TrustArgs,
) -> Result<(), Fail> {
    let levels: Vec<&LevelReport> = match content.kind() {
        RunContentKind::Sweep => return sweep::show(content.report(), page, trust),
        RunContentKind::Alone(level) => vec![&level.report],
        RunContentKind::Apart { levels, .. } => levels.iter().map(|level| &level.report).collect(),
        _ => Vec::new(),
    };
    say(Shown(content).text(heads, trust.output.verbosity()).trim_end())?;
    speed::say_missing(levels)?;
    checklist::show(&content.checklist(), trust)?;
    say_page(page)
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
