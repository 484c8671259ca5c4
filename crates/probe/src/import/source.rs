//! The text of a file, without what launchers and terminals put around a tool's own output.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::reading::NotThis;

/// So many labels are taken off a line: of a node, of a rank, and of whoever gathers them.
const MOST_PREFIXES: usize = 3;

/// The lines of a file.
#[derive(Debug)]
pub(super) struct Source {
    file: Option<String>,
    lines: Vec<NumberedLine>,
    /// A last line that has no end and breaks off in a number: any of its digits may be missing.
    torn: Option<NumberedLine>,
}

/// One line, without its end and without prefixes.
#[derive(Debug)]
pub(super) struct NumberedLine {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) text: String,
}

impl Source {
    pub(super) fn new(content: &[u8], file: Option<&str>) -> Self {
        let text = decoded(content);
        let mut lines: Vec<String> = text.lines().map(plain).collect();
        // Behind a label may be another, and behind a time too.
        for _ in 0..MOST_PREFIXES {
            lines = without_labels(without_times(lines));
            lines.iter_mut().for_each(|line| *line = plain(line));
        }
        let lines = lines.into_iter().enumerate();
        let mut lines: Vec<NumberedLine> =
            lines.map(|(index, text)| NumberedLine { number: index + 1, text }).collect();
        let breaks_off = |line: &NumberedLine| {
            line.text.trim_end().ends_with(|c: char| ".,-+".contains(c) || c.is_ascii_digit())
        };
        let is_torn = !text.ends_with('\n') && lines.last().is_some_and(breaks_off);
        let torn = if is_torn { lines.pop() } else { None };
        Self { file: file.map(str::to_owned), lines, torn }
    }

    /// What the file is called in messages.
    pub(super) fn name(&self) -> &str {
        self.file.as_deref().unwrap_or("the text")
    }

    pub(super) fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// The lines, without one that is torn.
    pub(super) fn lines(&self) -> impl Iterator<Item = &NumberedLine> {
        self.lines.iter()
    }

    pub(super) const fn torn(&self) -> Option<&NumberedLine> {
        self.torn.as_ref()
    }

    /// The last line and its last column, both counted from 1.
    pub(super) fn end(&self) -> (usize, usize) {
        let last = self.lines.iter().chain(&self.torn).last();
        last.map_or((1, 1), |line| (line.number, line.text.chars().count().max(1)))
    }

    /// That a line is what a format is known by: `sign` in words.
    pub(super) fn must_have(
        &self,
        sign: &str,
        is_sign: impl Fn(&str) -> bool,
    ) -> Result<(), NotThis> {
        let has_sign = self.lines().any(|line| is_sign(&line.text));
        if has_sign { Ok(()) } else { Err(NotThis::no(sign)) }
    }

    /// From the first line that begins with a brace, torn lines included.
    pub(super) fn json(&self) -> Option<String> {
        let lines = self.lines.iter().chain(&self.torn).map(|line| line.text.as_str());
        let mut lines = lines.skip_while(|text| !text.trim_start().starts_with('{')).peekable();
        lines.peek()?;
        Some(lines.collect::<Vec<_>>().join("\n"))
    }
}

/// UTF-8, or UTF-16 as some shells write what they redirect. What is neither becomes replacement characters.
fn decoded(content: &[u8]) -> Cow<'_, str> {
    let utf16 = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        Cow::Owned(String::from_utf16_lossy(&units.collect::<Vec<_>>()))
    };
    match content {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest),
        _ => String::from_utf8_lossy(content),
    }
}

/// A line without colours, without the tags of mpirun (`[1,0]<stdout>:`, in the middle of a line too, where a program
/// wrote it in parts) and without a rank before it (`[0]`, `[0]:`, `[rank0]:`).
fn plain(line: &str) -> String {
    let mut text = without_colours(line);
    while let Some((start, end)) = mpi_tag(&text) {
        let is_apart = text[..start].chars().next_back().is_none_or(char::is_whitespace);
        let gap = if is_apart { "" } else { " " };
        text.replace_range(start..end, gap);
    }
    while let Some(rest) = without_rank(&text) {
        text = rest.to_owned();
    }
    text
}

/// What follows a rank in brackets.
fn without_rank(text: &str) -> Option<&str> {
    let (digits, rest) = text.trim_start().strip_prefix('[')?.split_once(']')?;
    let digits = digits.strip_prefix("rank").unwrap_or(digits);
    let is_rank = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let ends = [": ", ":", " "];
    is_rank.then(|| ends.iter().find_map(|end| rest.strip_prefix(end)).unwrap_or(rest))
}

fn without_colours(line: &str) -> String {
    let mut parts = line.split("\u{1b}[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |at| at + 1);
        text.push_str(&part[end..]);
    }
    text
}

/// Where `[JOB,RANK]<stdout>:` is.
fn mpi_tag(text: &str) -> Option<(usize, usize)> {
    let middle = text.find("]<std")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find('>')? + 1;
    let end = if text[end..].starts_with(':') { end + 1 } else { end };
    Some((start, end))
}

/// Lines without the time of day (`2026-11-29T10:00:00.5Z `) that those who gather logs set before each.
fn without_times(lines: Vec<String>) -> Vec<String> {
    let timed = |line: &String| is_time(line.split(' ').next().unwrap_or_default());
    if !lines.iter().filter(|line| !line.trim().is_empty()).all(timed) {
        return lines;
    }
    let rest =
        |line: String| line.split_once(' ').map_or_else(String::new, |(_, rest)| rest.to_owned());
    lines.into_iter().map(rest).collect()
}

/// Whether a word is a date with a time behind it, as RFC 3339 writes them.
fn is_time(word: &str) -> bool {
    let form: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    form.starts_with("0000-00-00T00:00:00")
}

/// Lines without labels (`node1: `, ` 0: `) where nine in ten have one, and few labels are before many lines, as pdsh and srun set
/// them, which pads numbers of ranks. What the script of a job prints beside them has none.
fn without_labels(lines: Vec<String>) -> Vec<String> {
    let full = lines.iter().filter(|line| !line.trim().is_empty()).count();
    let labels: Vec<&str> = lines.iter().filter_map(|line| Some(labelled(line)?.0)).collect();
    let different = labels.iter().collect::<BTreeSet<_>>().len();
    if labels.len() * 10 < full * 9 || different * 3 > full {
        return lines;
    }
    let rest = |line: &String| labelled(line).map_or(line.as_str(), |(_, rest)| rest).to_owned();
    lines.iter().map(rest).collect()
}

/// The label before a line, and what stands behind it.
fn labelled(line: &str) -> Option<(&str, &str)> {
    let (label, rest) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let label = label.trim();
    let is_name = !label.is_empty()
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
    is_name.then_some((label, rest))
}
