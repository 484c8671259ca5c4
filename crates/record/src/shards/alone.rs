//! That figures are of one shard alone.

use fizeau_metrics::{Verdict, VerdictConcern, VerdictReason};
use fizeau_workload::Shard;

/// What weighs against the figures of `shard` by itself: its endpoint served more than it saw. None of a shard that is the whole run.
///
/// ```
/// use fizeau_record::shard_alone;
///
/// let reason = shard_alone("0/2".parse()?).map(|reason| reason.text);
/// let text = "this is the part of shard 0/2 alone: the endpoint had the load of all 2 shards";
/// assert_eq!(reason.as_deref(), Some(text));
/// assert_eq!(shard_alone("0/1".parse()?), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn shard_alone(shard: Shard) -> Option<VerdictReason> {
    let count = shard.count().get();
    let text = format!(
        "this is the part of shard {shard} alone: the endpoint had the load of all {count} shards"
    );
    (count > 1).then(|| VerdictReason::new(Verdict::Suspect, VerdictConcern::Shards, text))
}
