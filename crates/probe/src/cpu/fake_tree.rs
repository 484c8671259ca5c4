//! Folders as a system has them, for tests.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder that goes with its test.
#[derive(Debug)]
pub(super) struct FakeTree(PathBuf);

impl FakeTree {
    pub(super) fn new(name: &str) -> Self {
        let name = format!("fizeau-probe-tree-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(&root).unwrap();
        Self(root)
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    /// Writes a line into a file below it.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, format!("{text}\n")).unwrap();
    }
}

impl Drop for FakeTree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
