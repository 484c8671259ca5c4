//! `run.json` of shards together.

use fizeau::core::Nanos;
use fizeau::record::Asked;
use serde_json::{Map, Value, json};

use super::check::{Checked, Shares};
use super::shard::MeasuredShard;
use super::summary;
use crate::exit::{Fail, Named};

/// The first shard's document, with what all of them are.
pub(super) fn merged(
    shards: &[MeasuredShard],
    later: &[Nanos],
    checked: &Checked,
    asked: Asked,
) -> Result<Value, Fail> {
    let mut documents = shards.iter().map(read).collect::<Result<Vec<_>, Fail>>()?;
    let from = documents.iter().zip(shards.iter().zip(later));
    let from: Vec<Value> =
        from.flat_map(|(document, (shard, later))| entries(document, shard, *later)).collect();
    let epoch = shards.iter().map(MeasuredShard::epoch_unix_ns).collect::<Option<Vec<_>>>();
    let epoch = epoch.and_then(|epochs| epochs.into_iter().min());
    let mut document = documents.swap_remove(0);
    if let Some(fields) = document.as_object_mut() {
        name_shares(fields, &from, checked.shares);
        match epoch {
            Some(epoch) => drop(fields.insert("epoch_unix_ns".to_owned(), epoch.into())),
            None => drop(fields.remove("epoch_unix_ns")),
        }
        if let Some(level) = level(fields, shards) {
            fields.insert("levels".to_owned(), json!([level]));
        }
        if let Some(client) = fields.get_mut("client").and_then(Value::as_object_mut) {
            client.insert("threads".to_owned(), summary::threads(shards).into());
        }
        fields.insert("merged".to_owned(), from.into());
        if !checked.objections.is_empty() {
            fields.insert("merged_though".to_owned(), checked.objections.clone().into());
        }
    }
    if let Some(workload) = document.pointer_mut("/setup/workload") {
        workload["asked"] = serde_json::to_value(asked).map_err(Fail::broken)?;
    }
    Ok(document)
}

/// What is said of a shard, or of each of those that were merged into it: what came of shards does not depend on the order in which
/// they were merged.
fn entries(document: &Value, shard: &MeasuredShard, later: Nanos) -> Vec<Value> {
    if let Some(merged) = document["merged"].as_array() {
        let put_later = |entry: &Value| {
            let mut entry = entry.clone();
            let before = entry["put_later_ns"].as_u64().unwrap_or_default();
            entry["put_later_ns"] = before.saturating_add(later.as_nanos()).into();
            entry
        };
        return merged.iter().map(put_later).collect();
    }
    let setup = &document["setup"];
    vec![json!({
        "folder": shard.name(),
        "shard": document["shard"],
        "cv_squared": setup["workload"]["asked"]["arrivals"]["cv_squared"],
        "started": setup["started"],
        "host": setup["host"],
        "base_url": setup["endpoint"]["base_url"],
        "command_line": setup["command_line"],
        "put_later_ns": later.as_nanos(),
    })]
}

/// All shares are no share; some of them are named.
fn name_shares(fields: &mut Map<String, Value>, from: &[Value], shares: Shares) {
    let named: Vec<&str> = from.iter().filter_map(|entry| entry["shard"].as_str()).collect();
    match shares {
        Shares::Some if !named.is_empty() => {
            drop(fields.insert("shard".to_owned(), named.join(", ").into()));
        }
        Shares::Some | Shares::All(_) => drop(fields.remove("shard")),
    }
}

/// The level that was merged, of however many the first shard had, with the cap of all of them.
fn level(fields: &Map<String, Value>, shards: &[MeasuredShard]) -> Option<Value> {
    let index = shards.first()?.planned.index;
    let mut level = fields.get("levels")?.get(index)?.clone();
    if let Some(cap) = summary::cap(shards) {
        level["max_in_flight"] = cap.into();
    }
    Some(level)
}

fn read(shard: &MeasuredShard) -> Result<Value, Fail> {
    let path = shard.run.document();
    let name = path.display().to_string();
    serde_json::from_slice(&std::fs::read(path).named(&name)?).named(&name)
}
