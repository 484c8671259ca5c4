//! Operators of models on the processor: products, attention, states, norms.

use std::fmt;

use fizeau_core::Bytes;

use super::{Measuring, no_room, worst};
use crate::cpu::attention::{self, AttentionTeam};
use crate::cpu::gemm::{self, GemmTeam, Library, Multiplier, OpenBlas};
use crate::cpu::isa::Isa;
use crate::cpu::lanes::{Bf16, Element};
use crate::cpu::norm::NormTeam;
use crate::cpu::recurrence::{RecurrenceTeam, StatesOf};
use crate::cpu::team::TeamWork;
use crate::measurement::{
    AttentionShape, DataPattern, Dtype, FirstTouch, GemmShape, Measurement, NormShape, OPENBLAS,
    OperationWork, RecurrenceShape, Verification,
};
use crate::trial::Unavailable;

fn unwritten(what: fmt::Arguments<'_>) -> Unavailable {
    Unavailable::because(format!("{what} not written for processors"))
}

/// The operator in the type of the trial.
macro_rules! by_dtype {
    ($on:ident.$of:ident($shape:ident), $what:literal) => {
        match $on.trial.dtype {
            Dtype::F32 => $on.$of::<f32>($shape),
            Dtype::Bf16 => $on.$of::<Bf16>($shape),
            other => Err(unwritten(format_args!($what, other))),
        }
    };
}

impl Measuring<'_> {
    /// What a team does of `work`, and what its threads say of it.
    fn of_team<W: TeamWork>(
        &self,
        work: OperationWork,
        team: impl FnOnce() -> Option<W>,
    ) -> Result<(Measurement, W, Vec<W::Said>), Unavailable> {
        let bytes = work.bytes.stream.map_or(0.0, Bytes::get);
        self.fits(bytes)?;
        let team = team().ok_or_else(no_room)?;
        let (observed, said) = self.watch(&team);
        let mut seen = self.measurement(observed, bytes, work);
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.instructions = Some(Isa::widest().as_str().to_owned());
        Ok((seen, team, said))
    }

    pub(in crate::cpu) fn gemm(&self, shape: GemmShape) -> Result<Measurement, Unavailable> {
        by_dtype!(self.gemm_of(shape), "products of {} are")
    }

    fn gemm_of<E: Library>(&self, shape: GemmShape) -> Result<Measurement, Unavailable> {
        let by = self.multiplier::<E>()?;
        let work = shape.work(self.trial.dtype, Dtype::F32);
        let team = || GemmTeam::<E>::of(shape, self.cpus.len(), by);
        let (mut seen, team, parts) = self.of_team(work, team)?;
        seen.verification = Verification::within(team.error(&parts), gemm::TOLERANCE);
        seen.method.first_touch = Some(FirstTouch::OneThread);
        seen.method.instructions = Some(by.method(shape).to_owned());
        match by {
            Multiplier::OpenBlas(library) => {
                let config = library.config();
                seen.notes.push(format!("by {config}; each thread multiplies its part"));
            }
            Multiplier::BuiltIn if self.trial.dtype == Dtype::Bf16 => {
                let how = "operands are stored in bf16 and widened to f32 as they are multiplied";
                seen.notes.push(how.to_owned());
            }
            Multiplier::BuiltIn => {}
        }
        Ok(seen)
    }

    /// Who multiplies: OpenBLAS where the trial asks for it.
    fn multiplier<E: Library>(&self) -> Result<Multiplier, Unavailable> {
        if self.trial.instructions.as_deref() != Some(OPENBLAS) {
            return Ok(Multiplier::BuiltIn);
        }
        let library = OpenBlas::installed()
            .ok_or_else(|| Unavailable::because("no OpenBLAS is installed here"))?;
        match E::is_known_to(library) {
            true => Ok(Multiplier::OpenBlas(library)),
            false => Err(Unavailable::because(format!(
                "this OpenBLAS has no product of {}: {}",
                self.trial.dtype,
                library.config()
            ))),
        }
    }

    pub(in crate::cpu) fn attention(
        &self,
        shape: AttentionShape,
    ) -> Result<Measurement, Unavailable> {
        by_dtype!(self.attention_of(shape), "attention on {} is")
    }

    fn attention_of<E: Element>(&self, shape: AttentionShape) -> Result<Measurement, Unavailable> {
        let team = || AttentionTeam::<E>::of(shape, self.cpus.len());
        let (mut seen, team, parts) = self.of_team(shape.work(self.trial.dtype), team)?;
        seen.verification = Verification::within(team.error(&parts), attention::TOLERANCE);
        seen.method.first_touch = Some(FirstTouch::OneThread);
        seen.notes.push(
            "a straightforward blocked kernel of this crate: a tuned one may be faster".to_owned(),
        );
        Ok(seen)
    }

    pub(in crate::cpu) fn recurrence(
        &self,
        shape: RecurrenceShape,
    ) -> Result<Measurement, Unavailable> {
        by_dtype!(self.recurrence_of(shape), "states of {} are")
    }

    fn recurrence_of<E: Element>(
        &self,
        shape: RecurrenceShape,
    ) -> Result<Measurement, Unavailable> {
        let team = || RecurrenceTeam::of(shape, self.cpus.len()).map(StatesOf::<E>::of);
        let (mut seen, _, said) = self.of_team(shape.work(self.trial.dtype), team)?;
        seen.verification = worst(said, Bf16::TOLERANCE)?;
        seen.notes.push(
            "a straightforward kernel of this crate, token by token: one that takes a prompt in chunks may be faster".to_owned(),
        );
        Ok(seen)
    }

    pub(in crate::cpu) fn norm(&self, shape: NormShape) -> Result<Measurement, Unavailable> {
        by_dtype!(self.norm_of(shape), "norms of {} are")
    }

    fn norm_of<E: Element>(&self, shape: NormShape) -> Result<Measurement, Unavailable> {
        let team = || NormTeam::<E>::of(shape, self.cpus.len());
        let (mut seen, _, said) = self.of_team(shape.work(self.trial.dtype), team)?;
        seen.verification = worst(said, E::TOLERANCE)?;
        Ok(seen)
    }
}
