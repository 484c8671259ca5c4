//! Attention on the processor: a blocked kernel with a running softmax, of any number of heads and of latents.

mod block;

use super::array::Array;
use super::isa::Isa;
use super::lanes::{Element, operand_at, vectorised};
use super::team::TeamWork;
use crate::measurement::{AttentionShape, PageAdvice, worse};
use block::Block;

/// Keys of a block: with their values they stay in a first- or second-level cache while all queries see them.
const KEYS: usize = 64;
/// Queries of a block, all heads of a group counted.
const QUERIES: usize = 32;

/// One layer's attention. Queries and keys lie as `[batch, head, position, dimension]`.
#[derive(Debug)]
pub(super) struct AttentionTeam<E: Element> {
    shape: AttentionShape,
    threads: usize,
    isa: Isa,
    queries: Array<f32>,
    keys: Array<E>,
    /// Empty where they are the beginning of the keys.
    values: Array<E>,
}

/// Rows of queries that one block is: of one sequence, one head of keys, and as many rows of its group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Item {
    sequence: usize,
    kv_head: usize,
    first: usize,
    count: usize,
}

/// What a thread has of its own.
#[derive(Debug)]
pub(super) struct AttentionPart {
    items: Vec<Item>,
    outputs: Vec<Vec<f32>>,
}

impl<E: Element> AttentionTeam<E> {
    /// The operands; none if there is no room for them, or heads do not divide.
    pub(super) fn of(shape: AttentionShape, threads: usize) -> Option<Self> {
        if shape.kv_heads == 0 || !shape.query_heads.is_multiple_of(shape.kv_heads) {
            return None;
        }
        let size = |factors: &[u64]| {
            let product = factors.iter().try_fold(1_u64, |all, factor| all.checked_mul(*factor))?;
            usize::try_from(product).ok()
        };
        let AttentionShape { batch, query_heads, kv_heads, key_dim, value_dim, .. } = shape;
        let queries = size(&[batch, query_heads, shape.query_len, key_dim])?;
        let keys = size(&[batch, kv_heads, shape.kv_len, key_dim])?;
        let values =
            if shape.shared_kv { 0 } else { size(&[batch, kv_heads, shape.kv_len, value_dim])? };
        let cached = |length, seed| {
            Array::filled(length, PageAdvice::Huge, |index| E::nearest(operand_at(index, seed)))
        };
        Some(Self {
            shape,
            threads,
            isa: Isa::widest(),
            queries: Array::filled(queries, PageAdvice::Huge, |index| operand_at(index, 1))?,
            keys: cached(keys, 2)?,
            values: cached(values, 3)?,
        })
    }

    /// Query heads of one head of keys.
    fn group(&self) -> usize {
        (self.shape.query_heads / self.shape.kv_heads) as usize
    }

    /// The blocks of all queries, the longest first.
    fn items(&self) -> Vec<Item> {
        let rows = self.group() * self.shape.query_len as usize;
        let mut items = Vec::new();
        for sequence in 0..self.shape.batch as usize {
            for kv_head in 0..self.shape.kv_heads as usize {
                for first in (0..rows).step_by(QUERIES) {
                    let count = QUERIES.min(rows - first);
                    items.push(Item { sequence, kv_head, first, count });
                }
            }
        }
        items
    }

    /// Row `row` of a group: its query, and how many keys it sees. Rows go by position first, so that those of a block see
    /// about as many keys.
    fn row(&self, item: Item, row: usize) -> (&[f32], usize) {
        let (group, length) = (self.group(), self.shape.query_len as usize);
        let (position, head) = (row / group, item.kv_head * group + row % group);
        let dim = self.shape.key_dim as usize;
        let at = (item.sequence * self.shape.query_heads as usize + head) * length + position;
        let keys = self.shape.kv_len as usize;
        let seen =
            if self.shape.causal { (keys + position + 1).saturating_sub(length) } else { keys };
        (&self.queries[at * dim..][..dim], seen)
    }

    /// The key and the value at `position`.
    #[inline(always)]
    fn key_value(&self, item: Item, position: usize) -> (&[E], &[E]) {
        let AttentionShape { kv_heads, kv_len, key_dim, value_dim, shared_kv, .. } = self.shape;
        let at = (item.sequence * kv_heads as usize + item.kv_head) * kv_len as usize + position;
        let key = &self.keys[at * key_dim as usize..][..key_dim as usize];
        let width = value_dim as usize;
        (key, if shared_kv { &key[..width] } else { &self.values[at * width..][..width] })
    }

    /// The values of `count` keys from `position` on, each the beginning of as many elements as the second figure says.
    #[inline(always)]
    fn values_from(&self, item: Item, position: usize, count: usize) -> (&[E], usize) {
        let AttentionShape { kv_heads, kv_len, key_dim, value_dim, shared_kv, .. } = self.shape;
        let first = (item.sequence * kv_heads as usize + item.kv_head) * kv_len as usize + position;
        let (all, stride) =
            if shared_kv { (&self.keys, key_dim) } else { (&self.values, value_dim) };
        let stride = stride as usize;
        (&all[first * stride..][..count * stride], stride)
    }

    /// How far `parts` are from attention by its definition, in double precision: the largest over a few rows, relative to the
    /// size of values, which is one.
    pub(super) fn error(&self, parts: &[AttentionPart]) -> f64 {
        let mut worst = 0.0_f64;
        for part in parts {
            let ends = [0, part.items.len().saturating_sub(1)];
            for place in ends.into_iter().filter(|place| *place < part.items.len()) {
                let item = part.items[place];
                for row in [0, item.count - 1] {
                    let expected = self.by_definition(item, item.first + row);
                    let got = part.outputs[place]
                        .chunks_exact(expected.len())
                        .nth(row)
                        .unwrap_or_default();
                    for (value, expected) in got.iter().zip(&expected) {
                        worst = worse(worst, (f64::from(*value) - expected).abs());
                    }
                }
            }
        }
        worst
    }

    fn by_definition(&self, item: Item, row: usize) -> Vec<f64> {
        let (query, seen) = self.row(item, row);
        let scale = 1.0 / (self.shape.key_dim as f64).sqrt();
        let scores: Vec<f64> = (0..seen)
            .map(|position| {
                let key = self.key_value(item, position).0;
                let products =
                    query.iter().zip(key).map(|(q, k)| f64::from(*q) * f64::from(k.widen()));
                products.sum::<f64>() * scale
            })
            .collect();
        let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
        let sum: f64 = weights.iter().sum();
        let mut output = vec![0.0; self.shape.value_dim as usize];
        for (position, weight) in weights.iter().enumerate() {
            for (to, from) in output.iter_mut().zip(self.key_value(item, position).1) {
                *to += weight / sum * f64::from(from.widen());
            }
        }
        output
    }
}

impl<E: Element> TeamWork for AttentionTeam<E> {
    type Own = AttentionPart;
    type Said = AttentionPart;

    fn prepare(&self, rank: usize) -> AttentionPart {
        // In turns: of causal blocks the later ones are longer.
        let items: Vec<Item> =
            self.items().into_iter().skip(rank).step_by(self.threads.max(1)).collect();
        let width = self.shape.value_dim as usize;
        let outputs = items.iter().map(|item| vec![0.0; item.count * width]).collect();
        AttentionPart { items, outputs }
    }

    fn work(&self, own: &mut AttentionPart, operations: u64) {
        for _ in 0..operations {
            for (item, output) in own.items.iter().zip(&mut own.outputs) {
                vectorised(self.isa, &mut Block { team: self, item: *item, output });
            }
        }
    }

    fn finish(&self, own: AttentionPart) -> AttentionPart {
        own
    }
}

/// What single precision may be off by.
pub(super) const TOLERANCE: f64 = 1e-4;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lanes::Bf16;
    use super::*;
    use crate::measurement::AttentionPhase;

    fn error<E: Element>(shape: AttentionShape, threads: usize) -> f64 {
        let team = AttentionTeam::<E>::of(shape, threads).unwrap();
        let parts: Vec<AttentionPart> = (0..threads)
            .map(|rank| {
                let mut own = team.prepare(rank);
                team.work(&mut own, 2);
                own
            })
            .collect();
        let rows: usize = parts.iter().flat_map(|part| &part.items).map(|item| item.count).sum();
        assert_eq!(rows as u64, shape.batch * shape.query_heads * shape.query_len);
        team.error(&parts)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn the_blocked_kernel_is_attention(
            batch in 1_u64..3, kv_heads in 1_u64..3, group in 1_u64..5, dim in 1_u64..70, queries in 1_u64..40,
            more in 0_u64..150, causal: bool, shared_kv: bool, threads in 1_usize..4,
        ) {
            let value_dim = if shared_kv { dim.div_ceil(2) } else { dim + 1 };
            let shape = AttentionShape {
                phase: AttentionPhase::Prefill, batch, query_heads: kv_heads * group, kv_heads, key_dim: dim, value_dim,
                query_len: queries, kv_len: queries + more, causal, shared_kv, page_tokens: None,
            };
            prop_assert!(error::<f32>(shape, threads) < TOLERANCE);
            prop_assert!(error::<Bf16>(shape, threads) < TOLERANCE);
        }
    }
}
