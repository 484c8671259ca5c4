//! By how many shards a run is gone on with.

use std::fs;
use std::path::Path;

use fizeau_workload::Shard;

use super::{EndpointKind, Experiment};
use crate::input::{InputError, InputField};
use crate::shards::ShardGroup;

impl<K: EndpointKind> Experiment<K> {
    /// Refuses to go on with a run that more or fewer shards measured, where its folder says how many.
    pub(super) fn check_resumed_by_as_many(&self) -> Result<(), InputError> {
        let Some(path) = self.settings.resume() else { return Ok(()) };
        let met = self.conduct.shards.as_ref().map(ShardGroup::shard);
        let shard = met.or_else(|| Some(self.conduct.meets.as_ref()?.shard));
        let shard = shard.unwrap_or(Shard::WHOLE);
        // Whoever is not the first may have its part on a machine of its own.
        let before = match (shards_of(path), shard.index()) {
            (None, 0) => 1,
            (None, _) => return Ok(()),
            (Some(count), _) => count,
        };
        let now = shard.count().get();
        if before == now {
            return Ok(());
        }
        let shards =
            |count| if count == 1 { "1 client".to_owned() } else { format!("{count} shards") };
        let (before, now) = (shards(before), shards(now));
        let why = format!(
            "{before} measured this run, and {now} would go on with it; go on with as many as began it"
        );
        Err(InputError::new(InputField::Resume, why).given(path.display()))
    }
}

/// Of how many shards the run in `folder` is, by the folders of their parts; none where there are none.
fn shards_of(folder: &Path) -> Option<u64> {
    let parts = fs::read_dir(folder.join("shards")).ok()?;
    let mut names = parts.filter_map(|part| part.ok()?.file_name().into_string().ok());
    names.find_map(|name| name.split_once("-of-")?.1.parse().ok())
}
