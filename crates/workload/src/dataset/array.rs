//! Files that are one JSON array, taken apart element by element.

use std::io::{BufRead, Read};

use super::error::{DatasetError, DatasetLocation, RecordFault, RecordStart, RestOfFile, as_text};
use super::jsonl::BYTE_ORDER_MARK;

/// Shows each element of the array in `reader` to `take`, as the text that it is: whether that is JSON is for `take` to
/// say. `expected` says what the file should be.
pub(super) fn each_element(
    name: &str,
    mut reader: impl BufRead,
    expected: &str,
    mut take: impl FnMut(&str, RecordStart<'_>) -> Result<(), DatasetError>,
) -> Result<(), DatasetError> {
    let mut splitter = ArraySplitter::default();
    let mut head = Vec::new();
    let mark = reader.by_ref().take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head);
    mark.map_err(|source| splitter.broken(name, source))?;
    if head == BYTE_ORDER_MARK {
        head.clear();
    }
    let mut reader = head.as_slice().chain(reader);
    loop {
        let chunk = match reader.fill_buf() {
            Ok([]) => break,
            Ok(chunk) => chunk,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(splitter.broken(name, source)),
        };
        for &byte in chunk {
            match splitter.step(byte) {
                ByteMeaning::On => {}
                ByteMeaning::Element => splitter.give(name, RestOfFile::Something, &mut take)?,
                ByteMeaning::Stray(reason) => return Err(splitter.stray(reason, expected, name)),
            }
        }
        let read = chunk.len();
        reader.consume(read);
    }
    if !matches!(splitter.state, ArrayState::Within { .. }) {
        return Ok(());
    }
    // What is not closed is wrong somewhere: the parser says where, if that is not just the missing end.
    if !splitter.element.is_empty() {
        splitter.give(name, RestOfFile::Nothing, &mut take)?;
    }
    Err(splitter.stray("the file ends before the array does", expected, name))
}

/// Where the bytes of an array belong.
#[derive(Default)]
struct ArraySplitter {
    state: ArrayState,
    /// The element so far, without the blanks before it.
    element: Vec<u8>,
    /// How many elements came before it.
    passed: u64,
    /// Where the byte that was read last stands: the line less 1, and the column.
    line: u64,
    column: u64,
    /// Where the element begins, counted alike.
    began: (u64, u64),
}

#[derive(Default)]
enum ArrayState {
    #[default]
    Before,
    /// Among the elements, `depth` brackets deep in one.
    Within {
        depth: u64,
        quoted: Quoted,
    },
    After,
}

/// Whether a byte is part of a string.
#[derive(Clone, Copy)]
enum Quoted {
    No,
    Yes,
    /// And stands behind a backslash.
    Escaped,
}

/// What a byte means.
enum ByteMeaning {
    On,
    /// The element is whole.
    Element,
    /// It has no place there.
    Stray(&'static str),
}

impl ArraySplitter {
    fn step(&mut self, byte: u8) -> ByteMeaning {
        self.column += 1;
        let step = match &mut self.state {
            ArrayState::Within { depth, quoted } => match (*quoted, byte) {
                (Quoted::No, b',') if *depth == 0 => return ByteMeaning::Element,
                (Quoted::No, b']') if *depth == 0 => {
                    self.state = ArrayState::After;
                    let none = self.passed == 0 && self.element.is_empty();
                    return if none { ByteMeaning::On } else { ByteMeaning::Element };
                }
                (now, byte) => {
                    *quoted = now.after(byte);
                    match (now, byte) {
                        (Quoted::No, b'{' | b'[') => *depth += 1,
                        (Quoted::No, b'}' | b']') => *depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    self.keep(byte);
                    ByteMeaning::On
                }
            },
            _ if byte.is_ascii_whitespace() => ByteMeaning::On,
            ArrayState::Before if byte == b'[' => {
                self.state = ArrayState::Within { depth: 0, quoted: Quoted::No };
                ByteMeaning::On
            }
            ArrayState::Before => ByteMeaning::Stray("it does not begin with ["),
            ArrayState::After => ByteMeaning::Stray("something follows the array"),
        };
        if byte == b'\n' {
            (self.line, self.column) = (self.line + 1, 0);
        }
        step
    }

    fn keep(&mut self, byte: u8) {
        if self.element.is_empty() {
            if byte.is_ascii_whitespace() {
                return;
            }
            self.began = (self.line, self.column);
        }
        self.element.push(byte);
    }

    /// Shows the element to `take`, and begins the next.
    fn give(
        &mut self,
        name: &str,
        rest: RestOfFile,
        take: &mut impl FnMut(&str, RecordStart<'_>) -> Result<(), DatasetError>,
    ) -> Result<(), DatasetError> {
        if self.element.is_empty() {
            self.began = (self.line, self.column);
        }
        let (line, column) = self.began;
        let at = RecordStart { name, location: self.location(line), column, rest };
        let fault = |fault: RecordFault| fault.at(at);
        as_text(&self.element).map_err(fault).and_then(|text| take(text, at))?;
        self.element.clear();
        self.passed += 1;
        Ok(())
    }

    fn location(&self, line: u64) -> DatasetLocation {
        DatasetLocation { line: line + 1, record: Some(self.passed + 1) }
    }

    fn stray(&self, reason: &str, expected: &str, name: &str) -> DatasetError {
        DatasetError::Json {
            name: name.into(),
            location: self.location(self.line),
            column: self.column.max(1),
            field: None,
            reason: reason.into(),
            expected: expected.into(),
        }
    }

    fn broken(&self, name: &str, source: std::io::Error) -> DatasetError {
        DatasetError::Read { name: name.into(), location: self.location(self.line), source }
    }
}

impl Quoted {
    const fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::No, b'"') | (Self::Escaped, _) => Self::Yes,
            (Self::No, _) | (Self::Yes, b'"') => Self::No,
            (Self::Yes, b'\\') => Self::Escaped,
            (Self::Yes, _) => Self::Yes,
        }
    }
}

// Text whose escapes are not all characters.

/// The JSON string `json` with the replacement character in place of each half of a surrogate pair.
///
/// RFC 8259 allows an escape of half a pair, and Python writes one where text was cut in the middle of a character; no
/// text in UTF-8 can hold it.
pub(super) fn mended(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, behind)) = rest.split_once('\\') {
        out.push_str(before);
        let (len, is_half) = match (unit(behind), behind.get(5..).and_then(low_after)) {
            (Some(0xD800..=0xDBFF), Some(())) => (11, false),
            (Some(0xD800..=0xDFFF), _) => (5, true),
            // Of any other escape the first character alone matters: it may be a backslash.
            _ => (behind.chars().next().map_or(0, char::len_utf8), false),
        };
        let (escape, after) = behind.split_at_checked(len).unwrap_or((behind, ""));
        if is_half {
            out.push('\u{fffd}');
        } else {
            out.push('\\');
            out.push_str(escape);
        }
        rest = after;
    }
    out + rest
}

/// The code unit of an escape whose backslash is behind us.
fn unit(escape: &str) -> Option<u32> {
    let digits = escape.strip_prefix('u')?.get(..4)?;
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

/// Whether `text` begins with the escape of a pair's second half.
fn low_after(text: &str) -> Option<()> {
    matches!(unit(text.strip_prefix('\\')?)?, 0xDC00..=0xDFFF).then_some(())
}
