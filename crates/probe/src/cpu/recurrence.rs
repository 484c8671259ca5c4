//! What a layer of linear attention does with its states, on the processor: head by head, token by token.

use std::marker::PhantomData;

use super::array::Array;
use super::isa::Isa;
use super::lanes::{Bf16, Element, Vectorised, multiply_add, operand_at, vectorised};
use super::team::TeamWork;
use crate::measurement::{PageAdvice, RecurrenceRule, RecurrenceShape, worse};

/// By how much a state decays with each token.
const DECAY: f32 = 0.96;
/// How strongly a token changes it.
const STRENGTH: f32 = 0.5;

/// States that threads share, each with all tokens of its sequence.
#[derive(Debug)]
pub(super) struct RecurrenceTeam {
    rule: RecurrenceRule,
    tokens: usize,
    key_heads: usize,
    value_heads: usize,
    key_dim: usize,
    value_dim: usize,
    sequences: usize,
    threads: usize,
    isa: Isa,
    /// `[sequence, token, key head, dimension]`, twice: queries and keys.
    queries: Array<Bf16>,
    keys: Array<Bf16>,
    /// `[sequence, token, value head, dimension]`.
    values: Array<Bf16>,
}

/// The states of a thread, by the heads that they are of.
#[derive(Debug)]
pub(super) struct RecurrencePart<E: Element> {
    heads: Vec<Head>,
    states: Array<E>,
    /// `[head, token, dimension]`.
    outputs: Array<Bf16>,
}

/// One head of values of one sequence.
#[derive(Debug, Clone, Copy)]
struct Head {
    sequence: usize,
    head: usize,
}

impl RecurrenceTeam {
    /// The tokens; none if there is no room for them, or heads do not divide.
    pub(super) fn of(shape: RecurrenceShape, threads: usize) -> Option<Self> {
        let RecurrenceShape { rule, key_heads, value_heads, .. } = shape;
        let counts = [shape.tokens, key_heads, value_heads, shape.key_dim, shape.value_dim];
        if counts.contains(&0) || !value_heads.is_multiple_of(key_heads) {
            return None;
        }
        let size = |count: u64| usize::try_from(count).ok();
        let all = |heads: u64, dim: u64| {
            let factors = [shape.tokens, heads, dim];
            size(factors.iter().try_fold(shape.sequences, |all, factor| all.checked_mul(*factor))?)
        };
        // Keys of a length below one keep the delta rule from growing.
        let scale = 1.0 / (shape.key_dim as f32).sqrt();
        let of_16_bits = |length: usize, seed: u64, scale: f32| {
            let value = |index| Bf16::nearest(scale * operand_at(index, seed));
            Array::filled(length, PageAdvice::Huge, value)
        };
        let keys = all(key_heads, shape.key_dim)?;
        Some(Self {
            rule,
            tokens: size(shape.tokens)?,
            key_heads: size(key_heads)?,
            value_heads: size(value_heads)?,
            key_dim: size(shape.key_dim)?,
            value_dim: size(shape.value_dim)?,
            sequences: size(shape.sequences)?,
            threads: threads.max(1),
            isa: Isa::widest(),
            queries: of_16_bits(keys, 1, scale)?,
            keys: of_16_bits(keys, 2, scale)?,
            values: of_16_bits(all(value_heads, shape.value_dim)?, 3, 1.0)?,
        })
    }

    const fn state_elements(&self) -> usize {
        self.key_dim * self.value_dim
    }

    /// What a state holds before the first token.
    fn state_at<E: Element>(index: usize) -> E {
        E::nearest(operand_at(index, 4))
    }

    /// Query, key and value of a head at `token`.
    #[inline(always)]
    fn token(&self, of: Head, token: usize) -> (&[Bf16], &[Bf16], &[Bf16]) {
        let at = of.sequence * self.tokens + token;
        let shared = of.head * self.key_heads / self.value_heads;
        let key = (at * self.key_heads + shared) * self.key_dim;
        let value = (at * self.value_heads + of.head) * self.value_dim;
        let asked = &self.queries[key..][..self.key_dim];
        (asked, &self.keys[key..][..self.key_dim], &self.values[value..][..self.value_dim])
    }

    /// How far the first and the last head are from the rule in double precision, when they start anew: the largest, relative to the
    /// size of values, which is one. States are rounded to their type after each token, as they are kept.
    fn error<E: Element>(&self, part: &mut RecurrencePart<E>) -> f64 {
        let mut worst = 0.0_f64;
        let count = part.heads.len();
        for place in [0, count.saturating_sub(1)].into_iter().filter(|place| *place < count) {
            let of = part.heads[place];
            let (state, output) = self.parts(part, place);
            for (index, element) in state.iter_mut().enumerate() {
                *element = Self::state_at(index);
            }
            vectorised(self.isa, &mut Tokens { team: self, of, state, output });
            let expected = self.by_definition::<E>(of);
            for (got, expected) in output.iter().zip(expected) {
                worst = worse(worst, (f64::from(got.widen()) - expected).abs());
            }
        }
        worst
    }

    fn by_definition<E: Element>(&self, of: Head) -> Vec<f64> {
        let wide = |value: &Bf16| f64::from(value.widen());
        let (decay, strength) = (f64::from(DECAY), f64::from(STRENGTH));
        let mut state: Vec<f64> = (0..self.state_elements())
            .map(|index| f64::from(Self::state_at::<E>(index).widen()))
            .collect();
        let mut outputs = Vec::new();
        for token in 0..self.tokens {
            let (query, key, value) = self.token(of, token);
            for (column, value) in value.iter().enumerate() {
                let place = |row: usize| row * self.value_dim + column;
                let at_key: f64 =
                    key.iter().enumerate().map(|(row, key)| wide(key) * state[place(row)]).sum();
                let known = match self.rule {
                    RecurrenceRule::StateSpace => 0.0,
                    RecurrenceRule::DeltaRule => decay * at_key,
                };
                let change = strength * (wide(value) - known);
                let mut output = 0.0;
                for (row, (query, key)) in query.iter().zip(key).enumerate() {
                    let kept = decay * state[place(row)] + wide(key) * change;
                    output += wide(query) * kept;
                    state[place(row)] = f64::from(E::nearest(kept as f32).widen());
                }
                outputs.push(output);
            }
        }
        outputs
    }

    fn parts<'a, E: Element>(
        &self,
        part: &'a mut RecurrencePart<E>,
        place: usize,
    ) -> (&'a mut [E], &'a mut [Bf16]) {
        let (state, output) = (self.state_elements(), self.tokens * self.value_dim);
        (&mut part.states[place * state..][..state], &mut part.outputs[place * output..][..output])
    }
}

/// A team whose states are of `E`.
#[derive(Debug)]
pub(super) struct StatesOf<E: Element>(RecurrenceTeam, PhantomData<E>);

impl<E: Element> StatesOf<E> {
    pub(super) const fn of(team: RecurrenceTeam) -> Self {
        Self(team, PhantomData)
    }
}

impl<E: Element> TeamWork for StatesOf<E> {
    /// None where there was no room.
    type Own = Option<RecurrencePart<E>>;
    /// How far the result was off.
    type Said = Option<f64>;

    fn prepare(&self, rank: usize) -> Option<RecurrencePart<E>> {
        let team = &self.0;
        let of = |at: usize| Head { sequence: at / team.value_heads, head: at % team.value_heads };
        let all = 0..team.sequences * team.value_heads;
        let heads: Vec<Head> = all.skip(rank).step_by(team.threads).map(of).collect();
        let each = team.state_elements();
        let element = |index: usize| RecurrenceTeam::state_at(index % each);
        let states = Array::filled(heads.len().checked_mul(each)?, PageAdvice::Huge, element)?;
        let length = heads.len().checked_mul(team.tokens * team.value_dim)?;
        let outputs = Array::filled(length, PageAdvice::Huge, |_| Bf16::nearest(f32::NAN))?;
        Some(RecurrencePart { heads, states, outputs })
    }

    fn work(&self, own: &mut Option<RecurrencePart<E>>, operations: u64) {
        let Some(part) = own else { return };
        for _ in 0..operations {
            for place in 0..part.heads.len() {
                let of = part.heads[place];
                let (state, output) = self.0.parts(part, place);
                vectorised(self.0.isa, &mut Tokens { team: &self.0, of, state, output });
            }
        }
    }

    fn finish(&self, own: Option<RecurrencePart<E>>) -> Option<f64> {
        Some(self.0.error(&mut own?))
    }
}

/// Columns of a state that are computed with at once.
const COLUMNS: usize = 32;

/// All tokens of one head, one after the other. Columns of a state know nothing of one another: a few of them stay near while all keys go by.
struct Tokens<'a, E: Element> {
    team: &'a RecurrenceTeam,
    of: Head,
    state: &'a mut [E],
    output: &'a mut [Bf16],
}

impl<E: Element> Vectorised for Tokens<'_, E> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let width = self.team.value_dim;
        for token in 0..self.team.tokens {
            let mut first = 0;
            while first + COLUMNS <= width {
                self.columns::<FUSED, COLUMNS>(token, first);
                first += COLUMNS;
            }
            while first < width {
                self.columns::<FUSED, 1>(token, first);
                first += 1;
            }
        }
    }
}

impl<E: Element> Tokens<'_, E> {
    #[inline(always)]
    fn columns<const FUSED: bool, const COUNT: usize>(&mut self, token: usize, first: usize) {
        let width = self.team.value_dim;
        let (query, key, value) = self.team.token(self.of, token);
        let mut change = [0.0_f32; COUNT];
        if self.team.rule == RecurrenceRule::DeltaRule {
            for (row, key) in self.state.chunks_exact(width).zip(key) {
                let row = &row[first..][..COUNT];
                for column in 0..COUNT {
                    change[column] =
                        multiply_add::<FUSED>(key.widen(), row[column].widen(), change[column]);
                }
            }
        }
        for column in 0..COUNT {
            change[column] = STRENGTH * (value[first + column].widen() - DECAY * change[column]);
        }
        let mut asked = [0.0_f32; COUNT];
        for ((row, key), query) in self.state.chunks_exact_mut(width).zip(key).zip(query) {
            let row = &mut row[first..][..COUNT];
            for column in 0..COUNT {
                let kept =
                    multiply_add::<FUSED>(key.widen(), change[column], DECAY * row[column].widen());
                asked[column] = multiply_add::<FUSED>(query.widen(), kept, asked[column]);
                row[column] = E::nearest(kept);
            }
        }
        let to = &mut self.output[token * width + first..][..COUNT];
        for column in 0..COUNT {
            to[column] = Bf16::nearest(asked[column]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error<E: Element>(shape: RecurrenceShape, threads: usize) -> f64 {
        let team = StatesOf::<E>::of(RecurrenceTeam::of(shape, threads).unwrap());
        let mut states = 0;
        let said = (0..threads).map(|rank| {
            let mut own = team.prepare(rank);
            states += own.as_ref().unwrap().states.len();
            team.work(&mut own, 3);
            team.finish(own).unwrap()
        });
        let worst = said.fold(0.0, worse);
        let all = shape.sequences * shape.value_heads * shape.key_dim * shape.value_dim;
        assert_eq!(states as u64, all);
        worst
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn states_follow_their_rule(
            sequences in 1_u64..4, tokens in 1_u64..6, key_heads in 1_u64..3, group in 1_u64..4, key_dim in 1_u64..70,
            value_dim in 1_u64..70, threads in 1_usize..4, by_delta: bool,
        ) {
            let rule = if by_delta { RecurrenceRule::DeltaRule } else { RecurrenceRule::StateSpace };
            let shape = RecurrenceShape {
                rule, sequences, tokens, key_heads, value_heads: key_heads * group, key_dim, value_dim,
            };
            let tolerance = Bf16::TOLERANCE;
            prop_assert!(error::<f32>(shape, threads) < tolerance);
            prop_assert!(error::<Bf16>(shape, threads) < tolerance);
        }
    }

    #[test]
    fn heads_that_do_not_divide_are_refused() {
        let shape = RecurrenceShape {
            rule: RecurrenceRule::DeltaRule,
            sequences: 1,
            tokens: 1,
            key_heads: 2,
            value_heads: 3,
            key_dim: 4,
            value_dim: 4,
        };
        assert!(RecurrenceTeam::of(shape, 1).is_none());
    }
}
