//! Two machines or generations side by side, operation by operation; and which rows are slandered.

use serde::{Deserialize, Serialize};

use crate::document::ProbeDocument;
use crate::measurement::{Component, Operation, TransferEngine};
use crate::row::ProbeRow;
use crate::statistics::Sorted;
use fizeau_core::Verdict;

/// A row whose ratio is below this part of the median ratio of its component is far below its kin.
const SLANDERED: f64 = 0.7;

/// What a comparison as JSON says it is.
const COMPARISON: &str = "fizeau.probe-comparison/1";

/// Two documents side by side (schema `fizeau.probe-comparison/1`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeComparison {
    #[cfg_attr(feature = "schema", schemars(extend("const" = COMPARISON)))]
    schema: String,
    /// What both measured, in the order of the first.
    pub rows: Vec<ComparedRow>,
    /// What only the first has, by [`crate::Measurement::subject`].
    pub only_a: Vec<String>,
    /// What only the second has.
    pub only_b: Vec<String>,
}

/// One operation on both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComparedRow {
    /// Which operation.
    pub subject: String,
    /// Which part of a machine it is about.
    pub component: Component,
    /// How many times as fast the second is: of rates, and the inverse of times.
    pub ratio: f64,
    /// Where the ratio lies, from the intervals of both; absent where one has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_ci: Option<[f64; 2]>,
    /// Of a result that cannot be right: on which side (`a` or `b`), and why. The ratio is then none of speed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<ComparedFault>,
    /// Whether the row is far below its kin on one side, and what may be the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slandered: Option<Slander>,
}

/// A result that cannot be right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComparedFault {
    /// On which side: `a` or `b`.
    pub side: String,
    /// Why, as a clause.
    pub reason: String,
}

/// A row that says less of a device than its kin do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Slander {
    /// On which side: `a` or `b`.
    pub side: String,
    /// What may be the cause, the likeliest first; empty where nothing that is kept explains it.
    pub causes: Vec<String>,
}

impl ProbeComparison {
    /// What `b` does beside `a`. Of several rows of one operation, as of a tool that tries many kernels, the fastest speaks.
    #[must_use]
    pub fn of(a: &ProbeDocument, b: &ProbeDocument) -> Self {
        let (own, others) = (fastest(a), fastest(b));
        let mut pairs = Vec::new();
        let mut only_a = Vec::new();
        let mut taken = Vec::new();
        for row in &own {
            match twin(row, &own, &others) {
                Some(at) => {
                    taken.push(at);
                    pairs.extend(compared(row, others[at]).map(|seen| (*row, others[at], seen)));
                }
                None => only_a.push(row.measured.subject()),
            }
        }
        let is_left = |at: &usize| !taken.contains(at);
        let only_b = (0..others.len()).filter(is_left).map(|at| others[at].measured.subject());
        let only_b = only_b.collect();
        let kin = |component: Component| {
            let alike = pairs.iter().filter(|(.., seen)| seen.component == component);
            Sorted::of(alike.map(|(.., seen)| seen.ratio)).median().unwrap_or(1.0)
        };
        let medians: Vec<f64> = pairs.iter().map(|(.., seen)| kin(seen.component)).collect();
        // Where a machine has several devices, a line says whose it is.
        let is_of_many = own.iter().any(|row| row.measured.device != own[0].measured.device);
        let rows = pairs.into_iter().zip(medians).map(|((row, other, mut seen), median)| {
            let relative = seen.ratio / median;
            let side = match relative {
                _ if relative < SLANDERED => Some(("b", other, row, b)),
                _ if relative > 1.0 / SLANDERED => Some(("a", row, other, a)),
                _ => None,
            };
            seen.slandered = side.map(|(side, slow, fast, document)| Slander {
                side: side.to_owned(),
                causes: causes(slow, fast, document),
            });
            if is_of_many {
                seen.subject = row.measured.key();
            }
            seen
        });
        Self { schema: COMPARISON.to_owned(), rows: rows.collect(), only_a, only_b }
    }
}

/// Of each operation on each device the fastest row, in the document's order; an invalid one only where there is no other.
pub(crate) fn fastest(document: &ProbeDocument) -> Vec<&ProbeRow> {
    let rank = |row: &ProbeRow| {
        let speed = row.speed().map_or(0.0, |speed| speed.typical);
        (row.verdict != Verdict::Invalid, speed)
    };
    let mut found: Vec<&ProbeRow> = Vec::new();
    for row in &document.rows {
        let key = row.measured.key();
        match found.iter_mut().find(|known| known.measured.key() == key) {
            Some(known) if rank(row) > rank(known) => *known = row,
            Some(_) => {}
            None => found.push(row),
        }
    }
    found
}

/// Which of `others` is of the same operation as `row`: on the device of the same name, else on one that `own` has not.
fn twin(row: &ProbeRow, own: &[&ProbeRow], others: &[&ProbeRow]) -> Option<usize> {
    let (subject, device) = (row.measured.subject(), &row.measured.device);
    let is_alike = |other: &&&ProbeRow| other.measured.subject() == subject;
    let alike = || others.iter().enumerate().filter(|(_, other)| is_alike(other));
    let same = alike().find(|(_, other)| other.measured.device == *device);
    let is_foreign =
        |other: &ProbeRow| own.iter().all(|row| row.measured.device != other.measured.device);
    Some(same.or_else(|| alike().find(|(_, other)| is_foreign(other)))?.0)
}

fn compared(a: &ProbeRow, b: &ProbeRow) -> Option<ComparedRow> {
    let (from, to) = (a.speed()?, b.speed()?);
    let ends = from.typical_ci.zip(to.typical_ci);
    let faults = [("a", a), ("b", b)].into_iter().filter_map(|(side, row)| {
        let reason = row.fault()?.reason.clone();
        Some(ComparedFault { side: side.to_owned(), reason })
    });
    Some(ComparedRow {
        subject: a.measured.subject(),
        component: a.measured.operation.component(),
        ratio: to.typical / from.typical,
        ratio_ci: ends.map(|(from, to)| [to[0] / from[1], to[1] / from[0]]),
        faults: faults.collect(),
        slandered: None,
    })
}

/// What is kept of the slow row that the fast one does not have.
fn causes(slow: &ProbeRow, fast: &ProbeRow, document: &ProbeDocument) -> Vec<String> {
    let mut causes: Vec<String> =
        slow.objections.iter().map(|objection| objection.reason.clone()).collect();
    if let Operation::Transfer { engine: TransferEngine::CopyEngine, both_ways, .. } =
        &slow.measured.operation
    {
        causes.push("a copy engine moved it, which is no measure of the memory".to_owned());
        if *both_ways {
            causes.push("both directions ran at once, and one is reported".to_owned());
        }
    }
    let clock = |row: &ProbeRow| row.measured.circumstances.clock_after;
    if let (Some(slow_clock), Some(fast_clock)) = (clock(slow), clock(fast)) {
        let part = slow_clock / fast_clock;
        if part < 0.9 {
            causes.push(format!("its clock was {:.0} % of the other's", 100.0 * part));
        }
    }
    let huge = |row: &ProbeRow| {
        row.measured.method.pages.and_then(|pages| pages.huge).map(fizeau_core::Bytes::get)
    };
    if huge(slow) == Some(0.0) && huge(fast).is_some_and(|bytes| bytes > 0.0) {
        causes.push("its arrays lay in no huge pages".to_owned());
    }
    if let Some(hypervisor) = &document.host.hypervisor {
        causes.push(format!("it is {hypervisor}"));
    }
    causes
}
