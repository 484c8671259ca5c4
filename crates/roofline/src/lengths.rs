//! Requests of different lengths, reduced to the sums that a bound needs.

use fizeau_core::Tokens;

use crate::Load;

/// The lengths of a set of requests: what each had as a prompt, and what it generated.
///
/// It holds sums and no request, so that it takes any number of them. Give it the lengths that the measured
/// requests really had: a bound for the lengths that were *asked* is beaten by every model that ends early, and
/// by a sample of random lengths that happens to be shorter than its mean.
///
/// ```
/// use fizeau_core::Tokens;
/// use fizeau_roofline::Lengths;
/// let measured: Lengths = [(250, 20), (240, 31)]
///     .map(|(input, output)| (Tokens::new(input), Tokens::new(output)))
///     .into_iter()
///     .collect();
/// assert_eq!(measured.requests(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Lengths {
    requests: u64,
    /// `I`, summed, and the pairs of positions that attend to each other in the prompts, `I (I + 1) / 2`.
    pub(crate) input: f64,
    pub(crate) prompt_pairs: f64,
    /// `O`: the passes that the requests take part in.
    pub(crate) passes: f64,
    /// `O c`: the tokens of cache that those passes move.
    pub(crate) cached: f64,
    /// `(O - 1) c`: of those, what decode steps move.
    pub(crate) decoded: f64,
    /// Requests that decode at all, and their `c`.
    decoding: f64,
    decoding_context: f64,
    /// Prompt and output of the longest request.
    pub(crate) longest: Tokens,
    least: Option<(Tokens, Tokens)>,
}

impl Lengths {
    /// Takes one request in: its prompt, without what a cache supplied, and the tokens that it generated.
    pub fn add(&mut self, input: Tokens, output: Tokens) {
        let (i, o) = (input.get() as f64, output.get() as f64);
        let context = Self::mean_context(i, o);
        self.requests += 1;
        self.input += i;
        self.prompt_pairs += i * (i + 1.0) / 2.0;
        self.passes += o;
        self.cached += o * context;
        self.decoded += (o - 1.0) * context;
        if o > 1.0 {
            self.decoding += 1.0;
            self.decoding_context += context;
        }
        self.longest = self.longest.max(input + output);
        let (least_input, least_output) = self.least.unwrap_or((input, output));
        self.least = Some((least_input.min(input), least_output.min(output)));
    }

    /// How many requests were taken in.
    #[must_use]
    pub const fn requests(&self) -> u64 {
        self.requests
    }

    /// The context that a sequence holds, averaged over the `O` passes that it takes part in: the prompt's,
    /// which leaves `I` tokens in the cache, and `O - 1` decode steps, which leave `I + 1` to `I + O - 1`.
    /// Hence `c = I + (O - 1) / 2`.
    fn mean_context(input: f64, output: f64) -> f64 {
        input + (output - 1.0) / 2.0
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

    /// `c` averaged over all passes.
    pub(crate) fn context_of_passes(&self) -> f64 {
        self.cached / self.passes
    }

    /// `c` averaged over the requests that decode, each counting once, as in a mean of TPOT; over all passes
    /// where none does.
    pub(crate) fn context_of_requests(&self) -> f64 {
        if self.decoding > 0.0 {
            self.decoding_context / self.decoding
        } else {
            self.context_of_passes()
        }
    }
}

impl From<Load> for Lengths {
    /// One request of the load: the others are like it.
    fn from(load: Load) -> Self {
        std::iter::once((load.input_tokens, load.output_tokens)).collect()
    }
}

impl Extend<(Tokens, Tokens)> for Lengths {
    fn extend<T: IntoIterator<Item = (Tokens, Tokens)>>(&mut self, requests: T) {
        for (input, output) in requests {
            self.add(input, output);
        }
    }
}

impl FromIterator<(Tokens, Tokens)> for Lengths {
    /// From pairs of prompt and output length.
    fn from_iter<T: IntoIterator<Item = (Tokens, Tokens)>>(requests: T) -> Self {
        let mut lengths = Self::default();
        lengths.extend(requests);
        lengths
    }
}
