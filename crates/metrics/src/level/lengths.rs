//! Lengths that were asked for beside those that the server saw.

use fizeau_core::{Tape, TokenSource, Tokens};

use crate::distribution::{TokenCensus, TokenDistribution};

/// Lengths that were asked for beside those that the server saw.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LengthChecks {
    /// Of prompts: `seen` is what the server reports.
    pub prompt: LengthCheck,
    /// Of outputs, of replies that have tokens: `seen` is what the server reports, else an exact count.
    pub output: LengthCheck,
}

/// One kind of length, asked and seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct LengthCheck {
    /// What was asked for, of all requests of which that is known, however they ended.
    pub requested: TokenDistribution,
    /// What came, of completed requests of which that is known.
    pub seen: TokenDistribution,
    /// By how much they differ; absent where both are known of no completed request.
    pub difference: Option<LengthDifference>,
}

/// By how much seen lengths differ from asked ones, of the completed requests of which both are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LengthDifference {
    /// Of how many requests.
    pub n: u64,
    /// Their mean asked length, in tokens.
    pub requested_mean: f64,
    /// Their mean seen length.
    pub seen_mean: f64,
    /// The mean of the differences without their signs.
    pub absolute_mean: f64,
    /// The least seen less asked.
    pub min: i64,
    /// The greatest.
    pub max: i64,
    /// How many requests are off by more than 1 % of what was asked.
    pub past_one_percent: u64,
    /// How many requests differ by how much: by tokens seen less tokens asked, up to -65, -17, -5, -2, -1, 0, 1, 4, 16 and 64, and beyond.
    pub histogram: [u64; 11],
}

impl LengthDifference {
    /// The names of the histogram's buckets: tokens seen less tokens asked.
    pub(crate) const BUCKETS: [&'static str; 11] = [
        "<=-65", "-64..-17", "-16..-5", "-4..-2", "-1", "0", "+1", "+2..+4", "+5..+16", "+17..+64",
        ">=+65",
    ];

    /// The difference that all requests have, such as a chat template's; none where they do not have the same.
    #[must_use]
    pub fn constant(&self) -> Option<i64> {
        (self.min == self.max).then_some(self.min)
    }

    /// The mean difference, its sign left out of each, as a share of the mean asked length: what a threshold is held
    /// against. It is never less than the difference of the means, and catches lengths that are wrong on both sides, too.
    /// None where no tokens were asked for.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        (self.requested_mean > 0.0).then(|| self.absolute_mean / self.requested_mean)
    }
}

/// The bucket of a difference.
const fn bucket(difference: i64) -> usize {
    let steps = match difference.unsigned_abs() {
        0 => 0,
        1 => 1,
        2..=4 => 2,
        5..=16 => 3,
        17..=64 => 4,
        65.. => 5,
    };
    if difference < 0 { 5 - steps } else { 5 + steps }
}

#[derive(Debug, Clone, Default)]
pub(super) struct LengthTally {
    prompt: LengthCheckTally,
    output: LengthCheckTally,
}

impl LengthTally {
    pub(super) fn add(&mut self, tape: &Tape) {
        let done = tape.is_success();
        let usage = tape.usage.filter(|_| done);
        let prompt = usage.and_then(|usage| usage.prompt_tokens);
        self.prompt.add(tape.requested.input_tokens, prompt);
        let has_tokens = !done || tape.token_source != TokenSource::Tokenless;
        let requested = Some(tape.requested.output_tokens)
            .filter(|&requested| has_tokens && requested.get() > 0);
        self.output.add(requested, known_output(tape).filter(|_| done && has_tokens));
    }

    /// Takes in all that `other` has.
    pub(super) fn merge(&mut self, other: Self) {
        self.prompt.merge(other.prompt);
        self.output.merge(other.output);
    }

    pub(super) fn summary(&self) -> LengthChecks {
        LengthChecks { prompt: self.prompt.summary(), output: self.output.summary() }
    }
}

/// How long the output was, where that is more than an estimate: the server's word, else an exact sum.
pub(super) fn known_output(tape: &Tape) -> Option<Tokens> {
    let reported = tape.usage.and_then(|usage| usage.completion_tokens);
    let sum_is_exact =
        tape.token_source.is_exact() || tape.token_source == TokenSource::FinalUsageSpread;
    reported.or_else(|| sum_is_exact.then(|| tape.output_tokens()))
}

#[derive(Debug, Clone, Default)]
struct LengthCheckTally {
    requested: TokenCensus,
    seen: TokenCensus,
    pairs: Option<LengthPairs>,
}

/// Sums over requests whose length is known on both sides. Whole numbers: their order does not matter.
#[derive(Debug, Clone, Copy)]
struct LengthPairs {
    n: u64,
    requested: u64,
    seen: u64,
    absolute: u64,
    min: i64,
    max: i64,
    past_one_percent: u64,
    histogram: [u64; 11],
}

impl LengthCheckTally {
    fn add(&mut self, requested: Option<Tokens>, seen: Option<Tokens>) {
        requested.into_iter().for_each(|length| self.requested.push(length));
        seen.into_iter().for_each(|length| self.seen.push(length));
        if let Some((requested, seen)) = requested.zip(seen) {
            self.take(LengthPairs::one(requested.get(), seen.get()));
        }
    }

    fn merge(&mut self, other: Self) {
        self.requested.merge(other.requested);
        self.seen.merge(other.seen);
        other.pairs.into_iter().for_each(|pairs| self.take(pairs));
    }

    fn take(&mut self, more: LengthPairs) {
        self.pairs = Some(self.pairs.map_or(more, |pairs| pairs.and(more)));
    }

    fn summary(&self) -> LengthCheck {
        let difference = self.pairs.map(|pairs| {
            let mean = |sum: u64| sum as f64 / pairs.n as f64;
            LengthDifference {
                n: pairs.n,
                requested_mean: mean(pairs.requested),
                seen_mean: mean(pairs.seen),
                absolute_mean: mean(pairs.absolute),
                min: pairs.min,
                max: pairs.max,
                past_one_percent: pairs.past_one_percent,
                histogram: pairs.histogram,
            }
        });
        LengthCheck { requested: self.requested.summary(), seen: self.seen.summary(), difference }
    }
}

impl LengthPairs {
    fn one(requested: u64, seen: u64) -> Self {
        let absolute = seen.abs_diff(requested);
        let size = i64::try_from(absolute).unwrap_or(i64::MAX);
        let difference = if seen < requested { -size } else { size };
        let mut histogram = [0; 11];
        histogram[bucket(difference)] = 1;
        Self {
            n: 1,
            requested,
            seen,
            absolute,
            min: difference,
            max: difference,
            past_one_percent: u64::from(absolute.saturating_mul(100) > requested),
            histogram,
        }
    }

    fn and(self, other: Self) -> Self {
        let mut histogram = self.histogram;
        for (count, more) in histogram.iter_mut().zip(other.histogram) {
            *count += more;
        }
        Self {
            n: self.n + other.n,
            requested: self.requested.saturating_add(other.requested),
            seen: self.seen.saturating_add(other.seen),
            absolute: self.absolute.saturating_add(other.absolute),
            min: self.min.min(other.min),
            max: self.max.max(other.max),
            past_one_percent: self.past_one_percent + other.past_one_percent,
            histogram,
        }
    }
}
