//! Whether shard 0 still lives, where shards meet in a folder: it counts in a file, and whoever waits for it sees the count go on.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::folder::{CLOSED, write};
use crate::shards::waits::SILENT_FOLDER;

/// How often it counts.
const BEAT: Duration = Duration::from_secs(5);

/// How often the count is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// The file of the count within the folder of a meeting.
const ALIVE: &str = "alive";

/// Counts until it is dropped, or its process dies.
#[derive(Debug)]
pub(super) struct Heartbeat {
    /// Its end is what ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    /// Begins to count in the folder of a meeting.
    pub(super) fn start(meeting: &Path) -> std::io::Result<Self> {
        let (path, (stop, stopped)) = (meeting.join(ALIVE), channel());
        write(&path, b"0")?;
        let count = move || {
            let mut beats = 0_u64;
            while stopped.recv_timeout(BEAT) == Err(RecvTimeoutError::Timeout) {
                beats += 1;
                // A file that cannot be written now may be the next time.
                let _ = write(&path, beats.to_string().as_bytes());
            }
        };
        let thread = thread::Builder::new().spawn(count)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        drop(self.stop.take());
        // What a thread that is over had to say was said.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Whether whoever opened a meeting still counts, for somebody who comes when it has begun: what one that was killed left behind says so too.
#[derive(Debug)]
pub(super) struct SignOfLife {
    path: PathBuf,
    /// The count as it was found.
    found: Vec<u8>,
    /// The file that says that the meeting is over; none where it was there from the first.
    closed: Option<PathBuf>,
    since: Instant,
}

impl SignOfLife {
    /// Of the folder of a meeting, looked for from now on.
    pub(super) fn of(meeting: &Path) -> Self {
        let path = meeting.join(ALIVE);
        let found = fs::read(&path).unwrap_or_default();
        let closed = Some(meeting.join(CLOSED)).filter(|closed| !closed.exists());
        Self { path, found, closed, since: Instant::now() }
    }

    /// Whether the count went on since, or came to its end.
    pub(super) fn is_seen(&self) -> bool {
        fs::read(&self.path).is_ok_and(|count| count != self.found)
            || self.closed.as_ref().is_some_and(|closed| closed.exists())
    }

    /// Whether it was looked for so briefly that it may be there all the same.
    pub(super) fn may_come(&self) -> bool {
        self.since.elapsed() < 2 * BEAT
    }
}

/// What somebody who waits has seen of the count.
#[derive(Debug)]
pub(super) struct HeartbeatWatch {
    path: PathBuf,
    looked: Option<Instant>,
    /// The count that was seen last, and since when.
    seen: Option<(Vec<u8>, Instant)>,
}

impl HeartbeatWatch {
    /// Of the folder of a meeting.
    pub(super) fn of(meeting: &Path) -> Self {
        Self { path: meeting.join(ALIVE), looked: None, seen: None }
    }

    /// Whether shard 0 has not counted for so long that it is gone, as is known at `now`.
    pub(super) fn is_over(&mut self, now: Instant) -> bool {
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < LOOK) {
            return false;
        }
        self.looked = Some(now);
        // What cannot be read does not go on either.
        let count = fs::read(&self.path).unwrap_or_default();
        match &self.seen {
            Some((seen, since)) if *seen == count => {
                now.saturating_duration_since(*since) > SILENT_FOLDER
            }
            _ => {
                self.seen = Some((count, now));
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_counts_on_is_alive_and_who_stands_still_is_gone() {
        let folder = std::env::temp_dir().join(format!("fizeau-beat-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (mut watch, begun) = (HeartbeatWatch::of(&folder), Instant::now());
        let after = |seconds| begun + Duration::from_secs(seconds);
        let heart = Heartbeat::start(&folder).unwrap();
        drop(heart);
        for beats in 0..10_u64 {
            fs::write(folder.join(ALIVE), beats.to_string()).unwrap();
            assert!(!watch.is_over(after(80 * beats)), "{beats}");
        }
        assert!(!watch.is_over(after(720 + 90)));
        assert!(watch.is_over(after(720 + 92)));
        fs::remove_dir_all(&folder).unwrap();
    }
}
