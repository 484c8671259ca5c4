//! Several clients that measure one run.

use clap::Args;
use fizeau::core::Nanos;

use super::values::some_time;

#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Several machines")]
pub(crate) struct ShardArgs {
    /// Send the I-th of N shares of the run, counted from 0. By default as the launcher says: FIZEAU_SHARD_INDEX and
    /// FIZEAU_SHARD_COUNT, a Slurm array or step, JOB_COMPLETION_INDEX with FIZEAU_SHARD_COUNT, Open MPI, PMI.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Where the shards meet, to begin together and to give one report: HOST:PORT of shard 0, or a folder that all of them see; by
    /// default FIZEAU_RENDEZVOUS, or the first node of a Slurm step.
    #[arg(long, value_name = "HOST:PORT|DIR")]
    pub(crate) rendezvous: Option<String>,
    /// How long shards wait for one another, while nothing is measured.
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "60s", env = "FIZEAU_SHARD_TIMEOUT")]
    pub(crate) shard_timeout: Nanos,
    /// Measure one level with the shards that come; the report says which load they offered.
    #[arg(long)]
    pub(crate) allow_missing_shards: bool,
}
