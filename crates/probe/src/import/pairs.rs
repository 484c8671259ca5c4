//! `key=value` within lines.

use super::cell;

/// The pairs of a line, in their order.
#[derive(Debug, Clone, Default)]
pub(super) struct Pairs {
    pairs: Vec<(String, String)>,
}

impl Pairs {
    /// Of a line in which commas stand between pairs, spaces may follow the sign, and parentheses may surround them, some within others.
    pub(super) fn of(line: &str) -> Self {
        let pair = |piece: &str| {
            // Of `decode=Params(b=128` the innermost.
            let inner = piece.rsplit_once('(').map(|(_, inner)| inner);
            let piece = inner.filter(|inner| inner.contains('=')).unwrap_or(piece);
            let (key, value) = piece.split_once('=')?;
            let key = key.trim().rsplit([' ', '(']).next()?;
            let value = value.trim().trim_end_matches(')').trim();
            Some((key.to_owned(), value.to_owned()))
        };
        Self { pairs: line.split(',').filter_map(pair).collect() }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        let found = self.pairs.iter().find(|(own, _)| own == key);
        found.map(|(_, value)| value.as_str())
    }

    pub(super) fn count(&self, key: &str) -> Option<u64> {
        cell::count(self.text(key)?)
    }

    /// The first of several keys that is there.
    pub(super) fn first_count(&self, keys: &[&str]) -> Option<u64> {
        keys.iter().find_map(|key| self.count(key))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// All of them on one line.
    pub(super) fn shown(&self) -> String {
        let pairs = self.pairs.iter().map(|(key, value)| format!("{key}={value}"));
        pairs.collect::<Vec<_>>().join(", ")
    }
}
