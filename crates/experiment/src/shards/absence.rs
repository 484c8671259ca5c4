//! Shards that are not there: which, where, for how long they were waited for, and why.

use std::fmt;

use fizeau_core::Nanos;
use fizeau_workload::Shard;
use serde::{Deserialize, Serialize};

use super::secret::SECRET;

/// Shards that are not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ShardAbsence {
    /// The numbers of those that are not there, from 0.
    pub shards: Vec<u64>,
    /// How many shards the run was to have; none where whoever misses shard 0 has not met it.
    pub count: Option<u64>,
    /// The machine of a shard that was there before.
    pub host: Option<String>,
    /// Where they were to meet.
    pub place: Option<String>,
    /// How long they were waited for.
    pub waited: Option<Nanos>,
    /// Why they are not there.
    pub why: AbsenceReason,
    /// Others that are not there either, each for a reason of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Self>,
    /// What there is of what was measured until then.
    #[serde(default)]
    pub parts: MeasuredParts,
}

/// What there is of what shards measured before one of them was not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum MeasuredParts {
    /// Nothing: no level had begun, or nothing of the run is kept.
    #[default]
    None,
    /// Each part in the folder of its shard.
    Kept,
}

/// Why a shard is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AbsenceReason {
    /// It did not come to where shard 0 waited.
    DidNotCome {
        /// How many came that did not prove to be of the run.
        strangers: u64,
    },
    /// Nobody waits at the place where shard 0 was looked for.
    NobodyThere,
    /// It said nothing in the time that it had.
    Silent,
    /// Its end of the link is closed.
    Gone,
    /// The system refuses the link, and says so.
    Refused(String),
    /// It is cut off from the others: the network does not answer.
    CutOff,
}

/// When a shard that is not there went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AbsenceTime {
    /// Before the level began: it sent nothing of it.
    BeforeLevel,
    /// While the level was measured, or before its part was handed over: until then it sent its part.
    InLevel,
}

/// A shard that shard 0 goes without.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LostShard {
    pub(crate) shard: Shard,
    pub(crate) when: AbsenceTime,
    /// Why, in words.
    pub(crate) why: String,
}

impl ShardAbsence {
    /// That shard 0 is not there.
    pub(crate) const fn of_first(why: AbsenceReason) -> Self {
        Self {
            shards: Vec::new(),
            count: None,
            host: None,
            place: None,
            waited: None,
            why,
            also: Vec::new(),
            parts: MeasuredParts::None,
        }
    }

    /// That `shard` on `host`, which was there, no longer is.
    pub(crate) fn of_peer(shard: Shard, host: &str, why: AbsenceReason) -> Self {
        let host = Some(host.to_owned());
        let (shards, count) = (vec![shard.index()], Some(shard.count().get()));
        Self { shards, count, host, ..Self::of_first(why) }
    }

    /// The same, of one that was waited for at `place`.
    pub(crate) fn at(self, place: String) -> Self {
        Self { place: Some(place), ..self }
    }

    /// The same, of one that was waited for so long.
    pub(crate) fn waited(self, time: Nanos) -> Self {
        Self { waited: Some(time), ..self }
    }

    /// Whether it is shard 0 that is not there.
    #[must_use]
    pub(crate) fn is_of_first(&self) -> bool {
        self.shards.is_empty()
    }

    /// Whether a run of one level could have begun without them.
    #[must_use]
    pub fn can_be_done_without(&self) -> bool {
        matches!(self.why, AbsenceReason::DidNotCome { .. }) && !self.is_of_first()
    }

    /// Whether they were there before, and parts of what was measured then are kept.
    #[must_use]
    pub fn is_in_the_midst(&self) -> bool {
        !self.can_be_done_without() && self.place.is_none() && self.parts == MeasuredParts::Kept
    }

    /// Where what was measured is, in the words of the shard that misses others.
    const fn tail(&self) -> &'static str {
        match self.parts {
            MeasuredParts::Kept => "; what was measured here is in this shard's folder",
            MeasuredParts::None => "",
        }
    }

    /// ` within 60 s` and the like; nothing where it is not known.
    fn time(&self, before: &str) -> String {
        let time = self.waited.map(|time| format!("{before} {:.0} s", time.as_secs_f64()));
        time.unwrap_or_default()
    }

    /// `shards 1/4, 2/4 and 5 more`, or `shard 1/4 on n3`.
    fn names(&self) -> String {
        const MOST: usize = 8;
        let Some(count) = self.count.filter(|_| !self.is_of_first()) else {
            return "shard 0".to_owned();
        };
        let names = self.shards.iter().take(MOST).map(|index| format!("{index}/{count}"));
        let names = names.collect::<Vec<_>>().join(", ");
        let more = match self.shards.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let host = self.host.as_ref().map(|host| format!(" on {host}")).unwrap_or_default();
        let shards = if self.shards.len() == 1 { "shard" } else { "shards" };
        format!("{shards} {names}{more}{host}")
    }
}

impl fmt::Display for ShardAbsence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST: usize = 7;
        self.sentence(f)?;
        self.also.iter().take(MOST).try_for_each(|other| write!(f, "; {other}"))?;
        match self.also.len().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}

impl ShardAbsence {
    /// Of these alone.
    fn sentence(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names();
        match (&self.why, &self.place) {
            (AbsenceReason::DidNotCome { strangers }, place) => {
                let place = place.as_ref().map(|place| format!(" to {place}")).unwrap_or_default();
                write!(f, "{names} did not come{place}{}", self.time(" within"))?;
                if let Some(count) = self.count {
                    let here = count.saturating_sub(self.shards.len() as u64);
                    write!(f, "; {here} of {count} are here")?;
                }
                match strangers {
                    0 => Ok(()),
                    some => {
                        write!(f, "; {some} that came did not prove to be of this run ({SECRET})")
                    }
                }
            }
            (AbsenceReason::CutOff, _) => {
                let from = match self.shards.first() {
                    Some(0) => "all other shards",
                    _ => "shard 0",
                };
                write!(
                    f,
                    "{names} is cut off from {from}, and no longer waits for replies{}",
                    self.tail()
                )
            }
            (AbsenceReason::Gone, None) if self.is_of_first() => {
                write!(f, "shard 0 is gone{}", self.tail())
            }
            (why, Some(place)) => {
                write!(f, "{names}, looked for at {place}{}: {why}", self.time(" for"))
            }
            (AbsenceReason::Silent, None) => {
                write!(f, "{names}: {}{}", self.why, self.time(" in"))
            }
            (why, None) => write!(f, "{names}: {why}"),
        }
    }
}

impl std::error::Error for ShardAbsence {}

impl fmt::Display for AbsenceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::DidNotCome { .. } => "it did not come",
            Self::NobodyThere => "nobody waits there",
            Self::Silent => "it sent nothing",
            Self::Gone => "it is gone",
            Self::Refused(why) => why,
            Self::CutOff => "it is cut off",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_there_is_named_with_where_how_long_and_why() {
        let [shard, last] = [1, 3].map(|index| Shard::new(index, 4).unwrap());
        let gone = ShardAbsence::of_peer(shard, "n2", AbsenceReason::Gone);
        let lost = gone.clone();
        let first = |why| ShardAbsence::of_first(why).waited(Nanos::from_secs(2));
        let missing = ShardAbsence {
            shards: vec![1, 3],
            count: Some(4),
            ..first(AbsenceReason::DidNotCome { strangers: 1 }).at("h:1".to_owned())
        };
        let known = [
            (gone.clone(), "shard 1/4 on n2: it is gone"),
            (
                ShardAbsence { why: AbsenceReason::Silent, ..gone }.waited(Nanos::from_secs(9)),
                "shard 1/4 on n2: it sent nothing in 9 s",
            ),
            (
                first(AbsenceReason::NobodyThere).at("h:1".to_owned()),
                "shard 0, looked for at h:1 for 2 s: nobody waits there",
            ),
            (first(AbsenceReason::Gone), "shard 0 is gone"),
            (
                ShardAbsence { parts: MeasuredParts::Kept, ..first(AbsenceReason::Gone) },
                "shard 0 is gone; what was measured here is in this shard's folder",
            ),
            (
                ShardAbsence {
                    also: vec![ShardAbsence::of_peer(last, "n3", AbsenceReason::Silent)],
                    ..lost.clone()
                },
                "shard 1/4 on n2: it is gone; shard 3/4 on n3: it sent nothing",
            ),
            (
                missing.clone(),
                "shards 1/4, 3/4 did not come to h:1 within 2 s; 2 of 4 are here; 1 that came did not prove to be of this run (FIZEAU_SHARD_SECRET)",
            ),
        ];
        for (absence, text) in known {
            assert_eq!(absence.to_string(), text);
        }
        let kept = |of: &ShardAbsence| ShardAbsence { parts: MeasuredParts::Kept, ..of.clone() };
        assert!(missing.can_be_done_without() && !kept(&missing).is_in_the_midst());
        assert!(kept(&lost).is_in_the_midst() && !lost.is_in_the_midst());
        assert!(!first(AbsenceReason::NobodyThere).can_be_done_without());
    }
}
