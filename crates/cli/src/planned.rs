//! What `run.json` says of one stored level: what it was to be.

use fizeau::harness::{RunRecord, StoredLevel};

/// What a stored level was to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Planned {
    /// Where it is among the levels of `run.json`.
    pub(crate) index: usize,
    /// The cap on its requests in flight; none if it had none.
    pub(crate) cap: Option<u32>,
    /// How many requests it was to have.
    pub(crate) requests: u64,
}

impl Planned {
    /// Of `level`. Only a level of a sweep has a name, and its load is in it; any other run has one level.
    pub(crate) fn of(record: &RunRecord, level: &StoredLevel) -> Self {
        let all = Self::all(record);
        let slots = concurrency(level.name());
        let own = slots.and_then(|_| all.iter().find(|planned| planned.cap == slots));
        let found = own.or_else(|| all.first()).cloned();
        let found = found.unwrap_or(Self { index: 0, cap: None, requests: 0 });
        Self { cap: slots.or(found.cap), ..found }
    }

    /// Of all levels that were planned, in the order in which they were to be measured.
    pub(crate) fn all(record: &RunRecord) -> Vec<Self> {
        let planned = |index| {
            let requests = record.whole(&field(index, "requests"))?;
            let cap = record.whole(&field(index, "max_in_flight"));
            Some(Self { index, cap: cap.and_then(|cap| u32::try_from(cap).ok()), requests })
        };
        (0..).map_while(planned).collect()
    }

    /// The path of one of its fields in `run.json`.
    pub(crate) fn field(&self, name: &str) -> String {
        field(self.index, name)
    }
}

fn field(index: usize, name: &str) -> String {
    format!("levels[{index}].{name}")
}

/// The concurrency of the level of a sweep whose folder has this name.
pub(crate) fn concurrency(name: &str) -> Option<u32> {
    name.strip_prefix("concurrency-")?.parse().ok()
}
