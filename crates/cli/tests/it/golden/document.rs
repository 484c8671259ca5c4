//! What a scenario wrote, as one text that can be stored.

use std::fmt::Write as _;
use std::path::Path;

/// The longest text of one section that is kept as it is, and that of a scenario that is `full`.
const SHORT: usize = 2_500;
const FULL: usize = 28_000;
/// The most stretches of lines that a longer text is cut into, each with its checksum.
const STRETCHES: usize = 8;

/// The sections of one scenario.
pub(super) struct Document {
    longest: usize,
    text: String,
    /// All of each section, for whoever wants to see what differs.
    whole: Vec<(String, Vec<u8>)>,
}

impl Document {
    pub(super) fn new(is_full: bool) -> Self {
        let longest = if is_full { FULL } else { SHORT };
        Self { longest, text: String::new(), whole: Vec::new() }
    }

    /// A command line ended so.
    pub(super) fn ended(&mut self, line: &str, code: Option<i32>) {
        let code = code.map_or_else(|| "a signal".to_owned(), |code| code.to_string());
        writeln!(self.text, "\n$ fizeau {line}\nexit {code}").unwrap();
    }

    /// A section. An empty one is left out, but for that of a file.
    pub(super) fn add(&mut self, title: &str, bytes: &[u8]) {
        if bytes.is_empty() && !title.starts_with("file ") {
            return;
        }
        let earlier = self.whole.iter().find(|(_, whole)| whole == bytes);
        let same = earlier.filter(|_| bytes.len() > 100).map(|(title, _)| title.clone());
        self.whole.push((title.to_owned(), bytes.to_vec()));
        writeln!(self.text, "\n=> {title}").unwrap();
        if let Some(same) = same {
            writeln!(self.text, "(the same as {same})").unwrap();
            return;
        }
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= self.longest => {
                self.text += text;
                if !text.ends_with('\n') {
                    self.text += "(no end of line)\n";
                }
            }
            Ok(text) => self.stretches(text),
            Err(_) => writeln!(self.text, "{} bytes {:016x}", bytes.len(), sum(bytes)).unwrap(),
        }
    }

    fn stretches(&mut self, text: &str) {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let length = lines.len().div_ceil(STRETCHES).max(20);
        for (number, stretch) in lines.chunks(length).enumerate() {
            let (first, joined) = (number * length + 1, stretch.concat());
            let last = first + stretch.len() - 1;
            let sum = sum(joined.as_bytes());
            writeln!(self.text, "lines {first} to {last}: {} bytes {sum:016x}", joined.len())
                .unwrap();
        }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Each section as a file of its own.
    pub(super) fn keep(&self, folder: &Path) {
        let _ = std::fs::remove_dir_all(folder);
        std::fs::create_dir_all(folder).unwrap();
        for (number, (title, bytes)) in self.whole.iter().enumerate() {
            let name: String = title
                .chars()
                .map(|char| if char.is_alphanumeric() || ".-_".contains(char) { char } else { '_' })
                .take(120)
                .collect();
            std::fs::write(folder.join(format!("{number:03}-{name}")), bytes).unwrap();
        }
    }
}

/// FNV-1a of 64 bits.
pub(super) fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The first line that differs, with the section and the command that it is of.
pub(super) fn first_difference(stored: &str, found: &str) -> String {
    let (mut old, mut new) = (stored.lines(), found.lines());
    let (mut title, mut number) = ("", 0);
    loop {
        number += 1;
        match (old.next(), new.next()) {
            (None, None) => return "they differ in their ends of lines".to_owned(),
            (was, is) if was == is => {
                let line = is.unwrap_or_default();
                if line.starts_with("=> ") || line.starts_with("$ ") {
                    title = line;
                }
            }
            (was, is) => {
                let [was, is] = [was, is].map(|line| line.unwrap_or("(nothing more)"));
                return format!("line {number}, below `{title}`\n  stored: {was}\n  found:  {is}");
            }
        }
    }
}
