//! The speed-of-light curve over the context.

use std::num::NonZeroU64;

use fizeau_core::{Bytes, Tokens};

use crate::system::System;
use crate::{Figures, LoadAnalysisError, PhaseSchedule, UniformLoad};

/// A point of the curve over the context: decode steps alone, and the pass over a prompt as long.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ContextPoint {
    /// Tokens that each sequence sees.
    pub context: Tokens,
    /// What the caches of one sequence take of a device.
    pub cache_per_device: Bytes,
    /// The most sequences that fit at once; none where nothing limits them.
    pub max_batch: Option<u64>,
    /// The sequences that run.
    pub batch: f64,
    /// What nothing can beat.
    pub bound: Figures,
    /// What the roofline model expects.
    pub expected: Figures,
}

impl System {
    /// The speed-of-light curve over the context, from 128 tokens to 2^20, four points for each doubling: with `concurrency` sequences
    /// or as many as fit. Where one does not fit the point is the error, as are those behind it.
    pub fn context_curve(
        &self,
        concurrency: NonZeroU64,
    ) -> impl Iterator<Item = Result<ContextPoint, LoadAnalysisError>> {
        contexts().map(move |context| self.at_context(context, concurrency))
    }

    fn at_context(
        &self,
        context: u64,
        concurrency: NonZeroU64,
    ) -> Result<ContextPoint, LoadAnalysisError> {
        // The step after a prompt of one token less, and that prompt's own pass.
        let load = UniformLoad::new(Tokens::new(context - 1), Tokens::new(2), concurrency);
        let answer = self.answer(&load)?;
        let batch = answer.running_batch;
        Ok(ContextPoint {
            context: Tokens::new(context),
            cache_per_device: self.cache_bytes_per_device(context as f64),
            max_batch: answer.max_batch,
            batch,
            bound: self.bound_at(&load, batch, PhaseSchedule::Overlapped),
            expected: self.expected_at(&load, batch, PhaseSchedule::Overlapped),
        })
    }
}

const FIRST_CONTEXT: u64 = 128;
const LAST_CONTEXT: u64 = 1 << 20;

/// Four for each doubling.
fn contexts() -> impl Iterator<Item = u64> {
    let octaves = (LAST_CONTEXT / FIRST_CONTEXT).ilog2();
    let each = (0..octaves).flat_map(|octave| (4..8).map(move |quarter| (octave, quarter)));
    each.map(|(octave, quarter)| (FIRST_CONTEXT << octave) * quarter / 4).chain([LAST_CONTEXT])
}

#[cfg(test)]
mod tests {
    use super::{LAST_CONTEXT, contexts};

    #[test]
    fn contexts_double_in_four_steps() {
        let all: Vec<u64> = contexts().collect();
        assert_eq!(all[..6], [128, 160, 192, 224, 256, 320]);
        assert_eq!(all[all.len() - 1], LAST_CONTEXT);
        assert!(all.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
