//! Which configuration to take for the goals.

use fizeau_metrics::{Goal, Slo, Verdict};

use super::{Variant, WhatIf, letter};
use crate::number::number;
use crate::words::listed;
use crate::{LevelReport, OperatingPoint, Place, SweepReport, Tail};

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
        if !self.is_whole() {
            return "No answer: not every configuration ran to its end.".to_owned();
        }
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
                Err(reason) => reason.to_string(),
                Ok(sweep) => match sweep.operating_point() {
                    OperatingPoint::Met { .. } | OperatingPoint::NoGoal => return None,
                    _ => {
                        let goals = sweep.goal_words().join("; ");
                        let words = sweep.operating_words();
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
    /// What ran, and what it was asked, as far as that is the same for all.
    pub(crate) fn load_words(&self) -> String {
        let model = self.shared(|setup| setup.endpoint.model.clone());
        let device = self.shared(|setup| setup.hardware.clone()).flatten();
        let engine = match (model, device) {
            (Some(model), Some(device)) => Some(format!("{model} on {device}")),
            (model, device) => model.or(device),
        };
        let words = [
            engine,
            self.shared(|setup| setup.workload.dataset.clone()),
            self.shared(|setup| format!("{} tokens in", setup.workload.input_tokens)),
            self.shared(|setup| format!("{} tokens out", setup.workload.output_tokens)),
            self.shared(|setup| setup.workload.arrivals.clone()),
            self.shared(|setup| format!("seed {}", setup.workload.seed_words())),
        ];
        words.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// How many configurations, in words.
    pub(crate) fn how_many(&self) -> String {
        match self.variants.len() {
            1 => "1 configuration".to_owned(),
            many => format!("{many} configurations"),
        }
    }

    /// What speaks against the figures: the verdict and its reasons, and what is therefore on no frontier. Nothing where all is
    /// valid.
    pub(crate) fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        for (letter, sweep) in self.lettered() {
            for (level, place) in sweep.placed() {
                if let Place::LeftOut { reason } = place {
                    doubts
                        .push(format!("! left out: {letter} at {} ({reason})", level.load.words()));
                }
            }
        }
        if self.verdict() == Verdict::Valid {
            return doubts;
        }
        doubts.push(format!("Verdict: {}", self.verdict().as_str()));
        for (letter, sweep) in self.lettered() {
            for (verdict, text, loads) in sweep.reasons() {
                let own = format!("! left out: {letter} at ");
                let is_said =
                    doubts.iter().any(|doubt| doubt.starts_with(&own) && doubt.contains(text));
                if verdict != Verdict::Valid && !is_said {
                    let (verdict, loads) = (verdict.as_str(), listed(&loads));
                    doubts.push(format!("  {letter} {verdict}: {text} (at {loads})"));
                }
            }
        }
        doubts
    }

    /// Each sweep with the letter of its configuration.
    fn lettered(&self) -> impl Iterator<Item = (String, &SweepReport)> {
        let variants = self.variants.iter().enumerate();
        variants.filter_map(|(index, variant)| Some((letter(index), variant.sweep()?)))
    }
}

/// The goals as they were given.
pub(crate) fn words(slo: &Slo) -> String {
    let goals: Vec<String> = slo.goals().iter().map(Goal::describe).collect();
    goals.join(", ")
}
