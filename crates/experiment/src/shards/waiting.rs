//! Whom a shard waits for at the moment, for whoever tells it.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long somebody is waited for before it is told, and how often it is looked.
const LONG_WAIT: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_secs(5);

/// Whom a shard waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShardWait {
    /// Who it is: `shard 1/2 on n2`.
    pub whom: String,
    /// Since when.
    pub since: Instant,
}

impl ShardWait {
    /// For how long already.
    #[must_use]
    pub fn lasts(&self) -> Duration {
        self.since.elapsed()
    }
}

/// Where it stands whom a shard waits for, as long as it does. Clones are of the same.
#[derive(Debug, Clone, Default)]
pub struct ShardWaits(Arc<Mutex<Option<ShardWait>>>);

impl ShardWaits {
    /// Whom it waits for now; none for nobody.
    #[must_use]
    pub fn now(&self) -> Option<ShardWait> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Has `told` hear of each long wait once, while it lasts, on a thread of its own that ends with those that wait. Where the system refuses
    /// a thread, waits are silent.
    pub fn tell(&self, mut told: impl FnMut(&ShardWait) + Send + 'static) {
        let waits = Arc::downgrade(&self.0);
        let look = move || {
            let mut known: Option<ShardWait> = None;
            while let Some(waits) = waits.upgrade() {
                let wait = Self(waits).now().filter(|wait| wait.lasts() > LONG_WAIT);
                if let Some(wait) = wait.filter(|wait| known.as_ref() != Some(wait)) {
                    told(&wait);
                    known = Some(wait);
                }
                thread::sleep(LOOK);
            }
        };
        let _ = thread::Builder::new().name("waits".to_owned()).spawn(look);
    }

    /// Does `what`, which waits for `whom`.
    pub(super) fn during<T>(&self, whom: impl Into<String>, what: impl FnOnce() -> T) -> T {
        self.set(Some(ShardWait { whom: whom.into(), since: Instant::now() }));
        let done = what();
        self.set(None);
        done
    }

    fn set(&self, wait: Option<ShardWait>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = wait;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_waited_for_is_known_for_as_long() {
        let waits = ShardWaits::default();
        let seen = waits.clone();
        let whom = waits.during("shard 0", || seen.now().map(|wait| wait.whom));
        assert_eq!((whom.as_deref(), waits.now()), (Some("shard 0"), None));
    }
}
