//! How a sweep goes on from level to level.

use std::num::NonZeroU32;

use clap::Args;

use crate::exit::{Fail, refuse_given};

/// What a measured and a simulated sweep have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Protocol")]
pub(crate) struct ProtocolArgs {
    /// Measure each load this many times, in rounds: all loads once, then again. Its figures are then means over the runs with an
    /// interval across them.
    #[arg(long, value_name = "N", default_value = "1")]
    pub(crate) repeats: NonZeroU32,
    /// After the rising levels, measure up to this many more where they tell most: at the highest load within the goals, or else where
    /// more load brings no more throughput. By default none; with --budget as many as it allows.
    #[arg(long, value_name = "N")]
    pub(crate) refine: Option<u32>,
    /// At the end, measure the operating point for this many seconds to see whether it holds. By default not; with --budget for up
    /// to 300 s.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) sustain: Option<f64>,
    /// Raise the load no further after two levels in succession that bring nothing: less than 5 % more requests per second than the best
    /// lower level at a higher latency, or a rate whose queue grows. This is the default of `fizeau sweep`.
    #[arg(long, conflicts_with = "no_stop")]
    pub(crate) stop_at_saturation: bool,
    /// Measure all levels, whatever they show. This is the default of `fizeau simulate`.
    #[arg(long)]
    pub(crate) no_stop: bool,
}

impl ProtocolArgs {
    /// Refuses the first of its flags that was given, for the reason `why`.
    pub(super) fn refuse(&self, why: &str) -> Result<(), Fail> {
        let Self { repeats, refine, sustain, stop_at_saturation, no_stop } = self;
        let flags = [
            (repeats.get() > 1, "--repeats"),
            (refine.is_some(), "--refine"),
            (sustain.is_some(), "--sustain"),
            (*stop_at_saturation, "--stop-at-saturation"),
            (*no_stop, "--no-stop"),
        ];
        refuse_given(&flags, |flag| format!("{flag}: {why}"))
    }
}
