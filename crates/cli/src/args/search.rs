//! `fizeau search`, and `fizeau simulate --search`.

use clap::Args;
use fizeau::core::LoadKind;

use super::choice::{Word, choice};
use super::{SweepArgs, goal};

/// The flags of a sweep, but for those that say which loads there are.
#[derive(Debug, Args)]
#[command(
    mut_arg("levels", |arg| arg.hide(true)),
    mut_arg("rates", |arg| arg.hide(true)),
    mut_arg("burstiness", |arg| arg.hide(true)),
    mut_arg("repeats", |arg| arg.hide(true)),
    mut_arg("refine", |arg| arg.hide(true)),
    mut_arg("sustain", |arg| arg.hide(true)),
    mut_arg("stop_at_saturation", |arg| arg.hide(true)),
    mut_arg("no_stop", |arg| arg.hide(true)),
    mut_arg("budget", |arg| arg.hide(true)),
    mut_arg("resume", |arg| arg.hide(true)),
    mut_arg("until", |arg| arg.hide(true)),
    mut_arg("num_prompts", |arg| arg.help(
        "Requests of a level; by default as many as come in --level-seconds, of a concurrency as many as are served in them"
    )),
    mut_arg("level_seconds", |arg| arg.help("A level releases no further request after this many seconds; by default 60")),
    mut_arg("num_warmups", |arg| arg.help(
        "Requests sent before each level that never count; by default as many as its slots, of a rate a tenth of the level, at \
         most 50"
    )),
    mut_arg("slo", |arg| goal::with_help(
        arg,
        "The goals that must hold; at least one that more load breaks, as a latency or goodput"
    )),
    mut_arg("out", |arg| arg.help("A folder for the search; by default one named by the date under fizeau-runs/")),
)]
pub(crate) struct SearchArgs {
    /// Search the highest rate, or the highest concurrency.
    #[arg(long, value_parser = choice(&KINDS), default_value = "rate", help_heading = "Search")]
    pub(crate) over: LoadKind,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) sweep: SweepArgs,
}

/// What a search on either clock has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchFlags {
    /// The lowest load, in requests per second or in flight. A search begins there, with --to in the middle of both; by default
    /// a rate begins at what 16 requests in flight complete, and a concurrency at 16.
    #[arg(long, value_name = "LOAD")]
    pub(crate) from: Option<f64>,
    /// The highest load; by default 100 times the first rate, and 4096 in flight.
    #[arg(long, value_name = "LOAD")]
    pub(crate) to: Option<f64>,
    /// The most levels, the one to begin with included, those of --confirm not.
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) max_runs: u32,
    /// How narrow the answer is to be: half the width of its interval over the answer. It ends as soon as it is.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "3%")]
    pub(crate) tolerance: f64,
    /// How sure the interval is to be, and on which side of the edge a level lies.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.95")]
    pub(crate) confidence: f64,
    /// A long level at the load that was found, in seconds, to see whether the goals hold; 0 for none. If they do not, again
    /// below it, by one step of --tolerance at least, and once more, two steps further down. The answer is the load that holds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub(crate) confirm: f64,
}

pub(super) const KINDS: [Word<LoadKind>; 2] = [
    ("rate", LoadKind::Rate, "Requests sent per second, whether or not earlier ones are done"),
    ("concurrency", LoadKind::Concurrency, "Requests in flight at any time"),
];

/// `3%` or `0.03`.
fn share(text: &str) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let number: f64 = number.trim().parse().map_err(|_| "a share, such as 3% or 0.03")?;
    if number.is_finite() { Ok(number / of) } else { Err("a share, such as 3% or 0.03".to_owned()) }
}
