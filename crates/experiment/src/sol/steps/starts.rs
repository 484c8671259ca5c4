//! Requests that are sent together, of which a front end takes in one after another.

use fizeau_core::Seconds;
use fizeau_roofline::SimultaneousStart;

use super::in_flight::half_a_step;
use super::{SeenRequest, SeenRequests};

impl SeenRequests {
    /// Of the requests that were sent together with the first one, when each came in. The step that read its prompt began when the one before it
    /// ended; and that one would have read it, had it been there: where it read at most half of what others did, so that there was room.
    pub(in crate::sol) fn starts(&self) -> Vec<SimultaneousStart> {
        let half = half_a_step(&self.requests);
        let Some(sent) = self.requests.iter().map(|request| request.sent).min() else {
            return Vec::new();
        };
        let begun = |request: &SeenRequest| request.arrivals.first().copied();
        let first = self.requests.iter().filter_map(begun).min().unwrap_or(sent);
        let together = |request: &&SeenRequest| request.sent <= first.min(sent + half);
        let mut each: Vec<(u64, f64)> = (self.requests.iter().filter(together))
            .filter_map(|request| Some((begun(request)?, request.read())))
            .collect();
        each.sort_by_key(|(begun, _)| *begun);
        let steps: Vec<&[(u64, f64)]> =
            each.chunk_by(|one, other| other.0 - one.0 <= half).collect();
        let read = |step: &[(u64, f64)]| step.iter().map(|(_, tokens)| tokens).sum::<f64>();
        let most = steps.iter().map(|step| read(step)).fold(0.0, f64::max);
        let mut starts = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            // When the step so many before this one ended; the first began when there was one request.
            let ended = |before: usize| {
                let step = at.checked_sub(before).and_then(|at| steps.get(at)?.first());
                let ended = step.map_or(0, |(ended, _)| ended.saturating_sub(sent));
                Seconds::new(ended as f64 / 1e9)
            };
            let had_room = at.checked_sub(1).is_some_and(|at| 2.0 * read(steps[at]) <= most);
            for _ in *step {
                let after = had_room.then(|| ended(2));
                starts.push(SimultaneousStart { after, by: ended(1) });
            }
        }
        starts
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape, Tokens};

    use super::{SeenRequests, SimultaneousStart};

    #[test]
    fn who_is_not_in_a_step_that_had_room_came_after_it_began() {
        let at = |millis| Stamp::EPOCH + Nanos::from_millis(millis);
        let mut requests = SeenRequests::default();
        // One alone, then four, and one that was sent later.
        for (sent, first) in [(10, 15), (10, 25), (10, 25), (10, 25), (10, 25), (20, 35)] {
            let mut tape = Tape::sent_at(at(sent));
            tape.requested.input_tokens = Some(Tokens::new(100));
            for token in 0..9 {
                tape.arrivals.push(Arrival::tokens(at(first + 2 * token), 1, Channel::Visible));
            }
            requests.add(&tape);
        }
        let found: Vec<(Option<f64>, f64)> = (requests.starts().iter())
            .map(|SimultaneousStart { after, by }| (after.map(|at| at.get() * 1e3), by.get() * 1e3))
            .collect();
        let second = (Some(0.0), 5.0);
        assert_eq!(found, [(None, 0.0), second, second, second, second]);
    }
}
