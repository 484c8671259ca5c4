//! The pages of `fixtures/telemetry`, and clocks for tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fizeau_core::{Clock, Nanos, Stamp};
use fizeau_telemetry::{Fetch, History, Page, SeriesPoint};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/telemetry")
}

/// Every page by its name, in order.
pub(crate) fn fixtures() -> Vec<(String, Vec<u8>)> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("README.md") && !path.ends_with("read.txt"));
    paths.sort();
    let named = |path: PathBuf| {
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(path).unwrap())
    };
    paths.into_iter().map(named).collect()
}

pub(crate) fn golden() -> PathBuf {
    folder().join("read.txt")
}

pub(crate) fn fixture(name: &str) -> Page {
    Page::read(&fs::read(folder().join(name)).unwrap(), content_type(name)).unwrap()
}

pub(crate) fn text_of(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

pub(crate) fn content_type(name: &str) -> Option<&'static str> {
    (name == "openmetrics.txt").then_some("application/openmetrics-text; version=1.0.0")
}

pub(crate) fn at(ms: u64) -> Stamp {
    Stamp::EPOCH + Nanos::from_millis(ms)
}

/// A fetch in no time.
pub(crate) fn instant(ms: u64) -> Fetch {
    Fetch { requested: at(ms), answered: at(ms) }
}

pub(crate) fn point(ms: u64, value: f64) -> SeriesPoint {
    SeriesPoint { fetch: instant(ms), value: Some(value), is_unclear: false }
}

/// Fixtures as pages of one server, every `every` milliseconds from 0 on.
pub(crate) fn history(names: &[&str], every: u64) -> History {
    let mut history = History::new();
    for (ms, name) in (0..).step_by(usize::try_from(every).unwrap()).zip(names) {
        history.record(instant(ms), &fixture(name));
    }
    history
}

/// A clock that goes on by a millisecond whenever it is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ticking(Arc<AtomicU64>);

impl Clock for Ticking {
    fn now(&self) -> Stamp {
        at(self.0.fetch_add(1, Ordering::Relaxed))
    }
}
