//! Whether shards ran at one time: the rates of those that did not are of no load that there ever was.

use fizeau_core::{Nanos, Stamp};

use super::MergeError;
use super::shard::MeasuredShard;
use crate::stored::OntoAxis;
use crate::{ClockAxis, StoredError};

/// Shards of one run are started together: an hour between them is a mistake, or a clock that is wrong.
const ABSURD: Nanos = Nanos::from_secs(3600);

/// How much later than the first a shard may begin: this part of the longest of them.
const LATE: u64 = 10;

/// What is said where clocks say nothing.
const GUESSED: &str = "not every shard records when its clock began (epoch_unix_ns); their first requests are assumed \
 to have been released at one instant";

/// How each shard's stamps come onto one axis.
#[derive(Debug, Clone)]
pub(super) struct ClockOffsets {
    pub(super) onto: Vec<OntoAxis>,
    /// What the wall clock showed at the axis' epoch; none where nobody knows.
    pub(super) epoch_unix_ns: Option<u64>,
    /// Notes on it.
    pub(super) note: Option<&'static str>,
}

impl ClockOffsets {
    /// By the clocks as they were read of shards that met; else by their epochs, the earliest of which is the axis' own; else by their
    /// first releases.
    pub(super) fn of(
        shards: &[MeasuredShard],
        is_forced: bool,
        note: &mut dyn FnMut(&str),
    ) -> Result<Self, MergeError> {
        if let Some(met) = Self::of_meeting(shards) {
            return Ok(met);
        }
        let epochs: Option<Vec<u64>> = shards.iter().map(MeasuredShard::epoch_unix_ns).collect();
        let Some(epochs) = epochs else {
            note(GUESSED);
            return Ok(Self::of_first_releases(shards)?);
        };
        let first = epochs.iter().copied().min().unwrap_or_default();
        let later: Vec<Nanos> =
            epochs.iter().map(|epoch| Nanos::from_nanos(epoch - first)).collect();
        let last = later.iter().zip(shards).max_by_key(|(later, _)| **later);
        match last.filter(|(later, _)| **later > ABSURD) {
            Some((later, shard)) if !is_forced => {
                Err(MergeError::FarApart { shard: shard.name(), later: *later })
            }
            _ => Ok(Self::later(later, Some(first), None)),
        }
    }

    fn later(later: Vec<Nanos>, epoch_unix_ns: Option<u64>, note: Option<&'static str>) -> Self {
        Self { onto: later.into_iter().map(OntoAxis::Later).collect(), epoch_unix_ns, note }
    }

    /// None unless all took part in one meeting.
    fn of_meeting(shards: &[MeasuredShard]) -> Option<Self> {
        let clocks = shards.iter().map(MeasuredShard::clock).collect::<Option<Vec<_>>>()?;
        let (meeting, _) = *clocks.first()?;
        let is_one = clocks.iter().all(|(other, _)| *other == meeting);
        let (first, (_, clock)) = shards
            .iter()
            .zip(&clocks)
            .min_by_key(|(shard, _)| shard.shares().into_iter().min())
            .filter(|_| is_one)?;
        // Its own epoch, and what its clock was ahead.
        let ahead = clock.map_or(0, |clock| clock.last().ahead_ns);
        let epoch_unix_ns = first.epoch_unix_ns().and_then(|own| own.checked_add_signed(ahead));
        let onto = |(_, clock): &(&str, Option<ClockAxis>)| {
            clock.map_or(OntoAxis::Later(Nanos::ZERO), OntoAxis::Read)
        };
        Some(Self { onto: clocks.iter().map(onto).collect(), epoch_unix_ns, note: None })
    }

    fn of_first_releases(shards: &[MeasuredShard]) -> Result<Self, StoredError> {
        let first: Vec<Stamp> =
            shards.iter().map(MeasuredShard::first_release).collect::<Result<_, _>>()?;
        let last = first.iter().copied().max().unwrap_or(Stamp::EPOCH);
        let later = first.iter().map(|first| last.saturating_since(*first)).collect();
        Ok(Self::later(later, None, Some(GUESSED)))
    }
}

/// What weighs against shards with these names and these first releases and last ends; none for a shard without requests.
pub(super) fn apart(names: &[String], spans: &[Option<(Stamp, Stamp)>]) -> Option<String> {
    let known = || names.iter().zip(spans).filter_map(|(name, span)| Some((name, (*span)?)));
    let (first, (began, _)) = known().min_by_key(|(_, (start, _))| *start)?;
    let (last, (start, _)) = known().max_by_key(|(_, (start, _))| *start)?;
    let (over, (_, end)) = known().min_by_key(|(_, (_, end))| *end)?;
    let longest = known().map(|(_, (start, end))| end.saturating_since(start)).max()?;
    let late = start.saturating_since(began);
    let what = if start > end {
        let gap = seconds(start.saturating_since(end));
        format!("{last} began {gap} after {over} had ended")
    } else if late.as_nanos() > longest.as_nanos() / LATE {
        format!("{last} began {} after {first}", seconds(late))
    } else {
        return None;
    };
    Some(format!("{what}; shards must run at the same time to be one load"))
}

pub(super) fn seconds(span: Nanos) -> String {
    format!("{:.3} s", span.as_nanos() as f64 / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note_text(spans: &[Option<(u64, u64)>]) -> Option<String> {
        let names: Vec<String> = (0..spans.len()).map(|n| format!("s{n}")).collect();
        let at = |ms| Stamp::EPOCH + Nanos::from_millis(ms);
        let spans = spans.iter().map(|span| span.map(|(start, end)| (at(start), at(end))));
        apart(&names, &spans.collect::<Vec<_>>())
    }

    #[test]
    fn only_shards_that_ran_together_are_one_load() {
        for fine in [vec![], vec![None], vec![Some((5, 9))], vec![Some((0, 1000)), None]] {
            assert_eq!(note_text(&fine), None, "{fine:?}");
        }
        assert_eq!(note_text(&[Some((100, 1100)), Some((0, 1000))]), None);
        let late = note_text(&[Some((101, 1100)), Some((0, 1000))]).unwrap();
        assert!(late.contains("s0 began 0.101 s after s1;"), "{late}");
        let apart = note_text(&[Some((0, 1000)), Some((0, 900)), Some((3000, 4000))]).unwrap();
        assert!(apart.contains("s2 began 2.100 s after s1 had ended;"), "{apart}");
    }
}
