//! What the tapes of a level show beside its figures, for pages and pictures.

use std::path::Path;

use fizeau_core::{Nanos, Tape};
use fizeau_metrics::{GoodputGoals, LevelSummary, ShapeTally};
use fizeau_record::{
    LevelDetail, LevelDetailTally, LevelReport, RunReader, StoredError, StoredLevelContext,
    StoredRun, SweepReport,
};

use crate::peers::{PeerSettings, PeerTally};

/// The most requests, and the most events of their replies, of which other tools' figures are computed: these take four to twelve
/// bytes an event and some hundred a request, up to 80 MB.
const MOST_REQUESTS: usize = 20_000;
const MOST_EVENTS: usize = 5_000_000;

/// What the tapes of a level show beside its figures, taken in one by one: as a run is measured, or when it is read again.
///
/// ```
/// use fizeau_core::{Stamp, Tape};
/// use fizeau_interop::DetailTally;
/// use fizeau_metrics::{GoodputGoals, LevelSummary};
/// use fizeau_record::LevelDetailTally;
///
/// let tape = Tape::sent_at(Stamp::EPOCH);
/// let summary = LevelSummary::of([&tape], &GoodputGoals::NONE);
/// let mut tally = DetailTally::default();
/// tally.add(&tape);
/// assert!(!tally.finish(&summary, &GoodputGoals::NONE, None).peers.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct DetailTally {
    shape: ShapeTally,
    /// As long as they are not too many.
    peers: PeerTally,
    requests: usize,
    events: usize,
}

impl DetailTally {
    const fn has_too_many(&self) -> bool {
        self.requests > MOST_REQUESTS || self.events > MOST_EVENTS
    }
}

impl LevelDetailTally for DetailTally {
    fn add(&mut self, tape: &Tape) {
        self.shape.add(tape);
        self.requests += 1;
        self.events += tape.arrivals.len();
        if self.has_too_many() {
            self.peers = PeerTally::default();
        } else {
            self.peers.add(tape);
        }
    }

    fn finish(
        self,
        summary: &LevelSummary,
        goals: &GoodputGoals,
        max_in_flight: Option<u32>,
    ) -> LevelDetail {
        let settings = PeerSettings {
            goals: goals.clone(),
            max_concurrency: max_in_flight,
            lasted: Nanos::from_secs_f64(summary.throughput.duration.get()).unwrap_or_default(),
            ..PeerSettings::default()
        };
        let peers = match self.requests == 0 || self.has_too_many() {
            true => Vec::new(),
            false => self.peers.beside_ours(summary, settings),
        };
        LevelDetail { shape: self.shape.shape(), peers }
    }
}

/// The same report, whose levels have what pages and pictures show of their tapes: of those that have it not it is read from the run's
/// `folder`, so that nobody needs to hold it while the run goes on.
///
/// # Errors
/// If a file of the folder cannot be read or is not understood.
pub fn with_details(folder: &Path, report: SweepReport) -> Result<SweepReport, StoredError> {
    if report.levels().iter().all(|level| level.detail.is_some()) {
        return Ok(report);
    }
    let run = StoredRun::open(folder)?;
    let reader = RunReader::new(&run, None)?;
    report.with_details(|level| detail_of(&reader, level))
}

/// That of a level as it was measured; none where the run has no tapes of it.
fn detail_of(
    reader: &RunReader<'_>,
    level: &LevelReport,
) -> Result<Option<LevelDetail>, StoredError> {
    let name = level.folder.as_deref().unwrap_or_default();
    let Some(stored) = reader.run().levels().iter().find(|stored| stored.name() == name) else {
        return Ok(None);
    };
    let mut tally = DetailTally::default();
    stored.each_tape(|tape| tally.add(&tape))?;
    let context = StoredLevelContext::read(reader.run(), stored)?;
    Ok(Some(tally.finish(&level.summary, reader.goals(), context.cap)))
}
