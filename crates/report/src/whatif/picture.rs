//! A what-if as a chart: each configuration a line through its levels.

use super::text::tail;
use crate::Shown;
use crate::pictures::{Families, Family, Member};
use fizeau_record::LevelReport;
use fizeau_record::{VariantLevel, WhatIf, WhatIfVariant, variant_letter as letter};

#[expect(
    clippy::redundant_closure_for_method_calls,
    reason = "a method's path is of one lifetime only"
)]
impl Shown<'_, WhatIf> {
    /// The content of `chart.svg`: each configuration's levels, throughput against latency, light and dark, with its key. None where
    /// nothing can be drawn, since no configuration ran.
    #[must_use]
    pub fn chart(&self) -> Option<String> {
        self.drawn(|families| families.file())
    }

    /// The chart for a wide page and for a narrow one.
    #[cfg(feature = "html")]
    pub(super) fn charts(&self) -> Option<(String, String)> {
        self.drawn(|families| families.inline())
    }

    fn drawn<T>(&self, draw: impl FnOnce(&Families<'_>) -> Option<T>) -> Option<T> {
        let families = self.variants().iter().enumerate().filter_map(|(i, of)| self.family(i, of));
        let families: Vec<Family> = families.collect();
        let latency = if self.has_stand_ins() { "p99 E2EL (or the greatest)" } else { "p99 E2EL" };
        draw(&Families {
            families: &families,
            subtitle: format!("{}, simulated", self.title()),
            throughput: "Output tokens per second and device",
            latency,
        })
    }

    fn family(&self, index: usize, variant: &WhatIfVariant) -> Option<Family> {
        let chosen = variant.sweep()?.operating_point().level();
        let member = |(level, report): (usize, &LevelReport)| {
            Some(Member {
                throughput: variant.per_device(report),
                latency_ms: tail(report)?.ms(),
                best: self.frontier().contains(&VariantLevel { variant: index, level }),
                chosen: chosen == Some(level),
            })
        };
        let members: Vec<Member> = variant.compared().filter_map(member).collect();
        let (label, name) = (letter(index), variant.name());
        (!members.is_empty()).then_some(Family { label, name, index, members })
    }
}
