//! What is shown, and what shows it.

use std::ops::Deref;

/// A document as people want to see it: as text, a page, a picture.
///
/// ```
/// use fizeau_record::{RunSetup, SweepReport};
/// use fizeau_report::Shown;
///
/// let sweep = SweepReport::new(RunSetup::default(), Vec::new(), None);
/// assert!(Shown(&sweep).markdown().starts_with("#"));
/// ```
#[derive(Debug)]
pub struct Shown<'a, T>(
    /// What is shown.
    pub &'a T,
);

impl<T> Deref for Shown<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0
    }
}
