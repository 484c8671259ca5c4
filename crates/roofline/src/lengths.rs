//! Requests of different lengths, reduced to the sums that a bound needs.

use fizeau_core::Tokens;

use crate::pass_demand::PassDemand;
use crate::reach::{LayerReach, ModelReaches, MovedTokens};
use crate::serving::Prefix;
use crate::span::ContextSpan;
use crate::{Model, UniformLoad};

/// The lengths of a set of requests: what each had as a prompt, and what it generated.
///
/// It holds sums and no request, so that it takes any number of them. Give it the lengths that the measured
/// requests really had: a bound for the lengths that were *asked* is beaten by every model that ends early, and
/// by a sample of random lengths that happens to be shorter than its mean.
///
/// What layers with windows read depends on each length, so that sums are for models with the same windows:
/// [`RequestLengths::for_model`]. [`RequestLengths::default`] and collecting are for models that see everything.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_roofline::RequestLengths;
/// let measured: RequestLengths = [(250, 20), (240, 31)]
///     .map(|(input, output)| (Tokens::new(input), Tokens::new(output)))
///     .into_iter()
///     .collect();
/// assert_ne!(measured, RequestLengths::default());
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct RequestLengths {
    reaches: ModelReaches,
    /// For each reach.
    sums: Vec<LengthSums>,
    requests: u64,
    /// Tokens of prompts that are computed, `I - g`.
    computed: f64,
    /// Requests with a part of their prompt cached.
    resumed: f64,
    /// `O`: the passes that the requests take part in.
    pub(crate) passes: f64,
    /// Requests that decode at all.
    decoding: f64,
    /// Prompt and output of the longest request.
    pub(crate) longest: Tokens,
    least: Option<(Tokens, Tokens)>,
}

/// Sums over requests for layers of one reach, in tokens of cache and pairs of positions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct LengthSums {
    /// What prompts read and write.
    filled: f64,
    /// That at the least, what others may have cached as well apart.
    filled_least: MovedTokens,
    /// Pairs within prompts.
    pairs: f64,
    /// Those of their last positions.
    last: f64,
    /// What of them was cached, as far as it is kept.
    cached: f64,
    /// What decode steps read and write, which are their pairs too.
    seen: MovedTokens,
    /// That of a request's mean decode step, summed over the requests that decode.
    seen_each: MovedTokens,
    /// That of the decode step after the prompt, over all.
    seen_first: MovedTokens,
    /// What is kept of requests while they take part in passes, what was cached before apart, and with that.
    resident: [f64; 2],
}

impl RequestLengths {
    /// No requests yet, for a model with windows such as `model`'s.
    #[must_use]
    pub fn for_model(model: &Model) -> Self {
        Self::with(ModelReaches::of(model))
    }

    fn with(reaches: ModelReaches) -> Self {
        Self {
            sums: vec![LengthSums::default(); reaches.len()],
            reaches,
            requests: 0,
            computed: 0.0,
            resumed: 0.0,
            passes: 0.0,
            decoding: 0.0,
            longest: Tokens::ZERO,
            least: None,
        }
    }

    /// Takes one request in: its prompt, and the tokens that it generated.
    pub fn add(&mut self, input: Tokens, output: Tokens) {
        self.add_cached(input, Tokens::ZERO, output);
    }

    /// Takes one request in, of whose prompt the first `cached` tokens were in the cache already. The last token of a
    /// prompt is computed in any case.
    pub fn add_cached(&mut self, input: Tokens, cached: Tokens, output: Tokens) {
        let cached = cached.get().min(input.get().saturating_sub(1)) as f64;
        let (i, o) = (input.get() as f64, output.get() as f64);
        self.requests += 1;
        self.computed += i - cached;
        self.resumed += if cached > 0.0 { 1.0 } else { 0.0 };
        self.passes += o;
        self.decoding += if o > 1.0 { 1.0 } else { 0.0 };
        for (reach, sums) in self.reaches.iter().zip(&mut self.sums) {
            sums.add(reach, i, cached, o);
        }
        self.longest = self.longest.max(input + output);
        let (least_input, least_output) = self.least.unwrap_or((input, output));
        self.least = Some((least_input.min(input), least_output.min(output)));
    }

    /// Takes in all requests of `other`, which must be for a model with the same windows: otherwise nothing is taken in,
    /// and the answer is false.
    #[must_use]
    pub fn merge(&mut self, other: &Self) -> bool {
        if !self.are_for(&other.reaches) {
            return false;
        }
        for (sums, more) in self.sums.iter_mut().zip(&other.sums) {
            sums.merge(more);
        }
        self.requests += other.requests;
        self.computed += other.computed;
        self.resumed += other.resumed;
        self.passes += other.passes;
        self.decoding += other.decoding;
        self.longest = self.longest.max(other.longest);
        self.least = match (self.least, other.least) {
            (Some((input, output)), Some(least)) => Some((input.min(least.0), output.min(least.1))),
            (least, None) | (None, least) => least,
        };
        true
    }

    /// Whether all requests have the same prompt and output, with nothing cached, so that each takes what the mean does.
    #[must_use]
    pub fn are_alike(&self) -> bool {
        let of_least = self.least.map(|(input, output)| input + output);
        of_least == Some(self.longest) && self.resumed == 0.0
    }

    /// How many requests were taken in.
    pub(crate) const fn requests(&self) -> u64 {
        self.requests
    }

    /// Whether the sums are for a model of these reaches.
    pub(crate) fn are_for(&self, reaches: &ModelReaches) -> bool {
        self.reaches == *reaches
    }

    /// What is missing: requests, or in one of them a prompt or an output.
    pub(crate) fn lacks(&self) -> Option<&'static str> {
        match self.least {
            None => Some("requests"),
            Some((Tokens::ZERO, _)) => Some("input tokens"),
            Some((_, Tokens::ZERO)) => Some("output tokens"),
            Some(_) => None,
        }
    }

    /// The tokens that one request keeps for a reach while it takes part in a pass, averaged over passes: what was cached
    /// before is among them where it is its own.
    pub(crate) fn resident(&self, reach: &LayerReach, prefix: Prefix) -> f64 {
        let sums = self.sums.get(reach.index).copied().unwrap_or_default();
        let [apart, whole] = sums.resident;
        (if prefix == Prefix::Own { whole } else { apart }) / self.passes
    }

    /// The mean tokens of a prompt that are computed.
    pub(crate) fn mean_computed(&self) -> f64 {
        self.computed / self.requests as f64
    }

    /// Of all tokens of prompts, the share that was cached already.
    pub(crate) fn cached_share(&self) -> f64 {
        let all = self.prompts(self.requests as f64).filled(&LayerReach::WHOLE);
        1.0 - self.computed / all
    }

    /// Everything: all prompts, and all decode steps.
    pub(crate) fn all(&self) -> LengthView<'_> {
        let steps = self.steps();
        LengthView {
            prompts: 1.0,
            steps,
            seen: |sums| sums.seen,
            of: self,
            scale: 1.0,
            among: 1.0,
            prefix: Prefix::Shared,
        }
    }

    /// The mean prompt.
    pub(crate) fn prompt(&self) -> LengthView<'_> {
        self.prompts(1.0)
    }

    /// So many of the mean prompt.
    pub(crate) fn prompts(&self, count: f64) -> LengthView<'_> {
        let prompts = count / self.requests as f64;
        LengthView {
            prompts,
            steps: 0.0,
            seen: |_| MovedTokens::default(),
            of: self,
            scale: 1.0,
            among: 1.0,
            prefix: Prefix::Shared,
        }
    }

    /// All decode steps.
    pub(crate) fn decoding(&self) -> LengthView<'_> {
        LengthView { prompts: 0.0, ..self.all() }
    }

    /// One decode step of a request, each request counting once, as in a mean of TPOT.
    pub(crate) fn single(&self) -> LengthView<'_> {
        if self.decoding > 0.0 {
            let scale = 1.0 / self.decoding;
            LengthView {
                prompts: 0.0,
                steps: 1.0,
                seen: |sums| sums.seen_each,
                of: self,
                scale,
                among: 1.0,
                prefix: Prefix::Shared,
            }
        } else {
            self.first(1.0)
        }
    }

    /// One decode step of `batch` sequences, each step of all requests counting once.
    pub(crate) fn step(&self, batch: f64) -> LengthView<'_> {
        if self.decoding > 0.0 {
            let scale = batch / self.steps();
            LengthView {
                prompts: 0.0,
                steps: batch,
                seen: |sums| sums.seen,
                of: self,
                scale,
                among: 1.0,
                prefix: Prefix::Shared,
            }
        } else {
            self.first(batch)
        }
    }

    /// The pass of so many of the mean prompt beside such a step.
    pub(crate) fn mixed(&self, prompts: f64, decoding: f64) -> LengthView<'_> {
        LengthView { prompts: prompts / self.requests as f64, ..self.step(decoding) }
    }

    /// The step that would come after the prompt, where none does.
    fn first(&self, batch: f64) -> LengthView<'_> {
        let scale = batch / self.requests as f64;
        LengthView {
            prompts: 0.0,
            steps: batch,
            seen: |sums| sums.seen_first,
            of: self,
            scale,
            among: 1.0,
            prefix: Prefix::Shared,
        }
    }

    /// Decode steps, each request's for itself.
    pub(crate) fn steps(&self) -> f64 {
        self.passes - self.requests as f64
    }
}

impl LengthSums {
    fn merge(&mut self, other: &Self) {
        self.filled += other.filled;
        self.pairs += other.pairs;
        self.last += other.last;
        self.cached += other.cached;
        self.filled_least = self.filled_least.and(1.0, other.filled_least);
        self.seen = self.seen.and(1.0, other.seen);
        self.seen_each = self.seen_each.and(1.0, other.seen_each);
        self.seen_first = self.seen_first.and(1.0, other.seen_first);
        let [apart, whole] = &mut self.resident;
        (*apart, *whole) = (*apart + other.resident[0], *whole + other.resident[1]);
    }

    fn add(&mut self, reach: &LayerReach, input: f64, cached: f64, output: f64) {
        let prompt = ContextSpan::between(cached + 1.0, input);
        self.filled += reach.filled(cached, input - cached);
        self.pairs += prompt.count() * reach.mean_seen(prompt);
        self.last += reach.mean_seen(ContextSpan::at(input));
        self.cached += cached.min(reach.kept);
        self.filled_least = self.filled_least.and(1.0, reach.filled_least(input, cached, cached));
        self.seen_first =
            self.seen_first.and(1.0, reach.parted(ContextSpan::at(input + 1.0), cached));
        if output > 1.0 {
            let steps = ContextSpan::between(input + 1.0, input + output - 1.0);
            let seen = reach.parted(steps, cached);
            self.seen = self.seen.and(steps.count(), seen);
            self.seen_each = self.seen_each.and(1.0, seen);
        }
        for (sum, shared) in self.resident.iter_mut().zip([cached, 0.0]) {
            let own = ContextSpan::between(input - shared, input - shared + output - 1.0);
            *sum += own.count() * reach.mean_kept(own);
        }
    }
}

/// A part of what the requests carry.
#[derive(Clone, Copy)]
pub(crate) struct LengthView<'a> {
    of: &'a RequestLengths,
    /// Of all prompts, the share.
    prompts: f64,
    /// Decode steps of a sequence.
    steps: f64,
    /// What they see, and of that the share.
    seen: fn(&LengthSums) -> MovedTokens,
    scale: f64,
    /// Sequences of a pass that may share what they had cached.
    among: f64,
    /// Whether they may.
    prefix: Prefix,
}

impl LengthView<'_> {
    /// The same in passes of so many sequences, whose cached tokens may all be the same ones.
    pub(crate) fn among(self, sequences: f64) -> Self {
        Self { among: sequences.max(1.0), ..self }
    }

    /// The same where what was cached is as `prefix` says.
    pub(crate) fn with_prefix(self, prefix: Prefix) -> Self {
        Self { prefix, ..self }
    }

    fn sums(&self, reach: &LayerReach) -> LengthSums {
        self.of.sums.get(reach.index).copied().unwrap_or_default()
    }
}

impl PassDemand for LengthView<'_> {
    fn decoding(&self) -> f64 {
        self.steps
    }

    fn decoded(&self) -> f64 {
        self.steps
    }

    fn prompts(&self) -> f64 {
        self.of.requests as f64 * self.prompts
    }

    fn prompt_tokens(&self) -> f64 {
        self.of.computed * self.prompts
    }

    fn resumed(&self) -> f64 {
        self.of.resumed * self.prompts
    }

    fn seen(&self, reach: &LayerReach) -> f64 {
        (self.seen)(&self.sums(reach)).all() * self.scale
    }

    fn moved(&self, reach: &LayerReach) -> MovedTokens {
        let sums = self.sums(reach);
        let sum = MovedTokens::default().and(self.scale, (self.seen)(&sums));
        let sum = sum.and(self.prompts, sums.filled_least);
        MovedTokens { shared: sum.shared / self.among, ..sum }
    }

    fn decode_pairs(&self, reach: &LayerReach) -> f64 {
        self.seen(reach)
    }

    fn filled(&self, reach: &LayerReach) -> f64 {
        self.sums(reach).filled * self.prompts
    }

    fn prompt_pairs(&self, reach: &LayerReach) -> f64 {
        self.sums(reach).pairs * self.prompts
    }

    fn last_pairs(&self, reach: &LayerReach) -> f64 {
        self.sums(reach).last * self.prompts
    }

    fn cached(&self, reach: &LayerReach) -> f64 {
        self.sums(reach).cached * self.prompts
    }

    fn decode_pairs_parted(&self, reach: &LayerReach) -> MovedTokens {
        let seen = (self.seen)(&self.sums(reach));
        match self.prefix {
            Prefix::Own => MovedTokens { own: seen.all() * self.scale, shared: 0.0 },
            _ => MovedTokens::default().and(self.scale, seen),
        }
    }
}

impl Default for RequestLengths {
    /// No requests yet, for models that see their whole context.
    fn default() -> Self {
        Self::with(ModelReaches::default())
    }
}

impl Extend<(Tokens, Tokens)> for RequestLengths {
    fn extend<T: IntoIterator<Item = (Tokens, Tokens)>>(&mut self, requests: T) {
        for (input, output) in requests {
            self.add(input, output);
        }
    }
}

impl FromIterator<(Tokens, Tokens)> for RequestLengths {
    /// From pairs of prompt and output length, for models that see their whole context.
    fn from_iter<T: IntoIterator<Item = (Tokens, Tokens)>>(requests: T) -> Self {
        let mut lengths = Self::default();
        lengths.extend(requests);
        lengths
    }
}

impl RequestLengths {
    /// The same requests as a load has, one of them: the others are like it.
    pub(crate) fn of_load(model: &Model, load: &UniformLoad) -> Self {
        let mut one = Self::for_model(model);
        one.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
        one
    }
}
