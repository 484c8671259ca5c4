//! Mooncake's traces: a line of JSON for each request, whose ids of blocks say which prompts begin alike.
//!
//! The lines are read by hand, so that an error can say which field it is and what stands there, and so that ids that
//! nobody wants cost next to nothing: each walk of each shard goes over the whole file.

use fizeau_core::Nanos;

use super::error::LineFault;
use super::lines::{count, time, whole};
use super::reader::TraceRow;

const STAMP: &str = "timestamp";
const INPUT: &str = "input_length";
const OUTPUT: &str = "output_length";
const IDS: &str = "hash_ids";
const NUMBER: &str = "a number such as 27482";
const DUE: &str = "a number such as 27482 (a request that is due after another, as with `delay` in AIPerf's files, cannot be replayed)";
const TOKENS: &str = "a whole number of tokens";

/// Reads `line`, where a time of 1 is a `tick`. The ids go to `blocks`; where nobody wants them they are passed over unread.
pub(super) fn read(
    line: &[u8],
    tick: Nanos,
    mut blocks: Option<&mut Vec<u64>>,
) -> Result<TraceRow, LineFault> {
    let (mut at, mut input, mut output, mut ids) = (None, None, None, None);
    let mut text = LineCursor { rest: line };
    if !text.take(b'{') {
        return Err(text.fault("line", "an object of JSON, from { to } in one line"));
    }
    let mut more = !text.take(b'}');
    while more {
        let Some(key) = text.string() else {
            return Err(text.fault("line", "the name of a field in quotes"));
        };
        if !text.take(b':') {
            return Err(text.fault("line", "a colon after the name of a field"));
        }
        match key {
            b"timestamp" => {
                let value = text.scalar(STAMP, NUMBER, |v| time(v, tick))?;
                once(&mut at, value, STAMP)?;
            }
            b"input_length" => once(&mut input, text.scalar(INPUT, TOKENS, count)?, INPUT)?,
            b"output_length" => once(&mut output, text.scalar(OUTPUT, TOKENS, count)?, OUTPUT)?,
            b"hash_ids" => once(&mut ids, text.ids(blocks.as_deref_mut())?, IDS)?,
            _ if text.skip(0).is_none() => return Err(text.fault("line", "a value of JSON")),
            _ => {}
        }
        more = text.take(b',');
        if !more && !text.take(b'}') {
            return Err(text.fault("line", "a comma or a closing brace after a field"));
        }
    }
    text.space();
    if !text.rest.is_empty() {
        return Err(text.fault("line", "the end of the line after the object"));
    }
    Ok(TraceRow {
        at: at.ok_or_else(|| LineFault::missing(STAMP, DUE))?,
        input: input.ok_or_else(|| LineFault::missing(INPUT, TOKENS))?,
        output: output.ok_or_else(|| LineFault::missing(OUTPUT, TOKENS))?,
    })
}

/// Puts `value` where none is yet.
fn once<T>(slot: &mut Option<T>, value: T, field: &'static str) -> Result<(), LineFault> {
    match slot.replace(value) {
        None => Ok(()),
        Some(_) => Err(LineFault {
            field,
            found: "the field twice".to_owned(),
            expected: "each field once".to_owned(),
        }),
    }
}

/// What is left of a line.
struct LineCursor<'a> {
    rest: &'a [u8],
}

impl<'a> LineCursor<'a> {
    fn fault(&self, field: &'static str, expected: &str) -> LineFault {
        LineFault::at(field, self.rest, expected)
    }

    fn space(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.rest {
            self.rest = rest;
        }
    }

    /// Takes `byte` if it comes next.
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        match self.rest {
            [first, rest @ ..] if *first == byte => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// What stands in quotes, escapes left as they are: none of the names that matter has one.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.space();
        let [b'"', inside @ ..] = self.rest else {
            return None;
        };
        let mut end = 0;
        loop {
            match inside.get(end)? {
                b'"' => break,
                b'\\' => end += 2,
                0..0x20 => return None,
                _ => end += 1,
            }
        }
        let (string, rest) = inside.split_at_checked(end)?;
        self.rest = rest.get(1..)?;
        Some(string)
    }

    /// Everything up to what ends a number or a word.
    fn word(&mut self) -> &'a [u8] {
        self.space();
        let ends = |byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t');
        let end = self.rest.iter().position(ends).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end).unwrap_or((self.rest, b""));
        self.rest = rest;
        word
    }

    fn scalar<T>(
        &mut self,
        field: &'static str,
        expected: &str,
        read: impl FnOnce(&[u8]) -> Option<T>,
    ) -> Result<T, LineFault> {
        let word = self.word();
        read(word).ok_or_else(|| LineFault::at(field, word, expected))
    }

    /// A row of ids.
    fn ids(&mut self, blocks: Option<&mut Vec<u64>>) -> Result<(), LineFault> {
        const EXPECTED: &str = "a list of whole numbers such as [46, 47]";
        if !self.take(b'[') {
            return Err(self.fault(IDS, EXPECTED));
        }
        let read = match blocks {
            Some(blocks) => self.keep_ids(blocks),
            None => self.pass_ids(),
        };
        read.ok_or_else(|| self.fault(IDS, EXPECTED))
    }

    fn pass_ids(&mut self) -> Option<()> {
        let end = self.rest.iter().position(|byte| *byte == b']')?;
        self.rest = self.rest.get(end + 1..)?;
        Some(())
    }

    /// Where it gives up, the id that is wrong comes next.
    fn keep_ids(&mut self, blocks: &mut Vec<u64>) -> Option<()> {
        if self.take(b']') {
            return Some(());
        }
        loop {
            self.space();
            let (id, rest) = id(self.rest)?;
            let before = std::mem::replace(&mut self.rest, rest);
            blocks.push(id);
            if self.take(b',') {
                continue;
            }
            if self.take(b']') {
                return Some(());
            }
            self.rest = before;
            return None;
        }
    }

    /// Any value, nested to a depth that no trace has.
    fn skip(&mut self, depth: u32) -> Option<()> {
        const DEEPEST: u32 = 64;
        self.space();
        let close = match self.rest {
            _ if depth > DEEPEST => return None,
            [b'"', ..] => return self.string().map(|_| ()),
            [b'{', ..] => b'}',
            [b'[', ..] => b']',
            _ => {
                let before = self.rest;
                let word = self.word();
                if is_scalar(word) {
                    return Some(());
                }
                self.rest = before;
                return None;
            }
        };
        self.rest = self.rest.get(1..)?;
        if self.take(close) {
            return Some(());
        }
        loop {
            if close == b'}' && (self.string().is_none() || !self.take(b':')) {
                return None;
            }
            self.skip(depth + 1)?;
            if !self.take(b',') {
                return self.take(close).then_some(());
            }
        }
    }
}

/// The whole number that `text` begins with, and what follows.
fn id(text: &[u8]) -> Option<(u64, &[u8])> {
    /// No number of so many digits is too great.
    const SAFE: usize = 19;
    let (mut id, mut digits) = (0_u64, 0);
    while let Some(byte) = text.get(digits) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        id = id.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    let (number, rest) = text.split_at_checked(digits)?;
    let id = if digits > SAFE { whole(number)? } else { id };
    (digits > 0).then_some((id, rest))
}

/// Whether `word` is a value of JSON that is neither text nor put together; of numbers only the letters are looked at.
fn is_scalar(word: &[u8]) -> bool {
    let of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let number = word.iter().all(of_number) && word.iter().any(u8::is_ascii_digit);
    number || matches!(word, b"true" | b"false" | b"null")
}
