//! The way between two shards: a connection, or files in a folder that both see.

mod folder;
mod heartbeat;
mod late;
mod tcp;

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fizeau_harness::Cancel;

use super::absence::{AbsenceReason, ShardAbsence};
use super::cut::IsCut;
use super::error::{ShardError, ShardFault};
use super::message::Message;

pub(super) use folder::{FolderHost, join as join_folder};
pub(super) use tcp::{TcpHost, join as join_tcp};

/// How often somebody who waits looks whether to go on waiting.
const TICK: Duration = Duration::from_millis(50);

/// How long somebody waits.
#[derive(Debug, Clone)]
pub(super) struct Wait {
    time: Duration,
    until: Instant,
    cancel: Cancel,
}

impl Wait {
    /// For so long from now, unless the run is called off.
    pub(super) fn of(time: Duration, cancel: &Cancel) -> Self {
        // What no clock can show is as good as a year.
        let time = time.min(Duration::from_secs(31_536_000));
        Self { time, until: Instant::now() + time, cancel: cancel.clone() }
    }

    /// The same, from now.
    pub(super) fn again(&self) -> Self {
        Self::of(self.time, &self.cancel)
    }

    /// # Errors
    /// If the time is up, or the run was called off.
    pub(super) fn check(&self) -> Result<(), LinkError> {
        match (self.cancel.is_cancelled(), Instant::now() > self.until) {
            (true, _) => Err(LinkError::CalledOff),
            (false, true) => Err(LinkError::Silent { waited: self.time }),
            (false, false) => Ok(()),
        }
    }
}

/// Why nothing came, or nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub(super) enum LinkError {
    /// Nothing came in time.
    #[error("it sent nothing in {:.0} s", waited.as_secs_f64())]
    Silent {
        /// How much time it had.
        waited: Duration,
    },
    /// Nobody waits at the place where shards meet.
    #[error("nobody waits there")]
    NobodyThere {
        /// How long somebody was looked for.
        waited: Duration,
    },
    /// The other end is closed.
    #[error("it is gone")]
    Gone,
    /// The run was called off.
    #[error("interrupted")]
    CalledOff,
    /// What came cannot be kept here, which is no fault of the other end's.
    #[error("cannot write {}: {error}", path.display())]
    NotKept {
        path: PathBuf,
        #[source]
        error: io::Error,
    },
    /// What came is not understood.
    #[error("it sent something that cannot be read: {0}")]
    NotUnderstood(String),
    /// The system refuses.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl LinkError {
    /// That the system refuses to write there.
    pub(super) fn not_kept(path: &Path) -> impl Fn(io::Error) -> Self + Copy + '_ {
        move |error| Self::NotKept { path: path.to_path_buf(), error }
    }

    /// That nobody was there, where that was found out by waiting.
    pub(super) fn nobody(self) -> Self {
        match self {
            Self::Silent { waited } => Self::NobodyThere { waited },
            other => other,
        }
    }

    /// As what befell `who`, whose `absence` is for the reason that it is given.
    pub(super) fn of(
        self,
        who: &str,
        absence: impl FnOnce(AbsenceReason) -> ShardAbsence,
    ) -> ShardError {
        let missing = |why| ShardError::PeerMissing(Box::new(why));
        match self {
            Self::CalledOff => ShardError::CalledOff,
            Self::NotKept { .. } => ShardError::NotKept(ShardFault::at("shard 0", &self)),
            Self::NotUnderstood(_) => ShardError::Unusable(ShardFault::at(who, &self)),
            Self::Silent { waited } => {
                missing(absence(AbsenceReason::Silent).waited(waited.into()))
            }
            Self::NobodyThere { waited } => {
                missing(absence(AbsenceReason::NobodyThere).waited(waited.into()))
            }
            Self::Gone => missing(absence(AbsenceReason::Gone)),
            Self::System(error) => missing(absence(AbsenceReason::Refused(error.to_string()))),
        }
    }
}

/// A way to one other shard.
pub(super) trait Link: Debug + Send {
    fn send(&mut self, message: &Message) -> Result<(), LinkError>;

    fn receive(&mut self, wait: &Wait) -> Result<Message, LinkError>;

    /// Sends the content of a file, which the other end was told to expect.
    fn send_file(&mut self, path: &Path) -> Result<(), LinkError>;

    /// Writes into `path` the content of a file that the other end sends.
    fn receive_file(&mut self, path: &Path, wait: &Wait) -> Result<(), LinkError>;

    /// How to find out, while nothing is said, whether the system has given the way up; none where it does not look after it.
    fn is_cut(&self) -> Option<IsCut> {
        None
    }

    /// Whether questions and answers say what the other's clock shows: not where files are looked for now and then.
    fn has_round_trips(&self) -> bool;
}

fn encode(message: &Message) -> Result<Vec<u8>, LinkError> {
    let text = serde_json::to_vec(message);
    let mut text = text.map_err(|error| LinkError::NotUnderstood(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

fn decode(line: &[u8]) -> Result<Message, LinkError> {
    serde_json::from_slice(line).map_err(|error| LinkError::NotUnderstood(error.to_string()))
}
