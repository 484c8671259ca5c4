//! Which rows of two machines are held against each other.

use super::causes::{Cause, causes};
use super::{ComparedFault, ComparedRow, Side, fastest};
use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::measured_device::is_beyond_caches;
use crate::measurement::{Operation, size};
use crate::row::ProbeRow;

/// A row of the first machine beside one of the second.
pub(super) struct Pair<'a> {
    pub(super) row: &'a ProbeRow,
    pub(super) other: &'a ProbeRow,
    pub(super) seen: ComparedRow,
}

/// What two machines have in common, and the subjects of what they have not.
pub(super) struct Paired<'a> {
    pub(super) pairs: Vec<Pair<'a>>,
    pub(super) only_a: Vec<String>,
    pub(super) only_b: Vec<String>,
}

impl Pair<'_> {
    /// What may be the cause that it is slow on that side.
    pub(super) fn causes(&self, side: Side, a: &ProbeDocument, b: &ProbeDocument) -> Vec<Cause> {
        match side {
            Side::A => causes((self.row, a), (self.other, b)),
            Side::B => causes((self.other, b), (self.row, a)),
        }
    }
}

/// In the order of `a`.
pub(super) fn paired<'a>(a: &'a ProbeDocument, b: &'a ProbeDocument) -> Paired<'a> {
    let (own, others) = (fastest(a), fastest(b));
    let subject = |row: &&ProbeRow| row.measured.subject();
    let subjects = others.iter().map(subject).collect::<Vec<_>>();
    let exact = own.iter().map(|row| {
        let subject = row.measured.subject();
        let alike = (0..others.len()).filter(|at| subjects[*at] == subject);
        on_like_device(row, &own, &others, &alike.collect::<Vec<_>>())
    });
    let mut twins: Vec<Option<usize>> = exact.collect();
    let unlike = unlike(&twins, (&own, &largest(&own, a)), (&others, &largest(&others, b)));
    let mut subjects_of_unlike = vec![None; own.len()];
    for (at, other) in unlike {
        twins[at] = Some(other);
        subjects_of_unlike[at] = Some(both_sizes(own[at], others[other]));
    }
    // Where a machine has several devices, a line says whose it is.
    let is_of_many = own.iter().any(|row| row.measured.device != own[0].measured.device);
    let pair = |((row, other), subject): ((&&'a ProbeRow, &Option<usize>), Option<String>)| {
        let (row, other) = (*row, others[(*other)?]);
        let subject = subject.unwrap_or_else(|| row.measured.subject());
        let subject = match is_of_many {
            true => format!("{}: {subject}", row.measured.device),
            false => subject,
        };
        Some(Pair { row, other, seen: compared(row, other, subject)? })
    };
    let pairs = own.iter().zip(&twins).zip(subjects_of_unlike).filter_map(pair).collect();
    let alone = own.iter().zip(&twins).filter(|(_, twin)| twin.is_none());
    let is_left = |at: &usize| !twins.contains(&Some(*at));
    let only_b = (0..others.len()).filter(is_left).map(|at| others[at].measured.subject());
    Paired {
        pairs,
        only_a: alone.map(|(row, _)| row.measured.subject()).collect(),
        only_b: only_b.collect(),
    }
}

/// Of the rows `alike` of `others` the one on the device of the name of `row`'s, else on one that `own` has not.
fn on_like_device(
    row: &ProbeRow,
    own: &[&ProbeRow],
    others: &[&ProbeRow],
    alike: &[usize],
) -> Option<usize> {
    let device = |at: usize| &others[at].measured.device;
    let is_foreign = |at: &usize| own.iter().all(|row| row.measured.device != *device(*at));
    let same = alike.iter().copied().find(|at| *device(*at) == row.measured.device);
    same.or_else(|| alike.iter().copied().find(is_foreign))
}

/// The places of rows that no row of the other machine is exactly like, both the largest of their kind.
fn unlike(
    twins: &[Option<usize>],
    (own, own_kinds): (&[&ProbeRow], &[Option<String>]),
    (others, other_kinds): (&[&ProbeRow], &[Option<String>]),
) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (at, kind) in own_kinds.iter().enumerate() {
        if kind.is_none() || twins[at].is_some() {
            continue;
        }
        let is_free = |other: &usize| {
            !twins.contains(&Some(*other)) && found.iter().all(|(_, taken)| taken != other)
        };
        let alike = (0..others.len()).filter(|other| other_kinds[*other] == *kind).filter(is_free);
        let alike: Vec<usize> = alike.collect();
        let other = on_like_device(own[at], own, others, &alike);
        found.extend(other.map(|other| (at, other)));
    }
    found
}

/// Of each of `rows` its kind, where it is what its device has of that on all threads, with the largest size beyond its caches.
fn largest(rows: &[&ProbeRow], document: &ProbeDocument) -> Vec<Option<String>> {
    let all_threads = |device: &str| {
        let on = rows.iter().filter(|row| row.measured.device == device);
        on.filter_map(|row| row.measured.method.threads).max()
    };
    let kind = |row: &&ProbeRow| {
        let seen = &row.measured;
        let facts = document.devices.iter().find(|facts| facts.name == seen.device);
        let unknown = DeviceFacts::default();
        // One thread by itself follows pointers, however many there are.
        let is_latency = matches!(seen.operation, Operation::Latency { .. });
        let is_whole = is_latency || seen.method.threads == all_threads(&seen.device);
        let has_size = seen.operation.working_set().is_some();
        let is_memory = !has_size || is_beyond_caches(row, facts.unwrap_or(&unknown));
        (is_whole && is_memory).then(|| seen.kind())
    };
    let kinds: Vec<Option<String>> = rows.iter().map(kind).collect();
    let bytes =
        |at: usize| rows[at].measured.operation.working_set().map_or(0.0, fizeau_core::Bytes::get);
    let is_largest = |at: usize| {
        let is_alike = |other: &usize| {
            kinds[*other] == kinds[at] && rows[*other].measured.device == rows[at].measured.device
        };
        (0..rows.len()).filter(is_alike).all(|other| bytes(other) <= bytes(at))
    };
    (0..rows.len()).map(|at| kinds[at].clone().filter(|_| is_largest(at))).collect()
}

/// The subject of rows that differ in their sizes or their threads.
fn both_sizes(row: &ProbeRow, other: &ProbeRow) -> String {
    let told = |row: &ProbeRow| {
        let bytes = row.measured.operation.working_set().map(size);
        let threads = row.measured.threads();
        let parts: Vec<String> = bytes.into_iter().chain(threads).collect();
        parts.join(" on ")
    };
    format!("{}: {} beside {}", row.measured.kind(), told(row), told(other))
}

fn compared(a: &ProbeRow, b: &ProbeRow, subject: String) -> Option<ComparedRow> {
    let [from, to] = a.speeds_beside(b)?;
    let ends = from.typical_ci.zip(to.typical_ci);
    let faults = [("a", a), ("b", b)].into_iter().filter_map(|(side, row)| {
        let reason = row.fault()?.reason.clone();
        Some(ComparedFault { side: side.to_owned(), reason })
    });
    Some(ComparedRow {
        subject,
        component: a.measured.operation.component(),
        ratio: to.typical / from.typical,
        ratio_ci: ends.map(|(from, to)| [to[0] / from[1], to[1] / from[0]]),
        faults: faults.collect(),
        slandered: None,
    })
}
