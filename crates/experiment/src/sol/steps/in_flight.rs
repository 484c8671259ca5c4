//! What is in flight at a time.

use fizeau_roofline::PassSums;

use super::{SeenRequest, SeenStep};

/// What is in flight at a time, by sums over all that began and ended before it.
#[derive(Debug)]
pub(super) struct InFlight {
    /// When requests left.
    sent: Vec<u64>,
    /// First tokens, with what the requests up to each bring.
    begun: RunningSums<3>,
    /// All tokens.
    tokens: Vec<u64>,
    /// Last tokens, with the contexts that go.
    ended: RunningSums<1>,
    /// The most that ever decoded at once.
    most: usize,
    /// Half of an ordinary step: tokens of the same step are not so far apart.
    half: u64,
}

/// Instants in their order, and sums of what belongs to all before each.
#[derive(Debug)]
struct RunningSums<const N: usize> {
    at: Vec<u64>,
    /// One more than there are instants: the first is of none.
    sums: Vec<[f64; N]>,
}

impl InFlight {
    pub(super) fn of(requests: &[SeenRequest]) -> Self {
        let mut sent: Vec<u64> = requests.iter().map(|request| request.sent).collect();
        sent.sort_unstable();
        let mut tokens: Vec<u64> =
            requests.iter().flat_map(|request| request.arrivals.iter().copied()).collect();
        tokens.sort_unstable();
        let begun = RunningSums::of(requests.iter().filter_map(|request| {
            let (prompt, read) = (request.prompt, request.read());
            let pairs = read * (prompt - read + (read + 1.0) / 2.0);
            Some((*request.arrivals.first()?, [prompt, read, pairs]))
        }));
        let ended = RunningSums::of(requests.iter().filter_map(|request| {
            Some((*request.arrivals.last()?, [request.prompt + request.arrivals.len() as f64]))
        }));
        let decoding = begun.at.iter().zip(1..).map(|(at, begun)| begun - ended.before(*at));
        let most = decoding.max().unwrap_or(0);
        let half = half_a_step(requests);
        Self { sent, begun, tokens, ended, most, half }
    }

    /// The step between two tokens of a request; none where somebody waited for a first token that did not come at its end, and not for a place
    /// among those that run: a part of a prompt may have been read in it, and the front end was at work, which may have kept it waiting.
    pub(super) fn step(&self, from: u64, to: u64) -> Option<SeenStep> {
        let gap = to.saturating_sub(from);
        let (at, until) = (from + self.half.min(gap / 2), to + self.half);
        let (begun, ended) = (self.begun.before(at), self.ended.before(at));
        let decoding = begun.saturating_sub(ended);
        let [before, after] = [from + self.half, until].map(|at| self.begun.before(at));
        let prompts = after.saturating_sub(before);
        let [prompt_context, prompt_tokens, prompt_pairs] = self.begun.between(before, after);
        let waiting = first_after(&self.sent, to).saturating_sub(after);
        if decoding == 0 || waiting > 0 && decoding + prompts < self.most {
            return None;
        }
        let received = first_after(&self.tokens, at) as f64;
        let context = self.begun.sums[begun][0] + received - self.ended.sums[ended][0];
        let sums = PassSums {
            decoding: decoding as f64,
            context,
            prompts: prompts as f64,
            prompt_tokens,
            prompt_context,
            prompt_pairs,
            ..PassSums::default()
        };
        Some(SeenStep { gap: gap as f64, sums })
    }
}

impl<const N: usize> RunningSums<N> {
    fn of(each: impl Iterator<Item = (u64, [f64; N])>) -> Self {
        let mut each: Vec<(u64, [f64; N])> = each.collect();
        each.sort_by_key(|(at, _)| *at);
        let mut sum = [0.0; N];
        let mut sums = vec![sum];
        for (_, own) in &each {
            for (sum, own) in sum.iter_mut().zip(own) {
                *sum += own;
            }
            sums.push(sum);
        }
        Self { at: each.into_iter().map(|(at, _)| at).collect(), sums }
    }

    /// How many there are before `at`.
    fn before(&self, at: u64) -> usize {
        first_after(&self.at, at)
    }

    /// What belongs to those from the one number to the other.
    fn between(&self, from: usize, to: usize) -> [f64; N] {
        std::array::from_fn(|i| self.sums[to.max(from)][i] - self.sums[from][i])
    }
}

/// How many of those instants, which rise, are before `at`.
fn first_after(instants: &[u64], at: u64) -> usize {
    instants.partition_point(|instant| *instant < at)
}

pub(super) fn half_a_step(requests: &[SeenRequest]) -> u64 {
    let gaps = requests.iter().flat_map(|request| request.arrivals.windows(2));
    let mut gaps: Vec<u64> = gaps.map(|pair| pair[1].saturating_sub(pair[0])).collect();
    let middle = gaps.len() / 2;
    if gaps.is_empty() { 0 } else { *gaps.select_nth_unstable(middle).1 / 2 }
}
