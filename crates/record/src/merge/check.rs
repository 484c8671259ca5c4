//! Whether runs are shards of one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::MergeError;
use super::shard::MeasuredShard;
use crate::fields::told;
use crate::{ChangedField, DocumentFields, MissingShards, ReferenceFiles, StoredError};

/// The fields of `run.json` that are the same in all shards of a run: what is asked, of which model, how the endpoint is spoken to, and by
/// which program. Where the endpoint is, each may know by another name.
pub const SHARDS_ALIKE: [&str; 18] = [
    "version",
    "plan",
    "probe",
    "sampling",
    "goodput",
    "slo",
    "timeouts",
    "setup.tool.name",
    "setup.tool.version",
    "setup.endpoint.model",
    "setup.endpoint.path",
    "setup.endpoint.backend",
    "setup.endpoint.connections.balance",
    "setup.endpoint.connections.headers",
    "setup.endpoint.connections.http_version",
    "setup.endpoint.connections.http2_streams",
    "setup.endpoint.connections.lifetime",
    "setup.endpoint.connections.stamps",
];

/// What is the same in the level that is merged, wherever among the levels of its run it stands. Its cap is compared as the cap
/// of each share.
const ALIKE_OF_LEVEL: [&str; 8] = [
    "requests",
    "warmup_requests",
    "release_for_ms",
    "slots_of_all",
    "seed",
    "window.warmup",
    "window.cooldown",
    "until",
];

/// How much of the plan the shards are together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlanCoverage {
    /// All of it, in so many.
    All(u64),
    /// Some of it, or nobody knows.
    Some,
}

/// What a check came to.
#[derive(Debug, Clone)]
pub(super) struct CheckedShards {
    pub(super) shares: PlanCoverage,
    /// The shares that are missing, where the shards are of one run.
    pub(super) missing: Vec<String>,
    /// Why the shards ought not to have been merged, where it was forced.
    pub(super) objections: Vec<String>,
}

/// Refuses what is not shards of one run, unless it is forced, and shards of which some are missing, unless that is allowed.
pub(super) fn check(
    shards: &[MeasuredShard],
    is_forced: bool,
    missing_shards: MissingShards,
    note: &mut dyn FnMut(&str),
) -> Result<CheckedShards, MergeError> {
    let objections = differing(shards).into_iter().chain(other_references(shards)?);
    let mut objections: Vec<String> =
        objections.chain(same(shards)).chain(apart_by_meeting(shards)?).collect();
    objections.extend(shards.iter().flat_map(MeasuredShard::other_record));
    if !objections.is_empty() && !is_forced {
        objections.extend(missing_words(shards));
        return Err(MergeError::NotOfOneRun(objections));
    }
    objections.iter().for_each(|objection| note(objection));
    let (shares, missing) = match objections.is_empty() {
        true => all_or_some(shards, missing_shards, note)?,
        false => (PlanCoverage::Some, Vec::new()),
    };
    Ok(CheckedShards { shares, missing, objections })
}

/// Refuses or names those that are missing.
fn all_or_some(
    shards: &[MeasuredShard],
    missing_shards: MissingShards,
    note: &mut dyn FnMut(&str),
) -> Result<(PlanCoverage, Vec<String>), MergeError> {
    let (count, missing) = missing(shards);
    if missing.is_empty() {
        return Ok((PlanCoverage::All(count), missing));
    }
    if missing_shards == MissingShards::Refused {
        let here = shards.iter().flat_map(MeasuredShard::shares).count() as u64;
        return Err(MergeError::SharesMissing { missing: list(&missing), here, count });
    }
    note(&format!(
        "some shards are missing, and rates are those of the ones that are here: {} missing",
        list(&missing)
    ));
    Ok((PlanCoverage::Some, missing))
}

/// Into how many the first shard's run is divided, and the shards of it that are not here.
fn missing(shards: &[MeasuredShard]) -> (u64, Vec<String>) {
    let shares: Vec<(u64, u64)> = shards.iter().flat_map(MeasuredShard::shares).collect();
    let count = shares.first().map_or(0, |share| share.1);
    let is_missing = |index: &u64| shares.iter().all(|share| share.0 != *index);
    let missing = (0..count).filter(is_missing);
    (count, missing.map(|index| format!("{index}/{count}")).collect())
}

/// Which shards are missing, where all are of one division and some is here twice.
fn missing_words(shards: &[MeasuredShard]) -> Option<String> {
    let (count, missing) = missing(shards);
    let mut shares = shards.iter().flat_map(MeasuredShard::shares);
    let is_one_division = shares.all(|share| share.1 == count);
    (is_one_division && !missing.is_empty())
        .then(|| format!("missing shards: {}; name their folders", list(&missing)))
}

/// The first few of many.
fn list(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown = names.get(..MOST).unwrap_or(names).join(", ");
    match names.len().checked_sub(MOST) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// Each run that differs from the first in what was asked.
fn differing(shards: &[MeasuredShard]) -> Vec<String> {
    let Some((first, others)) = shards.split_first() else {
        return Vec::new();
    };
    let mut objections = Vec::new();
    for other in others {
        let mut fields =
            first.document().fields().differing(&other.document().fields(), &SHARDS_ALIKE);
        fields.extend(differing_levels(first, other));
        if fields.is_empty() {
            continue;
        }
        let mut text = format!("{} and {} are not shards of one run:", first.name(), other.name());
        for field in told(&fields) {
            let [one, other] = field.values();
            // Into a string: it cannot fail.
            let _ = write!(text, "\n  {}: {one} and {other}", field.label());
        }
        objections.push(text);
    }
    objections
}

/// Each run whose model's config or device's file is another than the first's that has one: the speed of light of the merged
/// run would be of one of them alone.
fn other_references(shards: &[MeasuredShard]) -> Result<Vec<String>, StoredError> {
    let mut objections = Vec::new();
    for name in ReferenceFiles::NAMES {
        let mut known: Option<(String, String)> = None;
        for shard in shards {
            let Some(text) = shard.file(name)? else { continue };
            match &known {
                None => known = Some((shard.name(), text)),
                Some((first, its)) if *its != text => {
                    let other = shard.name();
                    objections.push(format!(
                        "{first} and {other} are not shards of one run: each has another {name}"
                    ));
                }
                Some(_) => {}
            }
        }
    }
    Ok(objections)
}

/// That two of them were measured in different meetings, as shards of runs that were started one after the other are, or one in a meeting
/// and another in none that is known, so that their clocks cannot be put on one.
fn apart_by_meeting(shards: &[MeasuredShard]) -> Result<Option<String>, StoredError> {
    let mut met = shards.iter().filter_map(|shard| Some((shard, shard.meeting()?)));
    let Some((first, meeting)) = met.next() else { return Ok(None) };
    let other = met.find(|(_, other)| *other != meeting);
    let first = first.name();
    if let Some((other, another)) = other {
        let other = other.name();
        return Ok(Some(format!(
            "{first} and {other} are not shards of one run: each was measured in another meeting ({meeting} and {another})"
        )));
    }
    // Who sent nothing has no stamps to be put on a clock.
    for other in shards.iter().filter(|shard| shard.meeting().is_none()) {
        if other.has_tapes()? {
            let other = other.name();
            return Ok(Some(format!(
                "{first} was measured in the meeting {meeting}, and nothing says in which {other} was: it has no shard.json, so that \
                 their clocks cannot be put on one"
            )));
        }
    }
    Ok(None)
}

/// The fields in which the levels of two runs differ.
fn differing_levels(one: &MeasuredShard, other: &MeasuredShard) -> Vec<ChangedField> {
    let of = |shard: &MeasuredShard| shard.plan().and_then(DocumentFields::of).unwrap_or_default();
    let fields = of(one).differing(&of(other), &ALIKE_OF_LEVEL).into_iter();
    let fields =
        fields.map(|found| ChangedField { field: format!("levels[].{}", found.field), ..found });
    // A run that was merged has the caps of its shares together, and those of one run differ by one request at the most.
    let cap = |shard: &MeasuredShard, times: usize| {
        shard.ahead.cap.map(|cap| u64::from(cap) * times as u64)
    };
    let (mine, theirs) = (one.shares().len(), other.shares().len());
    let is_same = match (cap(one, theirs), cap(other, mine)) {
        (Some(one), Some(other)) => one.abs_diff(other) <= (mine * theirs) as u64,
        (one, other) => one == other,
    };
    let cap = |shard: &MeasuredShard| shard.ahead.cap.map(|cap| cap.to_string());
    let caps = (!is_same).then(|| ChangedField {
        field: "levels[].max_in_flight".to_owned(),
        baseline: cap(one),
        candidate: cap(other),
    });
    fields.chain(caps).collect()
}

/// Runs that sent the same share: their requests would count twice.
fn same(shards: &[MeasuredShard]) -> Vec<String> {
    let mut shares: BTreeMap<(u64, u64), Vec<String>> = BTreeMap::new();
    for shard in shards {
        for share in shard.shares() {
            shares.entry(share).or_default().push(shard.name());
        }
    }
    let counts: Vec<String> = shares
        .keys()
        .map(|(_, count)| count.to_string())
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let differ = (counts.len() > 1).then(|| {
        format!("shards of a division into {} do not belong together", counts.join(" and into "))
    });
    let twice = shares.into_iter().filter(|(_, names)| names.len() > 1);
    let twice = twice.map(|((index, count), names)| {
        let share = if count == 1 {
            "all of the plan".to_owned()
        } else {
            format!("shard {index}/{count}")
        };
        format!(
            "each of {} is {share}: the same requests would count more than once",
            names.join(", ")
        )
    });
    differ.into_iter().chain(twice).collect()
}
