//! What was asked of each request.

use fizeau_core::{Millis, Tokens, document};

document! {
    /// The lengths that were asked for.
    #[derive(Default)]
    pub struct RequestedLengths {
        /// Of prompts; absent where it is not known.
        pub input?: RequestedLength,
        /// Of outputs.
        pub output?: RequestedLength,
    }
}

document! {
    /// Lengths that were asked for: the law, and where half and nine tenths of all are below. Of an import the mean alone.
    #[derive(Default)]
    pub struct RequestedLength {
        /// In words.
        pub law?: String,
        /// The median.
        pub p50?: Tokens,
        /// Nine in ten are below.
        pub p90?: Tokens,
        /// The mean of those that came.
        pub mean?: f64,
    }
}

impl RequestedLength {
    /// Lengths of which no more is known than these words.
    #[must_use]
    pub fn in_words(law: impl Into<String>) -> Self {
        Self { law: Some(law.into()), ..Self::default() }
    }

    /// In one line; empty where there is no law.
    #[must_use]
    pub fn words(&self) -> String {
        let law = self.law.clone().unwrap_or_default();
        match (self.p50, self.p90) {
            (Some(p50), Some(p90)) if p50 != p90 => format!("{law} (p50 {p50}, p90 {p90})"),
            _ => law,
        }
    }
}

document! {
    /// The time limits of a request; what is absent is not limited.
    #[derive(Copy, Default)]
    pub struct RequestTimeouts {
        /// Until a connection stands.
        pub connect_ms?: Millis,
        /// From the sending to the first token.
        pub first_token_ms?: Millis,
        /// Between two arrivals.
        pub idle_ms?: Millis,
        /// From the sending to the end.
        pub total_ms?: Millis,
    }
}
