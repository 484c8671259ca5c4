//! One block of queries over its keys, in tiles that fit into registers.

use super::{AttentionTeam, Item, KEYS, QUERIES};
use crate::cpu::lanes::{Element, Vectorised, add_weighted, exp_of_negative, sum, tile_dots};

/// Queries that are computed with at once: with two keys or sixteen columns of values their sums fill the registers of AVX2.
const ROWS: usize = 4;

/// One block of queries over all keys that they see.
pub(super) struct Block<'a, E: Element> {
    pub(super) team: &'a AttentionTeam<E>,
    pub(super) item: Item,
    pub(super) output: &'a mut [f32],
}

impl<E: Element> Vectorised for Block<'_, E> {
    /// The running softmax of Milakov and Gimelshein (arXiv 1805.02867): what was summed is scaled down when a larger score comes.
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let (item, width) = (self.item, self.team.shape.value_dim as usize);
        let (mut most, mut sums) = ([f32::NEG_INFINITY; QUERIES], [0.0_f32; QUERIES]);
        self.output.fill(0.0);
        let rows = item.first..item.first + item.count;
        let longest = rows.map(|row| self.team.row(item, row).1).max().unwrap_or(0);
        for block in (0..longest).step_by(KEYS) {
            let mut place = 0;
            while place + ROWS <= item.count {
                self.tile::<FUSED, ROWS>(block, place, &mut most, &mut sums);
                place += ROWS;
            }
            while place < item.count {
                self.tile::<FUSED, 1>(block, place, &mut most, &mut sums);
                place += 1;
            }
        }
        for (to, total) in self.output.chunks_exact_mut(width).zip(sums) {
            to.iter_mut().for_each(|value| *value /= total);
        }
    }
}

impl<E: Element> Block<'_, E> {
    /// The rows from `place` on and the keys of one block.
    #[inline(always)]
    fn tile<const FUSED: bool, const COUNT: usize>(
        &mut self,
        block: usize,
        place: usize,
        most: &mut [f32; QUERIES],
        sums: &mut [f32; QUERIES],
    ) {
        let (team, item) = (self.team, self.item);
        let (mut queries, mut ends) = ([&[][..]; COUNT], [0; COUNT]);
        for (at, (query, end)) in queries.iter_mut().zip(&mut ends).enumerate() {
            let (own, seen) = team.row(item, item.first + place + at);
            (*query, *end) = (own, seen.min(block + KEYS));
        }
        let longest = ends.into_iter().max().unwrap_or(0);
        if longest <= block {
            return;
        }
        let count = longest - block;
        let mut weights = [[f32::NEG_INFINITY; KEYS]; COUNT];
        for at in (0..count).step_by(2) {
            // In pairs; the last key stands in for one that is not there, and has no weight.
            let pair = [at, (at + 1).min(count - 1)].map(|at| team.key_value(item, block + at).0);
            for (to, dots) in weights.iter_mut().zip(tile_dots::<FUSED, E, COUNT>(queries, pair)) {
                to[at..at + 2].copy_from_slice(&dots);
            }
        }
        let scale = 1.0 / (team.shape.key_dim as f32).sqrt();
        let width = team.shape.value_dim as usize;
        for (at, weights) in weights.iter_mut().enumerate() {
            let to = &mut self.output[(place + at) * width..][..width];
            let state = (&mut most[place + at], &mut sums[place + at]);
            softened::<FUSED>(weights, ends[at].saturating_sub(block), scale, state, to);
        }
        let to = &mut self.output[place * width..][..COUNT * width];
        let values = team.values_from(item, block, count);
        add_weighted::<FUSED, E, COUNT, KEYS>(to, width, (&weights, count), values);
    }
}

/// Turns the scores of one row, of which it sees so many, into weights, and scales what was summed down to them.
#[inline(always)]
fn softened<const FUSED: bool>(
    scores: &mut [f32; KEYS],
    seen: usize,
    scale: f32,
    (most, sum_of_weights): (&mut f32, &mut f32),
    to: &mut [f32],
) {
    if seen == 0 {
        scores.fill(0.0);
        return;
    }
    scores[seen..].fill(f32::NEG_INFINITY);
    let mut top = *most;
    for score in scores.iter_mut() {
        *score *= scale;
        top = top.max(*score);
    }
    if top > *most {
        let shrunk = exp_of_negative::<FUSED>(*most - top);
        to.iter_mut().for_each(|value| *value *= shrunk);
        *sum_of_weights *= shrunk;
        *most = top;
    }
    for score in scores.iter_mut() {
        *score = exp_of_negative::<FUSED>(*score - top);
    }
    scores[seen..].fill(0.0);
    *sum_of_weights += sum(scores);
}
