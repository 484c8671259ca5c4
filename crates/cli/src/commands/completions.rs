//! `fizeau completions`: what a shell reads to complete commands and flags.

use clap_complete::generate;

use crate::args::{CompletionsArgs, command};
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;

pub(crate) fn run(args: &CompletionsArgs) -> Result<Exit, Fail> {
    let mut script = Vec::new();
    generate(args.shell, &mut command(), "fizeau", &mut script);
    say(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Exit::Good)
}
