//! Two machines or generations side by side, operation by operation; and which rows are slandered.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::document::ProbeDocument;
use crate::judge::Objection;
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
        let sides: Vec<Option<Side>> = pairs
            .iter()
            .zip(&medians)
            .map(|((.., seen), median)| Side::slow(seen.ratio / median))
            .collect();
        let rows = pairs.iter().zip(&sides).map(|((row, other, seen), side)| {
            let mut seen = seen.clone();
            seen.slandered = side.map(|side| {
                let kin = pairs.iter().zip(&sides).map(|((kin, ..), of)| (*kin, *of == Some(side)));
                let mut causes = match side {
                    Side::A => causes((row, a), (other, b)),
                    Side::B => causes((other, b), (row, a)),
                };
                causes.extend(of_copies(row, kin));
                Slander { side: side.as_str().to_owned(), causes }
            });
            if is_of_many {
                seen.subject = row.measured.key();
            }
            seen
        });
        Self { schema: COMPARISON.to_owned(), rows: rows.collect(), only_a, only_b }
    }
}

/// One of two machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    A,
    B,
}

impl Side {
    /// Which one is far below its kin, by how many times as fast the second is beside them; none where neither is.
    fn slow(relative: f64) -> Option<Self> {
        match relative {
            _ if relative < SLANDERED => Some(Self::B),
            _ if relative > 1.0 / SLANDERED => Some(Self::A),
            _ => None,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

/// Of each operation on each device the fastest row, in the document's order; an invalid one only where there is no other.
pub(crate) fn fastest(document: &ProbeDocument) -> Vec<&ProbeRow> {
    // A better measure goes before any speed by another one.
    let rank = |row: &ProbeRow| {
        let speed = row.speeds().next();
        let speed = speed.map(|(measure, speed)| (Reverse(measure), speed.typical));
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
    let [from, to] = a.speeds_beside(b)?;
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

/// What is kept of the slow row that the fast one does not have, `slow` and `fast` each with its machine.
fn causes(slow: (&ProbeRow, &ProbeDocument), fast: (&ProbeRow, &ProbeDocument)) -> Vec<String> {
    let ((slow, machine), (fast, other_machine)) = (slow, fast);
    let is_new = |own: &&Objection| fast.objections.iter().all(|other| other.rule != own.rule);
    let mut causes: Vec<String> =
        slow.objections.iter().filter(is_new).map(|own| own.reason.clone()).collect();
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
    if let Some(hypervisor) = &machine.host.hypervisor
        && other_machine.host.hypervisor.is_none()
    {
        causes.push(format!("it is {hypervisor}, and the other is none"));
    }
    causes
}

/// Of a copy between memories, what the other copies between the same two say of it: whether it is this engine, this direction or
/// both at once that is slow, or whatever was measured, which is then the link. Each of `kin` comes with whether it is slow on the same side.
fn of_copies<'a>(slow: &ProbeRow, kin: impl Iterator<Item = (&'a ProbeRow, bool)>) -> Vec<String> {
    let Operation::Transfer { from, to, engine, both_ways } = &slow.measured.operation else {
        return Vec::new();
    };
    let (mut causes, mut alike) = (Vec::new(), 0);
    for (row, is_slow) in kin {
        let Operation::Transfer { from: other_from, to: other_to, engine: by, both_ways: both } =
            &row.measured.operation
        else {
            continue;
        };
        let is_same_way = (from, to) == (other_from, other_to);
        if !is_same_way && (from, to) != (other_to, other_from) {
            continue;
        }
        let cause = match (is_same_way, engine == by, both_ways == both) {
            (true, true, true) => continue,
            (true, false, true) => {
                format!("it is {}: by {} it is not slow", words(*engine), words(*by))
            }
            (false, true, true) => "it is this direction: the other one is not slow".to_owned(),
            (_, true, false) if *both_ways => {
                "it is both directions at once: one by itself is not slow".to_owned()
            }
            _ => continue,
        };
        match is_slow {
            true => alike += 1,
            false if !causes.contains(&cause) => causes.push(cause),
            false => {}
        }
    }
    if causes.is_empty() && alike > 0 {
        causes.push(format!(
            "other copies between {from} and {to} are as slow: it is what joins them"
        ));
    }
    causes
}

fn words(engine: TransferEngine) -> &'static str {
    match engine {
        TransferEngine::CopyEngine => "the copy engine",
        TransferEngine::KernelRead => "a kernel that reads",
        TransferEngine::KernelWrite => "a kernel that writes",
        TransferEngine::NotReported => "an engine that is not named",
    }
}
