//! Reasons that hold at many places, each said once.

use std::cmp::Ordering;

use fizeau_metrics::{Verdict, VerdictReason};
use fizeau_record::text::listed;

/// A reason with all places at which it holds.
#[derive(Debug)]
pub(crate) struct GroupedReason<'a, P> {
    pub(crate) verdict: Verdict,
    /// Its text at the place where its figures are greatest.
    pub(crate) text: &'a str,
    /// Where that is, if it reads otherwise elsewhere.
    pub(crate) figures_of: Option<P>,
    pub(crate) places: Vec<P>,
}

/// `reasons` with their places, those that differ in nothing but their figures said once. The gravest come first; reasons of one
/// weight keep their order.
pub(crate) fn grouped<'a, P: Clone + PartialEq>(
    reasons: impl IntoIterator<Item = (P, Verdict, &'a str)>,
) -> Vec<GroupedReason<'a, P>> {
    let mut all: Vec<(String, GroupedReason<'a, P>)> = Vec::new();
    for (place, verdict, text) in reasons {
        let words = words(text);
        let known = all.iter_mut().find(|(other, of)| *other == words && of.verdict == verdict);
        let Some((_, known)) = known else {
            let places = vec![place];
            all.push((words, GroupedReason { verdict, text, figures_of: None, places }));
            continue;
        };
        if known.text != text {
            let first = known.places.first();
            let of = known.figures_of.take().or_else(|| first.cloned());
            let is_greater =
                figures(text).partial_cmp(&figures(known.text)) == Some(Ordering::Greater);
            known.figures_of = if is_greater { Some(place.clone()) } else { of };
            known.text = if is_greater { text } else { known.text };
        }
        if !known.places.contains(&place) {
            known.places.push(place);
        }
    }
    all.sort_by_key(|(_, reason)| std::cmp::Reverse(reason.verdict));
    all.into_iter().map(|(_, reason)| reason).collect()
}

impl GroupedReason<'_, String> {
    /// `4, 8 and 16; the figures are those of 16`
    pub(crate) fn at(&self) -> String {
        let of = self.figures_of.as_ref();
        let of = of.filter(|_| self.places.len() > 1);
        let of = of.map_or_else(String::new, |of| format!("; the figures are those of {of}"));
        format!("{}{of}", listed(&self.places))
    }
}

/// A reason as [`grouped`] takes it.
pub(crate) fn placed<P>(place: P, reason: &VerdictReason) -> (P, Verdict, &str) {
    (place, reason.verdict, &reason.text)
}

/// `text` without its figures.
fn words(text: &str) -> String {
    text.chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

/// The figures in `text`, in their order.
fn figures(text: &str) -> Vec<f64> {
    let numbers = text.split(|c: char| !c.is_ascii_digit() && c != '.');
    numbers.filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_their_figures_are_one() {
        let late = [
            "late: 11.5 ms (limit 10 ms)",
            "late: 12.4 ms (limit 10 ms)",
            "late: 9 ms (limit 10 ms)",
        ];
        let reason = |(load, text)| (format!("{load}"), Verdict::Suspect, text);
        let of = |texts: &[&'static str]| {
            grouped([1, 4, 16].into_iter().zip(texts.to_vec()).map(reason))
        };
        let all = of(&late);
        assert_eq!((all.len(), all[0].text), (1, late[1]));
        assert_eq!(all[0].at(), "1, 4 and 16; the figures are those of 4");
        assert_eq!(of(&[late[0]; 3])[0].at(), "1, 4 and 16");
        assert_eq!(of(&["late", "early"]).len(), 2);
    }

    #[test]
    fn the_gravest_comes_first() {
        let all = grouped([(1, Verdict::Suspect, "a"), (1, Verdict::Invalid, "b")]);
        assert_eq!(all.iter().map(|reason| reason.text).collect::<Vec<_>>(), ["b", "a"]);
    }
}
