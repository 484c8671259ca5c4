//! What may be the cause that a row is far below its kin.

use crate::document::ProbeDocument;
use crate::judge::{Objection, ProbeRule};
use crate::measurement::{Operation, TransferEngine, memory_of};
use crate::row::ProbeRow;

/// What may be a cause.
pub(super) struct Cause {
    pub(super) kind: CauseKind,
    /// With its figures, as a clause.
    pub(super) words: String,
}

/// Causes of one kind are the same, whatever their figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CauseKind {
    Objection(ProbeRule),
    Clock,
    Pages,
    Hypervisor,
}

/// What is kept of the slow row that the fast one does not have, `slow` and `fast` each with its machine.
pub(super) fn causes(
    slow: (&ProbeRow, &ProbeDocument),
    fast: (&ProbeRow, &ProbeDocument),
) -> Vec<Cause> {
    let ((slow, machine), (fast, other_machine)) = (slow, fast);
    let is_new = |own: &&Objection| fast.objections.iter().all(|other| other.rule != own.rule);
    let objections = slow.objections.iter().filter(is_new);
    let mut causes: Vec<Cause> = objections
        .map(|own| Cause { kind: CauseKind::Objection(own.rule), words: own.reason.clone() })
        .collect();
    let mut add = |kind, words| causes.push(Cause { kind, words });
    let clock = |row: &ProbeRow| row.measured.circumstances.clock_after;
    if let (Some(slow_clock), Some(fast_clock)) = (clock(slow), clock(fast)) {
        let part = slow_clock / fast_clock;
        if part < 0.9 {
            let words = format!("its clock was {:.0} % of the other's", 100.0 * part);
            add(CauseKind::Clock, words);
        }
    }
    let huge = |row: &ProbeRow| {
        row.measured.method.pages.and_then(|pages| pages.huge).map(fizeau_core::Bytes::get)
    };
    if huge(slow) == Some(0.0) && huge(fast).is_some_and(|bytes| bytes > 0.0) {
        add(CauseKind::Pages, "its arrays lay in no huge pages".to_owned());
    }
    if let Some(hypervisor) = &machine.host.hypervisor
        && other_machine.host.hypervisor.is_none()
    {
        add(CauseKind::Hypervisor, format!("it is {hypervisor}, and the other is none"));
    }
    causes
}

/// Of a copy between memories, what the other copies between the same two say of it: whether it is this engine, this direction or
/// both at once that is slow, or whatever was measured, which is then the link. Each of `kin` comes with whether it is slow on the same side.
pub(super) fn of_copies<'a>(
    slow: &ProbeRow,
    kin: impl Iterator<Item = (&'a ProbeRow, bool)>,
) -> Vec<String> {
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
        let own = (from.as_str(), memory_of(to));
        let other = (other_from.as_str(), memory_of(other_to));
        let is_same_way = own == other;
        if !is_same_way && own != (other.1, other.0) {
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
        TransferEngine::CopyEngineRead => "the copy engine of the side that reads",
        TransferEngine::CopyEngineWrite => "the copy engine of the side that writes",
        TransferEngine::KernelRead => "a kernel that reads",
        TransferEngine::KernelWrite => "a kernel that writes",
        TransferEngine::NotReported => "an engine that is not named",
    }
}
