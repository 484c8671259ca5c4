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
use crate::measurement::{
    AttentionShape, DataPattern, Dtype, FirstTouch, GemmShape, Measurement, NormShape, OPENBLAS,
    RecurrenceShape, Verification,
};
use crate::trial::Unavailable;

fn unwritten(what: fmt::Arguments<'_>) -> Unavailable {
    Unavailable::because(format!("{what} not written for processors"))
}

impl Measuring<'_> {
    pub(in crate::cpu) fn gemm(&self, shape: GemmShape) -> Result<Measurement, Unavailable> {
        match self.trial.dtype {
            Dtype::F32 => self.gemm_of::<f32>(shape),
            Dtype::Bf16 => self.gemm_of::<Bf16>(shape),
            other => Err(unwritten(format_args!("products of {other} are"))),
        }
    }

    fn gemm_of<E: Library>(&self, shape: GemmShape) -> Result<Measurement, Unavailable> {
        let work = shape.work(self.trial.dtype, Dtype::F32);
        let bytes = work.bytes.stream.map_or(0.0, Bytes::get);
        self.fits(bytes)?;
        let by = self.multiplier::<E>()?;
        let team = GemmTeam::<E>::of(shape, self.cpus.len(), by).ok_or_else(no_room)?;
        let (observed, parts) = self.watch(&team);
        let mut seen = self.measurement(observed, bytes, work);
        seen.verification = Verification::within(team.error(&parts), gemm::TOLERANCE);
        seen.method.first_touch = Some(FirstTouch::OneThread);
        seen.method.data = Some(DataPattern::Uniform);
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
        match self.trial.dtype {
            Dtype::F32 => self.attention_of::<f32>(shape),
            Dtype::Bf16 => self.attention_of::<Bf16>(shape),
            other => Err(unwritten(format_args!("attention on {other} is"))),
        }
    }

    fn attention_of<E: Element>(&self, shape: AttentionShape) -> Result<Measurement, Unavailable> {
        let work = shape.work(self.trial.dtype);
        let bytes = work.bytes.stream.map_or(0.0, Bytes::get);
        self.fits(bytes)?;
        let team = AttentionTeam::<E>::of(shape, self.cpus.len()).ok_or_else(no_room)?;
        let (observed, parts) = self.watch(&team);
        let mut seen = self.measurement(observed, bytes, work);
        seen.verification = Verification::within(team.error(&parts), attention::TOLERANCE);
        seen.method.first_touch = Some(FirstTouch::OneThread);
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.instructions = Some(Isa::widest().as_str().to_owned());
        seen.notes.push(
            "a straightforward blocked kernel of this crate: a tuned one may be faster".to_owned(),
        );
        Ok(seen)
    }

    pub(in crate::cpu) fn recurrence(
        &self,
        shape: RecurrenceShape,
    ) -> Result<Measurement, Unavailable> {
        match self.trial.dtype {
            Dtype::F32 => self.recurrence_of::<f32>(shape),
            Dtype::Bf16 => self.recurrence_of::<Bf16>(shape),
            other => Err(unwritten(format_args!("states of {other} are"))),
        }
    }

    fn recurrence_of<E: Element>(
        &self,
        shape: RecurrenceShape,
    ) -> Result<Measurement, Unavailable> {
        let work = shape.work(self.trial.dtype);
        let bytes = work.bytes.stream.map_or(0.0, Bytes::get);
        self.fits(bytes)?;
        let team = RecurrenceTeam::of(shape, self.cpus.len()).ok_or_else(no_room)?;
        let (observed, said) = self.watch(&StatesOf::<E>::of(team));
        let mut seen = self.measurement(observed, bytes, work);
        seen.verification = worst(said, Bf16::TOLERANCE)?;
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.instructions = Some(Isa::widest().as_str().to_owned());
        seen.notes.push(
            "a straightforward kernel of this crate, token by token: one that takes a prompt in chunks may be faster".to_owned(),
        );
        Ok(seen)
    }

    pub(in crate::cpu) fn norm(&self, shape: NormShape) -> Result<Measurement, Unavailable> {
        match self.trial.dtype {
            Dtype::F32 => self.norm_of::<f32>(shape),
            Dtype::Bf16 => self.norm_of::<Bf16>(shape),
            other => Err(unwritten(format_args!("norms of {other} are"))),
        }
    }

    fn norm_of<E: Element>(&self, shape: NormShape) -> Result<Measurement, Unavailable> {
        let work = shape.work(self.trial.dtype);
        let bytes = work.bytes.stream.map_or(0.0, Bytes::get);
        self.fits(bytes)?;
        let team = NormTeam::<E>::of(shape, self.cpus.len()).ok_or_else(no_room)?;
        let (observed, said) = self.watch(&team);
        let mut seen = self.measurement(observed, bytes, work);
        seen.verification = worst(said, E::TOLERANCE)?;
        seen.method.data = Some(DataPattern::Uniform);
        seen.method.instructions = Some(Isa::widest().as_str().to_owned());
        Ok(seen)
    }
}
