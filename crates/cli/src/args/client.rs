//! The client itself: how it measures, and when it is to be believed.

use std::num::NonZeroUsize;

use clap::Args;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Client")]
pub(crate) struct ClientArgs {
    /// The number of threads that measure; by default one for each logical core.
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZeroUsize>,
    /// A threshold of the verdict, as NAME=VALUE, such as lateness-suspect=5ms or cpu-suspect=0.8. An unknown name is answered with
    /// the list of all.
    #[arg(long, value_name = "NAME=VALUE", num_args = 1..)]
    pub(crate) threshold: Vec<String>,
}
