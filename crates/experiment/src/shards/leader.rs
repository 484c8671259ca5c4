//! Shard 0: who the others are, when each level begins, and what came of their parts.

mod greeting;
mod host;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use fizeau_core::{Clock as _, Nanos, Stamp};
use fizeau_harness::Cancel;
use fizeau_record::{ClockAxis, ClockReading, DocumentFields, MissingShards, SHARDS_ALIKE};
use fizeau_transport::MonotonicClock;
use fizeau_workload::Shard;

use super::absence::{AbsenceReason, AbsenceTime, LostShard, ShardAbsence};
use super::cut::IsCut;
use super::error::{PlanMismatch, ShardError, ShardMismatch};
use super::group::mark;
use super::link::{Link, LinkError, Wait};
use super::meeting::MeetingPoint;
use super::message::{Message, PartReport, Welcome};
use super::spec::ShardSpec;
use super::waiting::ShardWaits;
use super::waits::{LEAD, WARM_UP};
use greeting::Arrivals;
use host::Host;

/// From how many shards tapes are taken at a time.
const AT_ONCE: usize = 16;

/// Shard 0.
#[derive(Debug)]
pub(crate) struct Leader {
    shard: Shard,
    peers: Vec<Peer>,
    pub(crate) welcome: Welcome,
    patience: Duration,
    missing: MissingShards,
    cancel: Cancel,
    /// Those that never came, or are gone.
    pub(crate) gone: Vec<LostShard>,
    /// Whether a level has begun whose parts were not taken yet.
    is_measuring: bool,
    waits: ShardWaits,
    /// Keeps the folder of the meeting open.
    host: Host,
}

/// Another shard.
#[derive(Debug)]
struct Peer {
    shard: Shard,
    host: String,
    link: Box<dyn Link>,
    /// What its clock showed before the level.
    reading: Option<ClockReading>,
}

/// What came of another shard's part of a level.
#[derive(Debug)]
pub(crate) struct PartOf {
    pub(crate) report: PartReport,
    /// Where its tapes can be read here.
    pub(crate) tapes: PathBuf,
}

/// What came of the others' parts of a level.
#[derive(Debug, Default)]
pub(crate) struct LevelParts {
    /// Those that there are.
    pub(crate) parts: Vec<PartOf>,
    /// Why the run cannot go on, where one that may not be missing is gone.
    pub(crate) lost: Option<ShardError>,
}

impl Peer {
    fn name(&self) -> String {
        format!("shard {} on {}", self.shard, self.host)
    }

    /// As what befell it.
    fn lost(&self, error: LinkError) -> ShardError {
        error.of(&self.name(), |why| ShardAbsence::of_peer(self.shard, &self.host, why))
    }

    /// Answers its questions until it says what it found out.
    fn read_clock(
        &mut self,
        clock: &MonotonicClock,
        wait: &Wait,
    ) -> Result<ClockReading, LinkError> {
        self.link.send(&Message::Sync)?;
        loop {
            match self.link.receive(wait)? {
                Message::Ping => {
                    let heard = clock.now();
                    self.link.send(&Message::Pong { heard, answered: clock.now() })?;
                }
                Message::Reading(reading) => return Ok(reading),
                other => return Err(unexpected(&other)),
            }
        }
    }
}

pub(crate) fn unexpected(message: &Message) -> LinkError {
    let text = format!("{message:?}");
    LinkError::NotUnderstood(text.chars().take(80).collect())
}

impl Leader {
    /// Waits for all the others. `welcome` is what they are told.
    pub(crate) fn meet(
        spec: &ShardSpec,
        welcome: Welcome,
        waits: &ShardWaits,
        cancel: &Cancel,
    ) -> Result<Self, ShardError> {
        let patience: Duration = spec.patience.into();
        let mut host = Host::open(spec, &welcome.token, cancel)?;
        let mut arrivals = Arrivals::default();
        let others = spec.shard.count().get() - 1;
        let met = arrivals.of(&mut host, others, spec, cancel);
        let Arrivals { mut peers, strangers } = arrivals;
        if let Err(error) = met {
            refuse(&mut peers, &error);
            return Err(error);
        }
        peers.sort_by_key(|peer| peer.shard.index());
        let mut leader = Self {
            shard: spec.shard,
            peers,
            welcome,
            patience,
            missing: spec.missing,
            cancel: cancel.clone(),
            gone: Vec::new(),
            is_measuring: false,
            waits: waits.clone(),
            host,
        };
        leader.name_missing(&spec.meeting, strangers)?;
        let welcome = Message::Welcome(leader.welcome.clone());
        leader.tell(&welcome)?;
        leader.host.close();
        Ok(leader)
    }

    fn name_missing(&mut self, meeting: &MeetingPoint, strangers: u64) -> Result<(), ShardError> {
        let count = self.shard.count().get();
        let came = |index: u64| self.peers.iter().any(|peer| peer.shard.index() == index);
        let missing: Vec<u64> = (1..count).filter(|index| !came(*index)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let place = match meeting {
            MeetingPoint::Address(address) => address.clone(),
            MeetingPoint::Folder(folder) => folder.display().to_string(),
        };
        let why = AbsenceReason::DidNotCome { strangers };
        if self.missing == MissingShards::Allowed {
            let lost = |index: &u64| {
                let shard = Shard::new(*index, count).ok()?;
                Some(LostShard { shard, when: AbsenceTime::BeforeLevel, why: why.to_string() })
            };
            self.gone = missing.iter().filter_map(lost).collect();
            return Ok(());
        }
        let error = ShardError::PeerMissing(Box::new(ShardAbsence {
            shards: missing,
            count: Some(count),
            place: Some(place),
            waited: Some(self.patience.into()),
            ..ShardAbsence::of_first(why)
        }));
        refuse(&mut self.peers, &error);
        Err(error)
    }

    /// Refuses shards that are about to measure something else than `document`, a `run.json`.
    pub(crate) fn agree(&mut self, document: &str) -> Result<(), ShardError> {
        let wait = Wait::of(self.patience, &self.cancel);
        let own = fields(document);
        let mut objections = Vec::new();
        self.each(|peer| match peer.link.receive(&wait)? {
            Message::Terms { document } => {
                let theirs = fields(&document);
                let alike = [&SHARDS_ALIKE[..], &ALIKE[..]].concat();
                for field in own.differing(&theirs, &alike) {
                    let [expected, found] = field.values();
                    let (field, shard) = (field.label(), peer.name());
                    // That a list is empty is said by what stands in the other.
                    if expected != found {
                        objections.push(PlanMismatch { field, expected, found, shard });
                    }
                }
                Ok(None)
            }
            Message::Refused(error) => Ok(Some(error)),
            other => Err(unexpected(&other)),
        })?;
        if !objections.is_empty() {
            let error = ShardError::Mismatch(ShardMismatch::Plans(objections));
            refuse(&mut self.peers, &error);
            return Err(error);
        }
        self.tell(&Message::Agreed)
    }

    /// Has all measure the level of this name.
    pub(crate) fn order(&mut self, name: &str) -> Result<(), ShardError> {
        self.tell(&Message::Order { name: name.to_owned() })
    }

    /// Waits until all have warmed up, and names the instant at which they begin.
    pub(crate) fn start(&mut self, clock: &MonotonicClock) -> Result<Stamp, ShardError> {
        // A warm-up takes what its requests take.
        let wait = Wait::of(self.patience + WARM_UP, &self.cancel);
        self.each(|peer| match peer.link.receive(&wait)? {
            Message::Ready => Ok(None),
            Message::Refused(error) => Ok(Some(error)),
            other => Err(unexpected(&other)),
        })?;
        self.read_clocks(clock, |peer, reading| peer.reading = Some(reading))?;
        let at = clock.now() + LEAD;
        self.tell(&Message::Start { at })?;
        self.is_measuring = true;
        Ok(at)
    }

    fn read_clocks(
        &mut self,
        clock: &MonotonicClock,
        mut keep: impl FnMut(&mut Peer, ClockReading),
    ) -> Result<(), ShardError> {
        let wait = Wait::of(self.patience, &self.cancel);
        self.each(|peer| {
            let reading = peer.read_clock(clock, &wait)?;
            keep(peer, reading);
            Ok(None)
        })
    }

    /// What came of the parts of all, once each is over; this shard's own took `own`. Tapes that are not to be had here are kept in
    /// `into` under the number of the shard. Where one is gone, the parts of the others are taken all the same.
    pub(crate) fn parts(
        &mut self,
        clock: &MonotonicClock,
        own: Nanos,
        into: impl Fn(Shard) -> PathBuf,
    ) -> Result<LevelParts, ShardError> {
        // Whoever is called off says what came of it until then.
        let wait = Wait::of(self.patience + Duration::from(own), &Cancel::new());
        let mut reports: Vec<PartReport> = Vec::new();
        let gone = self.each_left(|peer| {
            let mut report = match peer.link.receive(&wait)? {
                Message::Ended(report) => *report,
                Message::Refused(error) => return Ok(Some(error)),
                other => return Err(unexpected(&other)),
            };
            if let Some(error) = report.failed.clone() {
                return Ok(Some(error));
            }
            let last = peer.read_clock(clock, &wait)?;
            report.record.clock = Some(ClockAxis::between(peer.reading.unwrap_or(last), last));
            reports.push(report);
            Ok(None)
        })?;
        let mut tapes = self.take_tapes(&reports, into, &wait.again()).into_iter();
        let (mut parts, mut reports) = (Vec::new(), reports.into_iter());
        let silent = self.each_left(|_| {
            let (report, tapes) = (reports.next(), tapes.next().transpose()?);
            parts.extend(report.zip(tapes).map(|(report, tapes)| PartOf { report, tapes }));
            Ok(None)
        })?;
        self.is_measuring = false;
        let lost = silent.map(|silent| ShardError::both(gone.clone(), silent)).or(gone);
        Ok(LevelParts { parts, lost })
    }

    /// Where the tapes of each peer can be read, whose `reports` are in their order: of several at a time, since each compresses its own.
    fn take_tapes(
        &mut self,
        reports: &[PartReport],
        into: impl Fn(Shard) -> PathBuf,
        wait: &Wait,
    ) -> Vec<Result<PathBuf, LinkError>> {
        let token = &self.welcome.token;
        let mut taken = Vec::new();
        for (peers, reports) in self.peers.chunks_mut(AT_ONCE).zip(reports.chunks(AT_ONCE)) {
            thread::scope(|scope| {
                let running = peers.iter_mut().zip(reports).map(|(peer, report)| {
                    let (mark, into) = (mark(token, peer.shard), into(peer.shard));
                    let theirs = &report.tapes;
                    scope.spawn(move || peer.take_tapes(theirs, &mark, &into, &wait.again()))
                });
                // All are begun before the first is waited for.
                let running: Vec<_> = running.collect();
                let ended = running.into_iter().map(thread::ScopedJoinHandle::join);
                taken.extend(ended.map(|one| one.unwrap_or(Err(LinkError::Gone))));
            });
        }
        taken
    }

    /// How to find out whether it is cut off from all, while it measures.
    pub(super) fn links(&self) -> Vec<IsCut> {
        self.peers.iter().filter_map(|peer| peer.link.is_cut()).collect()
    }

    /// The shards that are there, itself among them.
    pub(super) fn here(&self) -> Vec<Shard> {
        [self.shard].into_iter().chain(self.peers.iter().map(|peer| peer.shard)).collect()
    }

    /// Lets all go, and says whether the run was called off here.
    pub(crate) fn finish(&mut self) {
        let done = Message::Done { is_cut: self.cancel.is_cancelled() };
        // Whoever is gone need not be told.
        let _ = self.peers.iter_mut().try_for_each(|peer| peer.link.send(&done));
        self.peers.clear();
    }

    /// Tells all why they cannot go on.
    pub(crate) fn give_up(&mut self, error: &ShardError) {
        refuse(&mut self.peers, error);
        self.peers.clear();
    }

    fn tell(&mut self, message: &Message) -> Result<(), ShardError> {
        self.each(|peer| peer.link.send(message).map(|()| None))
    }

    /// Does `what` with each, as [`each_but`](Self::each_but), where shards may be missing if the run allows it.
    fn each(
        &mut self,
        what: impl FnMut(&mut Peer) -> Result<Option<ShardError>, LinkError>,
    ) -> Result<(), ShardError> {
        let may_go = self.missing == MissingShards::Allowed;
        self.each_but(|_| may_go, what)
    }

    /// The same, leaving out whoever is gone, whatever the run allows: of a level that has begun, some of its load was not sent from an
    /// instant on that nobody knows. Gives why the run cannot go on then.
    fn each_left(
        &mut self,
        what: impl FnMut(&mut Peer) -> Result<Option<ShardError>, LinkError>,
    ) -> Result<Option<ShardError>, ShardError> {
        let mut lost = None;
        let keep = |error: &ShardError| {
            lost = Some(ShardError::both(lost.take(), error.clone()));
            true
        };
        self.each_but(keep, what)?;
        Ok(lost)
    }

    /// Does `what` with each. One that is gone is left out where `may_go` says so; else, and at any other error, all hear that it is over.
    fn each_but(
        &mut self,
        mut may_go: impl FnMut(&ShardError) -> bool,
        mut what: impl FnMut(&mut Peer) -> Result<Option<ShardError>, LinkError>,
    ) -> Result<(), ShardError> {
        let (mut gone, mut fatal) = (Vec::new(), None);
        for (number, peer) in self.peers.iter_mut().enumerate() {
            let (why, error) = match self.waits.during(peer.name(), || what(peer)) {
                Ok(None) => continue,
                Ok(Some(error)) => (error.reason(), error.at(&peer.name())),
                Err(error) => (error.to_string(), peer.lost(error)),
            };
            let when = match self.is_measuring {
                true => AbsenceTime::InLevel,
                false => AbsenceTime::BeforeLevel,
            };
            self.gone.push(LostShard { shard: peer.shard, when, why });
            if matches!(error, ShardError::PeerMissing(_)) && may_go(&error) {
                gone.push(number);
            } else {
                fatal = Some(error);
                break;
            }
        }
        // The one at which it came up hears it too: it may be there, and the fault another's.
        if let Some(error) = fatal {
            self.give_up(&error);
            return Err(error);
        }
        for number in gone.into_iter().rev() {
            self.peers.remove(number);
        }
        Ok(())
    }
}

impl Peer {
    /// Where its tapes can be read here, asked for where its folder is not to be seen.
    fn take_tapes(
        &mut self,
        theirs: &Path,
        mark: &str,
        into: &Path,
        wait: &Wait,
    ) -> Result<PathBuf, LinkError> {
        // The same path on another machine may be another file.
        let is_shared = fs::read_to_string(mark_of(theirs)).is_ok_and(|found| found == mark);
        if let Some(folder) = into.parent().filter(|_| !is_shared) {
            fs::create_dir_all(folder).map_err(LinkError::not_kept(folder))?;
        }
        self.link.send(&Message::Tapes { wanted: !is_shared })?;
        if is_shared {
            return Ok(theirs.to_path_buf());
        }
        self.link.receive_file(into, wait)?;
        Ok(into.to_path_buf())
    }
}

/// The file beside a shard's tapes by which shard 0 knows whether it sees them too.
pub(crate) fn mark_of(tapes: &Path) -> PathBuf {
    tapes.with_file_name("shard")
}

/// What shards that begin together must have alike besides.
const ALIKE: [&str; 11] = [
    "levels",
    "ab.rounds",
    "ab.settle_ms",
    "ab.prompts",
    "ab.b_endpoint.model",
    "ab.b_endpoint.path",
    "ab.b_endpoint.backend",
    "ab.b_endpoint.connections.headers",
    "ab.b_endpoint.connections.lifetime",
    "ab.b_endpoint.connections.stamps",
    "setup.workload.dataset",
];

fn fields(document: &str) -> DocumentFields {
    let value: Option<serde_json::Value> = serde_json::from_str(document).ok();
    value.as_ref().and_then(DocumentFields::of).unwrap_or_default()
}

/// The version that all shards must have.
pub(crate) fn version() -> String {
    format!("fizeau {}", env!("CARGO_PKG_VERSION"))
}

/// Tells all why they cannot go on.
fn refuse(peers: &mut [Peer], error: &ShardError) {
    for peer in peers {
        // Whoever is gone need not be told.
        let _ = peer.link.send(&Message::Refused(error.clone()));
    }
}
