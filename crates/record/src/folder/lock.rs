//! Who writes into a folder, so that two processes never do.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use super::FolderError;

/// The file in a folder that its writer holds locked, and that says who it is.
pub(super) const NAME: &str = ".lock";

/// How often a lock is tried for whose file went away in between.
const TRIES: u32 = 8;

/// The name of this machine; empty where the system does not report it.
#[must_use]
pub fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("HOSTNAME").ok()).unwrap_or_default();
    name.trim().to_owned()
}

/// This process, of which machine where that is known.
fn own_name() -> String {
    let (process, host) = (process::id(), host_name());
    match host.as_str() {
        "" => format!("process {process}"),
        host => format!("process {process} on {host}"),
    }
}

/// A folder that is held, until this is dropped. The system lets go of it for a process that dies, so that what is left of one is no
/// obstacle.
#[derive(Debug)]
pub(super) struct FolderLock {
    path: PathBuf,
    /// None where the file system has no locks: nobody is kept out there.
    file: Option<File>,
}

impl FolderLock {
    pub(super) fn take(folder: &Path) -> Result<Self, FolderError> {
        let path = folder.join(NAME);
        for _ in 0..TRIES {
            if let Some(lock) = Self::try_take(folder, &path)? {
                return Ok(lock);
            }
        }
        Err(held(folder, ""))
    }

    /// None where the file that was locked is not the one of that name any more: its last holder removed it.
    fn try_take(folder: &Path, path: &Path) -> Result<Option<Self>, FolderError> {
        let opened = File::options().read(true).write(true).create(true).truncate(false).open(path);
        let file = opened.map_err(FolderError::io(path))?;
        match file.try_lock() {
            Ok(()) if !is_named(&file, path).map_err(FolderError::io(path))? => return Ok(None),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(held(folder, &fs::read_to_string(path).unwrap_or_default()));
            }
            // A file system without locks, or without the service that keeps them, is no reason not to measure.
            Err(TryLockError::Error(_)) => {
                return Ok(Some(Self { path: path.to_path_buf(), file: None }));
            }
        }
        // From here on the file goes with its holder, where nothing can be written into it too.
        let lock = Self { path: path.to_path_buf(), file: Some(file) };
        lock.name_holder().map_err(FolderError::io(path))?;
        Ok(Some(lock))
    }

    /// Has the file say who holds it.
    fn name_holder(&self) -> io::Result<()> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        file.set_len(0)?;
        writeln!(file, "{}", own_name())
    }
}

/// That `folder` is held, by whom its file names.
fn held(folder: &Path, text: &str) -> FolderError {
    let by = if text.trim().is_empty() { "another process" } else { text.trim() };
    FolderError::Held { path: folder.to_path_buf(), by: by.to_owned() }
}

/// Whether `file` is what `path` names.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok((named.dev(), named.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere only that there is such a file can be told: two that are not the same are taken for one in the moment in which a
/// folder is given back.
#[cfg(not(unix))]
fn is_named(_: &File, path: &Path) -> io::Result<bool> {
    path.try_exists()
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        // While it is still held; nothing is left to do about an error.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_took_the_name_of_the_one_that_is_locked_is_another() {
        let folder = std::env::temp_dir().join(format!("fizeau-lock-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(NAME);
        let lock = FolderLock::take(&folder).unwrap();
        let is_it = || is_named(lock.file.as_ref().unwrap(), &path).unwrap();
        assert!(is_it());
        fs::remove_file(&path).unwrap();
        assert!(!is_it());
        // The same process may have written it: what it says does not tell.
        fs::write(&path, format!("{}\n", own_name())).unwrap();
        assert!(!is_it());
        drop(lock);
        fs::remove_dir_all(folder).unwrap();
    }
}
