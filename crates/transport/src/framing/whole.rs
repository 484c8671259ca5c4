//! A body that is one event.

use fizeau_core::Stamp;

use crate::event::{RawEvent, ReadMark};

/// The most bytes of such a body: 64 MiB, some hundred embeddings of the longest kind, or one a token of a long text.
const LIMIT: usize = 64 << 20;

/// Gathers a body until its end. Its mark is that of the last read that brought any of it.
#[derive(Debug)]
pub(crate) struct WholeBody {
    data: Vec<u8>,
    mark: ReadMark,
    limit: usize,
}

impl WholeBody {
    pub(crate) const fn new() -> Self {
        Self { data: Vec::new(), mark: ReadMark::user(Stamp::EPOCH, 0), limit: LIMIT }
    }

    /// Takes the bytes of (a part of) the read `mark`; the error in words if they are too many.
    pub(crate) fn feed(&mut self, bytes: &[u8], mark: ReadMark) -> Option<String> {
        if self.data.len() + bytes.len() > self.limit {
            self.data = Vec::new();
            self.limit = 0;
            return Some(format!("the reply is longer than the limit of {LIMIT} bytes"));
        }
        if !bytes.is_empty() {
            self.data.extend_from_slice(bytes);
            self.mark = mark;
        }
        None
    }

    /// The body so far.
    pub(crate) fn event(&self) -> Option<RawEvent<'_>> {
        let event = RawEvent { data: &self.data, name: b"", mark: self.mark };
        (!self.data.is_empty()).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::Stamp;

    use super::WholeBody;
    use crate::event::ReadMark;

    #[test]
    fn a_body_is_bounded_and_marked_by_its_last_read() {
        let mark = |number| ReadMark::user(Stamp::from_nanos(u64::from(number)), number);
        let mut body = WholeBody { limit: 5, ..WholeBody::new() };
        assert_eq!(body.event(), None);
        assert_eq!(body.feed(b"ab", mark(1)), None);
        assert_eq!(body.feed(b"cde", mark(2)), None);
        assert_eq!(body.feed(b"", mark(3)), None);
        let event = body.event().unwrap();
        assert_eq!((event.data, event.mark), (&b"abcde"[..], mark(2)));
        assert!(body.feed(b"f", mark(4)).unwrap().contains("longer"));
        assert!(body.feed(b"f", mark(5)).is_some());
        assert_eq!(body.event(), None);
    }
}
