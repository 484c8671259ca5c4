//! What the tapes of a level show beside its figures, for pages and pictures.

use fizeau::core::Tape;
use fizeau::interop::beside_ours;
use fizeau::interop::{OwnFigures, Peer, PeerSettings};
use fizeau::metrics::ShapeTally;
use fizeau::record::LevelDetail;

/// The most requests, and the most events of their replies, of which other tools' figures are computed: these look at all tapes more
/// than once, so that they have to be held in memory, up to 160 MB.
const MOST_REQUESTS: usize = 20_000;
const MOST_EVENTS: usize = 5_000_000;

/// The tapes of a level, taken in one by one.
#[derive(Default)]
pub(super) struct Details {
    shape: ShapeTally,
    /// All of them, as long as they are not too many.
    held: Vec<Tape>,
    events: usize,
    too_many: bool,
}

impl Details {
    pub(super) fn add(&mut self, tape: Tape) {
        self.shape.add(&tape);
        self.events += tape.arrivals.len();
        self.too_many |= self.held.len() >= MOST_REQUESTS || self.events > MOST_EVENTS;
        if self.too_many {
            self.held = Vec::new();
        } else {
            self.held.push(tape);
        }
    }

    /// What they show; other tools' figures as these would compute them with `settings`.
    pub(super) fn finish(self, settings: &PeerSettings) -> LevelDetail {
        let Self { shape, held, .. } = self;
        let mut peers = Vec::new();
        if !held.is_empty() {
            let own = OwnFigures::of(&held, settings);
            let one = |peer: Peer| beside_ours(&peer.figures(&held, settings), &own);
            peers.extend(Peer::ALL.map(one));
        }
        LevelDetail { shape: shape.shape(), peers }
    }
}
