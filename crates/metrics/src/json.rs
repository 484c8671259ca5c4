//! How absence looks in JSON: null, and beside it a sibling `..._reason`.

use serde::Serialize;
use serde::ser::SerializeMap;

/// Writes `key` with `value`, or null and `key_reason` where there is none.
pub(crate) fn known_or_reason<M, T>(
    map: &mut M,
    key: &str,
    value: Option<T>,
    reason: &str,
) -> Result<(), M::Error>
where
    M: SerializeMap,
    T: Serialize + Copy,
{
    map.serialize_entry(key, &value)?;
    if value.is_none() {
        map.serialize_entry(&format!("{key}_reason"), reason)?;
    }
    Ok(())
}
