//! What was measured of a pass of a model, beside the terms of the roofline.

use fizeau_core::{Seconds, Verdict};
use fizeau_roofline::{Device, OperatorKind, Pass, PassPhase, PassTerm, System, TermKind};

use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::measured_device::MeasuredDevice;
use crate::measurement::{Component, Dtype, Operation};
use crate::row::ProbeRow;
use crate::shapes::{ModelOperator, ModelPass, model_operators};

/// A term of a pass: what the roofline allows and expects, and what was measured of the operations that it is made of.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredTerm {
    /// The term's name in files, such as `projections`; `collectives` of what devices tell one another, `vectors` of norms.
    pub part: &'static str,
    /// What it takes at least; none of collectives, of which a bound has none, and of norms whose gains go into the matrices behind them.
    pub bound: Option<Seconds>,
    /// What it is expected to take; none of collectives where no link is known.
    pub expected: Option<Seconds>,
    /// Those of its operations that were measured, each shape once.
    pub operators: Vec<MeasuredOperator>,
    /// The others, such as `qkv, gemm 64 x 512 x 1024`.
    pub missing: Vec<String>,
}

/// An operation of a pass that was measured.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeasuredOperator {
    /// What it is for: `qkv`, `gate_up`.
    pub role: String,
    /// How often the pass runs it on one device.
    pub count: u64,
    /// What was measured, with its shape.
    pub operation: Operation,
    /// On operands of which type, where that is known.
    pub dtype: Option<Dtype>,
    /// By which instructions or library; `copy` where a copy of as many bytes stands for it.
    pub instructions: Option<String>,
    /// What one takes, typically.
    pub each: Seconds,
    /// How far to believe it.
    pub verdict: Verdict,
    /// What the row is found by in the document.
    pub key: String,
}

impl MeasuredTerm {
    /// What all of its operations take one after the other, typically; none unless each was measured.
    #[must_use]
    pub fn measured(&self) -> Option<Seconds> {
        let is_whole = self.missing.is_empty() && !self.operators.is_empty();
        let time = |of: &MeasuredOperator| of.each * of.count as f64;
        is_whole
            .then(|| self.operators.iter().map(time).fold(Seconds::default(), |all, own| all + own))
    }

    /// The bound over what was measured: the share of the possible that the kernels reach.
    #[must_use]
    pub fn share_of_bound(&self) -> Option<f64> {
        Some(self.bound? / self.measured()?)
    }
}

impl ProbeDocument {
    /// Which of its devices `device` is: the one that it was made of ([`MeasuredDevice`]), else of those of the same part, as far as
    /// names and data sheets tell, one of which a device can be made, before one of which more than collectives were measured, before
    /// a group that has nothing but those. None of any other part.
    #[must_use]
    pub fn facts_of(&self, device: &Device) -> Option<&DeviceFacts> {
        // The device of a system knows besides how fast it reads a model's weights: what a file says of both is held together.
        let is_same = |made: &Device| {
            made.name == device.name
                && made.cells().eq(device.cells())
                && made.collectives() == device.collectives()
        };
        let sheet = device.specification().unwrap_or(device);
        let is_kin = |facts: &&DeviceFacts| {
            MeasuredDevice::name_of(facts) == device.name
                || facts.data_sheet.as_ref() == Some(&sheet.name)
        };
        let distance = |facts: &&DeviceFacts| match MeasuredDevice::of(self, &facts.name) {
            Ok(made) if is_same(&made.device) => 0,
            Ok(_) => 1,
            Err(_) => 2 + u8::from(self.has_collectives_alone(&facts.name)),
        };
        // Of several alike the first counts.
        self.devices.iter().filter(is_kin).min_by_key(distance)
    }

    /// Whether nothing but collectives was measured on that device, as on a group of several.
    fn has_collectives_alone(&self, device: &str) -> bool {
        let mut rows = self.rows.iter().filter(|row| row.measured.device == device);
        rows.all(|row| row.measured.operation.component() == Component::Collective)
    }

    /// The terms of `pass` of `system`, each with what was measured of it on `device`. An operation is found by its shape and its type,
    /// whatever it was measured for; of several rows the fastest speaks, and invalid ones do not.
    #[must_use]
    pub fn terms(
        &self,
        device: &DeviceFacts,
        system: &System,
        (phase, pass): (PassPhase, &Pass),
    ) -> Vec<MeasuredTerm> {
        let mut terms: Vec<MeasuredTerm> = Vec::new();
        for term in system.pass_terms(phase, pass) {
            let own = MeasuredTerm::of(&term);
            match terms.iter_mut().find(|known| known.part == own.part) {
                Some(known) => {
                    known.bound = known.bound.zip(own.bound).map(|(one, other)| one + other);
                    known.expected =
                        known.expected.zip(own.expected).map(|(one, other)| one + other);
                }
                None => terms.push(own),
            }
        }
        for operator in model_operators(system, ModelPass::of(phase, pass)) {
            let (part, twin) = (name_of(operator.part), self.twin(&operator, device));
            let at = terms.iter().position(|term| term.part == part);
            // Where the gains of norms go into the matrices behind them, the roofline has no term that would lack them.
            let is_folded = operator.part == TermKind::Operator(OperatorKind::Vectors);
            if is_folded && at.is_none() && twin.is_none() {
                continue;
            }
            let at = at.unwrap_or_else(|| {
                terms.push(MeasuredTerm::without_time(part));
                terms.len() - 1
            });
            match twin {
                Some(twin) => terms[at].operators.push(twin),
                None => terms[at].missing.push(operator.to_string()),
            }
        }
        terms
    }

    /// The fastest row of the same operation.
    fn twin(&self, operator: &ModelOperator, on: &DeviceFacts) -> Option<MeasuredOperator> {
        let dtypes = operator.dtypes(on);
        let is_alike = |row: &&ProbeRow| {
            let seen = &row.measured;
            let is_own = match seen.operation.component() {
                // Of several devices at once.
                Component::Collective => true,
                _ => {
                    seen.device == on.name
                        && seen.dtype.is_some_and(|dtype| dtypes.contains(&dtype))
                }
            };
            is_own && row.verdict != Verdict::Invalid && operator.is_measured_by(&seen.operation)
        };
        let alike = self.rows.iter().filter(is_alike);
        let timed = alike.filter_map(|row| Some((row.figures.seconds()?.typical, row)));
        let (each, row) = timed.min_by(|a, b| a.0.get().total_cmp(&b.0.get()))?;
        Some(MeasuredOperator {
            role: operator.role.clone(),
            count: operator.count,
            operation: row.measured.operation.clone(),
            dtype: row.measured.dtype,
            instructions: row.measured.method.instructions.clone(),
            each,
            verdict: row.verdict,
            key: row.key.clone(),
        })
    }
}

impl MeasuredTerm {
    fn of(term: &PassTerm) -> Self {
        let is_operator = matches!(term.part, TermKind::Operator(_));
        Self {
            bound: is_operator.then_some(term.bound),
            expected: Some(term.expected),
            ..Self::without_time(name_of(term.part))
        }
    }

    const fn without_time(part: &'static str) -> Self {
        Self { part, bound: None, expected: None, operators: Vec::new(), missing: Vec::new() }
    }
}

const fn name_of(part: TermKind) -> &'static str {
    match part {
        TermKind::Operator(_) => part.as_str(),
        TermKind::LinkBytes | TermKind::LinkHops => "collectives",
        _ => part.as_str(),
    }
}
