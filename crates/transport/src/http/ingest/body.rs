//! A body in the hands of the loop.

use std::sync::Arc;
use std::task::{Context, Poll};

use fizeau_core::{Clock, Stamp};

use super::LinedBody;
use super::hub::Hub;
use crate::http::watchdog::TimeoutAlarm;
use crate::http::wire::BodyEnding;

/// A body that the loop reads, as the request sees it that waits for it. Dropped before its end, it is given up, and its
/// connection closed.
pub(in crate::http) struct GivenBody<C> {
    hub: Arc<Hub<C>>,
    key: usize,
}

impl<C> std::fmt::Debug for GivenBody<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "GivenBody({})", self.key)
    }
}

impl<C: Clock + Send + 'static> GivenBody<C> {
    /// Gives `body` to the loop; gives it back where its connection belongs to none, or there is something left to be
    /// written or read.
    pub(in crate::http) fn give(body: LinedBody<C>) -> Result<Self, Box<LinedBody<C>>> {
        let Some((hub, key)) = body.h1.line().map(|line| (Arc::clone(line.hub()), line.key()))
        else {
            return Err(Box::new(body));
        };
        hub.give(key, body)?;
        Ok(Self { hub, key })
    }

    /// Ready once the body is over or a limit is reached. `now` is read where a limit is near.
    ///
    /// # Panics
    /// If what read the body did: with its panic.
    pub(in crate::http) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: impl Fn() -> Stamp,
    ) -> Poll<(LinedBody<C>, Result<BodyEnding, TimeoutAlarm>)> {
        self.hub.poll_given(self.key, cx, now)
    }

    /// Takes it from the loop as it is; none where that no longer has it.
    pub(in crate::http) fn take_back(&mut self) -> Option<LinedBody<C>> {
        self.hub.take_back(self.key)
    }
}

impl<C> Drop for GivenBody<C> {
    fn drop(&mut self) {
        // What is taken back is dropped here, and with it the connection, whose end the hub hears of.
        drop(self.hub.take_back(self.key));
    }
}
