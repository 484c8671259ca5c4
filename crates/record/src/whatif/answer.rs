//! Which configuration to take for the goals.

use super::{WhatIf, WhatIfVariant, variant_letter};
use crate::LevelReport;
use crate::text::{number, slo_words};

/// Where a configuration is to run: its level within the goals.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ChosenLevel<'a> {
    /// Which configuration.
    pub variant: usize,
    /// Its level there.
    pub level: &'a LevelReport,
    /// Output tokens per second and device there.
    pub per_device: f64,
}

impl WhatIf {
    /// Where each configuration is to run, in order; those that have no such level are left out.
    #[must_use]
    pub fn chosen(&self) -> Vec<ChosenLevel<'_>> {
        let chosen = |(variant, of): (usize, &'_ WhatIfVariant)| {
            let sweep = self.variants.get(variant)?.sweep()?;
            let level = sweep.levels().get(sweep.operating_point().level()?)?;
            Some(ChosenLevel { variant, level, per_device: of.per_device(level) })
        };
        self.variants.iter().enumerate().filter_map(chosen).collect()
    }

    /// Which configuration gives most within the goals, in a sentence.
    #[must_use]
    pub fn answer(&self) -> String {
        if !self.is_whole() {
            return "No answer: not every configuration ran to its end.".to_owned();
        }
        let Some(slo) = &self.slo else {
            return "No goal was given, so none is best: see the frontier of all.".to_owned();
        };
        let chosen = self.chosen();
        // Of equals the first.
        let by_throughput =
            |a: &&ChosenLevel<'_>, b: &&ChosenLevel<'_>| a.per_device.total_cmp(&b.per_device);
        let Some(best) = chosen.iter().rev().max_by(by_throughput) else {
            return format!("No configuration meets {}.", slo_words(slo));
        };
        let what = format!(
            "{} gives the most output tokens/s a device within {}: {} at {}",
            self.called(best.variant),
            slo_words(slo),
            number(best.per_device),
            best.level.load,
        );
        match chosen.first() {
            Some(first) if first.variant != best.variant => format!(
                "{what}, {} times {} ({} at {}).",
                number(best.per_device / first.per_device),
                self.called(first.variant),
                number(first.per_device),
                first.level.load,
            ),
            _ => format!("{what}."),
        }
    }

    /// A configuration in a sentence: `B (tp 2)`.
    fn called(&self, variant: usize) -> String {
        let name = self.variants.get(variant).map(WhatIfVariant::name).unwrap_or_default();
        format!("{} ({name})", variant_letter(variant))
    }
}
