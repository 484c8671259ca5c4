//! A what-if as a chart: each configuration a line through its levels.

use super::text::tail;
use super::{Spot, Variant, WhatIf, letter};
use crate::LevelReport;
use crate::chart::{Family, FamilyChart, Member, Size, chart_style};
use crate::number::{duration_ms, number};

/// Colours that the style sheet has; further configurations begin again.
const COLOURS: usize = 8;

impl WhatIf {
    /// The content of `chart.svg`: the chart of the page as a file of its own, light and dark, with its key. None where nothing
    /// can be drawn, since no configuration ran.
    #[must_use]
    pub fn chart(&self) -> Option<String> {
        self.drawn(|chart| chart.draw_alone(&chart_style()))
    }

    /// The chart for a wide page and for a narrow one.
    #[cfg(feature = "html")]
    pub(super) fn charts(&self) -> Option<(String, String)> {
        self.drawn(|chart| (chart.draw(Size::Wide), chart.draw(Size::Narrow)))
    }

    fn drawn<T>(&self, draw: impl FnOnce(&FamilyChart<'_>) -> T) -> Option<T> {
        let families = self.variants.iter().enumerate().filter_map(|(i, of)| self.family(i, of));
        let families: Vec<Family> = families.collect();
        let latency = if self.has_stand_ins() { "p99 E2EL (or greatest)" } else { "p99 E2EL" };
        let chart = FamilyChart {
            families: &families,
            throughput: "Output tokens per second and device",
            latency,
            marks: "Large dots: no level of any configuration beats them. Rings: the most within the goals.",
            description: "Each configuration is a line through its levels; large dots are on the frontier of all.",
        };
        (!families.is_empty()).then(|| draw(&chart))
    }

    fn family(&self, index: usize, variant: &Variant) -> Option<Family> {
        let chosen = variant.sweep()?.operating_point().level();
        let member = |(level, report): (usize, &LevelReport)| {
            let tail = tail(report)?;
            let throughput = variant.per_device(report);
            let tip = format!(
                "{} {} at {}: {} output tokens/s a device, p99 E2EL {}",
                letter(index),
                variant.name(),
                report.load.words(),
                number(throughput),
                duration_ms(tail.ms())
            );
            let best = self.frontier.contains(&Spot { variant: index, level });
            let latency_ms = tail.ms();
            Some(Member { throughput, latency_ms, tip, best, chosen: chosen == Some(level) })
        };
        let members: Vec<Member> = variant.compared().filter_map(member).collect();
        let (label, name) = (letter(index), variant.name());
        (!members.is_empty()).then(|| Family { class: class(index), label, name, members })
    }
}

/// The class that gives a configuration its colour.
pub(super) fn class(index: usize) -> String {
    format!("f{}", index % COLOURS)
}
