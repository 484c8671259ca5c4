//! A source that is asked by one thread after another.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::exposition::Page;
use crate::scraper::in_one_line;
use crate::source::{Source, SourceError};

/// A source of whatever kind, whose clones are one and the same: for whoever asks it again in each level of a run. Who asks while
/// another is being answered waits.
#[derive(Clone)]
pub struct SharedSource(Arc<Mutex<dyn Source<Error = SourceError> + Send>>);

impl SharedSource {
    /// Whatever `source` gives.
    ///
    /// ```
    /// use fizeau_telemetry::{Labels, Page, PageError, SharedSource, Source};
    ///
    /// /// How often it was asked.
    /// struct Asked(u32);
    ///
    /// impl Source for Asked {
    ///     type Error = PageError;
    ///
    ///     fn page(&mut self) -> Result<Page, PageError> {
    ///         self.0 += 1;
    ///         Page::read(format!("asked_total {}\n", self.0).as_bytes(), None)
    ///     }
    /// }
    ///
    /// let mut source = SharedSource::new(Asked(0));
    /// source.clone().page()?;
    /// assert_eq!(source.page()?.value("asked_total", &Labels::default()), Some(2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(source: impl Source + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(source.explained(|error| in_one_line(error)))))
    }
}

impl fmt::Debug for SharedSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedSource")
    }
}

impl Source for SharedSource {
    type Error = SourceError;

    fn page(&mut self) -> Result<Page, SourceError> {
        // A panic within the source ended the thread that asked; others may try.
        self.0.lock().unwrap_or_else(PoisonError::into_inner).page()
    }
}
