//! A folder that all shards see: a message is a file, written aside and renamed.
//!
//! `open` says which meeting is on; each meeting has a folder of its own, so that what an earlier one left is none of it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use super::heartbeat::{Heartbeat, HeartbeatWatch, SignOfLife};
use super::{Link, LinkError, Message, Wait, decode, encode};
use crate::shards::error::{ShardError, ShardMismatch};

/// How often a folder is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// Which way a message goes, as its file is named.
const UP: &str = "up";
const DOWN: &str = "down";

/// The file that says that a meeting is over. Its folder stays: somebody may still read what was said last.
pub(super) const CLOSED: &str = "closed";

/// The file that says that the run has begun, by the names of those that came until then. Nobody answers whoever comes later.
const BEGUN: &str = "begun";

#[derive(Debug)]
struct FolderLink {
    folder: PathBuf,
    /// Whether who is waited for is shard 0, whose process may have died.
    waits_for: WaitsFor,
    /// Names the shard at the other end, or this one, in the names of files.
    name: String,
    sends: &'static str,
    receives: &'static str,
    sent: u64,
    received: u64,
}

/// Whom a link waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitsFor {
    /// Shard 0, which counts for as long as it lives.
    First,
    /// Another shard, for which shard 0 waits as long as its level and the patience of the run take.
    Other,
}

impl FolderLink {
    fn path(&self, way: &str, number: u64) -> PathBuf {
        self.folder.join(format!("{}-{way}-{number:06}.json", self.name))
    }

    /// Whether the run began before this shard came.
    fn is_late(&self) -> bool {
        let begun = fs::read_to_string(self.folder.join(BEGUN));
        begun.is_ok_and(|names| !names.lines().any(|name| name == self.name))
    }
}

/// What somebody finds who said `hello` to a meeting that had begun.
fn too_late(hello: &Message) -> Message {
    let shard = match hello {
        Message::Hello(hello) => hello.name(),
        _ => "a shard".to_owned(),
    };
    Message::Refused(ShardError::Mismatch(ShardMismatch::TooLate { shard }))
}

/// Writes a file that appears whole or not at all.
pub(super) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let aside = path.with_extension("part");
    fs::write(&aside, bytes)?;
    fs::rename(&aside, path)
}

/// Moves a file, which may be to another file system: then it is on the disk there before it goes here.
fn moved(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            fs::copy(from, to)?;
            fs::File::open(to)?.sync_all()?;
            // What cannot be removed stays in the folder of the meeting, as its messages do.
            let _ = fs::remove_file(from);
            Ok(())
        }
        moved => moved,
    }
}

impl Link for FolderLink {
    fn send(&mut self, message: &Message) -> Result<(), LinkError> {
        write(&self.path(self.sends, self.sent), &encode(message)?)?;
        self.sent += 1;
        Ok(())
    }

    fn receive(&mut self, wait: &Wait) -> Result<Message, LinkError> {
        let path = self.path(self.receives, self.received);
        let mut beat =
            (self.waits_for == WaitsFor::First).then(|| HeartbeatWatch::of(&self.folder));
        loop {
            match fs::read(&path) {
                Ok(bytes) => {
                    self.received += 1;
                    return decode(&bytes);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    let is_over = beat.as_mut().is_some_and(|beat| beat.is_over(Instant::now()));
                    // What was said last comes before the end.
                    if (is_over || self.folder.join(CLOSED).exists()) && !path.exists() {
                        return Err(LinkError::Gone);
                    }
                    wait.check()?;
                    thread::sleep(LOOK);
                }
                Err(error) => return Err(LinkError::System(error)),
            }
        }
    }

    fn send_file(&mut self, path: &Path) -> Result<(), LinkError> {
        fs::copy(path, self.folder.join(format!("{}.tapes", self.name)))?;
        self.send(&Message::Bytes { bytes: fs::metadata(path)?.len() })
    }

    fn receive_file(&mut self, path: &Path, wait: &Wait) -> Result<(), LinkError> {
        self.receive(wait)?;
        let sent = self.folder.join(format!("{}.tapes", self.name));
        moved(&sent, path).map_err(LinkError::not_kept(path))
    }

    fn has_round_trips(&self) -> bool {
        false
    }
}

/// Where shard 0 waits for the others.
#[derive(Debug)]
pub(in crate::shards) struct FolderHost {
    folder: PathBuf,
    token: String,
    meeting: PathBuf,
    seen: Vec<String>,
    /// Says that it lives.
    _heartbeat: Heartbeat,
}

impl FolderHost {
    /// Opens a meeting of this name.
    pub(in crate::shards) fn open(folder: &Path, token: &str) -> io::Result<Self> {
        let meeting = folder.join(format!("meeting-{token}"));
        fs::create_dir_all(&meeting)?;
        let heartbeat = Heartbeat::start(&meeting)?;
        // Written aside where no other shard 0 writes, which may open its own at the same time.
        let aside = meeting.join("open");
        fs::write(&aside, token)?;
        fs::rename(&aside, folder.join("open"))?;
        let (folder, token) = (folder.to_path_buf(), token.to_owned());
        Ok(Self { folder, token, meeting, seen: Vec::new(), _heartbeat: heartbeat })
    }

    /// Whether another has opened a meeting since: what an earlier one left open is written over, and so is this one's.
    pub(in crate::shards) fn is_displaced(&self) -> bool {
        fs::read_to_string(self.folder.join("open")).is_ok_and(|token| token != self.token)
    }

    /// Has whoever comes from now on find that the run has begun.
    pub(in crate::shards) fn close(&self) {
        // Where it cannot be written, who comes late waits for an answer as long as he does.
        let _ = write(&self.meeting.join(BEGUN), self.seen.join("\n").as_bytes());
    }

    /// The next that comes.
    pub(in crate::shards) fn next(&mut self, wait: &Wait) -> Result<Box<dyn Link>, LinkError> {
        loop {
            for file in fs::read_dir(&self.meeting)? {
                let name = file?.file_name().to_string_lossy().into_owned();
                let first = format!("-{UP}-000000.json");
                let Some(name) = name.strip_suffix(&first) else { continue };
                if !self.seen.iter().any(|seen| seen == name) {
                    self.seen.push(name.to_owned());
                    return Ok(Box::new(FolderLink {
                        folder: self.meeting.clone(),
                        waits_for: WaitsFor::Other,
                        name: name.to_owned(),
                        sends: DOWN,
                        receives: UP,
                        sent: 0,
                        received: 0,
                    }));
                }
            }
            wait.check()?;
            thread::sleep(LOOK);
        }
    }
}

impl Drop for FolderHost {
    fn drop(&mut self) {
        // Before nothing is open any more: who came when the run had begun is told by it.
        let _ = write(&self.meeting.join(CLOSED), b"");
        if !self.is_displaced() {
            // What cannot be removed is passed over by the next meeting.
            let _ = fs::remove_file(self.folder.join("open"));
        }
    }
}

/// The way to shard 0 through `folder`, for the shard of this name; `hello` is said, and the answer to it came. What an earlier
/// meeting left open is known by nobody answering there, and by nobody counting there any more where its run had begun.
pub(in crate::shards) fn join(
    folder: &Path,
    name: &str,
    hello: &Message,
    wait: &Wait,
) -> Result<(Box<dyn Link>, Message), LinkError> {
    loop {
        let Ok(token) = fs::read_to_string(folder.join("open")) else {
            wait.check().map_err(LinkError::nobody)?;
            thread::sleep(LOOK);
            continue;
        };
        let mut link = FolderLink {
            folder: folder.join(format!("meeting-{token}")),
            waits_for: WaitsFor::First,
            name: name.to_owned(),
            sends: UP,
            receives: DOWN,
            sent: 0,
            received: 0,
        };
        if link.send(hello).is_err() {
            wait.check()?;
            thread::sleep(LOOK);
            continue;
        }
        let is_same = || fs::read_to_string(folder.join("open")).is_ok_and(|now| now == token);
        let mut life: Option<SignOfLife> = None;
        while is_same() {
            if link.path(DOWN, 0).exists() {
                let answer = link.receive(wait)?;
                return Ok((Box::new(link), answer));
            }
            if link.is_late() {
                let life = life.get_or_insert_with(|| SignOfLife::of(&link.folder));
                if life.is_seen() {
                    return Ok((Box::new(link), too_late(hello)));
                }
            }
            match (wait.check(), &life) {
                (Err(LinkError::Silent { .. }), Some(life)) if life.may_come() => {}
                (Err(error), Some(_)) => return Err(error.nobody()),
                (checked, _) => checked?,
            }
            thread::sleep(LOOK);
        }
        // It was over while whoever came too late looked.
        if life.is_some_and(|life| life.is_seen()) {
            return Ok((Box::new(link), too_late(hello)));
        }
        // It was answered in the moment in which the meeting was closed.
        if link.path(DOWN, 0).exists() {
            let answer = link.receive(wait)?;
            return Ok((Box::new(link), answer));
        }
    }
}

#[cfg(test)]
mod tests {
    use fizeau_harness::Cancel;

    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("fizeau-meet-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    /// A shard 0 that was killed when the run had begun leaves a meeting open, at which nobody counts any more.
    #[test]
    fn a_meeting_that_was_left_open_by_a_dead_shard_is_no_run_that_has_begun() {
        let folder = scratch("stale");
        let stale = folder.join("meeting-old");
        fs::create_dir_all(&stale).unwrap();
        for (name, text) in
            [("open", "old"), ("meeting-old/begun", "1-n2-7"), ("meeting-old/alive", "9")]
        {
            fs::write(folder.join(name), text).unwrap();
        }
        let wait = Wait::of(Duration::from_secs(60), &Cancel::new());
        let (place, patience) = (folder.clone(), wait.clone());
        let comes = thread::spawn(move || {
            join(&place, "1-n2-8", &Message::Ready, &patience).map(|(_, answer)| answer)
        });
        // It finds what was left before there is anything else.
        while !stale.join("1-n2-8-up-000000.json").exists() {
            thread::yield_now();
        }
        let mut host = FolderHost::open(&folder, "new").unwrap();
        let mut here = host.next(&wait).unwrap();
        assert_eq!(here.receive(&wait).unwrap(), Message::Ready);
        here.send(&Message::Agreed).unwrap();
        assert_eq!(comes.join().unwrap().unwrap(), Message::Agreed);
        drop(host);
        fs::remove_dir_all(folder).unwrap();
    }

    /// Tapes come from where the shards meet to where the run is kept, which may be another file system.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_is_moved_to_another_file_system() {
        use std::os::unix::fs::MetadataExt as _;
        let (here, there) = (scratch("here"), Path::new("/dev/shm"));
        let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
        if device(there).is_none() || device(there) == device(&here) {
            println!("passed over: there is no second file system to move a file to");
            return;
        }
        let (from, to) =
            (there.join(format!("fizeau-moved-{}", std::process::id())), here.join("to"));
        fs::write(&from, "tapes").unwrap();
        moved(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "tapes");
        assert!(!from.exists());
        fs::remove_dir_all(here).unwrap();
    }
}
