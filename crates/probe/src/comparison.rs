//! Two machines or generations side by side, operation by operation; and which rows are slandered.

use serde::{Deserialize, Serialize};

use crate::document::ProbeDocument;
use crate::measurement::{Component, Operation, TransferEngine};
use crate::row::ProbeRow;
use crate::statistics::Sorted;

/// A row whose ratio is below this part of the median ratio of its component is far below its kin.
const SLANDERED: f64 = 0.7;

/// Two documents side by side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProbeComparison {
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
    /// Whether the row is far below its kin on one side, and what may be the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slandered: Option<Slander>,
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
    /// What `b` does beside `a`.
    #[must_use]
    pub fn of(a: &ProbeDocument, b: &ProbeDocument) -> Self {
        let mut pairs = Vec::new();
        let mut only_a = Vec::new();
        for row in &a.rows {
            let subject = row.measured.subject();
            match b.rows.iter().find(|other| other.measured.subject() == subject) {
                Some(other) => pairs.extend(compared(row, other).map(|seen| (row, other, seen))),
                None => only_a.push(subject),
            }
        }
        let has = |row: &&ProbeRow| {
            !a.rows.iter().any(|other| other.measured.subject() == row.measured.subject())
        };
        let only_b = b.rows.iter().filter(has).map(|row| row.measured.subject()).collect();
        let kin = |component: Component| {
            let alike = pairs.iter().filter(|(.., seen)| seen.component == component);
            Sorted::of(alike.map(|(.., seen)| seen.ratio)).median().unwrap_or(1.0)
        };
        let medians: Vec<f64> = pairs.iter().map(|(.., seen)| kin(seen.component)).collect();
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
            seen
        });
        Self { rows: rows.collect(), only_a, only_b }
    }
}

fn compared(a: &ProbeRow, b: &ProbeRow) -> Option<ComparedRow> {
    let (from, to) = (a.speed()?, b.speed()?);
    let ends = from.typical_ci.zip(to.typical_ci);
    Some(ComparedRow {
        subject: a.measured.subject(),
        component: a.measured.operation.component(),
        ratio: to.typical / from.typical,
        ratio_ci: ends.map(|(from, to)| [to[0] / from[1], to[1] / from[0]]),
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
            causes.push("both directions were under way, and one is told".to_owned());
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
