//! Which of several endpoints a request goes to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fizeau_core::{Choice, NamedChoice, RequestId};

/// How requests are shared out among several endpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoadBalancing {
    /// By the request's number: request `k` of `n` endpoints goes to endpoint `k mod n`. The same request goes to
    /// the same endpoint in every run, however many threads send.
    #[default]
    RoundRobin,
    /// To the endpoint with the fewest requests in flight, counted over all clones of the target; among equals
    /// by the request's number. Two threads that look at the same moment may choose the same one.
    LeastInFlight,
}

impl Choice for LoadBalancing {
    const CHOICES: &'static [NamedChoice<Self>] = &[
        NamedChoice::new("round-robin", Self::RoundRobin, "To each server in turn"),
        NamedChoice::new(
            "least-in-flight",
            Self::LeastInFlight,
            "To the server with the fewest requests in flight",
        ),
    ];
}

/// The requests in flight at each endpoint, shared by all clones of a target.
#[derive(Debug, Clone)]
pub(crate) struct Balancer {
    balance: LoadBalancing,
    in_flight: Arc<[AtomicU32]>,
}

/// A request's place at an endpoint; it counts as in flight until this is dropped.
#[derive(Debug)]
pub(crate) struct EndpointSlot<'b> {
    /// The endpoint's number, from 0.
    pub(crate) endpoint: usize,
    counted: Option<&'b AtomicU32>,
}

impl Balancer {
    pub(crate) fn new(balance: LoadBalancing, endpoints: usize) -> Self {
        Self { balance, in_flight: (0..endpoints).map(|_| AtomicU32::new(0)).collect() }
    }

    pub(crate) const fn balance(&self) -> LoadBalancing {
        self.balance
    }

    /// Chooses for `request`. The counts are advice and order nothing, so relaxed loads and stores do.
    pub(crate) fn choose(&self, request: RequestId) -> EndpointSlot<'_> {
        let count = self.in_flight.len().max(1);
        // Below `count`, so it fits.
        let turn = (request.0 % count as u64) as usize;
        if self.balance == LoadBalancing::RoundRobin || count == 1 {
            return EndpointSlot { endpoint: turn, counted: None };
        }
        let (before, from) = self.in_flight.split_at(turn);
        let numbers = (turn..count).chain(0..turn);
        let idlest = from
            .iter()
            .chain(before)
            .zip(numbers)
            .min_by_key(|(in_flight, _)| in_flight.load(Ordering::Relaxed));
        let Some((in_flight, endpoint)) = idlest else {
            return EndpointSlot { endpoint: turn, counted: None };
        };
        in_flight.fetch_add(1, Ordering::Relaxed);
        EndpointSlot { endpoint, counted: Some(in_flight) }
    }
}

impl Drop for EndpointSlot<'_> {
    fn drop(&mut self) {
        if let Some(in_flight) = self.counted {
            in_flight.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::RequestId;
    use proptest::prelude::*;

    use super::{Balancer, LoadBalancing};

    #[test]
    fn round_robin_goes_by_the_requests_number() {
        let balancer = Balancer::new(LoadBalancing::RoundRobin, 3);
        let chosen: Vec<usize> =
            [0, 1, 2, 3, 7, u64::MAX].map(|id| balancer.choose(RequestId(id)).endpoint).into();
        assert_eq!(chosen, [0, 1, 2, 0, 1, 0]);
    }

    proptest! {
        /// Whatever ends when, no endpoint is chosen that has more in flight than another.
        #[test]
        fn least_in_flight_never_picks_a_busier_one(
            steps in prop::collection::vec((any::<u64>(), any::<prop::sample::Index>(), any::<bool>()), 1..60),
            endpoints in 1_usize..6,
        ) {
            let balancer = Balancer::new(LoadBalancing::LeastInFlight, endpoints);
            let clone = balancer.clone();
            let mut places = Vec::new();
            let mut counts = vec![0_u32; endpoints];
            for (id, which, ends) in steps {
                if ends && !places.is_empty() {
                    let place: super::EndpointSlot<'_> = places.swap_remove(which.index(places.len()));
                    counts[place.endpoint] -= 1;
                } else {
                    let place = clone.choose(RequestId(id));
                    prop_assert_eq!(Some(&counts[place.endpoint]), counts.iter().min());
                    counts[place.endpoint] += 1;
                    places.push(place);
                }
            }
        }
    }
}
