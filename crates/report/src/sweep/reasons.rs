//! What is said of several levels at once: reasons against them, notes, failures, each text once.

use std::collections::BTreeMap;

use crate::Shown;
use fizeau_core::FailureClass;
use fizeau_metrics::Verdict;
use fizeau_record::LevelReport;
use fizeau_record::SweepReport;
use fizeau_record::text::listed;

impl<'a> Shown<'a, SweepReport> {
    /// Every reason against a level, each text once, with the loads of the levels that it applies to. Of what was measured
    /// beyond the speed of light, that which is furthest beyond speaks for all.
    pub(crate) fn reasons(&self) -> Vec<(Verdict, &'a str, Vec<String>)> {
        let mut all: Vec<(Verdict, &'a str, Vec<String>)> = Vec::new();
        let beyond = self.beyond_light();
        for level in self.0.levels() {
            let load = self.label(level.load);
            for reason in &level.validity.reasons {
                let text = match beyond {
                    Some(furthest) if level.is_of_light(reason) => furthest,
                    _ => reason.text.as_str(),
                };
                let key = (reason.verdict, text);
                match all.iter_mut().find(|known| (known.0, known.1) == key) {
                    Some(known) if known.2.contains(&load) => {}
                    Some(known) => known.2.push(load.clone()),
                    None => all.push((key.0, key.1, vec![load.clone()])),
                }
            }
        }
        // The gravest first; reasons of one weight keep their order.
        all.sort_by_key(|reason| std::cmp::Reverse(reason.0));
        all
    }

    /// The reason against the level that is furthest beyond the speed of light; none if none is.
    fn beyond_light(&self) -> Option<&'a str> {
        let times = |level: &LevelReport| level.speed_of_light.excess().map(|excess| excess.times);
        let beyond = self.0.levels().iter().filter_map(|level| Some((times(level)?, level)));
        let (_, furthest) = beyond.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let mut reasons = furthest.validity.reasons.iter();
        reasons.find(|reason| furthest.is_of_light(reason)).map(|reason| reason.text.as_str())
    }

    /// What could not be checked, and what else is worth knowing: each note once.
    pub(crate) fn level_notes(&self) -> Vec<&'a str> {
        let mut notes: Vec<&'a str> = Vec::new();
        for note in self.0.levels().iter().flat_map(|level| &level.validity.notes) {
            if !notes.contains(&note.as_str()) {
                notes.push(note);
            }
        }
        notes
    }

    /// Each class of failure, with the loads of the levels that had one.
    pub(crate) fn failures(&self) -> Vec<String> {
        let mut all: BTreeMap<FailureClass, Vec<String>> = BTreeMap::new();
        for level in self.0.levels() {
            for class in level.summary.requests.by_class.keys() {
                let loads = all.entry(*class).or_default();
                loads.push(self.label(level.load));
            }
        }
        let words = |(class, loads): (FailureClass, Vec<String>)| {
            format!("{class} (at {})", listed(&loads))
        };
        all.into_iter().map(words).collect()
    }

    /// Why there is no speed of light, if there is none at any level: each reason once.
    pub(crate) fn speed_of_light_reasons(&self) -> Vec<&'a str> {
        let mut reasons: Vec<&'a str> = Vec::new();
        for reason in self.0.levels().iter().filter_map(|level| level.speed_of_light.reason()) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        reasons
    }
}
