//! Which shard sent a request, of several that were merged into one file too.

use fizeau_core::{Stamp, Tape};

use super::clock_offsets;
use super::shard::{MeasuredShard, share};
use crate::stored::ended;

/// Which shard sent a request: by the file that its tape is in, and within a file of several by its session, which belongs to the shard
/// whose number is the session's modulo the count; where sessions were dealt to slots, that of its slot's.
#[derive(Debug)]
pub(super) struct ShardSenders {
    files: Vec<FileSenders>,
    /// The folder of each shard, for messages.
    names: Vec<String>,
    /// From each one's first release to its last end, of what was read so far.
    spans: Vec<Option<(Stamp, Stamp)>>,
}

/// Who sent what is in one file.
#[derive(Debug)]
struct FileSenders {
    /// The place of its first shard among all.
    first: usize,
    shards: usize,
    /// The shares of its shards; none where their requests cannot be told apart.
    shares: Option<Vec<(u64, u64)>>,
    /// The slots to which sessions were dealt; none where they were dealt to shards one by one.
    slots: Option<u64>,
}

impl ShardSenders {
    pub(super) fn of(shards: &[MeasuredShard]) -> Self {
        let (mut first, mut names) = (0, Vec::new());
        let file = |shard: &MeasuredShard| {
            // How many tapes there are does not matter to who sent them.
            let records = shard.records(0);
            // Of a load with fewer slots than shards the first of them have all sessions.
            let slots = shard.plan().and_then(|plan| plan.slots_of_all).map(u64::from);
            let is_known = |sent| slots.is_some() || sent > 0;
            let shares = records
                .iter()
                .map(|record| share(&record.health.shard).filter(|_| is_known(record.health.sent)));
            let file =
                FileSenders { first, shards: records.len(), shares: shares.collect(), slots };
            first += records.len();
            names.extend(folders(shard, records.len()));
            file
        };
        let files: Vec<FileSenders> = shards.iter().map(file).collect();
        Self { files, spans: vec![None; names.len()], names }
    }

    /// Takes in a tape of the file with this number. Gives the place among all shards of the one that sent its request; that of the first
    /// one in the file where it is not known.
    pub(super) fn add(&mut self, file: usize, tape: &Tape) -> usize {
        let Some(of) = self.files.get(file) else { return 0 };
        let session = tape.session.0;
        let place = of.slots.and_then(|slots| session.checked_rem(slots)).unwrap_or(session);
        let is_own = |(index, count): &(u64, u64)| place.checked_rem(*count) == Some(*index);
        let shares = of.shares.as_ref().filter(|_| of.shards > 1);
        let within = shares.and_then(|shares| shares.iter().position(is_own)).unwrap_or_default();
        let place = of.first + within;
        if let Some(span) = self.spans.get_mut(place) {
            let (start, end) = (tape.marks.released, ended(tape));
            let (first, last) = span.unwrap_or((start, end));
            *span = Some((first.min(start), last.max(end)));
        }
        place
    }

    /// That they did not run together, by what was read of them.
    pub(super) fn apart(&self) -> Option<String> {
        clock_offsets::apart(&self.names, &self.spans)
    }

    /// Whether it is known what each shard of the file with this number sent.
    pub(super) fn are_known(&self, file: usize) -> bool {
        self.files.get(file).is_some_and(|of| of.shards == 1 || of.shares.is_some())
    }
}

/// The folders of the shards in a file of so many, in the order of their shares.
fn folders(shard: &MeasuredShard, shards: usize) -> Vec<String> {
    let mut merged: Vec<_> = shard.document().merged.iter().collect();
    if merged.len() != shards {
        return vec![shard.name(); shards];
    }
    merged.sort_by_cached_key(|entry| entry.shard.as_deref().and_then(share));
    merged.into_iter().map(|entry| entry.folder.clone()).collect()
}
