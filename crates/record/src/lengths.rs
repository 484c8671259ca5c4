//! The lengths of the replies that came, for the speed of light.

use fizeau_core::{RequestPurpose, Tape, Tokens};
use fizeau_roofline::{Model, RequestLengths};

/// The lengths of a level's completed requests, added up one tape at a time: what
/// [`Bound::over`](fizeau_roofline::Bound::over) takes. Of the lengths that came, since those that were asked bound
/// neither a model that ends early nor a sample of random lengths.
///
/// ```
/// use fizeau_core::{Arrival, Channel, Stamp, Tape, Tokens};
/// use fizeau_record::LengthTally;
/// let mut tape = Tape::sent_at(Stamp::EPOCH);
/// tape.arrivals.push(Arrival::tokens(Stamp::EPOCH, 1, Channel::Visible));
/// # let model = fizeau_roofline::KnownModel::named("llama-3.1-8b")?.model()?;
/// let mut tally = LengthTally::new(Tokens::new(250), &model);
/// tally.add(&tape);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LengthTally {
    asked_input: Tokens,
    lengths: RequestLengths,
}

impl LengthTally {
    /// Of nothing, for `model`. `asked_input` is the length of a prompt of which neither server nor plan says how long
    /// it is.
    #[must_use]
    pub fn new(asked_input: Tokens, model: &Model) -> Self {
        Self { asked_input, lengths: RequestLengths::for_model(model) }
    }

    /// Takes a tape in. A failed request has no length, and one of a probe stream no part in the load; what a cache
    /// supplied of a prompt was not computed.
    pub fn add(&mut self, tape: &Tape) {
        if !tape.is_success() || tape.part == RequestPurpose::Probe {
            return;
        }
        let cached = tape.usage.and_then(|usage| usage.cached_tokens);
        let input = tape.input_tokens().unwrap_or(self.asked_input);
        let one = Tokens::new(1);
        let cached = cached.unwrap_or(Tokens::ZERO);
        self.lengths.add_cached(input.max(one), cached, tape.output_tokens().max(one));
    }

    /// Takes in all that `other` has, which must be for the same model: otherwise nothing.
    pub fn merge(&mut self, other: &Self) {
        let _ = self.lengths.merge(&other.lengths);
    }

    /// The lengths taken in so far.
    #[must_use]
    pub const fn lengths(&self) -> &RequestLengths {
        &self.lengths
    }
}
