//! Idle connections.

use std::cell::RefCell;
use std::fmt;

use fizeau_core::Clock;

use super::wire::Wire;

/// Idle connections, the one used last on top. Without a limit: one would be a hidden queue.
pub(super) struct Pool<C>(RefCell<Vec<Wire<C>>>);

impl<C: Clock> Pool<C> {
    /// An idle connection that is, as far as can be seen, alive. Dead ones are dropped on the way.
    pub(super) fn check_out(&self) -> Option<Wire<C>> {
        loop {
            let mut wire = self.0.borrow_mut().pop()?;
            if wire.is_usable() {
                return Some(wire);
            }
        }
    }

    /// Keeps `wire` for another request, if it can carry one.
    pub(super) fn check_in(&self, mut wire: Wire<C>) {
        if wire.is_usable() {
            self.0.borrow_mut().push(wire);
        }
    }
}

impl<C> Pool<C> {
    pub(super) fn idle(&self) -> usize {
        self.0.borrow().len()
    }
}

impl<C> Default for Pool<C> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<C> fmt::Debug for Pool<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pool({} idle)", self.idle())
    }
}
