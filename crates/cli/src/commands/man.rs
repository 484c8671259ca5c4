//! `fizeau man`: the manual pages.

use std::fs;

use clap_mangen::{Man, generate_to};

use crate::args::{ManArgs, command};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::say::say;

pub(crate) fn run(args: &ManArgs) -> Result<Exit, Fail> {
    match &args.out {
        Some(dir) => {
            let written = fs::create_dir_all(dir).and_then(|()| generate_to(command(), dir));
            let named = format!("--out {}: give a folder that can be written", dir.display());
            written.named(&named)?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(command().disable_help_subcommand(true))
                .render(&mut page)
                .map_err(Fail::broken)?;
            say(String::from_utf8_lossy(&page).trim_end())?;
        }
    }
    Ok(Exit::Good)
}
