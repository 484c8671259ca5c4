//! `run.json` of shards together.

use fizeau::core::Nanos;
use fizeau::report::Asked;
use serde_json::{Value, json};

use super::check::Shares;
use super::shard::MeasuredShard;
use crate::exit::{Fail, Named};

/// The first shard's document, with what all of them are.
pub(super) fn merged(
    shards: &[MeasuredShard],
    later: &[Nanos],
    shares: Shares,
    asked: Asked,
) -> Result<Value, Fail> {
    let mut documents = shards.iter().map(read).collect::<Result<Vec<_>, Fail>>()?;
    let of = |(document, (shard, later)): (&Value, (&MeasuredShard, &Nanos))| {
        json!({
            "folder": shard.name(),
            "shard": document["shard"],
            "started": document["setup"]["started"],
            "host": document["setup"]["host"],
            "base_url": document["setup"]["endpoint"]["base_url"],
            "command_line": document["setup"]["command_line"],
            "put_later_ns": later.as_nanos(),
        })
    };
    let from: Vec<Value> = documents.iter().zip(shards.iter().zip(later)).map(of).collect();
    let epoch = shards.iter().map(MeasuredShard::epoch_unix_ns).collect::<Option<Vec<_>>>();
    let epoch = epoch.and_then(|epochs| epochs.into_iter().min());
    let mut document = documents.swap_remove(0);
    if let Some(fields) = document.as_object_mut() {
        if let (Shares::All(_), Some(_)) = (shares, fields.get("shard")) {
            fields.remove("shard");
        }
        match epoch {
            Some(epoch) => drop(fields.insert("epoch_unix_ns".to_owned(), epoch.into())),
            None => drop(fields.remove("epoch_unix_ns")),
        }
        fields.insert("merged".to_owned(), from.into());
    }
    if let Some(workload) = document.pointer_mut("/setup/workload") {
        workload["asked"] = serde_json::to_value(asked).map_err(Fail::broken)?;
    }
    Ok(document)
}

fn read(shard: &MeasuredShard) -> Result<Value, Fail> {
    let path = shard.run.document();
    let name = path.display().to_string();
    serde_json::from_slice(&std::fs::read(path).named(&name)?).named(&name)
}
