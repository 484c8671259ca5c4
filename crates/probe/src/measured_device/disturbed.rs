//! That limits were measured while the machine had other work.

use super::{arithmetic_of, memory};
use crate::device::DeviceFacts;
use crate::document::ProbeDocument;
use crate::judge::ProbeRule;
use crate::row::ProbeRow;

/// What whoever takes the figures for a limit must know: how much of its processors others had during the measurements that they may be
/// from, at the worst.
pub(super) fn note(document: &ProbeDocument, facts: &DeviceFacts) -> Option<String> {
    let is_limit =
        |row: &&ProbeRow| memory::is_measured(row, facts) || arithmetic_of(row).is_some();
    let own = document.rows.iter().filter(|row| row.measured.device == facts.name);
    let shares = own.filter(is_limit).filter_map(taken);
    let worst = shares.max_by(f64::total_cmp)?;
    Some(format!(
        "measured while others had up to {:.0} % of its processors' time: these limits may be too low; measure again where nothing else is at work",
        100.0 * worst
    ))
}

/// Which part of the processors a hypervisor gave to others and other programs took, where the row is suspect for it.
fn taken(row: &ProbeRow) -> Option<f64> {
    let is_for_it = |rule| matches!(rule, ProbeRule::Steal | ProbeRule::Busy);
    let around = &row.measured.circumstances;
    let shares = [around.steal_share, around.others_share];
    row.objections
        .iter()
        .any(|objection| is_for_it(objection.rule))
        .then(|| shares.into_iter().flatten().sum())
}
