//! Which configuration to take for the goals.

use fizeau_pareto::LoadEdge;

use super::{WhatIf, WhatIfVariant, variant_letter};
use crate::LevelReport;
use crate::text::{listed, number, slo_words};

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
    /// Whether it is the highest load that was tested: a higher one may give more within the goals.
    pub is_highest_tested: bool,
}

impl WhatIf {
    /// Where each configuration is to run, in order; those that have no such level are left out.
    #[must_use]
    pub fn chosen(&self) -> Vec<ChosenLevel<'_>> {
        let chosen = |(variant, of): (usize, &'_ WhatIfVariant)| {
            let sweep = self.variants.get(variant)?.sweep()?;
            let at = sweep.operating_point().level()?;
            let level = sweep.levels().get(at)?;
            let decision = sweep.decisions().first()?.foremost();
            let is_highest_tested = matches!(
                &decision.maximum.edge,
                Ok(LoadEdge::Beyond(found)) if found.level == at
            );
            let per_device = of.per_device(level);
            Some(ChosenLevel { variant, level, per_device, is_highest_tested })
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
        let given = |of: &ChosenLevel<'_>| {
            let least = if of.is_highest_tested { "at least " } else { "" };
            format!("{least}{} at {}", number(of.per_device), of.level.load)
        };
        let what = format!(
            "{} gives the most output tokens/s a device within {}: {}",
            self.called(best.variant),
            slo_words(slo),
            given(best),
        );
        let ratio = match chosen.first() {
            Some(first) if first.variant != best.variant => format!(
                ", {} times {} ({})",
                number(best.per_device / first.per_device),
                self.called(first.variant),
                given(first),
            ),
            _ => String::new(),
        };
        let open = chosen.iter().filter(|of| of.is_highest_tested);
        let open: Vec<String> = open.map(|of| variant_letter(of.variant)).collect();
        let higher = match &*open {
            [] => String::new(),
            open => format!(
                " The highest load tested keeps the goals on {}: test higher loads.",
                listed(open)
            ),
        };
        format!("{what}{ratio}.{higher}")
    }

    /// A configuration in a sentence: `B (tp 2)`.
    fn called(&self, variant: usize) -> String {
        let name = self.variants.get(variant).map(WhatIfVariant::name).unwrap_or_default();
        format!("{} ({name})", variant_letter(variant))
    }
}
