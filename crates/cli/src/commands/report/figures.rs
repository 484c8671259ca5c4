//! A run of another tool of which there are figures and no tapes: what is known, and what is not.

use std::path::Path;

use fizeau::record::{Checklist, ImportedRun, NamedRun};
use fizeau::report::{ImportedTableRun, LevelTable, Shown, Terminal};

use super::export::{Sink, one_to_the_screen};
use super::page::PageLocation;
use super::{PAGE, say_page};
use crate::args::ReportArgs;
use crate::commands::shared::checklist;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{say, say_json};
use crate::terminal::screen::Screen;

/// Why nothing that takes requests can be said.
const NO_TAPES: &str = "imported without tapes: its figures are those of another tool's file, and no other can be computed";

/// Why a row of the checklist is not known.
const UNCHECKED: &str = "imported without tapes: nothing can be checked";

pub(super) fn run(run: &ImportedRun, path: &Path, args: &ReportArgs) -> Result<Exit, Fail> {
    takes_no_tapes(path, args)?;
    if let Some(file) = &args.export.csv {
        one_to_the_screen(args)?;
        let name = NamedRun::at(path).name;
        let own = ImportedTableRun { name, run, devices: None, price: None, quality: None };
        let table = LevelTable::new(&[]).with_imported(&[own]);
        for left in table.left_out() {
            tell!("note: {} is no row: {}", left.load, left.reason);
        }
        let missing = run.levels().len() - table.rows().len() - table.left_out().len();
        if missing > 0 {
            tell!(
                "note: {missing} more runs are left out, since each load that was measured more than once has one row"
            );
        }
        Sink::open(file)?.write_whole(&table.to_csv())?;
        if !args.is_shown() {
            return Ok(checklist::enforce(&checklist(), &args.trust, Exit::Good));
        }
    }
    let page = (args.html.is_some() || !(args.json || args.markdown))
        .then(|| PageLocation::of(args.html.as_deref(), path.join(PAGE)));
    let page = page.map_or(Ok(None), |place| place.write(&Shown(run).page()))?;
    if args.json {
        say_json(run)?;
    } else if args.markdown {
        say(Shown(run).markdown().trim_end())?;
    } else {
        let Screen { width, style, charset } = Screen::of_stdout();
        say(Shown(run).terminal(&Terminal {
            width,
            style,
            charset,
            verbosity: args.trust.output.verbosity(),
            checklist: args.trust.rows(),
            report: None,
        }))?;
        say_page(page.as_deref())?;
    }
    // Nothing can be told of any row, and such a row does not pass.
    Ok(checklist::enforce(&checklist(), &args.trust, Exit::Good))
}

/// The checklist of such a run.
pub(super) fn checklist() -> Checklist {
    Checklist::unknown(UNCHECKED)
}

/// Refuses, by name, what takes requests: a flag that did nothing would be taken for one that did.
pub(super) fn takes_no_tapes(path: &Path, args: &ReportArgs) -> Result<(), Fail> {
    let (view, export) = (&args.view, &args.export);
    let given = [
        ("--explain", view.explain.is_some()),
        ("--as", !view.tools.is_empty()),
        ("--percentile-rule", view.percentile_rule.is_some()),
        ("--percentiles", !view.percentiles.is_empty()),
        ("--goodput", !args.goodput.is_empty()),
        ("--warmup", args.warmup.is_some()),
        ("--cooldown", args.cooldown.is_some()),
        ("--prefer", args.choosing.prefer.is_some()),
        ("--step-rule", args.choosing.step_rule.is_some()),
        ("--checklist", args.trust.checklist),
        ("--gpu-hour", args.price.gpu_hour.is_some()),
        ("--requests-csv", export.requests_csv.is_some()),
        ("--parquet", export.parquet.is_some()),
        ("--prometheus", export.prometheus.is_some()),
        ("--push", !export.push.is_empty()),
    ];
    let speed_of_light = args.speed_of_light.given().into_iter();
    let given = given.into_iter().filter(|(_, is_given)| *is_given).map(|(flag, _)| flag);
    let flags: Vec<&str> = given.chain(speed_of_light).collect();
    match flags.as_slice() {
        [] => Ok(()),
        flags => Err(usage!("{}: {}: {NO_TAPES}", flags.join(", "), path.display())),
    }
}
