//! `fizeau convert`: other tools' files to runs, and runs to other tools' files.

mod export;
mod import;

use crate::args::ConvertArgs;
use crate::exit::{Exit, Fail};

pub(crate) fn run(args: &ConvertArgs) -> Result<Exit, Fail> {
    match &args.to {
        Some(format) => export::run(args, format),
        None => import::run(args),
    }
}
