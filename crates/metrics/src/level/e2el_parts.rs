//! End-to-end latency, part by part.

use fizeau_core::Millis;

use super::LevelSummary;

/// The mean end-to-end latency of a level in three parts that add up to it: `E2EL = network + (TTFT - network) + TPOT x (n - k)`.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct E2elParts {
    /// All of it: send start to the last token.
    pub e2el: Millis,
    /// One round trip of the network: the request's way there and the first token's way back, at the least.
    pub network: Millis,
    /// What else lies before the first token: the server's HTTP, its queue, prefill, and what of the network is beyond one round trip.
    pub rest_of_ttft: Millis,
    /// The time per output token, as often as there are tokens behind the first event.
    pub decode: Millis,
}

impl LevelSummary {
    /// How the mean end-to-end latency is made up. None where any of the requests has no first token, or the kernel did not tell the
    /// round trip of each: means of different requests do not add up.
    ///
    /// ```
    /// use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape};
    /// use fizeau_metrics::{GoodputGoals, LevelSummary};
    ///
    /// let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
    /// let mut tape = Tape::sent_at(ms(0));
    /// tape.round_trip = Some(Nanos::from_millis(5));
    /// for at in [20, 30, 40] {
    ///     tape.arrivals.push(Arrival::tokens(ms(at), 1, Channel::Visible));
    /// }
    /// let parts = LevelSummary::of([&tape], &GoodputGoals::default()).e2el_parts().unwrap();
    /// let parts = [parts.e2el, parts.network, parts.rest_of_ttft, parts.decode];
    /// assert_eq!(parts.map(|part| part.get()), [40.0, 5.0, 15.0, 20.0]);
    /// ```
    #[must_use]
    pub fn e2el_parts(&self) -> Option<E2elParts> {
        let of = &self.metrics;
        let is_same = of.e2el.n == of.ttft.n && of.ttft.n == of.network.n;
        let (e2el, ttft) = (of.e2el.mean?, of.ttft.mean.filter(|_| is_same)?);
        let network = of.network.mean?;
        let less = |from: Millis, part: Millis| Millis::new(from.get() - part.get());
        let (rest_of_ttft, decode) = (less(ttft, network), less(e2el, ttft));
        Some(E2elParts { e2el, network, rest_of_ttft, decode })
    }
}
