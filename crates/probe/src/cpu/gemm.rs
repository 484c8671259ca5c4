//! Products of matrices on the processor: by a library, and of few rows by a loop that reads the weights once. Besides by OpenBLAS,
//! where this machine has it.

#![allow(unsafe_code, reason = "the library takes pointers and strides")]
#![deny(clippy::undocumented_unsafe_blocks)]

mod openblas;

use std::ops::Range;

pub(super) use openblas::OpenBlas;

use super::array::Array;
use super::isa::Isa;
use super::lanes::{Bf16, Element, Vectorised, dot, operand_at, vectorised};
use super::team::TeamWork;
use crate::measurement::{GemmShape, OPENBLAS, PageAdvice, worse};

/// Of as many rows at most, weights are read once and multiplied where they are; the library would copy them first.
const FEW_ROWS: u64 = 8;
/// Rows and columns of the weights that are widened at once: half a mebibyte, which stays in a second-level cache.
const WIDENED: (usize, usize) = (256, 512);

/// What single precision may be off by, relative to the sum of the sizes of the products.
pub(super) const TOLERANCE: f64 = 1e-5;

/// `C[m,n] = A[m,k] W[n,k]^T`: weights lie as models store them, a row an output. Every thread has its part of the outputs.
#[derive(Debug)]
pub(super) struct GemmTeam<E: Element> {
    shape: [usize; 3],
    threads: usize,
    isa: Isa,
    by: Multiplier,
    /// `batch` times `m x k`.
    inputs: Vec<Array<E>>,
    /// `batch` times `n x k`.
    weights: Vec<Array<E>>,
}

/// Who multiplies.
#[derive(Debug, Clone, Copy)]
pub(super) enum Multiplier {
    /// What this program is built with.
    BuiltIn,
    /// What this machine has.
    OpenBlas(&'static OpenBlas),
}

/// What a thread has of its own.
#[derive(Debug)]
pub(super) struct GemmPart {
    /// Which rows and columns of the result.
    rows: Range<usize>,
    columns: Range<usize>,
    /// Of each product of the batch.
    outputs: Vec<Vec<f32>>,
    widened: Vec<f32>,
    widened_inputs: Vec<f32>,
}

impl Multiplier {
    /// How a product is computed.
    pub(super) const fn method(self, shape: GemmShape) -> &'static str {
        match self {
            Self::OpenBlas(_) => OPENBLAS,
            Self::BuiltIn if shape.m <= FEW_ROWS => "own loop, weights read once",
            Self::BuiltIn => "matrixmultiply",
        }
    }
}

impl<E: Element> GemmTeam<E> {
    /// The operands; none if there is no room for them.
    pub(super) fn of(shape: GemmShape, threads: usize, by: Multiplier) -> Option<Self> {
        let [m, n, k] = [shape.m, shape.n, shape.k].map(|count| usize::try_from(count).ok());
        let (m, n, k) = (m?, n?, k?);
        let matrix = |rows: usize, seed: u64| {
            let element = |index| E::nearest(operand_at(index, seed));
            Array::filled(rows.checked_mul(k)?, PageAdvice::Huge, element)
        };
        let all = |rows: usize, of: u64| -> Option<Vec<Array<E>>> {
            (0..shape.batch).map(|at| matrix(rows, 2 * at + of)).collect()
        };
        let (inputs, weights) = (all(m, 0)?, all(n, 1)?);
        Some(Self { shape: [m, n, k], threads, isa: Isa::widest(), by, inputs, weights })
    }

    /// How far `parts` are from what a few elements must be, relative to what rounding is relative to: the largest.
    pub(super) fn error(&self, parts: &[GemmPart]) -> f64 {
        let mut worst = 0.0_f64;
        for part in parts {
            for (at, output) in part.outputs.iter().enumerate() {
                // Both ends and some between.
                let step = (output.len() / 16).max(1);
                let last = output.len().checked_sub(1);
                for place in (0..output.len()).step_by(step).chain(last) {
                    worst = worse(worst, self.element_error(part, at, place, output[place]));
                }
            }
        }
        worst
    }

    fn element_error(&self, part: &GemmPart, at: usize, place: usize, value: f32) -> f64 {
        let k = self.shape[2];
        let (row, column) = (
            part.rows.start + place / part.columns.len(),
            part.columns.start + place % part.columns.len(),
        );
        let (input, weight) =
            (&self.inputs[at][row * k..][..k], &self.weights[at][column * k..][..k]);
        let (mut sum, mut scale) = (0.0, 0.0);
        for (a, b) in input.iter().zip(weight) {
            let product = f64::from(a.widen()) * f64::from(b.widen());
            sum += product;
            scale += product.abs();
        }
        (f64::from(value) - sum).abs() / scale
    }
}

/// The part `rank` of `count` things among `threads`.
pub(super) fn part(count: usize, rank: usize, threads: usize) -> Range<usize> {
    (count * rank / threads)..(count * (rank + 1) / threads)
}

impl<E: Element + Library> TeamWork for GemmTeam<E> {
    type Own = GemmPart;
    type Said = GemmPart;

    fn prepare(&self, rank: usize) -> GemmPart {
        let [m, n, _] = self.shape;
        // Cut where there is more of it, so that no thread packs what another packs too.
        let (rows, columns) = if m >= n {
            (part(m, rank, self.threads), 0..n)
        } else {
            (0..m, part(n, rank, self.threads))
        };
        let output = vec![0.0; rows.len() * columns.len()];
        let outputs = vec![output; self.inputs.len()];
        GemmPart { rows, columns, outputs, widened: Vec::new(), widened_inputs: Vec::new() }
    }

    fn work(&self, own: &mut GemmPart, operations: u64) {
        let few = matches!(self.by, Multiplier::BuiltIn) && self.shape[0] as u64 <= FEW_ROWS;
        for _ in 0..operations {
            for at in 0..self.inputs.len() {
                let GemmPart { rows, columns, outputs, .. } = own;
                if few {
                    let mut work = FewRows {
                        depth: self.shape[2],
                        inputs: &self.inputs[at][rows.start * self.shape[2]..],
                        weights: &self.weights[at][columns.start * self.shape[2]..],
                        columns: columns.len(),
                        output: &mut outputs[at],
                    };
                    vectorised(self.isa, &mut work);
                } else {
                    E::multiply(self, own, at);
                }
            }
        }
    }

    fn finish(&self, own: GemmPart) -> GemmPart {
        own
    }
}

/// A row of weights is read once and multiplied with all inputs.
struct FewRows<'a, E> {
    depth: usize,
    inputs: &'a [E],
    weights: &'a [E],
    columns: usize,
    output: &'a mut [f32],
}

impl<E: Element> Vectorised for FewRows<'_, E> {
    #[inline(always)]
    fn run<const FUSED: bool>(&mut self) {
        let rows = self.output.len() / self.columns.max(1);
        for column in 0..self.columns {
            let weights = &self.weights[column * self.depth..][..self.depth];
            for row in 0..rows {
                let inputs = &self.inputs[row * self.depth..][..self.depth];
                self.output[row * self.columns + column] = dot::<FUSED, _, _>(inputs, weights);
            }
        }
    }
}

/// An element that the library can multiply, by itself or widened.
pub(super) trait Library: Element {
    /// Product `at` of the batch, of the part that is `own`.
    fn multiply(team: &GemmTeam<Self>, own: &mut GemmPart, at: usize);

    /// Whether that library multiplies such elements as they are.
    fn is_known_to(library: &OpenBlas) -> bool;
}

impl Library for f32 {
    fn multiply(team: &GemmTeam<Self>, own: &mut GemmPart, at: usize) {
        let k = team.shape[2];
        let (rows, columns) = (own.rows.len(), own.columns.len());
        let inputs = &team.inputs[at][own.rows.start * k..][..rows * k];
        let weights = &team.weights[at][own.columns.start * k..][..columns * k];
        let (shape, output) = ([rows, columns, k], &mut own.outputs[at]);
        match team.by {
            Multiplier::OpenBlas(library) => library.single(inputs, weights, output, shape),
            Multiplier::BuiltIn => product((inputs, k), (weights, k), output, shape, 0.0),
        }
    }

    fn is_known_to(_: &OpenBlas) -> bool {
        true
    }
}

impl Library for Bf16 {
    fn multiply(team: &GemmTeam<Self>, own: &mut GemmPart, at: usize) {
        let k = team.shape[2];
        let (rows, columns) = (own.rows.len(), own.columns.len());
        match team.by {
            Multiplier::OpenBlas(library) => library.bf16(
                &team.inputs[at][own.rows.start * k..][..rows * k],
                &team.weights[at][own.columns.start * k..][..columns * k],
                &mut own.outputs[at],
                [rows, columns, k],
            ),
            Multiplier::BuiltIn => widened(team, own, at),
        }
    }

    fn is_known_to(library: &OpenBlas) -> bool {
        library.has_bf16()
    }
}

/// The built-in library has no bf16: blocks of weights are widened, and multiplied while a cache holds them.
fn widened(team: &GemmTeam<Bf16>, own: &mut GemmPart, at: usize) {
    let k = team.shape[2];
    let (rows, columns) = (own.rows.len(), own.columns.len());
    let GemmPart { outputs, widened, widened_inputs, .. } = own;
    let inputs = &team.inputs[at][own.rows.start * k..][..rows * k];
    widened_inputs.clear();
    widened_inputs.extend(inputs.iter().map(|value| value.widen()));
    let weights = &team.weights[at][own.columns.start * k..][..columns * k];
    // The output of a block of columns lies among the others.
    for first in (0..columns).step_by(WIDENED.0) {
        let count = WIDENED.0.min(columns - first);
        for from in (0..k).step_by(WIDENED.1) {
            let depth = WIDENED.1.min(k - from);
            widened.clear();
            for column in first..first + count {
                let row = &weights[column * k + from..][..depth];
                widened.extend(row.iter().map(|value| value.widen()));
            }
            let output = &mut OutputBlock { all: &mut outputs[at], first, stride: columns };
            let shape = [rows, count, depth];
            block(
                (&widened_inputs[from..], k),
                (widened, depth),
                output,
                shape,
                f32::from(from > 0),
            );
        }
    }
}

/// Where a block of the result lies: from column `first` of rows of `stride`.
struct OutputBlock<'a> {
    all: &'a mut [f32],
    first: usize,
    stride: usize,
}

fn product(a: (&[f32], usize), b: (&[f32], usize), all: &mut [f32], shape: [usize; 3], keep: f32) {
    block(a, b, &mut OutputBlock { all, first: 0, stride: shape[1] }, shape, keep);
}

/// `to = keep * to + a b^T` of `[rows, columns, depth]`; rows of `a` and of `b` are as far apart as is said beside them.
fn block(
    a: (&[f32], usize),
    b: (&[f32], usize),
    to: &mut OutputBlock<'_>,
    shape: [usize; 3],
    keep: f32,
) {
    let [m, n, k] = shape;
    if m == 0 || n == 0 || k == 0 {
        return;
    }
    let reaches = |rows: usize, stride: usize, width: usize| (rows - 1) * stride + width;
    assert!(
        a.0.len() >= reaches(m, a.1, k)
            && b.0.len() >= reaches(n, b.1, k)
            && to.all.len() >= to.first + reaches(m, to.stride, n),
        "operands are as large as the shape"
    );
    // SAFETY: the last element that each matrix has by its strides lies within its slice, and the result is borrowed alone.
    unsafe {
        matrixmultiply::sgemm(
            m,
            k,
            n,
            1.0,
            a.0.as_ptr(),
            a.1 as isize,
            1,
            b.0.as_ptr(),
            1,
            b.1 as isize,
            keep,
            to.all.as_mut_ptr().add(to.first),
            to.stride as isize,
            1,
        );
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn error<E: Library>(shape: GemmShape, threads: usize, by: Multiplier) -> f64 {
        let team = GemmTeam::<E>::of(shape, threads, by).unwrap();
        let parts: Vec<GemmPart> = (0..threads)
            .map(|rank| {
                let mut own = team.prepare(rank);
                team.work(&mut own, 2);
                own
            })
            .collect();
        assert_eq!(
            parts.iter().map(|part| part.outputs[0].len()).sum::<usize>() as u64,
            shape.m * shape.n
        );
        team.error(&parts)
    }

    /// A maximum of floating point passes over it.
    #[test]
    fn what_is_no_number_is_not_right() {
        let team = GemmTeam::<f32>::of(GemmShape::new(4, 4, 4), 1, Multiplier::BuiltIn).unwrap();
        let mut part = team.prepare(0);
        team.work(&mut part, 1);
        part.outputs[0][5] = f32::NAN;
        assert!(team.error(&[part]).is_nan());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn products_are_right(m in 1_u64..40, n in 1_u64..300, k in 1_u64..700, batch in 1_u64..3, threads in 1_usize..4) {
            let shape = GemmShape { batch, ..GemmShape::new(m, n, k) };
            prop_assert!(error::<f32>(shape, threads, Multiplier::BuiltIn) < 1e-6);
            prop_assert!(error::<Bf16>(shape, threads, Multiplier::BuiltIn) < 1e-6);
            // Of a machine that has it; on others there is nothing to be tried.
            if let Some(library) = OpenBlas::installed() {
                let by = Multiplier::OpenBlas(library);
                prop_assert!(error::<f32>(shape, threads, by) < 1e-6, "{}", library.config());
                prop_assert!(!library.has_bf16() || error::<Bf16>(shape, threads, by) < TOLERANCE);
            }
        }
    }
}
