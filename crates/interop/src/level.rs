//! A stored level, read again, with what other tools would have said of it.

use fizeau_core::Tape;
use fizeau_metrics::LoadPacing;
use fizeau_record::{
    LevelDetailTally, PeerComparison, ReadLevel, RunReader, StoredError, StoredLevel,
    StoredLevelContext, TruncatedTail,
};

use crate::{
    DetailTally, OwnFigures, Peer, PeerSettings, VllmDetail, VllmResult, VllmRun, VllmSelection,
    VllmTally, beside_ours,
};

/// What is taken of a level's tapes besides its figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ExtraTallies {
    /// vLLM's block.
    pub vllm: bool,
    /// What pages and pictures show.
    pub detail: bool,
}

impl ExtraTallies {
    /// What pages and pictures show, and nothing else.
    pub const DETAIL: Self = Self { vllm: false, detail: true };
}

/// A stored level, read again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RereadLevel {
    /// Notes on it.
    pub read: ReadLevel,
    /// What vLLM's client would have said; none where it is not asked for.
    pub vllm: Option<VllmResult>,
}

impl RereadLevel {
    /// A level of the run that `reader` reads, its tapes once through.
    ///
    /// # Errors
    /// If a file of its folder cannot be read or is not understood.
    pub fn read(
        reader: &RunReader<'_>,
        stored: &StoredLevel,
        wanted: ExtraTallies,
    ) -> Result<Self, StoredError> {
        let unseen = stored.unseen(reader.run().document())?;
        // Its ITL only where gaps were seen.
        let shown = match unseen.is_some_and(|unseen| unseen.has_no_gaps()) {
            true => VllmSelection::parse("ttft,tpot", "99").unwrap_or_default(),
            false => VllmSelection::default(),
        };
        let mut vllm =
            wanted.vllm.then(|| VllmTally::new(&shown, reader.goals(), VllmDetail::Brief));
        let mut details = wanted.detail.then(DetailTally::default);
        let mut read = reader.level(stored, |tape| {
            vllm.iter_mut().for_each(|vllm| vllm.add(&tape));
            if let Some(details) = &mut details {
                details.add(&tape);
            }
        })?;
        read.report.detail =
            details.map(|of| Box::new(of.finish(&read.report.summary, reader.goals(), read.cap)));
        let law = reader.run().document().arrival_law();
        let requested = VllmRun::of(&read.setup, &read.report.requested, law.as_ref(), read.cap);
        Ok(Self { vllm: vllm.map(|vllm| vllm.finish(requested)), read })
    }
}

/// All tapes of a stored level at once, for definitions that look at them more than once.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LevelTapes {
    /// The tapes, in the order in which the requests ended.
    pub tapes: Vec<Tape>,
    /// What was left over of them, where their file is cut.
    pub cut: Option<TruncatedTail>,
    /// What the definitions are given besides.
    pub settings: PeerSettings,
    requested: VllmRun,
}

impl LevelTapes {
    /// Those of a level of the run that `reader` reads.
    ///
    /// # Errors
    /// If a file of its folder cannot be read or is not understood.
    pub fn read(reader: &RunReader<'_>, stored: &StoredLevel) -> Result<Self, StoredError> {
        let of = StoredLevelContext::read(reader.run(), stored)?;
        let mut tapes = Vec::new();
        let cut = stored.each_tape(|tape| tapes.push(tape))?;
        let pacing = match of.requested.arrivals {
            Some(_) => LoadPacing::OpenLoop,
            None => LoadPacing::ClosedLoop,
        };
        let goals = reader.goals().clone();
        let unseen = stored.unseen(reader.run().document())?;
        let lasted = unseen.map(|unseen| unseen.lasted()).unwrap_or_default();
        let settings = PeerSettings { goals, max_concurrency: of.cap, pacing, lasted };
        let law = reader.run().document().arrival_law();
        let requested = VllmRun::of(&of.setup, &of.requested, law.as_ref(), of.cap);
        Ok(Self { tapes, cut, settings, requested })
    }

    /// The figures of these tools, each beside ours.
    #[must_use]
    pub fn peers(&self, wanted: &[Peer]) -> Vec<PeerComparison> {
        let own = OwnFigures::of(&self.tapes, &self.settings);
        let one = |peer: &Peer| beside_ours(&peer.figures(&self.tapes, &self.settings), &own);
        wanted.iter().map(one).collect()
    }

    /// What vLLM's client would have said.
    #[must_use]
    pub fn vllm(&self) -> VllmResult {
        let goals = &self.settings.goals;
        let mut vllm = VllmTally::new(&VllmSelection::default(), goals, VllmDetail::Brief);
        self.tapes.iter().for_each(|tape| vllm.add(tape));
        vllm.finish(self.requested.clone())
    }
}
