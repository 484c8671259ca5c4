//! One query, in the words of the command line.

use fizeau::experiment::{LoadQuery, SolQuery};

use crate::args::{SolArgs, SolLoadArgs};
use crate::commands::shared::speed;
use crate::exit::Fail;

/// What the flags ask of which system.
pub(super) fn of(args: &SolArgs) -> SolQuery<'_> {
    let system = speed::query(&args.system, args.calibration.constants.engine.as_deref());
    SolQuery { system, load: load(&args.load) }
}

/// A context is that of the token which follows a prompt: of two tokens of output it is the second that a step makes.
fn load(args: &SolLoadArgs) -> LoadQuery {
    let concurrency = args.batch.unwrap_or(args.concurrency);
    match args.context {
        Some(context) => {
            LoadQuery { isl: context.saturating_sub(1), osl: 2, cached: 0, concurrency }
        }
        None => LoadQuery { isl: args.isl, osl: args.osl, cached: args.cached, concurrency },
    }
}

/// Refuses flags that stand for others of a load.
pub(super) fn check(args: &SolLoadArgs) -> Result<(), Fail> {
    let most = LoadQuery::MOST;
    for (flag, given, least) in [
        ("context", args.context, 2),
        ("batch", args.batch, 1),
        ("isl", Some(args.isl), 1),
        ("osl", Some(args.osl), 1),
        ("concurrency", Some(args.concurrency), 1),
    ] {
        if let Some(count) = given.filter(|count| !(least..=most).contains(count)) {
            let wrong = format!("--{flag} {count}: give a number from {least} to {most}");
            return Err(Fail::usage(wrong));
        }
    }
    Ok(())
}
