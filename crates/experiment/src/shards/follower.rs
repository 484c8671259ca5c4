//! Every shard but the first: it comes, does as it is told, and says what came of it.

use std::path::Path;
use std::time::Duration;

use fizeau_core::{Clock as _, Stamp};
use fizeau_harness::Cancel;
use fizeau_record::{ClockAxis, ClockReading, ClockSource, host_name};
use fizeau_transport::{MonotonicClock, wall_clock_error};

use super::absence::ShardAbsence;
use super::cut::IsCut;
use super::error::{LateShardStart, ShardError, ShardMismatch};
use super::leader::{unexpected, version};
use super::link::{Link, LinkError, Wait, join_folder, join_tcp};
use super::meeting::MeetingPoint;
use super::message::{Hello, Message, PartReport, Welcome};
use super::offset::{OffsetEstimate, PINGS, Ping};
use super::secret::{ProofOf, drawn};
use super::spec::ShardSpec;
use super::waiting::ShardWaits;
use super::waits::{BETWEEN_LEVELS, WARM_UP};
use crate::wall_time::WallTime;

/// A shard that follows the first.
#[derive(Debug)]
pub(super) struct Follower {
    link: Box<dyn Link>,
    pub(super) welcome: Welcome,
    /// What its clock showed before the level.
    pub(super) reading: Option<ClockReading>,
    /// Whether the run was called off at shard 0, as that one said at its end.
    pub(super) is_cut: bool,
    patience: Duration,
    cancel: Cancel,
    waits: ShardWaits,
}

const FIRST: &str = "shard 0";

/// The proof of knowing the secret that the `first` shard asks for by its `answer` to the number that was drawn here; none where it asks for none.
/// Refuses a first shard that does not prove as much itself.
fn proof(
    spec: &ShardSpec,
    first: &str,
    answer: &Message,
    own: &str,
) -> Result<Option<Message>, ShardError> {
    let first = || first.to_owned();
    let refused = match answer {
        Message::Challenge { drawn, proof } => {
            if spec.secret.is_proved(proof, ProofOf::First, own, drawn) {
                let proof = spec.secret.proof(ProofOf::Other, drawn, own);
                return Ok(Some(Message::Proof { proof }));
            }
            ShardMismatch::Secret { shard: first(), other: format!("shard {}", spec.shard) }
        }
        Message::Welcome(_) if spec.secret.is_needed() => {
            ShardMismatch::Unproved { first: first() }
        }
        _ => return Ok(None),
    };
    Err(ShardError::Mismatch(refused))
}

impl Follower {
    /// Comes to shard 0.
    pub(super) fn meet(
        spec: &ShardSpec,
        waits: &ShardWaits,
        cancel: &Cancel,
    ) -> Result<Self, ShardError> {
        let patience: Duration = spec.patience.into();
        let own = drawn();
        let hello = Message::Hello(Hello {
            version: version(),
            index: spec.shard.index(),
            count: spec.shard.count().get(),
            host: host_name(),
            drawn: own.clone(),
        });
        let wait = Wait::of(patience, cancel);
        let place = match &spec.meeting {
            MeetingPoint::Address(address) => address.clone(),
            MeetingPoint::Folder(folder) => folder.display().to_string(),
        };
        let missing = |error: LinkError| {
            error.of(&format!("{FIRST} at {place}"), |why| {
                ShardAbsence::of_first(why).at(place.clone())
            })
        };
        let came = match &spec.meeting {
            MeetingPoint::Address(address) => join_tcp(address, &wait).and_then(|mut link| {
                link.send(&hello)?;
                let answer = link.receive(&Wait::of(2 * patience, cancel))?;
                Ok((link, answer))
            }),
            MeetingPoint::Folder(folder) => {
                let name = format!("{}-{}-{}", spec.shard.index(), host_name(), std::process::id());
                join_folder(folder, &name, &hello, &wait)
            }
        };
        let (mut link, answer) = came.map_err(missing)?;
        let answer = match proof(spec, &format!("{FIRST} at {place}"), &answer, &own)? {
            Some(proof) => {
                // It answers once all are there.
                let all = Wait::of(2 * patience, cancel);
                let proved = link.send(&proof).and_then(|()| link.receive(&all));
                proved.map_err(missing)?
            }
            None => answer,
        };
        match answer {
            Message::Welcome(welcome) => Ok(Self {
                link,
                welcome,
                reading: None,
                is_cut: false,
                patience,
                cancel: cancel.clone(),
                waits: waits.clone(),
            }),
            Message::Refused(error) => Err(error),
            other => Err(lost(unexpected(&other))),
        }
    }

    /// Says what it is about to measure: a `run.json`.
    pub(super) fn agree(&mut self, document: &str) -> Result<(), ShardError> {
        self.send(&Message::Terms { document: document.to_owned() })?;
        match self.receive(2 * self.patience)? {
            Message::Agreed => Ok(()),
            other => Err(lost(unexpected(&other))),
        }
    }

    /// The name of the level that is next; none when there are no more.
    pub(super) fn next(&mut self) -> Result<Option<String>, ShardError> {
        match self.receive(BETWEEN_LEVELS)? {
            Message::Order { name } => Ok(Some(name)),
            Message::Done { is_cut } => {
                self.is_cut = is_cut;
                Ok(None)
            }
            other => Err(lost(unexpected(&other))),
        }
    }

    /// Says that it has warmed up. Gives the instant at which the level begins, on its own clock.
    pub(super) fn start(&mut self, clock: &MonotonicClock) -> Result<Stamp, ShardError> {
        self.send(&Message::Ready)?;
        let reading = self.tell_clock(clock, self.patience + WARM_UP)?;
        self.reading = Some(reading);
        let at = match self.receive(self.patience + WARM_UP)? {
            Message::Start { at } => ClockAxis::at(reading).own(at),
            other => return Err(lost(unexpected(&other))),
        };
        let late = clock.now().saturating_since(at);
        match late.as_nanos() {
            0 => Ok(at),
            _ => Err(ShardError::LateStart(LateShardStart::Heard { late, host: host_name() })),
        }
    }

    /// Says what came of its part, and sends its tapes where they are asked for. `keep` hears what is known of its clock.
    pub(super) fn end(
        &mut self,
        report: PartReport,
        clock: &MonotonicClock,
        longest: Duration,
        keep: impl FnOnce(ClockAxis),
    ) -> Result<(), ShardError> {
        let (tapes, is_over) = (report.tapes.clone(), report.failed.is_some());
        self.send(&Message::Ended(Box::new(report)))?;
        if is_over {
            return Ok(());
        }
        // Whoever is called off still hands over what there is.
        self.cancel = Cancel::new();
        let last = self.tell_clock(clock, longest)?;
        keep(ClockAxis::between(self.reading.unwrap_or(last), last));
        // Shard 0 takes the tapes of some at a time, and the others wait for their turn.
        match self.receive(longest.max(BETWEEN_LEVELS))? {
            Message::Tapes { wanted: true } => self.send_tapes(&tapes),
            Message::Tapes { wanted: false } => Ok(()),
            other => Err(lost(unexpected(&other))),
        }
    }

    fn send_tapes(&mut self, tapes: &Path) -> Result<(), ShardError> {
        self.link.send_file(tapes).map_err(lost)
    }

    /// Reads the first shard's clock when it is asked to, and says what it found.
    fn tell_clock(
        &mut self,
        clock: &MonotonicClock,
        longest: Duration,
    ) -> Result<ClockReading, ShardError> {
        match self.receive(longest)? {
            Message::Sync => {}
            other => return Err(lost(unexpected(&other))),
        }
        let reading = match self.link.has_round_trips() {
            true => self.ping(clock)?,
            false => self.by_wall_clock(clock),
        };
        self.send(&Message::Reading(reading))?;
        Ok(reading)
    }

    fn ping(&mut self, clock: &MonotonicClock) -> Result<ClockReading, ShardError> {
        let mut estimate = OffsetEstimate::default();
        for _ in 0..PINGS {
            let requested = clock.now();
            self.send(&Message::Ping)?;
            match self.receive(self.patience)? {
                Message::Pong { heard, answered } => {
                    estimate.add(Ping { requested, heard, answered, back: clock.now() });
                }
                other => return Err(lost(unexpected(&other))),
            }
        }
        let none = || ShardError::Unusable("shard 0's clock could not be read".to_owned().into());
        estimate.reading().ok_or_else(none)
    }

    /// Its clock counts from an instant that its wall clock knows, and so does the first one's.
    fn by_wall_clock(&self, clock: &MonotonicClock) -> ClockReading {
        let own = i128::from(WallTime::epoch_unix_ns(clock));
        let theirs = i128::from(self.welcome.epoch_unix_ns);
        let both = wall_clock_error().zip(self.welcome.wall_clock_error_ns);
        ClockReading {
            at: clock.now(),
            // What began later shows less.
            ahead_ns: i64::try_from(theirs - own).unwrap_or_default(),
            uncertainty_ns: both.map(|(own, theirs)| own.as_nanos() + theirs),
            source: ClockSource::WallClocks,
        }
    }

    fn send(&mut self, message: &Message) -> Result<(), ShardError> {
        self.link.send(message).map_err(lost)
    }

    /// What comes next, unless it is the reason why nothing more does.
    fn receive(&mut self, longest: Duration) -> Result<Message, ShardError> {
        let wait = Wait::of(longest, &self.cancel);
        match self.waits.during(FIRST, || self.link.receive(&wait)) {
            Ok(Message::Refused(error)) => Err(error),
            Ok(message) => Ok(message),
            Err(error) => Err(lost(error)),
        }
    }

    /// How to find out whether it is cut off, while it measures.
    pub(super) fn links(&self) -> Vec<IsCut> {
        self.link.is_cut().into_iter().collect()
    }

    /// Says that it cannot go on.
    pub(super) fn give_up(&mut self, error: &ShardError) {
        // Whoever is gone need not be told.
        let _ = self.link.send(&Message::Refused(error.clone()));
    }
}

/// Why nothing more is heard of shard 0.
fn lost(error: LinkError) -> ShardError {
    error.of(FIRST, ShardAbsence::of_first)
}
