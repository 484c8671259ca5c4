//! The series of the page before, so that those of the next need not be taken apart.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::labels::SeriesName;
use super::line::BLANK;
use super::page::{PageNotes, Sample};
use super::samples::PageSamples;

/// The series of the last page of one source, in the order of its lines, each with the text that names it. A program writes its lines
/// in the same order again and again, so that the next line is known by its bytes, and only its value is read.
#[derive(Debug, Default)]
pub(crate) struct SeriesBook {
    layout: Arc<PageLayout>,
    shared: SharedLayouts,
}

impl SeriesBook {
    /// Before the first page of a source, whose names are held once with those of the others that have `shared`.
    #[cfg(any(feature = "http", test))]
    pub(crate) fn sharing(shared: SharedLayouts) -> Self {
        Self { layout: Arc::default(), shared }
    }
}

/// The layouts of several sources. Replicas of one model name the same series in the same order, so that a fleet's names are held once.
#[derive(Debug, Clone, Default)]
pub(crate) struct SharedLayouts(Arc<Mutex<Vec<HeldLayout>>>);

/// A layout that some source may have, with a number that layouts which are alike have in common.
type HeldLayout = (u64, Weak<PageLayout>);

impl SharedLayouts {
    /// The one that is like `layout`, if any source has it, and else that itself.
    fn shared(&self, layout: PageLayout) -> Arc<PageLayout> {
        let mut hasher = DefaultHasher::new();
        layout.lines.iter().for_each(|line| line.text.hash(&mut hasher));
        let hash = hasher.finish();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(_, held)| held.strong_count() > 0);
        let alike = |(of, held): &HeldLayout| {
            held.upgrade().filter(|held| *of == hash && held.is_like(&layout))
        };
        all.iter().find_map(alike).unwrap_or_else(|| {
            let layout = Arc::new(layout);
            all.push((hash, Arc::downgrade(&layout)));
            layout
        })
    }
}

/// The lines of a page without their values.
#[derive(Debug, Default)]
struct PageLayout {
    lines: Vec<NamedLine>,
    /// Which of them are series for the first time, in order of names.
    by_name: Vec<u32>,
    /// These series.
    names: Arc<Vec<SeriesName>>,
    repeated: RepeatedSeries,
}

#[derive(Debug, Clone)]
struct NamedLine {
    text: Arc<str>,
    name: SeriesName,
}

/// Series that a page names more than once.
#[derive(Debug, Clone, Default)]
struct RepeatedSeries {
    count: u64,
    first: Option<String>,
}

impl PageLayout {
    /// Of a series that is there twice the first line counts.
    fn of(lines: Vec<NamedLine>) -> Self {
        let name = |at: u32| usize::try_from(at).ok().and_then(|at| lines.get(at));
        let name = |at: u32| name(at).map(|line| &line.name);
        let count = u32::try_from(lines.len()).unwrap_or(u32::MAX);
        let mut by_name: Vec<u32> = (0..count).collect();
        by_name.sort_by(|one, other| name(*one).cmp(&name(*other)));
        let (mut repeats, mut first) = (0, None);
        by_name.dedup_by(|later, kept| {
            let is_same = name(*later) == name(*kept);
            if is_same {
                repeats += 1;
                first = Some(first.map_or(*later, |first: u32| first.min(*later)));
            }
            is_same
        });
        let first = first.and_then(name).map(ToString::to_string);
        let names = by_name.iter().filter_map(|&at| name(at).cloned()).collect();
        by_name.shrink_to_fit();
        Self {
            by_name,
            names: Arc::new(names),
            repeated: RepeatedSeries { count: repeats, first },
            lines,
        }
    }

    /// Whether all lines have the same texts, and so the same names.
    fn is_like(&self, other: &Self) -> bool {
        let texts = |of: &Self| of.lines.len();
        let mut pairs = self.lines.iter().zip(&other.lines);
        texts(self) == texts(other) && pairs.all(|(one, other)| one.text == other.text)
    }
}

/// How many lines of the page before may be gone at a place, before the lines behind it are taken apart.
const LOOK_AHEAD: usize = 32;

/// A page under way, beside the one before it.
#[derive(Debug, Default)]
pub(super) struct OpenBook {
    before: SeriesBook,
    /// The line of the page before that is expected next.
    next: usize,
    /// The lines so far, once one was not the next of the page before.
    changed: Option<Vec<NamedLine>>,
    samples: Vec<Sample>,
    /// The last metric that is not wanted.
    foreign: String,
}

impl OpenBook {
    pub(super) fn after(before: SeriesBook) -> Self {
        let samples = Vec::with_capacity(before.layout.lines.len());
        Self { before, samples, ..Self::default() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    pub(super) const fn len(&self) -> usize {
        self.samples.len()
    }

    fn expected(&self) -> Option<&NamedLine> {
        self.before.layout.lines.get(self.next)
    }

    /// What follows the text of a series on `line`, where that is the next one.
    pub(super) fn recall<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        behind(line, &self.expected()?.text)
    }

    /// The same where it is one shortly behind the next, which are gone then.
    pub(super) fn recall_ahead<'a>(&mut self, line: &'a [u8]) -> Option<&'a [u8]> {
        let ahead = self.before.layout.lines.get(self.next..)?.iter().take(LOOK_AHEAD);
        let (gone, rest) =
            ahead.enumerate().find_map(|(at, known)| Some((at, behind(line, &known.text)?)))?;
        if gone > 0 {
            self.changed();
            self.next += gone;
        }
        Some(rest)
    }

    /// The lines so far, as those of a page that differs from the one before.
    fn changed(&mut self) -> &mut Vec<NamedLine> {
        let so_far = || self.before.layout.lines.get(..self.next).unwrap_or_default().to_vec();
        self.changed.get_or_insert_with(so_far)
    }

    /// Whether `line` is of the metric that was not wanted last. Lines of one metric stand together.
    pub(super) fn is_foreign_too(&self, line: &[u8]) -> bool {
        let rest = line.strip_prefix(self.foreign.as_bytes());
        !self.foreign.is_empty()
            && rest.is_some_and(|rest| matches!(rest, [b'{' | b' ' | b'\t', ..]))
    }

    /// Whether `metric` is not wanted.
    pub(super) fn is_foreign(&mut self, metric: &str, wanted: &dyn Fn(&str) -> bool) -> bool {
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
        if let Some(lines) = &mut self.changed {
            lines.extend(self.before.layout.lines.get(self.next).cloned());
        }
        self.next += 1;
        self.samples.push(sample);
    }

    /// Takes a line that was taken apart.
    pub(super) fn take(&mut self, text: &str, name: SeriesName, sample: Sample) {
        self.changed().push(NamedLine { text: text.into(), name });
        self.samples.push(sample);
    }

    /// The metric of the line before.
    pub(super) fn metric(&self) -> Option<&Arc<str>> {
        let last = match &self.changed {
            Some(lines) => lines.last(),
            None => self.before.layout.lines.get(self.next.checked_sub(1)?),
        };
        last.map(|line| &line.name.metric)
    }

    /// All series in order of names, what was odd about them, and what the next page is read with.
    pub(super) fn close(mut self, notes: &mut PageNotes) -> (PageSamples, SeriesBook) {
        if self.next < self.before.layout.lines.len() {
            self.changed();
        }
        let SeriesBook { layout, shared } = self.before;
        let layout = match self.changed {
            Some(lines) => shared.shared(PageLayout::of(lines)),
            None => layout,
        };
        notes.duplicates = layout.repeated.count;
        notes.first_duplicate.clone_from(&layout.repeated.first);
        let value = |at: &u32| self.samples.get(usize::try_from(*at).ok()?).copied();
        let values = layout.by_name.iter().filter_map(value).collect();
        let samples = PageSamples::of_sorted(Arc::clone(&layout.names), values);
        (samples, SeriesBook { layout, shared })
    }
}

/// What follows `text` on `line`, where that is the whole name of its series.
fn behind<'a>(line: &'a [u8], text: &str) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(text.as_bytes())?;
    let is_blank = |byte: &u8| BLANK.contains(&char::from(*byte));
    // Labels may follow a name behind a blank.
    let is_whole =
        is_blank(rest.first()?) && rest.iter().find(|byte| !is_blank(byte)) != Some(&b'{');
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
                // Of another source with the same names there is one copy of them.
                let (other, _) = read(&text, SeriesBook::sharing(next.shared.clone()));
                prop_assert_eq!(&other, &alone);
                prop_assert!(Arc::ptr_eq(other.samples.names(), again.samples.names()));
                book = next;
            }
        }
    }
}
