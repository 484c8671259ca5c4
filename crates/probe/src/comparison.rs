//! Two machines or generations side by side, operation by operation; and which rows are slandered.

mod causes;
mod components;
mod pairs;

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::document::ProbeDocument;
use crate::measurement::Component;
use crate::row::ProbeRow;
use fizeau_core::Verdict;
use pairs::{Pair, Paired};

/// What is below this part of the median ratio of its kin is far below it.
const SLANDERED: f64 = 0.7;
/// Fewer rows of a component say nothing of one another.
const FEWEST: usize = 3;

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
    /// The parts of a machine that as a whole are far below the others on one side.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slandered_components: Vec<ComponentSlander>,
}

/// A part of a machine that is far below the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComponentSlander {
    /// Which part.
    pub component: Component,
    /// On which side: `a` or `b`.
    pub side: String,
    /// How many times as fast the second is in the median of this part's rows.
    pub ratio: f64,
    /// The same in the median over all parts.
    pub usual_ratio: f64,
    /// What may be the cause: what is kept of more than half of its rows on this side alone; empty where nothing that is kept explains it.
    pub causes: Vec<String>,
}

/// One operation on both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComparedRow {
    /// Which operation; where both measured it on all of their threads and beyond their caches, but not with the same sizes and threads,
    /// with those of both: `triad, ordinary stores, f64: 384 MiB on 2 threads beside 1.5 GiB on 96 threads`.
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
    /// What `b` does beside `a`. Of several rows of one operation, as of a tool that tries many kernels, the fastest speaks. What no row of
    /// the other has in the same size and on as many threads is held against what that has of it on all of its threads, and the largest
    /// size beyond its caches.
    #[must_use]
    pub fn of(a: &ProbeDocument, b: &ProbeDocument) -> Self {
        let Paired { pairs, only_a, only_b } = pairs::paired(a, b);
        let usual = components::usual(&pairs);
        let kin = |component: Component| {
            components::median(&pairs, component, FEWEST).or(usual).unwrap_or(1.0)
        };
        let side = |pair: &Pair<'_>| Side::slow(pair.seen.ratio / kin(pair.seen.component));
        let sides: Vec<Option<Side>> = pairs.iter().map(side).collect();
        let rows = pairs.iter().zip(&sides).map(|(pair, side)| {
            let mut seen = pair.seen.clone();
            seen.slandered = side.map(|side| {
                let kin = pairs.iter().zip(&sides).map(|(kin, of)| (kin.row, *of == Some(side)));
                let causes = pair.causes(side, a, b).into_iter().map(|cause| cause.words);
                let causes = causes.chain(causes::of_copies(pair.row, kin)).collect();
                Slander { side: side.as_str().to_owned(), causes }
            });
            seen
        });
        Self {
            schema: COMPARISON.to_owned(),
            rows: rows.collect(),
            only_a,
            only_b,
            slandered_components: components::slandered(&pairs, a, b),
        }
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
