//! Series that say the same as others of their metric.

use std::collections::BTreeMap;

use crate::exposition::{Labels, SeriesName};

/// Which series of an SGLang metric are counted: each scheduler of a deployment may tell of the one batch that they all work on
/// (labels `pp_rank`, `tp_rank`), and a total (`priority=""`) stands beside its parts by priority.
pub(super) struct Copies<'a> {
    /// Of each engine the ranks of its first scheduler.
    first: BTreeMap<Option<&'a str>, Ranks>,
    has_total: bool,
}

/// Those of the pipeline and of tensors.
type Ranks = [Option<u32>; 2];

impl<'a> Copies<'a> {
    /// Among the series of one metric.
    pub(super) fn among(names: impl Iterator<Item = &'a SeriesName>) -> Self {
        let (mut first, mut totals, mut parts) = (BTreeMap::new(), 0, 0);
        for SeriesName { labels, .. } in names {
            let ranks = ranks(labels);
            let lowest: &mut Ranks = first.entry(labels.get("dp_rank")).or_insert(ranks);
            *lowest = ranks.min(*lowest);
            *if is_total(labels) { &mut totals } else { &mut parts } += 1;
        }
        Self { first, has_total: totals > 0 && parts > 0 }
    }

    /// Whether the series says what another one says, or a part of it.
    pub(super) fn has(&self, SeriesName { labels, .. }: &SeriesName) -> bool {
        let first = self.first.get(&labels.get("dp_rank"));
        let is_first = first.is_none_or(|first| *first == ranks(labels));
        !is_first || (self.has_total && !is_total(labels))
    }
}

fn ranks(labels: &Labels) -> Ranks {
    ["pp_rank", "tp_rank"].map(|label| labels.get(label)?.parse().ok())
}

fn is_total(labels: &Labels) -> bool {
    labels.get("priority").is_none_or(str::is_empty)
}
