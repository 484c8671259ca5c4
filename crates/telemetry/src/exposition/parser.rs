//! A page in pieces, as they come.

use std::collections::btree_map::Entry;
use std::sync::Arc;

use memchr::memchr;

use super::book::{OpenBook, SeriesBook};
use super::json;
use super::limits::PageLimits;
use super::line::{self, Exemplar, ExpositionLine};
use super::page::{MetricKind, Page, PageEnd, PageError, PageForm};

/// Reads a page in pieces of any size; how it is cut makes no difference.
///
/// ```
/// use fizeau_telemetry::{PageForm, PageLimits, PageParser};
/// let mut parser = PageParser::new(PageForm::Text, PageLimits::default());
/// for piece in ["requests_to", "tal 12\nque", "ue 3"] {
///     parser.feed(piece.as_bytes())?;
/// }
/// let page = parser.finish()?;
/// // The last line has no end: whether it was 3 or 31 cannot be known.
/// assert_eq!(page.samples.len(), 1);
/// assert_eq!(page.notes.end, fizeau_telemetry::PageEnd::CutShort);
/// # Ok::<(), fizeau_telemetry::PageError>(())
/// ```
#[derive(Debug)]
pub struct PageParser {
    limits: PageLimits,
    page: Page,
    /// The line under way, or the whole of a JSON array.
    line: Vec<u8>,
    line_is: Kept,
    /// The first byte that is no blank.
    first: Option<u8>,
    ended: bool,
    book: OpenBook,
    wanted: fn(&str) -> bool,
    /// Names that are wanted besides, as [`is_named`] has them.
    named: Arc<[String]>,
    /// How it begins, for whoever is told that it is no page.
    start: Option<String>,
}

/// What happens to the bytes of the line under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    AsLine,
    TooLong,
    AsArray,
}

impl PageParser {
    /// A parser of a page of that form. An array of TensorRT-LLM is known by its first byte.
    #[must_use]
    pub fn new(form: PageForm, limits: PageLimits) -> Self {
        Self {
            limits,
            page: Page { form, ..Page::default() },
            line: Vec::new(),
            line_is: Kept::AsLine,
            first: None,
            ended: false,
            book: OpenBook::default(),
            wanted: |_| true,
            named: Arc::default(),
            start: None,
        }
    }

    /// Reads only the metrics whose name (as it stands on the page) is `wanted`: others cost no more than a look at their name. What else
    /// is odd is noted of those alone.
    #[must_use]
    pub const fn wanting(mut self, wanted: fn(&str) -> bool) -> Self {
        self.wanted = wanted;
        self
    }

    /// Reads the metrics of these names too, with or without `_total`.
    #[cfg_attr(not(feature = "http"), expect(dead_code, reason = "no page is asked for"))]
    pub(crate) fn wanting_named(self, named: Arc<[String]>) -> Self {
        Self { named, ..self }
    }

    /// Reads the page after the one that left `book`.
    #[cfg_attr(
        not(any(feature = "http", test)),
        expect(dead_code, reason = "no page has one before it")
    )]
    pub(crate) fn after(self, book: SeriesBook) -> Self {
        Self { book: OpenBook::after(book), ..self }
    }

    /// Takes the next piece.
    ///
    /// # Errors
    /// If the page has become longer than may be; nothing more of it is wanted then.
    pub fn feed(&mut self, piece: &[u8]) -> Result<(), PageError> {
        let limit = self.limits.bytes;
        let bytes = &mut self.page.notes.bytes;
        *bytes = bytes.saturating_add(piece.len() as u64);
        if *bytes > limit {
            return Err(PageError::TooLong { limit });
        }
        let mut rest = piece;
        if self.first.is_none() {
            let blank = |byte: &u8| byte.is_ascii_whitespace() || BYTE_ORDER_MARK.contains(byte);
            rest =
                rest.get(rest.iter().take_while(|byte| blank(byte)).count()..).unwrap_or_default();
            self.first = rest.first().copied();
            if self.first == Some(b'[') {
                self.line_is = Kept::AsArray;
                self.page.form = PageForm::Iterations;
            }
        }
        if self.line_is == Kept::AsArray {
            self.line.extend_from_slice(rest);
            return Ok(());
        }
        while let Some(end) = memchr(b'\n', rest) {
            let line = rest.get(..end).unwrap_or_default();
            let is_all_here = self.line.is_empty() && self.line_is == Kept::AsLine;
            if is_all_here && end <= self.limits.line {
                self.take_line(line, Kept::AsLine);
            } else {
                self.keep(line);
                self.end_line();
            }
            rest = rest.get(end + 1..).unwrap_or_default();
        }
        self.keep(rest);
        Ok(())
    }

    /// The page, as far as it came.
    ///
    /// # Errors
    /// If it is no page of metrics, or longer than may be.
    pub fn finish(self) -> Result<Page, PageError> {
        Ok(self.end()?.0)
    }

    /// The same, and what the page after it is read with.
    pub(crate) fn end(mut self) -> Result<(Page, SeriesBook), PageError> {
        let limit = self.limits.bytes;
        if self.page.notes.bytes > limit {
            return Err(PageError::TooLong { limit });
        }
        if self.line_is == Kept::AsArray {
            json::iterations(&self.line, &mut self.page, self.limits.series)?;
            return Ok((self.page, SeriesBook::default()));
        }
        let Some(first) = self.first else { return Err(PageError::Empty) };
        self.last_line();
        if self.page.form == PageForm::OpenMetrics && !self.ended {
            self.page.notes.end = PageEnd::CutShort;
        }
        if self.book.is_empty() && self.page.notes.unreadable_lines > 0 {
            let start = self.start.unwrap_or_default();
            return Err(match first {
                b'<' => PageError::Html,
                b'{' => PageError::Json { start },
                _ => PageError::NoMetrics { start },
            });
        }
        let mut page = self.page;
        let (samples, book) = self.book.close(&mut page.notes);
        page.samples = samples;
        Ok((page, book))
    }

    fn keep(&mut self, piece: &[u8]) {
        if self.line_is == Kept::AsLine {
            let room = self.limits.line.saturating_sub(self.line.len());
            if piece.len() > room {
                self.line_is = Kept::TooLong;
            }
            self.line.extend_from_slice(piece.get(..room.min(piece.len())).unwrap_or_default());
        }
    }

    /// What follows the last end of a line: nothing, the mark of the end, or a line that was cut.
    fn last_line(&mut self) {
        let is_end = self.line.trim_ascii() == b"# EOF";
        let is_blank = self.line.trim_ascii().is_empty() && self.line_is == Kept::AsLine;
        if is_end || is_blank {
            self.end_line();
        } else {
            self.page.notes.end = PageEnd::CutShort;
            if self.book.is_empty() && !self.line.starts_with(b"#") {
                // Nothing else is there to say what it is.
                let line = std::mem::take(&mut self.line);
                self.unreadable(&line);
            }
        }
    }

    /// The line under way has come to its end.
    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        let kept = std::mem::replace(&mut self.line_is, Kept::AsLine);
        self.take_line(&line, kept);
        line.clear();
        self.line = line;
    }

    fn take_line(&mut self, bytes: &[u8], kept: Kept) {
        if self.ended {
            // Blank lines behind the end do no harm.
            if !bytes.trim_ascii().is_empty() {
                self.unreadable(bytes);
            }
            return;
        }
        let (form, labels) = (self.page.form, self.limits.labels);
        let is_full = self.book.len() >= self.limits.series;
        let book = &mut self.book;
        let whole = Some(bytes).filter(|_| kept == Kept::AsLine);
        let (wanted, named) = (self.wanted, &*self.named);
        let wanted = |metric: &str| wanted(metric) || is_named(named, metric);
        match whole.and_then(|bytes| line::read(bytes, form, labels, book, &wanted)) {
            Some(ExpositionLine::Nothing) => {}
            Some(ExpositionLine::End) => self.ended = true,
            Some(ExpositionLine::Kind(name, kind)) => self.declared(name.into(), kind),
            Some(ExpositionLine::Recalled(..) | ExpositionLine::Value(..)) if is_full => {
                self.page.notes.beyond_limit += 1;
            }
            Some(ExpositionLine::Recalled(sample, exemplar)) => {
                self.page.notes.exemplars += u64::from(exemplar == Exemplar::Given);
                book.take_recalled(sample);
            }
            Some(ExpositionLine::Value(text, name, sample, exemplar)) => {
                self.page.notes.exemplars += u64::from(exemplar == Exemplar::Given);
                book.take(text, name, sample);
            }
            None => self.unreadable(bytes),
        }
    }

    fn declared(&mut self, name: Arc<str>, kind: MetricKind) {
        if self.page.kinds.len() >= self.limits.series {
            return;
        }
        match self.page.kinds.entry(name) {
            Entry::Vacant(place) => {
                place.insert(kind);
            }
            Entry::Occupied(before) if *before.get() != kind => self.page.notes.redeclared += 1,
            Entry::Occupied(_) => {}
        }
    }

    fn unreadable(&mut self, line: &[u8]) {
        let notes = &mut self.page.notes;
        notes.unreadable_lines += 1;
        let line = || json::start_of(line);
        notes.first_unreadable.get_or_insert_with(line);
        self.start.get_or_insert_with(line);
    }
}

/// With which some programs begin a text.
const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// Whether `metric` is one of those `named`, as it stands there or with `_total`.
fn is_named(named: &[String], metric: &str) -> bool {
    let bare = metric.strip_suffix("_total");
    named.iter().any(|own| own == metric || Some(own.as_str()) == bare)
}
