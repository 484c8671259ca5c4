//! Steps of an engine as a client saw them: the gap between two tokens of a reply is the step that made the second one, and the other tapes
//! show what else was in it.
//!
//! A level's means say what its one load takes. Its steps differ: sequences grow, come and go, and in some prompts are read. That separates what
//! a sequence costs from what its context costs even where all requests are of one length.

mod in_flight;
mod starts;

use fizeau_core::{Seconds, Tape, TokenSource, Tokens};
use fizeau_roofline::{PassSums, System};

use in_flight::InFlight;

/// Tokens that are read of a level; later ones say no more.
const MOST_TOKENS: usize = 2_000_000;
/// Gaps that a mean is taken of, at the least.
const FEWEST: usize = 24;
/// Requests that a mean is taken of, at the least.
const FEWEST_ALONE: usize = 5;
/// Into so many groups of equal size are steps of the same numbers of sequences and prompts divided, by their tokens.
const BY_TOKENS: usize = 4;
/// The most steps of a level that are given; of more, every second or third is, and so on.
const MOST_STEPS: usize = 200;
/// Above this share of tokens that came together, a gap is no step.
const MOST_BUNDLED: f64 = 0.01;
/// A gap that is so many times the median of its like is a pause of something else, such as the client.
const PAUSE: f64 = 8.0;

/// Whether a client can see what is in a step: where several batches are under way at a time, it cannot know which one a token is of.
pub(super) fn can_be_seen(system: &System) -> bool {
    let deployment = system.deployment();
    [deployment.replicas(), deployment.attention_groups(), deployment.pipeline()] == [1; 3]
}

/// The requests of a level, to find out what was in flight at a time.
#[derive(Debug, Default)]
pub(crate) struct SeenRequests {
    requests: Vec<SeenRequest>,
    tokens: usize,
    /// Of them, those that came together with others, or of which that is not known.
    bundled: usize,
    /// Whether some are missing.
    is_cut: bool,
}

/// What is needed of a tape, in nanoseconds and tokens.
#[derive(Debug)]
struct SeenRequest {
    sent: u64,
    prompt: f64,
    /// Of the prompt, what the server had cached.
    cached: f64,
    /// When tokens came, one at a time.
    arrivals: Vec<u64>,
}

/// Requests of about the same length, one at a time.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoneLoad {
    pub(super) prompt: Tokens,
    pub(super) output: Tokens,
    pub(super) tpot: Seconds,
    pub(super) ttft: Seconds,
}

/// A step between two tokens of a request.
#[derive(Debug, Clone, Copy)]
struct SeenStep {
    /// Nanoseconds.
    gap: f64,
    sums: PassSums,
}

impl SeenRequests {
    /// Takes one more, in the order in which they ended; nothing once there are enough.
    pub(crate) fn add(&mut self, tape: &Tape) {
        if self.tokens >= MOST_TOKENS {
            self.is_cut = true;
            return;
        }
        let tokens = || tape.arrivals.iter().filter(|arrival| arrival.channel.has_tokens());
        let (Some(sent), Some(prompt)) = (tape.marks.send_end, tape.input_tokens()) else { return };
        let arrivals: Vec<u64> = tokens().map(|arrival| arrival.at.as_nanos()).collect();
        if arrivals.is_empty() {
            return;
        }
        self.tokens += arrivals.len();
        self.bundled += match tape.token_source {
            TokenSource::Events | TokenSource::Tokenizer => arrivals.len(),
            _ => tokens().filter(|arrival| arrival.tokens > 1).count(),
        };
        let cached = tape.usage.and_then(|usage| usage.cached_tokens);
        self.requests.push(SeenRequest {
            sent: sent.as_nanos(),
            prompt: prompt.get() as f64,
            cached: cached.map_or(0.0, |cached| cached.get() as f64),
            arrivals,
        });
    }

    /// The steps of which it is known what was in them, those alike as one with the mean of their times; none where events are not tokens.
    pub(super) fn steps(&self) -> Vec<(PassSums, Seconds)> {
        if !self.is_event_a_token() {
            return Vec::new();
        }
        let mut steps = self.each();
        steps.sort_by(|one, other| {
            one.order().partial_cmp(&other.order()).unwrap_or(std::cmp::Ordering::Equal)
        });
        let alike = steps.chunk_by(|one, other| one.numbers() == other.numbers());
        let groups =
            alike.flat_map(|alike| alike.chunks(alike.len().div_ceil(BY_TOKENS).max(FEWEST)));
        let means: Vec<_> = groups.filter_map(mean).collect();
        let every = means.len().div_ceil(MOST_STEPS).max(1);
        means.into_iter().step_by(every).collect()
    }

    /// Of requests that were one at a time, those with prompts of a length, as a load each: what a prompt takes of the time to the first
    /// token, and what any request. None where all prompts are of one length.
    pub(super) fn lone_loads(&self) -> Vec<LoneLoad> {
        let mut each: Vec<[f64; 4]> = self.requests.iter().filter_map(SeenRequest::alone).collect();
        each.sort_by(|one, other| one[0].total_cmp(&other[0]));
        let differ = each.first().zip(each.last()).is_some_and(|(one, other)| one[0] < other[0]);
        if !self.is_event_a_token() || !differ {
            return Vec::new();
        }
        let groups = each.chunks(each.len().div_ceil(BY_TOKENS).max(FEWEST_ALONE));
        let full = groups.filter(|group| group.len() >= FEWEST_ALONE);
        full.map(|group| {
            let mean =
                |at: usize| group.iter().map(|own| own[at]).sum::<f64>() / group.len() as f64;
            LoneLoad {
                prompt: Tokens::new(mean(0).round() as u64),
                output: Tokens::new(mean(1).round() as u64),
                tpot: Seconds::new(mean(2) / 1e9),
                ttft: Seconds::new(mean(3) / 1e9),
            }
        })
        .collect()
    }

    fn is_event_a_token(&self) -> bool {
        self.bundled as f64 <= MOST_BUNDLED * self.tokens as f64
    }

    fn each(&self) -> Vec<SeenStep> {
        let flight = InFlight::of(&self.requests);
        let last = if self.is_cut { self.last_whole() } else { u64::MAX };
        let gaps = self.requests.iter().flat_map(|request| request.arrivals.windows(2));
        let known = gaps.filter_map(|pair| match *pair {
            [from, to] if to <= last => flight.step(from, to),
            _ => None,
        });
        known.collect()
    }

    /// Until when everything that was in flight is among the requests that were read.
    fn last_whole(&self) -> u64 {
        let end = |request: &SeenRequest| request.arrivals.last().copied().unwrap_or(0);
        let ends = self.requests.iter().map(end);
        let longest = self.requests.iter().map(|request| end(request).saturating_sub(request.sent));
        ends.max().unwrap_or(0).saturating_sub(longest.max().unwrap_or(0))
    }
}

impl SeenRequest {
    /// Tokens of the prompt that were computed.
    const fn read(&self) -> f64 {
        (self.prompt - self.cached).max(1.0)
    }

    /// The whole request, if it was alone: the mean of its gaps, and the time to its first token.
    fn alone(&self) -> Option<[f64; 4]> {
        let (first, last) = (*self.arrivals.first()?, *self.arrivals.last()?);
        let tokens = self.arrivals.len() as f64;
        let tpot = last.saturating_sub(first) as f64 / (tokens - 1.0);
        let ttft = first.saturating_sub(self.sent) as f64;
        (tokens > 1.0 && self.cached <= 0.0).then_some([self.prompt, tokens, tpot, ttft])
    }
}

impl SeenStep {
    /// Sequences that decode, and prompts.
    const fn numbers(&self) -> [f64; 2] {
        [self.sums.decoding, self.sums.prompts]
    }

    /// By the numbers, and of equal ones by the tokens that cost most: prompts', where there are any.
    const fn order(&self) -> [f64; 4] {
        let PassSums { decoding, prompts, prompt_tokens, context, .. } = self.sums;
        [decoding, prompts, prompt_tokens, context]
    }
}

/// One step for all of these, which are alike; none of too few.
fn mean(steps: &[SeenStep]) -> Option<(PassSums, Seconds)> {
    let mut gaps: Vec<f64> = steps.iter().map(|step| step.gap).collect();
    gaps.sort_by(f64::total_cmp);
    let most = PAUSE * gaps.get(gaps.len() / 2)?;
    let kept: Vec<&SeenStep> = steps.iter().filter(|step| step.gap <= most).collect();
    let count = kept.len() as f64;
    let mean = |of: fn(&SeenStep) -> f64| kept.iter().map(|step| of(step)).sum::<f64>() / count;
    let sums = PassSums {
        decoding: mean(|step| step.sums.decoding),
        context: mean(|step| step.sums.context),
        prompts: mean(|step| step.sums.prompts),
        prompt_tokens: mean(|step| step.sums.prompt_tokens),
        prompt_context: mean(|step| step.sums.prompt_context),
        prompt_pairs: mean(|step| step.sums.prompt_pairs),
        ..PassSums::default()
    };
    let gap = mean(|step| step.gap);
    (kept.len() >= FEWEST && gap > 0.0).then(|| (sums, Seconds::new(gap / 1e9)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use fizeau_core::{Arrival, Channel, Nanos, Stamp, Tape, TokenSource, Tokens};
    use fizeau_roofline::PassSums;

    use super::SeenRequests;

    /// What a step takes, in nanoseconds.
    fn step(sums: &PassSums) -> u64 {
        let PassSums { decoding, context, prompts, prompt_tokens, .. } = *sums;
        (1e6 + 5e4 * decoding + 300.0 * context + 4e5 * prompts + 2e4 * prompt_tokens) as u64
    }

    fn at(nanos: u64) -> Stamp {
        Stamp::EPOCH + Nanos::from_nanos(nanos)
    }

    /// As many requests at once, each one's prompt read in the step after it is sent, beside those that decode.
    fn served(in_flight: usize, requests: usize) -> Vec<Tape> {
        let (mut now, mut next) = (0, 0);
        let (mut running, mut over): (Vec<(Tape, usize)>, Vec<Tape>) = (Vec::new(), Vec::new());
        while over.len() < requests {
            let mut sums = PassSums::default();
            for (tape, _) in &running {
                let prompt = tape.requested.input_tokens.unwrap().get();
                sums.decoding += 1.0;
                sums.context += (prompt as usize + tape.arrivals.len()) as f64;
            }
            while running.len() < in_flight && next < requests {
                let prompt = 60 + 37 * (next % 5);
                let mut tape = Tape::sent_at(at(now));
                tape.requested.input_tokens = Some(Tokens::new(prompt as u64));
                tape.token_source = TokenSource::TokenIds;
                sums.prompts += 1.0;
                sums.prompt_tokens += prompt as f64;
                running.push((tape, 40 + 11 * (next % 7)));
                next += 1;
            }
            now += step(&sums);
            for (number, (tape, _)) in running.iter_mut().enumerate() {
                // The stream of each leaves a little after that before.
                let at = at(now + 20_000 * number as u64);
                tape.arrivals.push(Arrival::tokens(at, 1, Channel::Visible));
            }
            let (done, rest) =
                running.into_iter().partition(|(tape, output)| tape.arrivals.len() == *output);
            running = rest;
            over.extend(Vec::into_iter(done).map(|(tape, _)| tape));
            // The next ones are sent at once, and are there before the next step.
            now += 1;
        }
        over
    }

    fn seen(tapes: &[Tape]) -> SeenRequests {
        let mut requests = SeenRequests::default();
        tapes.iter().for_each(|tape| requests.add(tape));
        requests
    }

    #[test]
    fn gaps_are_the_steps_with_what_was_in_them() {
        let steps = seen(&served(6, 200)).steps();
        assert!(steps.iter().any(|(sums, _)| sums.prompts > 0.0), "{steps:?}");
        let contexts = steps.iter().filter(|(sums, _)| sums.prompts == 0.0 && sums.decoding == 6.0);
        let contexts: Vec<f64> = contexts.map(|(sums, _)| sums.context).collect();
        assert!(contexts.len() > 1 && contexts[0] < contexts[contexts.len() - 1], "{contexts:?}");
        for (sums, time) in steps {
            let expected = step(&sums) as f64 / 1e9;
            assert!((time.get() / expected - 1.0).abs() < 0.03, "{sums:?}: {time:?}, {expected}");
        }
    }

    #[test]
    fn of_requests_one_at_a_time_prompts_are_told_from_the_rest() {
        let loads = seen(&served(1, 40)).lone_loads();
        assert_eq!(loads.len(), 4);
        for load in loads {
            let (prompt, tokens) = (load.prompt.get() as f64, load.output.get() as f64);
            let prefill = PassSums { prompts: 1.0, prompt_tokens: prompt, ..PassSums::default() };
            let context = prompt + tokens / 2.0;
            let decode = PassSums { decoding: 1.0, context, ..PassSums::default() };
            for (found, expected) in [(load.ttft, step(&prefill)), (load.tpot, step(&decode))] {
                assert!((found.get() * 1e9 / expected as f64 - 1.0).abs() < 0.03, "{load:?}");
            }
        }
    }

    #[test]
    fn events_of_several_tokens_show_no_steps() {
        let mut tapes = served(2, 20);
        for tape in &mut tapes {
            tape.token_source = TokenSource::Events;
        }
        let requests = seen(&tapes);
        assert!(requests.steps().is_empty() && requests.lone_loads().is_empty());
    }
}
