//! Parts of a machine that are far below the others as a whole, where no row of them is far below its kin.

use super::causes::CauseKind;
use super::pairs::Pair;
use super::{ComponentSlander, FEWEST, Side};
use crate::document::ProbeDocument;
use crate::measurement::Component;
use crate::statistics::Sorted;

/// The median ratio of a component's rows, of which there are so many at least.
pub(super) fn median(pairs: &[Pair<'_>], component: Component, least: usize) -> Option<f64> {
    let own = pairs.iter().filter(|pair| pair.seen.component == component);
    let ratios = own.map(|pair| pair.seen.ratio);
    let is_enough = ratios.clone().count() >= least;
    Sorted::of(ratios).median().filter(|_| is_enough)
}

/// The median of the components' medians, each counted once, however many rows it has.
pub(super) fn usual(pairs: &[Pair<'_>]) -> Option<f64> {
    let of = |component: &Component| median(pairs, *component, 1);
    let mut medians: Vec<f64> = Component::ALL.iter().filter_map(of).collect();
    if medians.len() == 2 {
        // Of two the odd one is that which is farther from machines that are alike.
        medians.push(1.0);
    }
    Sorted::of(medians.into_iter()).median()
}

/// One finding for each component that is far below the others. Of fewer rows each is a finding of its own.
pub(super) fn slandered(
    pairs: &[Pair<'_>],
    a: &ProbeDocument,
    b: &ProbeDocument,
) -> Vec<ComponentSlander> {
    let Some(usual_ratio) = usual(pairs) else { return Vec::new() };
    let found = Component::ALL.into_iter().filter_map(|component| {
        let ratio = median(pairs, component, FEWEST)?;
        let side = Side::slow(ratio / usual_ratio)?;
        let causes = common_causes(pairs, component, side, (a, b));
        Some(ComponentSlander {
            component,
            side: side.as_str().to_owned(),
            ratio,
            usual_ratio,
            causes,
        })
    });
    found.collect()
}

/// Those of more than half of the component's rows, each in the words of its first.
fn common_causes(
    pairs: &[Pair<'_>],
    component: Component,
    side: Side,
    (a, b): (&ProbeDocument, &ProbeDocument),
) -> Vec<String> {
    let mut found: Vec<(CauseKind, String, usize)> = Vec::new();
    let own = || pairs.iter().filter(|pair| pair.seen.component == component);
    for cause in own().flat_map(|pair| pair.causes(side, a, b)) {
        match found.iter_mut().find(|(kind, ..)| *kind == cause.kind) {
            Some((.., count)) => *count += 1,
            None => found.push((cause.kind, cause.words, 1)),
        }
    }
    let rows = own().count();
    let common = found.into_iter().filter(|(.., count)| 2 * count > rows);
    common.map(|(_, words, _)| words).collect()
}
