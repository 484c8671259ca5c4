//! What is said of several levels at once: reasons against them, notes, failures, each text once.

use std::collections::BTreeMap;

use crate::Shown;
use crate::grouped::{GroupedReason, grouped};
use crate::text::{Verbosity, VerdictNotes, shown};
use fizeau_core::{FailureClass, LevelLoad};
use fizeau_metrics::Verdict;
use fizeau_record::LevelReport;
use fizeau_record::SweepReport;
use fizeau_record::text::listed;

impl<'a> Shown<'a, SweepReport> {
    /// Every reason against a run, each said once, with the loads of the runs that it applies to. Of what was measured
    /// beyond the speed of light, that which is furthest beyond speaks for all.
    pub(crate) fn reasons(&self) -> Vec<GroupedReason<'a, LevelLoad>> {
        let beyond = self.beyond_light();
        let of = |level: &'a LevelReport| {
            let load = level.load;
            let reasons =
                level.validity.reasons.iter().filter(|reason| reason.verdict != Verdict::Valid);
            reasons.map(move |reason| {
                let verdict = self.verdict_beside_others(level, reason.verdict);
                match beyond {
                    Some(furthest) if level.is_of_light(reason) => (load, verdict, furthest),
                    _ => (load, verdict, reason.text.as_str()),
                }
            })
        };
        grouped(self.0.measured_runs().flat_map(of))
    }

    /// The reason against the level that is furthest beyond the speed of light; none if none is.
    fn beyond_light(&self) -> Option<&'a str> {
        let times =
            |level: &LevelReport| level.speed_of_light.violation().map(|violation| violation.times);
        let beyond = self.0.measured_runs().filter_map(|level| Some((times(level)?, level)));
        let (_, furthest) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut reasons = furthest.validity.reasons.iter();
        reasons.find(|reason| furthest.is_of_light(reason)).map(|reason| reason.text.as_str())
    }

    /// What could not be checked, and what else is worth knowing: each kind of note once, with the loads of its levels where it is
    /// of what a server did there, or has other figures elsewhere. What a server did there, what was sent again, a level that
    /// gave less than its neighbours, and one whose load was never there, are findings.
    pub(crate) fn level_notes(&self, verbosity: Verbosity) -> VerdictNotes {
        let levels = self.0.levels().iter();
        let told: Vec<String> = levels.clone().flat_map(LevelReport::finding_notes).collect();
        let all = levels.flat_map(|level| {
            let notes = level.validity.notes.iter();
            notes.map(|note| (level.load, Verdict::Valid, note.as_str()))
        });
        let is_told =
            |note: &GroupedReason<'_, LevelLoad>| told.iter().any(|told| told == note.text);
        let words = |note: GroupedReason<'_, LevelLoad>| {
            let text = shown(note.text, verbosity);
            match note.figures_of.is_some() || is_told(&note) {
                true => format!("{text} (at {})", note.at()),
                false => text.to_owned(),
            }
        };
        let (findings, notes): (Vec<_>, Vec<_>) = grouped(all).into_iter().partition(is_told);
        VerdictNotes {
            findings: findings
                .into_iter()
                .map(words)
                .chain(self.0.dips())
                .chain(self.0.never_full_words())
                .collect(),
            notes: notes.into_iter().map(words).collect(),
        }
    }

    /// That the run was called off; the lines of what failed, by class, and of what the client cancelled, each with the loads of the levels that had some.
    pub(crate) fn failure_lines(&self) -> Vec<String> {
        let mut all: BTreeMap<FailureClass, (u64, Vec<String>)> = BTreeMap::new();
        for run in self.0.measured_runs() {
            for (class, count) in &run.summary.requests.by_class {
                let ((all, labels), label) = (all.entry(*class).or_default(), self.label(run.load));
                *all += count;
                if labels.last() != Some(&label) {
                    labels.push(label);
                }
            }
        }
        let cancelled = all.remove(&FailureClass::Cancelled);
        let cancelled =
            cancelled.map(|(n, at)| format!("Cancelled by the client: {n} (at {})", listed(&at)));
        let words = |(class, (n, at)): (FailureClass, (u64, Vec<String>))| {
            format!("{class} {n} (at {})", listed(&at))
        };
        let failed: Vec<String> = all.into_iter().map(words).collect();
        let failed = (!failed.is_empty()).then(|| format!("Failures: {}", failed.join(", ")));
        let called_off = self.0.ending().reason().map(str::to_owned);
        called_off.into_iter().chain(failed).chain(cancelled).collect()
    }

    /// Why there is no speed of light, if there is none at any level: each reason once.
    pub(crate) fn speed_of_light_reasons(&self) -> Vec<&'a str> {
        let levels = self.0.levels().iter();
        fizeau_core::distinct(levels.filter_map(|level| level.speed_of_light.reason()))
    }
}
