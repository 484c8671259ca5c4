//! Where pages come from.

use crate::exposition::Page;

/// Somebody who can be asked for a page of metrics: an HTTP address, a library of a device's, a program's own counters.
///
/// ```
/// use std::convert::Infallible;
/// use fizeau_telemetry::{Labels, MetricKind, Page, Sample, SeriesName, Source};
///
/// /// A program that measures itself.
/// struct Own(u64);
///
/// impl Source for Own {
///     type Error = Infallible;
///
///     fn page(&mut self) -> Result<Page, Infallible> {
///         let mut page = Page::default();
///         let name = SeriesName::new("steps_total", Labels::default());
///         page.kinds.insert(name.metric.clone(), MetricKind::Counter);
///         page.samples.insert(name, Sample { value: self.0 as f64, told_at_unix_ms: None });
///         Ok(page)
///     }
/// }
///
/// assert_eq!(Own(3).page()?.value("steps_total", &Labels::default()), Some(3.0));
/// # Ok::<(), Infallible>(())
/// ```
pub trait Source {
    /// Why there is no page this time.
    type Error: std::error::Error;

    /// A page of what is now. It may take as long as it takes: whoever asks is on a thread of its own.
    ///
    /// # Errors
    /// If no page can be had now. The source is asked again.
    fn page(&mut self) -> Result<Page, Self::Error>;

    /// The same source, of whose errors `why` says in one line what they are: for whoever knows more, such as what helps.
    fn explained<F>(self, why: F) -> ExplainedSource<Self, F>
    where
        Self: Sized,
        F: FnMut(&Self::Error) -> String,
    {
        ExplainedSource { source: self, why }
    }
}

/// Why a source had no page, in one line, as the source says it or whoever [explains](Source::explained) it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SourceError(String);

/// A source whose errors are in the words of whoever asks it: see [`Source::explained`].
#[derive(Debug, Clone)]
pub struct ExplainedSource<S, F> {
    source: S,
    why: F,
}

impl<S: Source, F: FnMut(&S::Error) -> String> Source for ExplainedSource<S, F> {
    type Error = SourceError;

    fn page(&mut self) -> Result<Page, SourceError> {
        self.source.page().map_err(|error| SourceError((self.why)(&error)))
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<T: Source + ?Sized> Source for $pointer {
            type Error = T::Error;

            fn page(&mut self) -> Result<Page, Self::Error> {
                (**self).page()
            }
        }
    )*};
}

forward!(&mut T, Box<T>);
