//! A folder that goes when we go.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

/// A folder below cargo's `target`, removed when this process ends, however that comes about.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    /// It removes the folder once its input ends, which is when we do.
    janitor: Child,
}

impl Scratch {
    pub(crate) fn create() -> Result<Self> {
        let name = format!("transport-{}", std::process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).with_context(|| format!("cannot make {}", path.display()))?;
        let script = "trap '' INT TERM HUP; cat >/dev/null; rm -rf -- \"$0\"";
        let mut command = Command::new("sh");
        command.args(["-c", script]).arg(&path).stdin(Stdio::piped());
        let janitor = command.spawn().context("cannot run sh")?;
        Ok(Self { path, janitor })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The name of an entry that is not there.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let path = self.path.join(name);
        if path.exists() {
            fs::remove_dir_all(&path)
                .with_context(|| format!("cannot clear {}", path.display()))?;
        }
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        let _ = self.janitor.wait();
    }
}
