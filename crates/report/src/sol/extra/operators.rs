//! The operators of a load as they were measured one by one, beside bound and expectation.

use fizeau_core::Seconds;
use fizeau_probe::{DeviceFacts, MeasuredOperator, MeasuredTerm, ProbeDocument};
use fizeau_record::text::{number, percent};
use fizeau_roofline::{PassPhase, SolScope};
use serde_json::{Map, Value, json};

use super::{OwnTable, SolExtra, SolSubject};
use crate::sol::grid::Grid;

/// More than as many shapes that lack a measurement are told as a number.
const TOLD: usize = 3;

impl SolExtra {
    /// What `probe` measured on `device` of the operators that the load runs, pass by pass: the bound's time, the expected one, the
    /// measured one with the share of the bound that it reaches, and which operators nobody measured. Of [`SolScope::Step`] the decode
    /// step alone.
    #[must_use]
    pub fn measured_operators(
        of: &SolSubject<'_>,
        scope: SolScope,
        probe: &ProbeDocument,
        device: &DeviceFacts,
    ) -> Self {
        let (system, load) = (of.system, of.load);
        let passes = [
            ("prefill", PassPhase::Prefill, system.prefill_pass(load)),
            ("decode", PassPhase::Decode, system.decode_pass(load, of.batch)),
        ];
        let title = format!("Measured on {} of {}", device.name, probe.host.node);
        let head = format!("{title}, ms");
        let mut grid = Grid::new(&[&head, "bound", "expected", "measured", "of bound"]);
        let mut fields = Map::new();
        fields.insert("device".to_owned(), device.name.clone().into());
        fields.insert("node".to_owned(), probe.host.node.clone().into());
        let (mut notes, mut is_any) = (Vec::new(), false);
        for (name, phase, pass) in &passes {
            if scope == SolScope::Step && *phase == PassPhase::Prefill {
                continue;
            }
            let terms = probe.terms(device, system, (*phase, pass));
            grid.row(std::iter::once(format!("  {name}")).chain([const { String::new() }; 4]));
            terms.iter().for_each(|term| grid.row(cells(term)));
            notes.extend(copies(name, &terms));
            notes.extend(unmeasured_operators(name, &terms));
            is_any |= terms.iter().any(|term| !term.operators.is_empty());
            fields.insert((*name).to_owned(), terms.iter().map(entry).collect());
        }
        let mut lines = if is_any {
            grid.lines()
        } else {
            vec![format!("{title}: no operator of this model at these shapes")]
        };
        lines.extend(notes.into_iter().filter(|_| is_any));
        Self::with_own("measured_operators", OwnTable { lines, fields })
    }
}

fn cells(term: &MeasuredTerm) -> [String; 5] {
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    [
        format!("    {}", term.part.replace('_', " ")),
        or_none(term.bound.map(ms)),
        or_none(term.expected.map(ms)),
        or_none(term.measured().map(ms)),
        or_none(term.share_of_bound().map(percent)),
    ]
}

fn ms(time: Seconds) -> String {
    number(time.get() * 1e3)
}

/// Which operators of a pass have no measurement.
fn unmeasured_operators(pass: &str, terms: &[MeasuredTerm]) -> Option<String> {
    let all: Vec<&str> = terms.iter().flat_map(|term| &term.missing).map(String::as_str).collect();
    let more = match all.len() {
        0 => return None,
        count if count > TOLD => format!(" and {} more", count - TOLD),
        _ => String::new(),
    };
    let told = all.iter().take(TOLD).copied().collect::<Vec<_>>().join("; ");
    Some(format!("  Not measured of {pass}: {told}{more}"))
}

/// For which operators of a pass a copy of as many bytes stands.
fn copies(pass: &str, terms: &[MeasuredTerm]) -> Option<String> {
    let operators = terms.iter().flat_map(|term| &term.operators);
    let copied = operators.filter(|of| of.instructions.as_deref() == Some("copy"));
    let roles: Vec<&str> = copied.map(|of| of.role.as_str()).collect();
    (!roles.is_empty())
        .then(|| format!("  Measured of {pass} as copies of as many bytes: {}", roles.join(", ")))
}

fn entry(term: &MeasuredTerm) -> Value {
    let ms = |time: Seconds| time.get() * 1e3;
    json!({
        "part": term.part,
        "bound_ms": term.bound.map(ms),
        "expected_ms": term.expected.map(ms),
        "measured_ms": term.measured().map(ms),
        "share_of_bound": term.share_of_bound(),
        "operators": term.operators.iter().map(operator).collect::<Vec<_>>(),
        "not_measured": term.missing,
    })
}

fn operator(of: &MeasuredOperator) -> Value {
    json!({
        "role": of.role,
        "count": of.count,
        "operation": of.operation.to_string(),
        "dtype": of.dtype.map(fizeau_probe::Dtype::as_str),
        "instructions": of.instructions,
        "each_ms": of.each.get() * 1e3,
        "verdict": of.verdict.as_str(),
        "row": of.key,
    })
}
