//! A line of `tapes.jsonl`, read by hand where it is as this program writes it. Anything else is serde's.
//!
//! Almost all of a line is the columns of its arrivals. A general parser takes five times as long over them as this one,
//! which knows their names and their order; the rest of the line goes through serde, with one made-up arrival in the place
//! of the real ones, so that there is one definition of a tape.

mod cursor;

use fizeau_core::{Arrival, Channel, Nanos, ReadLag, Stamp, Tape};

use cursor::Cursor;

/// What stands before the columns.
const KEY: &[u8] = b"\"arrivals\":";

/// The columns of [`stand_in`].
const STAND_IN: &[u8] = br#"{"gap_ns":[18446744073709551615],"read_step":[[0,1]],"tokens":[[0,1]],"bytes":[0],"continuation_bytes":[[0,1]],"channel":[["silent",1]]}"#;

/// No arrival that was ever seen: it tells that the columns that were cut out are those that serde would have read. Its stamp
/// is enough for that; all else is as short as can be.
const fn stand_in() -> Arrival {
    Arrival::tokens(Stamp::from_nanos(u64::MAX), 0, Channel::Silent)
}

/// Reads lines, and keeps what the next one can use.
#[derive(Debug, Default)]
pub(super) struct LineReader {
    /// A line without its columns.
    without: Vec<u8>,
    /// Where the columns of the last line began.
    columns_at: usize,
    /// How many arrivals the last line had.
    arrivals: usize,
}

impl LineReader {
    /// The tape of `line`: what serde makes of it.
    pub(super) fn read(&mut self, line: &[u8]) -> Result<Tape, serde_json::Error> {
        match self.by_hand(line) {
            Some(tape) => Ok(tape),
            None => serde_json::from_slice(line),
        }
    }

    /// None if the line is not as this program writes it.
    fn by_hand(&mut self, line: &[u8]) -> Option<Tape> {
        self.columns_at = columns_at(line, self.columns_at)?;
        let (before, columns) = line.split_at_checked(self.columns_at)?;
        let mut columns = Cursor::new(columns);
        let arrivals = arrivals(&mut columns, self.arrivals)?;
        self.arrivals = arrivals.len();
        self.without.clear();
        for part in [before, STAND_IN, columns.rest()] {
            self.without.extend_from_slice(part);
        }
        let mut tape: Tape = serde_json::from_slice(&self.without).ok()?;
        let is_ours = *tape.arrivals == [stand_in()];
        is_ours.then(|| {
            tape.arrivals = arrivals;
            tape
        })
    }
}

/// Where the columns of `line` may begin: near where those of the line before did, or else wherever they are named.
fn columns_at(line: &[u8], before: usize) -> Option<usize> {
    let named = |from: usize| {
        let found = line.get(from..)?.windows(KEY.len()).position(|window| window == KEY)?;
        Some(from + found + KEY.len())
    };
    named(before.saturating_sub(2 * KEY.len())).or_else(|| named(0))
}

/// The arrivals of columns in the order in which they are written; `about` is how many there may be.
fn arrivals(from: &mut Cursor<'_>, about: usize) -> Option<Vec<Arrival>> {
    let mut arrivals = Vec::with_capacity(about);
    let mut at = Stamp::EPOCH;
    from.eat(b"{\"gap_ns\":")?;
    from.list(|gap| {
        at += Nanos::from_nanos(gap);
        arrivals.push(Arrival::tokens(at, 0, Channel::Visible));
        Some(())
    })?;
    let mut read = 0_u32;
    from.eat(b",\"read_step\":")?;
    runs(from, &mut arrivals, Cursor::number_32, |arrival, step| {
        read = read.wrapping_add(step);
        arrival.read = read;
    })?;
    from.eat(b",\"tokens\":")?;
    runs(from, &mut arrivals, Cursor::number_32, |arrival, tokens| arrival.tokens = tokens)?;
    from.eat(b",\"bytes\":")?;
    each(from, &mut arrivals, |arrival, bytes| arrival.bytes = bytes)?;
    from.eat(b",\"continuation_bytes\":")?;
    runs(from, &mut arrivals, Cursor::number_32, |arrival, continuation| {
        arrival.chars = arrival.bytes.wrapping_sub(continuation);
    })?;
    from.eat(b",\"channel\":")?;
    runs(from, &mut arrivals, channel, |arrival, channel| arrival.channel = channel)?;
    if from.eat(b",\"read_lag_ns\":").is_some() {
        each(from, &mut arrivals, |arrival, lag| {
            arrival.read_lag = ReadLag::of(Nanos::from_nanos(lag.into()));
        })?;
    }
    from.eat(b"}")?;
    Some(arrivals)
}

/// A column with a number for each arrival: none if there are more or fewer.
fn each(
    from: &mut Cursor<'_>,
    arrivals: &mut [Arrival],
    put: impl Fn(&mut Arrival, u32),
) -> Option<()> {
    let mut arrivals = arrivals.iter_mut();
    from.list(|value| {
        put(arrivals.next()?, u32::try_from(value).ok()?);
        Some(())
    })?;
    arrivals.next().is_none().then_some(())
}

/// A column in runs of `[value, how many]`: none if they are not as many as the arrivals. A run that is longer than what is
/// left of them, be it absurdly long, costs nothing.
fn runs<'a, T: Copy>(
    from: &mut Cursor<'a>,
    arrivals: &mut [Arrival],
    value: impl Fn(&mut Cursor<'a>) -> Option<T>,
    mut put: impl FnMut(&mut Arrival, T),
) -> Option<()> {
    let mut rest = arrivals;
    from.eat(b"[")?;
    if from.eat(b"]").is_none() {
        loop {
            from.eat(b"[")?;
            let value = value(from)?;
            from.eat(b",")?;
            let count = usize::try_from(from.number()?).ok()?;
            from.eat(b"]")?;
            let (run, after) = rest.split_at_mut_checked(count)?;
            run.iter_mut().for_each(|arrival| put(arrival, value));
            rest = after;
            if !from.goes_on()? {
                break;
            }
        }
    }
    rest.is_empty().then_some(())
}

/// A channel by its name, of which serde knows them all.
fn channel(from: &mut Cursor<'_>) -> Option<Channel> {
    if from.eat(b"\"visible\"").is_some() {
        return Some(Channel::Visible); // Almost all are.
    }
    serde_json::from_slice(from.quoted()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_of_the_stand_in_are_the_stand_in() {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        tape.arrivals.push(stand_in());
        let line = serde_json::to_vec(&tape).unwrap();
        let text = String::from_utf8(line.clone()).unwrap();
        assert!(text.contains(std::str::from_utf8(STAND_IN).unwrap()), "{text}");
        assert_eq!(LineReader::default().by_hand(&line), Some(tape));
    }

    #[test]
    fn what_this_program_writes_is_read_by_hand_and_nothing_else_is() {
        let mut tape = Tape::sent_at(Stamp::EPOCH);
        let ms = |n| Stamp::EPOCH + Nanos::from_millis(n);
        tape.text = Some(r#"a text with "arrivals":{"gap_ns":[1]} in it"#.to_owned());
        for channel in [Channel::Visible, Channel::Reasoning, Channel::ToolCall] {
            tape.arrivals.push(Arrival::tokens(ms(20), 1, channel));
        }
        let written = serde_json::to_string(&tape).unwrap();
        let by_hand = |line: &str| LineReader::default().by_hand(line.as_bytes());
        assert_eq!(by_hand(&written).as_ref(), Some(&tape));
        let odd = [
            ("\"gap_ns\":[", "\"gap_ns\": ["),
            ("20000000", "2e7"),
            ("20000000", "020000000"),
            ("20000000", "99999999999999999999"),
            ("[[1,3]]", "[[1,18446744073709551615]]"),
            ("[[1,3]]", "[[1,2]]"),
            ("[[1,3]]", "[[1,3],[1,1]]"),
            ("\"bytes\":[0", "\"bytes\":[4294967296"),
            ("\"arrivals\":", "\"elsewhere\":{\"arrivals\":{}},\"arrivals\":"),
        ];
        for (is, put) in odd {
            let line = written.replacen(is, put, 1);
            assert_ne!(line, written, "{is}");
            assert_eq!(by_hand(&line), None, "{line}");
        }
    }
}
