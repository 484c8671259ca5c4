//! One line of a page.

use std::borrow::Cow;
use std::sync::Arc;

use super::book::OpenBook;
use super::escape::quoted;
use super::labels::{Labels, SeriesName};
use super::page::{MetricKind, PageForm, Sample};

/// What a line says.
#[derive(Debug, PartialEq)]
pub(super) enum ExpositionLine<'a> {
    /// Nothing that counts: a comment, a help text, nothing at all.
    Nothing,
    /// `# EOF`, with which OpenMetrics ends.
    End,
    /// `# TYPE`.
    Kind(&'a str, MetricKind),
    /// A value of the series that the book recalled, and whether an exemplar stood behind it.
    Recalled(Sample, Exemplar),
    /// Likewise of a series that was taken apart, with the text that names it.
    Value(&'a str, SeriesName, Sample, Exemplar),
}

/// Whether a line has an exemplar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exemplar {
    Given,
    None,
}

/// What `line` says; none if it cannot be read, or has more labels than `most_labels`. Of a metric that is not wanted nothing is read,
/// and of a series that `book` recalls the value alone.
pub(super) fn read<'a>(
    line: &'a [u8],
    form: PageForm,
    most_labels: usize,
    book: &mut OpenBook,
    wanted: &dyn Fn(&str) -> bool,
) -> Option<ExpositionLine<'a>> {
    if let Some(rest) = book.recall(line) {
        return recalled(rest, form);
    }
    if book.is_foreign_too(line) {
        return Some(ExpositionLine::Nothing);
    }
    let line = str::from_utf8(line).ok()?.trim_matches(BLANK);
    if let Some(comment) = line.strip_prefix('#') {
        return Some(comment_of(comment));
    }
    if line.is_empty() || book.recall(line.as_bytes()).is_none() && is_foreign(line, book, wanted) {
        return Some(ExpositionLine::Nothing);
    }
    if let Some(rest) = book.recall_ahead(line.as_bytes()) {
        return recalled(rest, form);
    }
    let (name, rest) = series(line, most_labels, book)?;
    let text = line.get(..line.len() - rest.len())?;
    let (sample, exemplar) = value(rest, form)?;
    Some(ExpositionLine::Value(text, name, sample, exemplar))
}

fn recalled<'a>(rest: &[u8], form: PageForm) -> Option<ExpositionLine<'a>> {
    let (sample, exemplar) = value(str::from_utf8(rest).ok()?, form)?;
    Some(ExpositionLine::Recalled(sample, exemplar))
}

/// Whether a line begins with the name of a metric that is not wanted.
fn is_foreign(line: &str, book: &mut OpenBook, wanted: &dyn Fn(&str) -> bool) -> bool {
    let end = line.find(|c: char| !is_of_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(end);
    let is_name = !name.is_empty() && rest.starts_with(['{', ' ', '\t']);
    is_name && book.is_foreign(name, wanted)
}

pub(super) const BLANK: [char; 3] = [' ', '\t', '\r'];

fn comment_of(comment: &str) -> ExpositionLine<'_> {
    let mut words = comment.split(BLANK).filter(|word| !word.is_empty());
    match (words.next(), words.next(), words.next()) {
        (Some("EOF"), None, None) => ExpositionLine::End,
        (Some("TYPE"), Some(name), Some(kind)) => {
            ExpositionLine::Kind(name, MetricKind::of_word(kind))
        }
        _ => ExpositionLine::Nothing,
    }
}

/// The series that a line is of, and what follows its name.
fn series<'a>(line: &'a str, most_labels: usize, book: &OpenBook) -> Option<(SeriesName, &'a str)> {
    let name_end = line.find(|c: char| !is_of_name(c)).unwrap_or(line.len());
    let (name, rest) = line.split_at(name_end);
    let (name, labels, rest) = match rest.trim_start_matches(BLANK).strip_prefix('{') {
        Some(inside) => labels_of(name, inside, most_labels)?,
        None => (Cow::Borrowed(name), Labels::default(), rest),
    };
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let shared = book.metric().filter(|before| ***before == *name);
    let name = shared.map_or_else(|| name.into(), Arc::clone);
    Some((SeriesName::new(name, labels), rest))
}

/// The value behind the name of a series, and when it was taken.
fn value(rest: &str, form: PageForm) -> Option<(Sample, Exemplar)> {
    // An exemplar begins with ` # {`; neither a value nor a time has a `#`.
    let (rest, exemplar) = match rest.split_once('#') {
        Some((rest, _)) => (rest, Exemplar::Given),
        None => (rest, Exemplar::None),
    };
    let mut words = rest.split(BLANK).filter(|word| !word.is_empty());
    let value = number(words.next()?)?;
    let told_at = match words.next() {
        Some(word) => Some(millis(word, form)?),
        None => None,
    };
    if words.next().is_some() {
        return None;
    }
    Some((Sample { value, told_at_unix_ms: told_at }, exemplar))
}

/// The name, the labels, and what follows the closing brace. A name outside of the old alphabet stands in quotes before them.
fn labels_of<'a>(
    name: &'a str,
    inside: &'a str,
    most_labels: usize,
) -> Option<(Cow<'a, str>, Labels, &'a str)> {
    let mut name = Cow::Borrowed(name);
    let mut pairs: Vec<(Cow<'a, str>, Cow<'a, str>)> = Vec::with_capacity(4);
    let mut rest = inside.trim_start_matches(BLANK);
    loop {
        if let Some(after) = rest.strip_prefix('}') {
            return Some((name, Labels::new(pairs), after));
        }
        let (label, after) = label_name(rest)?;
        rest = after.trim_start_matches(BLANK);
        match rest.strip_prefix('=') {
            Some(after) => {
                let (value, after) = quoted(after.trim_start_matches(BLANK).strip_prefix('"')?)?;
                if pairs.len() == most_labels {
                    return None;
                }
                pairs.push((label, value));
                rest = after;
            }
            None if name.is_empty() && pairs.is_empty() => name = label,
            None => return None,
        }
        rest = rest.trim_start_matches(BLANK);
        match rest.strip_prefix(',') {
            Some(after) => rest = after.trim_start_matches(BLANK),
            None if rest.starts_with('}') => {}
            None => return None,
        }
    }
}

fn label_name(rest: &str) -> Option<(Cow<'_, str>, &str)> {
    if let Some(rest) = rest.strip_prefix('"') {
        return quoted(rest);
    }
    let end = rest.find(|c: char| !is_of_name(c)).unwrap_or(rest.len());
    let (label, rest) = rest.split_at(end);
    (!label.is_empty()).then_some((Cow::Borrowed(label), rest))
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == ':' || c == '.'
}

/// A value: what Go's parser takes but hexadecimal and underscores, which no exporter writes.
fn number(word: &str) -> Option<f64> {
    word.parse().ok()
}

/// A time: whole milliseconds in the text format, seconds in OpenMetrics.
fn millis(word: &str, form: PageForm) -> Option<i64> {
    match form {
        PageForm::OpenMetrics => {
            let millis = number(word)? * 1e3;
            millis.is_finite().then(|| millis.round() as i64)
        }
        _ => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(line: &str) -> Option<(String, f64, Option<i64>, Exemplar)> {
        match read(line.as_bytes(), PageForm::Text, 4, &mut OpenBook::default(), &|_| true)? {
            ExpositionLine::Value(_, name, sample, exemplar) => {
                Some((name.to_string(), sample.value, sample.told_at_unix_ms, exemplar))
            }
            _ => None,
        }
    }

    #[test]
    fn lines_are_read_as_the_formats_have_them() {
        let plain = |name: &str, value| Some((name.to_owned(), value, None, Exemplar::None));
        assert_eq!(value("up 1"), plain("up{}", 1.0));
        assert_eq!(value("  up\t1 \r"), plain("up{}", 1.0));
        assert_eq!(value("up{} 1e3"), plain("up{}", 1e3));
        assert_eq!(
            value("a:b_total{ x = \"1\" , } +Inf"),
            plain("a:b_total{x=\"1\"}", f64::INFINITY)
        );
        assert_eq!(value("a{b=\"}\",c=\"#\"} 2"), plain("a{b=\"}\",c=\"#\"}", 2.0));
        assert_eq!(value("{\"a.b\",\"c d\"=\"e\"} 3"), plain("a.b{c d=\"e\"}", 3.0));
        assert_eq!(value("up 1 1700000000000").map(|seen| seen.2), Some(Some(1_700_000_000_000)));
        let exemplar = value("h_bucket{le=\"1\"} 4 # {trace_id=\"x\"} 0.5 17.1");
        assert_eq!(exemplar.map(|seen| seen.3), Some(Exemplar::Given));
        for refused in [
            "up",
            "1 2",
            "up x",
            "up 1 2 3",
            "up{ 1",
            "up{a} 1",
            "up{a=1} 1",
            "up{a=\"1\" b=\"2\"} 1",
            "up 1 x",
        ] {
            assert_eq!(value(refused), None, "{refused}");
        }
    }

    #[test]
    fn more_labels_than_may_be_are_refused() {
        let with = |count| (0..count).map(|n| format!("l{n}=\"\"")).collect::<Vec<_>>().join(",");
        assert!(value(&format!("a{{{}}} 1", with(4))).is_some());
        assert!(value(&format!("a{{{}}} 1", with(5))).is_none());
    }
}
