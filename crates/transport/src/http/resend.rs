//! Whether a request may be sent again whose connection broke before a byte of a reply.
//!
//! A request that the server took and dropped is a failure, and must not become a success by a second try (RFC 9110, section
//! 9.2.2). A server that closes a connection which it has kept alive for long enough may do so just as a request is on its
//! way: nothing was taken then, and no server can be blamed for it.

use fizeau_core::Nanos;

use super::wire::SHORTEST_KEEP_ALIVE;

/// What a break looks like that comes of a server's keep-alive timer.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeepAliveRace {
    /// For how long nothing has passed at the least.
    pub(super) rest: Nanos,
    /// How soon after the sending it shows, though two round trips be shorter.
    pub(super) within: Nanos,
}

/// A connection that broke after a request was sent and before a byte of the reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnansweredBreak {
    /// How long nothing had passed before the request.
    pub(super) rest: Nanos,
    /// How long after the sending it broke.
    pub(super) after: Nanos,
    /// The connection's round trip, where it is known.
    pub(super) round_trip: Option<Nanos>,
    /// What is known of how the server keeps its connections.
    pub(super) server: KeptConnections,
}

/// What is known of whether a server keeps the connection between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptConnections {
    /// It is known to, or the connection has carried no reply after which it could have been closed, as one that was opened ahead.
    Kept,
    /// It may close each after its reply.
    PerhapsClosed,
}

/// A server that closes each connection after its reply does so within this, however busy it is: whoever sits on a request for longer has
/// taken it.
const LATEST_CLOSE: Nanos = Nanos::from_secs(1);

impl KeepAliveRace {
    /// Servers' keep-alive timers are of seconds (gunicorn 2 s, uvicorn 5 s, nginx 75 s), so that a connection in steady use is
    /// never closed by one. An event loop closes what its timer names before it looks for requests, and takes no longer over it
    /// than 10 ms unless it is overloaded.
    pub(super) const USUAL: Self =
        Self { rest: SHORTEST_KEEP_ALIVE, within: Nanos::from_millis(10) };

    /// Whether `broken` can be one. A server that does not keep connections closes each after its reply, whatever it promised, as
    /// llama.cpp's does: the next request meets that without a rest, and as late as a busy server closes.
    pub(super) fn explains(&self, broken: &UnansweredBreak) -> bool {
        let within = broken.round_trip.map_or(self.within, |way| (way * 2).max(self.within));
        let is_timer = broken.rest >= self.rest && broken.after <= within;
        let is_closed = broken.server == KeptConnections::PerhapsClosed;
        is_timer || is_closed && broken.after <= LATEST_CLOSE
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::Nanos;

    use super::KeptConnections::{Kept, PerhapsClosed};
    use super::{KeepAliveRace, UnansweredBreak};

    #[test]
    fn only_what_breaks_at_once_after_a_rest_can_be_a_keep_alive_timer() {
        let explained = |server, rest, after, round_trip: Option<u64>| {
            KeepAliveRace::USUAL.explains(&UnansweredBreak {
                rest: Nanos::from_millis(rest),
                after: Nanos::from_millis(after),
                round_trip: round_trip.map(Nanos::from_millis),
                server,
            })
        };
        let explains = |rest, after, round_trip| explained(Kept, rest, after, round_trip);
        assert!(explains(1_000, 0, None) && explains(5_000, 10, Some(1)));
        assert!(!explains(999, 0, Some(1)), "a connection in use");
        assert!(!explains(5_000, 11, Some(1)) && !explains(5_000, 500, None), "taken and held");
        assert!(explained(PerhapsClosed, 0, 500, None), "closed after each reply");
        assert!(!explained(PerhapsClosed, 0, 1_001, None), "held for a second, so taken");
        assert!(explains(5_000, 160, Some(80)) && !explains(5_000, 161, Some(80)), "a long way");
    }
}
