//! What is shown, and what shows it.

use std::ops::Deref;

/// A document as people want to see it: as text, a page, a picture.
///
/// ```
/// use fizeau_record::{Setup, SweepReport};
/// use fizeau_report::View;
///
/// let sweep = SweepReport::new(Setup::default(), Vec::new(), None);
/// assert!(View(&sweep).markdown().starts_with("#"));
/// ```
#[derive(Debug)]
pub struct View<'a, T>(
    /// What is shown.
    pub &'a T,
);

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<T> Deref for View<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}
