//! A run of another tool of which there are figures and no tapes: what is known, and what is not.

use std::path::Path;

use fizeau::record::{ImportedRun, NamedRun};
use fizeau::report::{ImportedTableRun, LevelTable, Shown};

use super::export::{Sink, one_to_the_screen};
use super::page::PageLocation;
use super::say_page;
use crate::args::ReportArgs;
use crate::commands::shared::checklist;
use crate::exit::{Exit, Fail};
use crate::terminal::say::{say, say_json};

/// Why nothing that takes requests can be said.
const NO_TAPES: &str = "imported without tapes: its figures are those of another tool's file, and no other can be computed";

/// What computes something of requests.
const TAKES_TAPES: &str = "
    --explain --as --percentile-rule --percentiles --slo --goodput --warmup --cooldown --prefer --step-rule --checklist --gpu-hour
    --requests-csv --parquet --prometheus --push --model-config --hardware --tp --pp --ep --dp --replicas --weights --kv --memory-share
    --max-num-seqs --draft --calibration
";

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
            return Ok(checklist::enforce(&run.checklist(), &args.trust, Exit::Good));
        }
    }
    let page = PageLocation::of_run(args, path)
        .map_or(Ok(None), |place| place.write(&Shown(run).page()))?;
    if args.json {
        say_json(run)?;
    } else if args.markdown {
        say(Shown(run).markdown().trim_end())?;
    } else {
        say(Shown(run).terminal(&checklist::terminal(&args.trust, None)))?;
        say_page(page.as_deref())?;
    }
    // Nothing can be told of any row, and such a row does not pass.
    Ok(checklist::enforce(&run.checklist(), &args.trust, Exit::Good))
}

/// Refuses, by name, what takes requests: a flag that did nothing would be taken for one that did.
pub(super) fn takes_no_tapes(path: &Path, args: &ReportArgs) -> Result<(), Fail> {
    let is_typed = |flag: &&str| args.typed.iter().any(|typed| typed == flag);
    let flags: Vec<&str> = TAKES_TAPES.split_whitespace().filter(is_typed).collect();
    match flags.as_slice() {
        [] => Ok(()),
        flags => Err(usage!("{}: {}: {NO_TAPES}", flags.join(", "), path.display())),
    }
}
