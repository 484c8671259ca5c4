//! The series of the page before, so that those of the next need not be taken apart.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::labels::SeriesName;
use super::line::BLANK;
use super::page::{PageNotes, Sample};

/// The series of the last page of one source, in the order of its lines, each with the text that names it. A program writes its lines
/// in the same order again and again, so that the next line is known by its bytes, and only its value is read.
#[derive(Debug, Default)]
pub(crate) struct SeriesBook {
    lines: Vec<NamedLine>,
    /// Which of them are series for the first time, in order of names.
    by_name: Vec<u32>,
    repeated: RepeatedSeries,
}

#[derive(Debug)]
struct NamedLine {
    text: Box<str>,
    name: SeriesName,
}

/// Series that a page names more than once.
#[derive(Debug, Clone, Default)]
struct RepeatedSeries {
    count: u64,
    first: Option<String>,
}

/// How many lines of the page before may be gone at a place, before the lines behind it are taken apart.
const LOOK_AHEAD: usize = 32;

/// A page under way, beside the one before it.
#[derive(Debug, Default)]
pub(super) struct OpenBook {
    before: VecDeque<NamedLine>,
    by_name: Vec<u32>,
    repeated: RepeatedSeries,
    /// Whether each line so far was the next of the page before.
    is_same: bool,
    lines: Vec<NamedLine>,
    samples: Vec<Sample>,
    /// The last metric that is not wanted.
    foreign: String,
}

impl OpenBook {
    pub(super) fn after(before: SeriesBook) -> Self {
        let SeriesBook { lines, by_name, repeated } = before;
        let is_same = !lines.is_empty();
        Self { is_same, before: lines.into(), by_name, repeated, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// What follows the text of a series on `line`, where that is the next one.
    pub(super) fn recall<'a>(&self, line: &'a str) -> Option<&'a str> {
        behind(line, &self.before.front()?.text)
    }

    /// The same where it is one shortly behind the next, which are gone then.
    pub(super) fn recall_ahead<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let mut ahead = self.before.iter().take(LOOK_AHEAD).enumerate();
        let (gone, rest) = ahead.find_map(|(at, known)| Some((at, behind(line, &known.text)?)))?;
        self.is_same = false;
        self.before.drain(..gone);
        Some(rest)
    }

    /// Whether `metric` is not wanted. Lines of one metric stand together, so that it is seldom asked.
    pub(super) fn is_foreign(&mut self, metric: &str, wanted: fn(&str) -> bool) -> bool {
        if metric == self.foreign {
            return true;
        }
        let is_foreign = self.metric().is_none_or(|before| **before != *metric) && !wanted(metric);
        if is_foreign {
            metric.clone_into(&mut self.foreign);
        }
        is_foreign
    }

    /// Takes the value of the line that was just recalled.
    pub(super) fn take_recalled(&mut self, sample: Sample) {
        self.lines.extend(self.before.pop_front());
        self.samples.push(sample);
    }

    /// Takes a line that was taken apart.
    pub(super) fn take(&mut self, text: &str, name: SeriesName, sample: Sample) {
        self.is_same = false;
        self.lines.push(NamedLine { text: text.into(), name });
        self.samples.push(sample);
    }

    /// The metric of the line before.
    pub(super) fn metric(&self) -> Option<&Arc<str>> {
        self.lines.last().map(|line| &line.name.metric)
    }

    /// All series in order of names, what was odd about them, and what the next page is read with.
    pub(super) fn close(
        mut self,
        notes: &mut PageNotes,
    ) -> (BTreeMap<SeriesName, Sample>, SeriesBook) {
        if !self.is_same || !self.before.is_empty() {
            self.sort();
        }
        notes.duplicates = self.repeated.count;
        notes.first_duplicate.clone_from(&self.repeated.first);
        let Self { lines, samples, by_name, repeated, .. } = self;
        let named = by_name.iter().filter_map(|&at| {
            let at = usize::try_from(at).ok()?;
            Some((lines.get(at)?.name.clone(), *samples.get(at)?))
        });
        (named.collect(), SeriesBook { lines, by_name, repeated })
    }

    /// Of a series that is there twice the first line counts.
    fn sort(&mut self) {
        let lines = &self.lines;
        let name = |at: u32| usize::try_from(at).ok().and_then(|at| lines.get(at));
        let name = |at: u32| name(at).map(|line| &line.name);
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let mut all: Vec<u32> = (0..count).collect();
        all.sort_by(|one, other| name(*one).cmp(&name(*other)));
        let (mut repeats, mut first) = (0, None);
        all.dedup_by(|later, kept| {
            let is_same = name(*later) == name(*kept);
            if is_same {
                repeats += 1;
                first = Some(first.map_or(*later, |first: u32| first.min(*later)));
            }
            is_same
        });
        let first = first.and_then(name).map(ToString::to_string);
        self.repeated = RepeatedSeries { count: repeats, first };
        self.by_name = all;
    }
}

/// What follows `text` on `line`, where that is the whole name of its series.
fn behind<'a>(line: &'a str, text: &str) -> Option<&'a str> {
    let rest = line.strip_prefix(text)?;
    // Labels may follow a name behind a blank.
    let is_whole = rest.starts_with(BLANK) && !rest.trim_start_matches(BLANK).starts_with('{');
    is_whole.then_some(rest)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::exposition::{Page, PageForm, PageLimits, PageParser};

    fn read(text: &str, book: SeriesBook) -> (Page, SeriesBook) {
        let wanted = |metric: &str| metric != "foreign";
        let limits = PageLimits { series: 12, ..PageLimits::default() };
        let mut parser = PageParser::new(PageForm::Text, limits).wanting(wanted).after(book);
        parser.feed(text.as_bytes()).unwrap();
        parser.end().unwrap()
    }

    /// Names that begin alike, labels in either order, and what cannot be read.
    const NAMES: [&str; 10] = [
        "a",
        "ab",
        "a{x=\"1\"}",
        "a {x=\"1\"}",
        "a{x=\"1\",y=\"2\"}",
        "a{y=\"2\",x=\"1\"}",
        "foreign",
        "foreign{x=\"1\"}",
        "a{x=",
        "# TYPE a gauge\na_total",
    ];

    proptest! {
        #[test]
        fn a_page_reads_alike_whatever_page_was_before_it(
            pages in prop::collection::vec(prop::collection::vec((0..NAMES.len(), 0..4_u8), 1..20), 1..6)
        ) {
            let mut book = SeriesBook::default();
            for lines in pages {
                let line = |(name, value): &(usize, u8)| format!("{} {value}\n", NAMES[*name]);
                let text = format!("z 1\n{}", lines.iter().map(line).collect::<String>());
                let (alone, _) = read(&text, SeriesBook::default());
                let (page, next) = read(&text, book);
                prop_assert_eq!(&page, &alone);
                let (again, next) = read(&text, next);
                prop_assert_eq!(&again, &alone);
                book = next;
            }
        }
    }
}
