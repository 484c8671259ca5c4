//! The shards of a run, as one of them sees them.

use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use fizeau_core::{Nanos, Stamp};
use fizeau_harness::{Cancel, StartGate};
use fizeau_record::{
    ClockAxis, MissingShards, RunDocument, RunFolder, ShardHealth, ShardRecord, ShardsReport,
    StoredRun, host_name,
};
use fizeau_transport::{MonotonicClock, wall_clock_error};
use fizeau_workload::Shard;

use super::absence::{AbsenceReason, LostShard, MeasuredParts, ShardAbsence};
use super::cut::CutWatch;
use super::error::{ShardError, ShardMismatch};
use super::follower::Follower;
use super::leader::{Leader, LevelParts};
use super::message::{PartReport, Welcome};
use super::spec::{ShardOffer, ShardSpec, finished_levels};
use super::waiting::ShardWaits;
use super::waits::LAST_OF_LEVEL;
use crate::wall_time::WallTime;

/// The shards of a run, once they have met. Clones are of the same meeting.
///
/// They speak to one another before a level and after it, and never within it. Calls block until the others have answered, which
/// they do when nothing is measured.
#[derive(Debug, Clone)]
pub struct ShardGroup {
    shard: Shard,
    welcome: Welcome,
    clock: MonotonicClock,
    is_temporary: bool,
    missing: MissingShards,
    waits: ShardWaits,
    state: Arc<Mutex<GroupState>>,
}

#[derive(Debug)]
struct GroupState {
    role: Role,
    /// Why they can no longer measure together.
    error: Option<ShardError>,
    /// How the last level went.
    report: Option<ShardsReport>,
    /// Whether a level has begun here.
    has_begun: bool,
}

#[derive(Debug)]
enum Role {
    First(Leader),
    Other(Follower),
}

impl ShardGroup {
    /// Waits for the others, as shard 0 with what it brings, or goes to shard 0.
    ///
    /// # Errors
    /// If one of them does not come, or they are not of one run.
    pub fn meet(spec: &ShardSpec, offer: ShardOffer, cancel: &Cancel) -> Result<Self, ShardError> {
        let clock = MonotonicClock::new();
        let waits = ShardWaits::default();
        let (role, welcome, is_temporary) = if spec.shard.index() == 0 {
            let token = token();
            let is_temporary = offer.out.is_none();
            let out = offer
                .out
                .unwrap_or_else(|| std::env::temp_dir().join(format!("fizeau-shards-{token}")));
            let out = std::path::absolute(&out).unwrap_or(out);
            let welcome = Welcome {
                token,
                salt: offer.salt.unwrap_or_else(fresh_number),
                out,
                is_temporary,
                epoch_unix_ns: WallTime::epoch_unix_ns(&clock),
                wall_clock_error_ns: wall_clock_error().map(Nanos::as_nanos),
                finished: offer.finished,
            };
            let leader = Leader::meet(spec, welcome.clone(), &waits, cancel)?;
            (Role::First(leader), welcome, is_temporary)
        } else {
            let follower = Follower::meet(spec, &waits, cancel)?;
            let welcome = follower.welcome.clone();
            let is_temporary = welcome.is_temporary;
            (Role::Other(follower), welcome, is_temporary)
        };
        let state = GroupState { role, error: None, report: None, has_begun: false };
        let state = Arc::new(Mutex::new(state));
        let (shard, missing) = (spec.shard, spec.missing);
        Ok(Self { shard, welcome, clock, is_temporary, missing, waits, state })
    }

    /// Which of them this is.
    #[must_use]
    pub const fn shard(&self) -> Shard {
        self.shard
    }

    /// Whether this is the one that has the report.
    #[must_use]
    pub const fn is_first(&self) -> bool {
        self.shard.index() == 0
    }

    /// What sets the prompts of all of them apart from those of other runs.
    pub(crate) const fn salt(&self) -> u64 {
        self.welcome.salt
    }

    /// The clock that stamps what is measured.
    pub(crate) const fn clock(&self) -> MonotonicClock {
        self.clock
    }

    /// The folder of this shard's own part.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        self.folder_of(self.shard)
    }

    /// Whether an earlier run is gone on with.
    pub(crate) const fn is_resumed(&self) -> bool {
        self.welcome.finished.is_some()
    }

    /// Refuses to go on where this shard's own part is of another run than `document`, or lacks a level that is finished.
    pub(crate) fn check_resumed(&self, document: &RunDocument) -> Result<(), ShardError> {
        let Some(finished) = &self.welcome.finished else { return Ok(()) };
        let (shard, folder) = (self.shard, self.folder());
        let of = |why: String| {
            let (shard, host, folder) = (shard.to_string(), host_name(), folder.clone());
            ShardError::Mismatch(ShardMismatch::Part { shard, host, folder, why })
        };
        let run = StoredRun::open(&folder).map_err(|error| of(error.to_string()))?;
        if let Some(field) = run.written().differing_when_resumed(document).first() {
            let [begun, requested] = field.values();
            return Err(of(format!("{} was {begun} and is {requested} now", field.label())));
        }
        let own = finished_levels(&run).map_err(|error| of(error.to_string()))?;
        if let Some(level) = finished.iter().find(|level| !own.contains(level)) {
            return Err(of(format!("it lacks the level {level}, which is finished at shard 0")));
        }
        for level in
            run.levels().iter().filter(|level| finished.iter().any(|of| of == level.name()))
        {
            let cut = level.each_tape(|_| ()).map_err(|error| of(error.to_string()))?;
            if let Some(cut) = cut {
                let name = level.name();
                return Err(of(format!(
                    "its tapes of the level {name}, which is finished at shard 0, are {cut}"
                )));
            }
        }
        Ok(())
    }

    /// Whether it goes on without shards that are missing.
    pub(crate) const fn missing(&self) -> MissingShards {
        self.missing
    }

    /// Whether nothing is to be kept of the run.
    pub(crate) const fn is_temporary(&self) -> bool {
        self.is_temporary
    }

    fn folder_of(&self, shard: Shard) -> PathBuf {
        let name = format!("{}-of-{}", shard.index(), shard.count());
        self.welcome.out.join("shards").join(name)
    }

    /// The name of the meeting, which no other has.
    pub(crate) fn meeting(&self) -> &str {
        &self.welcome.token
    }

    /// This shard's clock as it was read before the level; none of the first one, whose clock is everyone's.
    pub(crate) fn clock_before(&self) -> Option<ClockAxis> {
        match &self.state().role {
            Role::First(_) => None,
            Role::Other(follower) => follower.reading.map(ClockAxis::at),
        }
    }

    /// By what shard 0 knows this shard's folder.
    pub(crate) fn mark(&self, shard: Shard) -> String {
        mark(&self.welcome.token, shard)
    }

    /// That all are about to measure what `document` has.
    pub(crate) fn agree(&self, document: &RunDocument) -> Result<(), ShardError> {
        let text = serde_json::to_string(document);
        let text = text.map_err(|error| ShardError::Unusable(error.to_string().into()))?;
        match &mut self.state().role {
            Role::First(leader) => leader.agree(&text),
            Role::Other(follower) => follower.agree(&text),
        }
    }

    /// Has all measure the level of this name.
    pub(crate) fn order(&self, name: &str) -> Result<(), ShardError> {
        match &mut self.state().role {
            Role::First(leader) => leader.order(name),
            Role::Other(_) => Ok(()),
        }
    }

    /// The name of the level that is next; none when there are no more.
    pub(crate) fn next(&self) -> Result<Option<String>, ShardError> {
        match &mut self.state().role {
            Role::First(_) => Ok(None),
            Role::Other(follower) => follower.next(),
        }
    }

    /// Says what came of this shard's part, which took so long. `keep` hears what is known of its clock by then.
    pub(crate) fn end(
        &self,
        report: PartReport,
        took: Nanos,
        keep: impl FnOnce(ClockAxis),
    ) -> Result<(), ShardError> {
        match &mut self.state().role {
            Role::First(_) => Ok(()),
            Role::Other(follower) => {
                // The slowest of them may take as long again.
                let longest = Duration::from(took) + LAST_OF_LEVEL;
                follower.end(report, &self.clock, longest, keep)
            }
        }
    }

    /// What came of the others' parts of a level whose folder has this name, of which this shard's took so long.
    pub(crate) fn parts(&self, level: &Path, took: Nanos) -> Result<LevelParts, ShardError> {
        // The folder of a run's only level is `.`, which nobody wants to read in a path.
        let into = |shard| -> PathBuf {
            self.folder_of(shard).join(level).join("tapes.jsonl").components().collect()
        };
        match &mut self.state().role {
            Role::First(leader) => leader.parts(&self.clock, took, into),
            Role::Other(_) => Ok(LevelParts::default()),
        }
    }

    /// The shards that did not come or are gone, each with the reason.
    pub(crate) fn gone(&self) -> Vec<LostShard> {
        match &self.state().role {
            Role::First(leader) => leader.gone.clone(),
            Role::Other(_) => Vec::new(),
        }
    }

    /// Whether a level has begun here, so that something was sent.
    pub(crate) fn has_begun(&self) -> bool {
        self.state().has_begun
    }

    /// What there is of what was measured until now.
    pub(crate) fn measured_parts(&self) -> MeasuredParts {
        match self.has_begun() && !self.is_temporary {
            true => MeasuredParts::Kept,
            false => MeasuredParts::None,
        }
    }

    /// Whether the run was called off at shard 0, as far as that one said so.
    pub(crate) fn was_cut(&self) -> bool {
        matches!(&self.state().role, Role::Other(follower) if follower.is_cut)
    }

    /// Where it stands whom this shard waits for, between levels and at their ends.
    #[must_use]
    pub fn waits(&self) -> ShardWaits {
        self.waits.clone()
    }

    /// The shards that are there, as far as this one knows: shard 0 knows all, the others that one and themselves.
    #[must_use]
    pub fn here(&self) -> Vec<Shard> {
        match &self.state().role {
            Role::First(leader) => leader.here(),
            Role::Other(_) => {
                let first = Shard::new(0, self.shard.count().get()).ok();
                first.into_iter().chain([self.shard]).collect()
            }
        }
    }

    /// Lets the others go.
    pub(crate) fn finish(&self) {
        if let Role::First(leader) = &mut self.state().role {
            leader.finish();
        }
        if self.is_temporary {
            // What cannot be removed stays among the system's temporary files.
            let _ = match self.is_first() {
                true => fs::remove_dir_all(&self.welcome.out),
                // On another machine than shard 0's nobody else removes it.
                false => fs::remove_dir_all(self.folder()),
            };
        }
    }

    /// For as long as it is kept, calls the run off by `cancel` once this shard is cut off from the others: nobody knows how long the
    /// replies that it waits for would take then.
    pub(crate) fn watch(&self, cancel: &Cancel) -> Option<CutWatch> {
        let links = match &self.state().role {
            Role::First(leader) => leader.links(),
            Role::Other(follower) => follower.links(),
        };
        let (group, cancel) = (self.clone(), cancel.clone());
        CutWatch::start(links, move || {
            let cut = ShardAbsence::of_peer(group.shard, &host_name(), AbsenceReason::CutOff);
            group.fail(ShardError::PeerMissing(Box::new(cut)), &cancel);
        })
    }

    /// Tells the others that this one cannot go on.
    pub(crate) fn give_up(&self, error: &ShardError) {
        match &mut self.state().role {
            Role::First(leader) => leader.give_up(&error.clone().at("shard 0")),
            Role::Other(follower) => follower.give_up(error),
        }
    }

    /// Keeps why they can no longer measure together, and calls the run off by `cancel`.
    pub(crate) fn fail(&self, error: ShardError, cancel: &Cancel) {
        self.state().error.get_or_insert(error);
        cancel.cancel();
    }

    /// Why they can no longer measure together; none if they can.
    pub(crate) fn error(&self) -> Option<ShardError> {
        self.state().error.clone()
    }

    pub(crate) fn keep_report(&self, report: ShardsReport) {
        self.state().report = Some(report);
    }

    /// How the last level went; none before the first.
    #[must_use]
    pub fn report(&self) -> Option<ShardsReport> {
        self.state().report.clone()
    }

    fn state(&self) -> MutexGuard<'_, GroupState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// By what shard 0 knows a shard's folder.
pub(crate) fn mark(token: &str, shard: Shard) -> String {
    format!("{token} {shard}")
}

/// A number that no earlier run had, but for one chance in four thousand million. It is short enough to be typed.
fn fresh_number() -> u64 {
    (RandomState::new().hash_one(SystemTime::now()) >> 32).max(1)
}

/// A name that no other run has.
fn token() -> String {
    format!("{:08x}{:x}", fresh_number(), std::process::id())
}

/// The gate of a level: it opens at the instant that all have agreed on.
#[derive(Debug)]
pub(crate) struct Gate<'a> {
    pub(crate) group: &'a ShardGroup,
    pub(crate) cancel: &'a Cancel,
    /// Where this shard's part is kept.
    pub(crate) kept: &'a RunFolder,
    /// When the level begins, once that is agreed.
    pub(crate) start: Mutex<Option<Stamp>>,
}

impl Gate<'_> {
    /// Keeps by which clock the part is measured: what is killed in the midst can be put together with the others all the same.
    fn keep(&self, start: Stamp, clock: Option<ClockAxis>) -> Result<(), ShardError> {
        let Self { group, kept, .. } = self;
        let mut health = ShardHealth::of(group.shard.to_string());
        health.host = host_name();
        let record = ShardRecord {
            start,
            clock,
            meeting: group.meeting().to_owned(),
            ..ShardRecord::of_health(health)
        };
        let written = kept.write_shard(&record).map(drop);
        written.map_err(|error| ShardError::NotKept(error.to_string().into()))
    }
}

impl StartGate for Gate<'_> {
    fn begin(&self, _: Stamp) -> Option<Stamp> {
        if self.cancel.is_cancelled() {
            return None;
        }
        let agreed = match &mut self.group.state().role {
            Role::First(leader) => leader.start(&self.group.clock),
            Role::Other(follower) => follower.start(&self.group.clock),
        };
        let kept = |start| self.keep(start, self.group.clock_before()).map(|()| start);
        match agreed.and_then(kept) {
            Ok(start) => {
                self.group.state().has_begun = true;
                *self.start.lock().unwrap_or_else(PoisonError::into_inner) = Some(start);
                Some(start)
            }
            Err(error) => {
                self.group.fail(error, self.cancel);
                None
            }
        }
    }
}
