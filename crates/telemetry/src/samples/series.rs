//! One series of a history.

use super::history::History;
use super::track::{Said, SeriesPoint, Track};
use crate::exposition::SeriesName;

/// One series of a history.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampledSeries<'a> {
    pub(crate) name: &'a SeriesName,
    pub(super) track: &'a Track,
    pub(super) history: &'a History,
}

impl<'a> SampledSeries<'a> {
    /// A point a page.
    pub(crate) fn points(self) -> impl Iterator<Item = SeriesPoint> + use<'a> {
        self.track.points(self.history.first_page(), self.history.fetched())
    }

    /// What pages say of it: the pages, counted from the first that is kept, on which that changes, and what it is from there on. The
    /// first is there always.
    pub(crate) fn steps(self) -> impl Iterator<Item = (usize, Said)> + use<'a> {
        let first = self.history.first_page();
        let place =
            move |page: u64| usize::try_from(page.saturating_sub(first)).unwrap_or(usize::MAX);
        self.track.steps().map(move |(page, said)| (place(page), said))
    }
}
