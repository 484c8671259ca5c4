//! What the tapes of a level show beside its figures, for pages and pictures.

use std::borrow::Cow;

use fizeau_core::Tape;
use fizeau_metrics::{GoodputGoals, ShapeTally};
use fizeau_record::{LevelDetail, LevelDetailTally};

use crate::peers::{OwnFigures, Peer, PeerSettings, beside_ours};

/// The most requests, and the most events of their replies, of which other tools' figures are computed: these look at all tapes more
/// than once, so that they have to be held in memory, up to 160 MB.
const MOST_REQUESTS: usize = 20_000;
const MOST_EVENTS: usize = 5_000_000;

/// What the tapes of a level show beside its figures, taken in one by one: as a run is measured, or when it is read again.
///
/// ```
/// use std::borrow::Cow;
///
/// use fizeau_core::{Stamp, Tape};
/// use fizeau_interop::DetailTally;
/// use fizeau_metrics::GoodputGoals;
/// use fizeau_record::LevelDetailTally;
///
/// let mut tally = DetailTally::default();
/// tally.add(Cow::Owned(Tape::sent_at(Stamp::EPOCH)));
/// assert!(!tally.finish(&GoodputGoals::NONE, None).peers.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct DetailTally {
    shape: ShapeTally,
    /// All of them, as long as they are not too many.
    held: Vec<Tape>,
    events: usize,
    too_many: bool,
}

impl LevelDetailTally for DetailTally {
    fn add(&mut self, tape: Cow<'_, Tape>) {
        self.shape.add(&tape);
        self.events += tape.arrivals.len();
        self.too_many |= self.held.len() >= MOST_REQUESTS || self.events > MOST_EVENTS;
        if self.too_many {
            self.held = Vec::new();
        } else {
            self.held.push(tape.into_owned());
        }
    }

    fn finish(self, goals: &GoodputGoals, max_in_flight: Option<u32>) -> LevelDetail {
        let Self { shape, held, .. } = self;
        let settings = PeerSettings { goals: goals.clone(), max_concurrency: max_in_flight };
        let mut peers = Vec::new();
        if !held.is_empty() {
            let own = OwnFigures::of(&held, &settings);
            let theirs = Peer::all_figures(&held, &settings);
            peers.extend(theirs.map(|report| beside_ours(&report, &own)));
        }
        LevelDetail { shape: shape.shape(), peers }
    }
}
