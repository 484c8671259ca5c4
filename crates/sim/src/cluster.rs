//! Several engines that serve as one: replicas behind a router, and prefill apart from decode.
//!
//! Both are a [`crate::Serve`] made of others, so that they nest, and whatever runs an engine runs them.

mod disaggregated;
mod handover;
mod prefixes;
mod replicas;
mod router;

pub use disaggregated::DisaggregatedEngine;
pub use handover::Handover;
pub use replicas::Replicas;
pub use router::ReplicaRouting;

use std::num::NonZeroU64;

use fizeau_core::{BytesPerSec, Tokens};

use crate::serve::Serve;

/// Why engines do not make a cluster.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// There is nobody to do the work.
    #[error("a cluster without engines serves nothing: give at least one of each kind")]
    NoEngines,
    /// What a job's tokens are is told in blocks, and of one size only.
    #[error(
        "the engines find prefixes by blocks of {one} and of {other} tokens: give all the same block size, or \
         none a prefix cache"
    )]
    BlocksDiffer {
        /// Tokens of a block of one engine; 0 if it finds none.
        one: u64,
        /// And of another.
        other: u64,
    },
    /// A cache would never arrive.
    #[error(
        "a link of {} bytes per second carries no cache: the bandwidth must be above 0 and finite",
        .0.get()
    )]
    NoBandwidth(BytesPerSec),
    /// What is sent is no amount.
    #[error("a cache of {0} bytes cannot be sent: the amount must be 0 or more, and finite")]
    NotAnAmount(f64),
}

/// The longest job that all of `engines` take.
fn longest_job<E: Serve>(engines: &[E]) -> Option<Tokens> {
    engines.iter().filter_map(Serve::longest_job).min()
}

/// The block size by which all of `engines` find prefixes.
fn common_block<E: Serve>(engines: &[E]) -> Result<Option<NonZeroU64>, ClusterError> {
    let first = engines.first().ok_or(ClusterError::NoEngines)?.prefix_block();
    for other in engines.iter().map(Serve::prefix_block) {
        if other != first {
            return Err(blocks_differ(first, other));
        }
    }
    Ok(first)
}

fn blocks_differ(one: Option<NonZeroU64>, other: Option<NonZeroU64>) -> ClusterError {
    let tokens = |block: Option<NonZeroU64>| block.map_or(0, NonZeroU64::get);
    ClusterError::BlocksDiffer { one: tokens(one), other: tokens(other) }
}
