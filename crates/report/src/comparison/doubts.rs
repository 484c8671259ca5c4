//! What speaks against the runs that are compared, in brief.

use fizeau_metrics::{Verdict, VerdictReason};
use fizeau_record::text::listed;
use fizeau_record::{ComparedRun, ComparedRunNote};

use crate::grouped::{GroupedReason, grouped};

/// What is to be known of both runs, each kind of note once with the sides and levels that it is of.
pub(super) fn of(sides: [(&'static str, &ComparedRun); 2]) -> Vec<String> {
    let notes = sides.into_iter().flat_map(|(side, run)| {
        run.notes
            .iter()
            .map(move |ComparedRunNote { at, text }| ((side, at.as_deref()), text.as_str()))
    });
    let all = grouped(notes.map(|(place, text)| (place, Verdict::Valid, text)));
    let line = |note: &GroupedReason<'_, Place<'_>>| {
        let levels = |side| -> Vec<Option<&str>> {
            let of_side = note.places.iter().filter(|(of, _)| *of == side);
            of_side.map(|(_, level)| *level).collect()
        };
        let (a, b) = (levels("A"), levels("B"));
        let places = match (&*a, &*b) {
            ([], levels) => at("B", levels),
            (levels, []) => at("A", levels),
            _ if a == b => at("A and B", &a),
            _ => format!("{}; {}", at("A", &a), at("B", &b)),
        };
        let worst = note.figures_of.filter(|_| note.places.len() > 1);
        let worst = worst.map_or_else(String::new, |(side, level)| {
            format!("; {}: {}", note.figures_word(), at(side, &[level]))
        });
        format!("{} ({places}{worst})", VerdictReason::headline(note.text))
    };
    all.iter().map(line).collect()
}

/// A side, and which of its levels where it has several.
type Place<'a> = (&'static str, Option<&'a str>);

/// `A at concurrency 1, 2 and 4`; of a run of one level its side alone.
fn at(side: &str, levels: &[Option<&str>]) -> String {
    let levels: Vec<&str> = levels.iter().copied().flatten().collect();
    if levels.is_empty() { side.to_owned() } else { format!("{side} at {}", loads(&levels)) }
}

/// `concurrency 1, 2 and 4`.
fn loads(all: &[&str]) -> String {
    let numbers: Option<Vec<&str>> =
        all.iter().map(|load| load.strip_prefix("concurrency ")).collect();
    let of =
        |words: &[&str]| listed(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
    numbers.map_or_else(|| of(all), |numbers| format!("concurrency {}", of(&numbers)))
}
