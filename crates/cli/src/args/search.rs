//! `fizeau search`, and `fizeau simulate --search`.

use clap::Args;
use fizeau::core::LoadKind;

use super::MeasureArgs;
use super::choice::{Word, choice};

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// Search the highest rate, or the highest concurrency.
    #[arg(long, value_parser = choice(&KINDS), value_name = "LOAD", default_value = "rate", help_heading = "Search")]
    pub(crate) over: LoadKind,
    #[command(flatten)]
    pub(crate) search: SearchFlags,
    #[command(flatten)]
    pub(crate) measure: MeasureArgs,
}

/// What a search on either clock has.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Search")]
pub(crate) struct SearchFlags {
    /// The lowest load, in requests per second or in flight, with which a search begins; with --to too it begins in the middle of both.
    /// By default a rate begins at what 16 requests in flight complete, and a concurrency at 16.
    #[arg(long, value_name = "LOAD")]
    pub(crate) from: Option<f64>,
    /// The highest load; by default 100 times the first rate, or 4096 in flight.
    #[arg(long, value_name = "LOAD")]
    pub(crate) to: Option<f64>,
    /// The most levels, the first one included, those of --confirm not.
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) max_runs: u32,
    /// The precision that is wanted: half the width of the answer's interval over the answer. The search ends as soon as it is reached.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "3%")]
    pub(crate) tolerance: f64,
    /// The confidence of the interval, and of whether a level keeps the goals.
    #[arg(long, value_name = "SHARE", value_parser = share, default_value = "0.95")]
    pub(crate) confidence: f64,
    /// Measure the load that was found once more for this many seconds, to see whether the goals hold; 0 for not. If they do not,
    /// the search measures at least one step of --tolerance below it, and then two steps further down. The answer is the load that
    /// holds.
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub(crate) confirm: f64,
}

pub(super) const KINDS: [Word<LoadKind>; 2] = [
    ("rate", LoadKind::Rate, "Requests sent per second, whether or not earlier ones are done"),
    ("concurrency", LoadKind::Concurrency, "Requests in flight at any time"),
];

/// `3%` or `0.03`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let (number, of) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 100.0));
    let number: f64 = number.trim().parse().map_err(|_| "give a share, such as 3% or 0.03")?;
    if number.is_finite() {
        Ok(number / of)
    } else {
        Err("give a share, such as 3% or 0.03".to_owned())
    }
}
