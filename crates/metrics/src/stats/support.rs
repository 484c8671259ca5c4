//! What a sample supports, or how much more it would take.

/// Something that a sample supports, or why it does not: how large a sample it would take.
///
/// What it needs is a rule or an estimate from the sample at hand (where values are correlated, more of them are needed), so
/// a sample that has grown to that size may need a few more.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SampleSupport<T> {
    /// The sample supports it.
    Known(T),
    /// The sample is too small.
    NotSupported {
        /// How many values it would take.
        needs: u64,
        /// How many there are.
        has: u64,
    },
    /// No size of the sample helps: its values may be correlated, and how far is not known.
    CorrelationUnknown,
}

impl<T> SampleSupport<T> {
    /// What is known, if it is.
    ///
    /// ```
    /// use fizeau_metrics::SampleSupport;
    /// assert_eq!(SampleSupport::Known(3).known(), Some(3));
    /// assert_eq!(SampleSupport::<u8>::NotSupported { needs: 662, has: 100 }.known(), None);
    /// ```
    #[must_use]
    pub fn known(self) -> Option<T> {
        match self {
            Self::Known(known) => Some(known),
            Self::NotSupported { .. } | Self::CorrelationUnknown => None,
        }
    }

    /// Why it is not known, in plain words; none where it is.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        match self {
            Self::Known(_) => None,
            Self::NotSupported { needs, has } => {
                Some(format!("needs about {needs} values, has {has}"))
            }
            // Such as of lateness, whose order is not kept, or of gaps, which are pooled.
            Self::CorrelationUnknown => {
                Some("it is not known how far these values are correlated".to_owned())
            }
        }
    }

    /// The same, with what is known made into something else.
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> SampleSupport<U> {
        match self {
            Self::Known(known) => SampleSupport::Known(change(known)),
            Self::NotSupported { needs, has } => SampleSupport::NotSupported { needs, has },
            Self::CorrelationUnknown => SampleSupport::CorrelationUnknown,
        }
    }
}
