//! Where the driver puts tapes.

use fizeau_core::{Tape, TapeSink};

/// Takes finished tapes by value, so that they can go on to another thread without a copy.
pub(crate) trait Outlet {
    /// Why a tape could not be taken.
    type Error: std::error::Error;

    /// Takes one.
    fn put(&mut self, tape: Tape) -> Result<(), Self::Error>;

    /// Nothing more is at hand: the driver is about to wait.
    fn rest(&mut self) -> Result<(), Self::Error>;
}

/// A sink, as an outlet: it is told to flush when nothing more is at hand.
pub(crate) struct Keep<'a, K> {
    sink: &'a mut K,
    unflushed: bool,
}

impl<'a, K> Keep<'a, K> {
    pub(crate) const fn new(sink: &'a mut K) -> Self {
        Self { sink, unflushed: false }
    }
}

impl<K: TapeSink> Outlet for Keep<'_, K> {
    type Error = K::Error;

    fn put(&mut self, tape: Tape) -> Result<(), K::Error> {
        self.unflushed = true;
        self.sink.record(&tape)
    }

    fn rest(&mut self) -> Result<(), K::Error> {
        if std::mem::take(&mut self.unflushed) { self.sink.flush() } else { Ok(()) }
    }
}
