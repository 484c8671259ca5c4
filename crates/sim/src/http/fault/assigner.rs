//! Who gets which fault.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;

use fizeau_core::{Nanos, Stamp};

use super::kind::{FaultGroup, Kind};
use super::{AssignedFaults, Faults};
use crate::http::parsed_request::ParsedRequest;
use crate::http::response::Refusal;

/// The header by which a request chooses.
pub(in crate::http) const HEADER: &str = "x-fizeau-fault";

/// What a request writes there to have none.
const NONE: &str = "none";

/// The faults of a server, and when what they hold up goes on.
pub(in crate::http) struct FaultAssigner {
    faults: Option<Faults>,
    /// Requests seen.
    seen: u64,
    /// Connections that wait for an instant.
    wake_ups: BinaryHeap<Reverse<(Stamp, usize)>>,
}

impl FaultAssigner {
    pub(in crate::http) const fn new(faults: Option<Faults>) -> Self {
        Self { faults, seen: 0, wake_ups: BinaryHeap::new() }
    }

    /// What befalls the next request, which may have `chosen`.
    ///
    /// # Errors
    /// If it chose what is no fault, or cannot befall the reply to `ask`, or may not choose.
    pub(in crate::http) fn meet(
        &mut self,
        chosen: Option<&str>,
        ask: &ParsedRequest,
    ) -> Result<Option<AssignedFaults>, Refusal> {
        let refuse = |why: &dyn fmt::Display| {
            Refusal::bad_request(Some(HEADER), format!("header {HEADER}: {why}"))
        };
        let Some(faults) = &self.faults else {
            return match chosen {
                None | Some(NONE) => Ok(None),
                Some(_) => {
                    Err(refuse(&"this server has no faults: it was not started to allow them"))
                }
            };
        };
        let number = self.seen;
        self.seen += 1;
        match chosen {
            None => Ok(faults.of(number).and_then(|met| met.fit(ask).0)),
            Some(NONE) => Ok(None),
            Some(chosen) => {
                let met = chosen.parse::<AssignedFaults>().map_err(|error| refuse(&error))?;
                if met.0.iter().any(|fault| fault.kind.kind.is(FaultGroup::Server)) {
                    let why = format_args!("{met} is for whole servers, not for a request");
                    return Err(refuse(&why));
                }
                match met.fit(ask) {
                    (_, Some(fault)) => {
                        let why = "cannot affect this reply, because of its route or its options";
                        Err(refuse(&format_args!("`{fault}` {why}")))
                    }
                    (met, None) => Ok(met),
                }
            }
        }
    }

    /// Whether fewer connections may be open at a time than will.
    pub(in crate::http) fn limits_connections(&self) -> bool {
        self.most_connections() < usize::MAX
    }

    /// How many connections may be open at a time.
    pub(in crate::http) fn most_connections(&self) -> usize {
        let fault = self.faults.as_ref().and_then(|faults| faults.of_server(Kind::Connections));
        fault.map_or(usize::MAX, |fault| usize::try_from(fault.count()).unwrap_or(usize::MAX))
    }

    /// How long to wait after a connection was accepted.
    pub(in crate::http) fn accept_pause(&self) -> Option<Nanos> {
        self.faults.as_ref()?.of_server(Kind::SlowAccept)?.time()
    }

    /// Whether connections are never read.
    pub(in crate::http) fn is_deaf(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.of_server(Kind::Deaf).is_some())
    }

    /// Notes that connection `slot` goes on at `at`.
    pub(in crate::http) fn wake_at(&mut self, at: Stamp, slot: usize) {
        self.wake_ups.push(Reverse((at, slot)));
    }

    /// When the next connection goes on.
    pub(in crate::http) fn next_wake(&self) -> Option<Stamp> {
        self.wake_ups.peek().map(|Reverse((at, _))| *at)
    }

    /// The next connection whose time has come by `now`. It may be another by now under that number, which does no
    /// harm: it gets a turn to write.
    pub(in crate::http) fn wake(&mut self, now: Stamp) -> Option<usize> {
        if self.next_wake()? > now {
            return None;
        }
        self.wake_ups.pop().map(|Reverse((_, slot))| slot)
    }
}
