//! Reasons that hold at many places, each said once.

use fizeau_core::{LevelLoad, LoadKind};
use fizeau_metrics::{Verdict, VerdictReason};
use fizeau_record::text::listed;

/// A reason with all places at which it holds.
#[derive(Debug)]
pub(crate) struct GroupedReason<'a, P> {
    pub(crate) verdict: Verdict,
    /// Its text at the place where it is worst; at the first where its figures do not say how bad it is.
    pub(crate) text: &'a str,
    /// Where that is, if it reads otherwise elsewhere.
    pub(crate) figures_of: Option<P>,
    pub(crate) places: Vec<P>,
}

impl<P> GroupedReason<'_, P> {
    /// What the place is that the figures of the text are of.
    pub(crate) fn figures_word(&self) -> &'static str {
        if severity(self.text).is_some() { "worst" } else { "figures" }
    }
}

/// `reasons` with their places, those of one kind said once. The gravest come first; reasons of one weight keep their order.
pub(crate) fn grouped<'a, P: Clone + PartialEq>(
    reasons: impl IntoIterator<Item = (P, Verdict, &'a str)>,
) -> Vec<GroupedReason<'a, P>> {
    let mut all: Vec<(String, GroupedReason<'a, P>)> = Vec::new();
    for (place, verdict, text) in reasons {
        let kind = kind(text);
        let known = all.iter_mut().find(|(other, of)| *other == kind && of.verdict == verdict);
        let Some((_, known)) = known else {
            let places = vec![place];
            all.push((kind, GroupedReason { verdict, text, figures_of: None, places }));
            continue;
        };
        if VerdictReason::headline(known.text) != VerdictReason::headline(text) {
            let first = known.places.first();
            let of = known.figures_of.take().or_else(|| first.cloned());
            let is_worse = severity(text) > severity(known.text);
            known.figures_of = if is_worse { Some(place.clone()) } else { of };
            known.text = if is_worse { text } else { known.text };
        }
        if !known.places.contains(&place) {
            known.places.push(place);
        }
    }
    all.sort_by_key(|(_, reason)| std::cmp::Reverse(reason.verdict));
    all.into_iter().map(|(_, reason)| reason).collect()
}

impl GroupedReason<'_, String> {
    /// `4, 8 and 16; worst at 16`
    pub(crate) fn at(&self) -> String {
        let of = self.figures_of.as_ref();
        let of = of.filter(|_| self.places.len() > 1);
        let of = of.map_or_else(String::new, |of| format!("; {} at {of}", self.figures_word()));
        format!("{}{of}", listed(&self.places))
    }
}

impl GroupedReason<'_, LevelLoad> {
    /// `concurrency 4, 8 and 16; worst at 16`, or `concurrency 1 and 2, and at 10 and 20 requests/s`.
    pub(crate) fn at(&self) -> String {
        let of_kind = |kind: LoadKind| {
            let of_kind = self.places.iter().filter(|load| load.kind() == kind);
            let loads: Vec<String> = of_kind.map(|load| load.number()).collect();
            let listed = listed(&loads);
            (!loads.is_empty()).then(|| match kind {
                LoadKind::Concurrency => format!("concurrency {listed}"),
                LoadKind::Rate => format!("{listed} requests/s"),
            })
        };
        let kinds = [LoadKind::Concurrency, LoadKind::Rate].into_iter().filter_map(of_kind);
        let kinds: Vec<String> = kinds.collect();
        let worst = self.figures_of.filter(|_| self.places.len() > 1);
        let worst = worst.map_or_else(String::new, |load| match kinds.len() {
            1 => format!("; {} at {}", self.figures_word(), load.number()),
            _ => format!("; {} at {load}", self.figures_word()),
        });
        format!("{}{worst}", kinds.join(", and at "))
    }
}

/// A reason as [`grouped`] takes it.
pub(crate) fn placed<P>(place: P, reason: &VerdictReason) -> (P, Verdict, &str) {
    (place, reason.verdict, &reason.text)
}

/// What `text` says first, without its figures and without saying whose they are.
fn kind(text: &str) -> String {
    let words = VerdictReason::headline(text).split_whitespace();
    let words = words.filter(|word| !STATISTICS.contains(&bare(word)));
    let words: Vec<&str> = words.collect();
    words.join(" ").chars().filter(|c| !c.is_ascii_digit() && *c != '.').collect()
}

/// Of which values a figure is: it differs from level to level with the number of requests.
const STATISTICS: [&str; 2] = ["max", "p99"];

/// A word without brackets and commas.
fn bare(word: &str) -> &str {
    word.trim_matches(['(', ')', ',', ';'])
}

/// How bad it is that `text` says first: the figure before its limit, which part `3 of 10 ...` or `delayed 3 of 10` are, or by how much
/// what `grew` or `began` apart did so; none of what has none of these.
fn severity(text: &str) -> Option<f64> {
    let words: Vec<&str> = VerdictReason::headline(text).split_whitespace().map(bare).collect();
    let number = |word: &&str| word.parse::<f64>().ok();
    let limit = words.windows(2).position(|pair| pair[0] == "limit" && number(&pair[1]).is_some());
    let behind = |word: &str| words.iter().position(|of| *of == word).map(|at| &words[at + 1..]);
    let part = |of: &[&str]| match of {
        [part, "of", whole, ..] => Some(number(part)? / number(whole)?),
        _ => None,
    };
    if let Some(limit) = limit {
        return words[..limit].iter().rev().find_map(number);
    }
    let grew = || behind("grew").or_else(|| behind("began"))?.iter().find_map(number);
    part(&words).or_else(|| part(behind("delayed")?)).or_else(grew)
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
        assert_eq!(all[0].at(), "1, 4 and 16; worst at 4");
        assert_eq!(of(&[late[0]; 3])[0].at(), "1, 4 and 16");
        assert_eq!(of(&["late", "early"]).len(), 2);
    }

    #[test]
    fn reasons_of_one_kind_are_one_whatever_their_figures_are_of() {
        let texts = [
            "another program took the CPU: 47.0 % of the time (limit 5.0 %); the client thread waited for a CPU that long",
            "another program took the CPU: 50.1 % of the time (limit 5.0 %); the most delayed of 2 client threads waited for a CPU that long",
            "another program took the CPU: 12.0 % of the time (limit 5.0 %); the most delayed of 8 client threads waited for a CPU that long",
        ];
        let loads = [1, 4, 16].map(|load| LoadKind::Concurrency.at(f64::from(load)));
        let reasons = loads.into_iter().zip(texts);
        let all = grouped(reasons.map(|(load, text)| (load, Verdict::Suspect, text)));
        assert_eq!((all.len(), all[0].text), (1, texts[1]));
        assert_eq!(all[0].at(), "concurrency 1, 4 and 16; worst at 4");
        let late = ["sent late: p99 12.0 ms (limit 10 ms)", "sent late: max 28.0 ms (limit 10 ms)"];
        let rates = [10.0, 20.0].map(|rate| LoadKind::Rate.at(rate));
        let reasons = rates.into_iter().zip(late);
        let all = grouped(reasons.map(|(load, text)| (load, Verdict::Suspect, text)));
        assert_eq!((all.len(), all[0].text), (1, late[1]));
        assert_eq!(all[0].at(), "10 and 20 requests/s; worst at 20");
        let both = loads.into_iter().chain(rates).map(|load| (load, Verdict::Suspect, "late"));
        let at = "concurrency 1, 4 and 16, and at 10 and 20 requests/s";
        assert_eq!(grouped(both)[0].at(), at);
    }

    /// Not where most of them failed: where the greatest share did.
    #[test]
    fn the_worst_is_that_furthest_beyond_the_limit() {
        for (texts, worst) in [
            (
                [
                    "6 of 50 requests failed (12.0 %, limit 1.0 %)",
                    "40 of 1000 requests failed (4.0 %, limit 1.0 %)",
                ],
                1,
            ),
            (
                [
                    "the server counted 240.0 tokens a prompt, not 250.0 as requested (off by 4.0 %, limit 1.0 %)",
                    "the server counted 120.0 tokens a prompt, not 250.0 as requested (off by 52.0 %, limit 1.0 %)",
                ],
                2,
            ),
            (
                [
                    "the cache supplied 44.0 % of the prompt tokens, not the requested 50.0 % (off by 6.0 points, limit 5.0)",
                    "the cache supplied 10.0 % of the prompt tokens, not the requested 50.0 % (off by 40.0 points, limit 5.0)",
                ],
                2,
            ),
            (
                [
                    "9 of 1000 planned requests were never sent; an earlier turn failed",
                    "3 of 10 planned requests were never sent; an earlier turn failed",
                ],
                2,
            ),
        ] {
            let reasons = [1, 2].into_iter().zip(texts);
            let all =
                grouped(reasons.map(|(load, text)| (load.to_string(), Verdict::Suspect, text)));
            assert_eq!(all[0].at(), format!("1 and 2; worst at {worst}"), "{texts:?}");
        }
        let held = [1, 2]
            .map(|n| (n.to_string(), format!("the limit on requests in flight delayed {n} of 9")));
        let all =
            grouped(held.iter().map(|(at, text)| (at.clone(), Verdict::Suspect, text.as_str())));
        assert_eq!(all[0].at(), "1 and 2; worst at 2");
        let checked = [1, 2].map(|n| (n.to_string(), format!("lengths were checked of {n} of 9")));
        let all =
            grouped(checked.iter().map(|(at, text)| (at.clone(), Verdict::Suspect, text.as_str())));
        assert_eq!(all[0].at(), "1 and 2; figures at 1");
    }

    #[test]
    fn the_gravest_comes_first() {
        let all = grouped([(1, Verdict::Suspect, "a"), (1, Verdict::Invalid, "b")]);
        assert_eq!(all.iter().map(|reason| reason.text).collect::<Vec<_>>(), ["b", "a"]);
    }
}
