//! Whether a server keeps its connections between requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// What was seen of how a server keeps its connections; shared by all clones of a target, since they ask the same server. The counts are
/// advice and order nothing, so relaxed loads and stores do.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeepAliveRecord(Arc<AtomicU32>);

/// A server that closes each connection after its reply answers a second request of one now and then, where that comes fast.
const ENOUGH_REUSES: u32 = 16;

impl KeepAliveRecord {
    /// Takes note that a request was answered on a connection that had carried another before.
    pub(crate) fn note_reuse(&self) {
        // Beyond what is enough no number tells more, and threads need not share a line of their caches for it.
        if !self.is_known() {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes note that a connection was closed soon after its reply, though it had been promised to stay: what was seen before tells
    /// nothing any more, and after a restart it will be seen anew.
    pub(crate) fn note_closed_early(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the server is known to keep its connections.
    pub(crate) fn is_known(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= ENOUGH_REUSES
    }
}

/// What is known of a server makes no other address of it.
impl PartialEq for KeepAliveRecord {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KeepAliveRecord {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_learn_together_and_forget_together() {
        let (one, other) = (KeepAliveRecord::default(), KeepAliveRecord::default());
        let clone = one.clone();
        for number in 0..ENOUGH_REUSES {
            if number % 2 == 0 { one.note_reuse() } else { clone.note_reuse() }
        }
        assert!(one.is_known() && clone.is_known() && !other.is_known());
        clone.note_closed_early();
        assert!(!one.is_known());
    }
}
