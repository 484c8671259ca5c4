//! Norms of rows on the processor: each row is read, scaled and written.

use std::ops::Range;

use super::array::Array;
use super::isa::Isa;
use super::lanes::{Element, Vectorised, dot, operand_at, vectorised};
use super::team::TeamWork;
use crate::measurement::{NormShape, PageAdvice, worse};

/// What is added to the mean of the squares, as models do.
const EPSILON: f32 = 1e-6;

/// Rows that threads share; each has as many as any other, or one more.
#[derive(Debug)]
pub(super) struct NormTeam<E: Element> {
    rows: usize,
    width: usize,
    threads: usize,
    isa: Isa,
    gains: Array<E>,
}

/// The rows of a thread, before and after.
#[derive(Debug)]
pub(super) struct NormPart<E: Element> {
    width: usize,
    from: Array<E>,
    to: Array<E>,
}

impl<E: Element> NormTeam<E> {
    /// The gains; none if there is no room for them.
    pub(super) fn of(shape: NormShape, threads: usize) -> Option<Self> {
        let rows = usize::try_from(shape.rows).ok()?;
        let width = usize::try_from(shape.width).ok().filter(|width| *width > 0)?;
        let gain = |index| E::nearest(1.0 + 0.5 * operand_at(index, 2));
        let gains = Array::filled(width, PageAdvice::Huge, gain)?;
        Some(Self { rows, width, threads: threads.max(1), isa: Isa::widest(), gains })
    }

    /// The rows of a thread.
    const fn own(&self, rank: usize) -> Range<usize> {
        rank * self.rows / self.threads..(rank + 1) * self.rows / self.threads
    }

    /// How far a few rows are from the norm by its definition, in double precision: the largest, relative to the
    /// result or to one.
    fn error(&self, part: &NormPart<E>) -> f64 {
        let rows = part.from.chunks_exact(self.width).zip(part.to.chunks_exact(self.width));
        let step = (rows.len() / 4).max(1);
        let mut worst = 0.0_f64;
        for (from, to) in rows.step_by(step) {
            let wide = |value: &E| f64::from(value.widen());
            let squares: f64 = from.iter().map(wide).map(|value| value * value).sum();
            let root = (squares / self.width as f64 + f64::from(EPSILON)).sqrt();
            for ((from, to), gain) in from.iter().zip(to).zip(&*self.gains) {
                let expected = wide(from) / root * wide(gain);
                worst = worse(worst, (wide(to) - expected).abs() / expected.abs().max(1.0));
            }
        }
        worst
    }
}

impl<E: Element> TeamWork for NormTeam<E> {
    /// None where there was no room.
    type Own = Option<NormPart<E>>;
    /// How far the result was off.
    type Said = Option<f64>;

    fn prepare(&self, rank: usize) -> Option<NormPart<E>> {
        let rows = self.own(rank);
        let (start, length) = (rows.start * self.width, rows.len() * self.width);
        let value = |index| E::nearest(operand_at(start + index, 1));
        let from = Array::filled(length, PageAdvice::Huge, value)?;
        let to = Array::filled(length, PageAdvice::Huge, |_| E::nearest(f32::NAN))?;
        Some(NormPart { width: self.width, from, to })
    }

    fn work(&self, own: &mut Option<NormPart<E>>, operations: u64) {
        let Some(part) = own else { return };
        for _ in 0..operations {
            vectorised(self.isa, &mut Rows { gains: &self.gains, part });
        }
    }

    fn finish(&self, own: Option<NormPart<E>>) -> Option<f64> {
        Some(self.error(&own?))
    }
}

/// All rows of a thread.
struct Rows<'a, E: Element> {
    gains: &'a [E],
    part: &'a mut NormPart<E>,
}

impl<E: Element> Vectorised for Rows<'_, E> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let width = self.part.width;
        let rows = self.part.from.chunks_exact(width).zip(self.part.to.chunks_exact_mut(width));
        for (from, to) in rows {
            let mean = dot::<FUSED, E, E>(from, from) / width as f32;
            let scale = 1.0 / (mean + EPSILON).sqrt();
            for ((from, to), gain) in from.iter().zip(to).zip(self.gains) {
                *to = E::nearest(from.widen() * scale * gain.widen());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lanes::Bf16;
    use super::*;

    fn error<E: Element>(shape: NormShape, threads: usize) -> f64 {
        let team = NormTeam::<E>::of(shape, threads).unwrap();
        let mut rows = 0;
        let said = (0..threads).map(|rank| {
            let mut own = team.prepare(rank);
            rows += team.own(rank).len();
            team.work(&mut own, 2);
            team.finish(own).unwrap()
        });
        let worst = said.fold(0.0, worse);
        assert_eq!(rows as u64, shape.rows);
        worst
    }

    proptest! {
        #[test]
        fn rows_are_normed_as_is_defined(rows in 1_u64..20, width in 1_u64..300, threads in 1_usize..5) {
            let shape = NormShape::new(rows, width);
            prop_assert!(error::<f32>(shape, threads) < f32::TOLERANCE);
            prop_assert!(error::<Bf16>(shape, threads) < Bf16::TOLERANCE);
        }
    }
}
