//! `fizeau merge`.

use std::path::PathBuf;

use clap::Args;

use super::TrustArgs;

#[derive(Debug, Args)]
pub(crate) struct MergeArgs {
    /// The folders of the shards, in any order.
    #[arg(value_name = "RUN", required = true, num_args = 2..)]
    pub(crate) runs: Vec<PathBuf>,
    /// The folder that the merged run is written to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Merge them even if they differ in what was asked, or if two are the same share of it.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) trust: TrustArgs,
}
