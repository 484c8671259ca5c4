//! Which configuration to take for the goals.

use fizeau_metrics::{Goal, Slo};

use super::{Variant, WhatIf, letter};
use crate::number::number;
use crate::{GoalResult, LevelReport, OperatingPoint, Tail};

/// Where a configuration is to run: its level within the goals.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen<'a> {
    /// Which configuration.
    pub(crate) variant: usize,
    pub(crate) level: &'a LevelReport,
    /// Output tokens per second and device there.
    pub(crate) per_device: f64,
}

impl Chosen<'_> {
    /// Load, requests/s, output tokens/s, those of a device, and the tails of TTFT, TPOT and E2EL in milliseconds.
    pub(crate) fn cells(&self) -> [String; 7] {
        let summary = &self.level.summary;
        let ms = |of| Tail::of(of).map_or_else(|| "-".to_owned(), |tail| number(tail.ms()));
        [
            self.level.load.to_string(),
            number(summary.throughput.requests_per_s.get()),
            number(summary.throughput.output_tokens_per_s.get()),
            number(self.per_device),
            ms(&summary.metrics.ttft),
            ms(&summary.metrics.tpot),
            ms(&summary.metrics.e2el),
        ]
    }
}

impl WhatIf {
    /// Where each configuration is to run, in order; those that have no such level are left out.
    pub(crate) fn chosen(&self) -> Vec<Chosen<'_>> {
        let chosen = |(variant, of): (usize, &'_ Variant)| {
            let sweep = self.variants.get(variant)?.sweep()?;
            let level = sweep.levels().get(sweep.operating_point().level()?)?;
            Some(Chosen { variant, level, per_device: of.per_device(level) })
        };
        self.variants.iter().enumerate().filter_map(chosen).collect()
    }

    /// Which configuration gives most within the goals, in a sentence.
    #[must_use]
    pub fn answer(&self) -> String {
        let Some(slo) = &self.slo else {
            return "No goal was given, so none is best: see the frontier of all.".to_owned();
        };
        let chosen = self.chosen();
        // Of equals the first.
        let by_throughput =
            |a: &&Chosen<'_>, b: &&Chosen<'_>| a.per_device.total_cmp(&b.per_device);
        let Some(best) = chosen.iter().rev().max_by(by_throughput) else {
            return format!("No configuration meets {}.", words(slo));
        };
        let what = format!(
            "{} gives the most output tokens/s a device within {}: {} at {}",
            self.called(best.variant),
            words(slo),
            number(best.per_device),
            best.level.load.words(),
        );
        match chosen.first() {
            Some(first) if first.variant != best.variant => format!(
                "{what}, {} times {} ({} at {}).",
                number(best.per_device / first.per_device),
                self.called(first.variant),
                number(first.per_device),
                first.level.load.words(),
            ),
            _ => format!("{what}."),
        }
    }

    /// A configuration in a sentence: `B (tp 2)`.
    fn called(&self, variant: usize) -> String {
        let name = self.variants.get(variant).map(Variant::name).unwrap_or_default();
        format!("{} ({name})", letter(variant))
    }

    /// What is to be said of each configuration that has no level within the goals.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let remark = |(index, variant): (usize, &Variant)| {
            let said = match &variant.outcome {
                Err(reason) => format!("cannot run: {reason}"),
                Ok(sweep) => match sweep.operating_point() {
                    OperatingPoint::Met { .. } | OperatingPoint::NoGoal => return None,
                    missed => {
                        let goals: Vec<String> =
                            missed.goals().iter().map(GoalResult::words).collect();
                        let goals = goals.join("; ");
                        let words = missed.words(sweep.levels());
                        if goals.is_empty() { words } else { format!("{words} ({goals})") }
                    }
                },
            };
            Some(format!("{}: {said}", letter(index)))
        };
        self.variants.iter().enumerate().filter_map(remark).collect()
    }
}

impl WhatIf {
    /// What each configuration was asked, as far as all were asked the same.
    pub(crate) fn load_words(&self) -> String {
        let of = &self.setup.workload;
        let sweeps =
            || self.variants.iter().filter_map(Variant::sweep).map(|sweep| &sweep.setup().workload);
        let same_input = sweeps().all(|workload| workload.input_tokens == of.input_tokens);
        let same_output = sweeps().all(|workload| workload.output_tokens == of.output_tokens);
        let mut words = vec![of.dataset.clone()];
        words.extend(same_input.then(|| format!("{} tokens in", of.input_tokens)));
        words.extend(same_output.then(|| format!("{} tokens out", of.output_tokens)));
        words.push(of.arrivals.clone());
        words.join(", ")
    }
}

/// The goals as they were given.
pub(crate) fn words(slo: &Slo) -> String {
    let goals: Vec<String> = slo.goals().iter().map(Goal::describe).collect();
    goals.join(", ")
}
