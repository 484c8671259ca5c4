//! Loads that a sweep was to measure and of which there is nothing.

use fizeau_core::{LevelLoad, document};

document! {
    /// A load that was planned and of which there is nothing: it was never measured, or what was is lost.
    #[non_exhaustive]
    pub struct Unmeasured {
        /// The load.
        #[serde(flatten)]
        pub load: LevelLoad,
        /// Why, in plain words; absent where the run did not live to say.
        pub reason?: String,
        /// Whether it was measured, and what was is lost.
        #[serde(skip)]
        pub is_lost: bool,
    }
}

impl Unmeasured {
    /// A load that was never measured, for a `reason` in plain words where one is known.
    #[must_use]
    pub const fn never(load: LevelLoad, reason: Option<String>) -> Self {
        Self { load, reason, is_lost: false }
    }

    /// A load that was measured and of which there is nothing any more, as `reason` says in plain words.
    #[must_use]
    pub const fn lost(load: LevelLoad, reason: String) -> Self {
        Self { load, reason: Some(reason), is_lost: true }
    }
}
