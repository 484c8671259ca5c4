//! A level as one client tells another which to measure.

use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

use fizeau_core::{LevelLoad, Nanos};
use fizeau_record::{LevelRole, level_folder};
use serde::{Deserialize, Serialize};

use super::{LevelSize, LevelSpec};

/// A level as one client tells another which to measure: the name of its folder, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelOrder {
    load: LevelLoad,
    visit: u32,
    role: Option<LevelRole>,
    requests: Option<NonZeroU64>,
    time_ns: Option<Nanos>,
    warmup: Option<u64>,
}

impl LevelOrder {
    pub(crate) const fn new(ask: LevelSpec, role: Option<LevelRole>) -> Self {
        let LevelSpec { load, visit, size: LevelSize { requests, time, warmup } } = ask;
        Self { load, visit, role, requests, time_ns: time, warmup }
    }

    pub(crate) const fn ask(self) -> LevelSpec {
        let Self { load, visit, requests, time_ns, warmup, .. } = self;
        LevelSpec { load, visit, size: LevelSize { requests, time: time_ns, warmup } }
    }

    pub(crate) const fn role(self) -> Option<LevelRole> {
        self.role
    }

    pub(crate) fn folder(self) -> String {
        level_folder(self.load, self.visit, self.role)
    }
}

impl fmt::Display for LevelOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = serde_json::to_string(self).map_err(|_| fmt::Error)?;
        f.write_str(&text)
    }
}

impl FromStr for LevelOrder {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

#[cfg(test)]
mod tests {
    use fizeau_core::{LoadKind, Nanos};
    use fizeau_record::LevelRole;
    use proptest::prelude::*;

    use super::{LevelOrder, LevelSize, LevelSpec};

    proptest! {
        /// All clients measure the same level to the nanosecond, whatever its load is.
        #[test]
        fn an_order_is_read_as_it_was_told(
            rate in 1e-6..1e9_f64,
            requests in prop::option::of(1_u64..1_000_000),
            time in prop::option::of(0_u64..1 << 50),
            visit in 0_u32..9,
            is_sustained: bool,
        ) {
            let size = LevelSize {
                requests: requests.and_then(std::num::NonZeroU64::new),
                time: time.map(Nanos::from_nanos),
                warmup: None,
            };
            for load in [LoadKind::Rate.at(rate), LoadKind::Concurrency.at(rate.ceil())] {
                let ask = LevelSpec { load, visit, size };
                let order = LevelOrder::new(ask, is_sustained.then_some(LevelRole::Sustained));
                let read: LevelOrder = order.to_string().parse().unwrap();
                prop_assert_eq!(read, order);
                prop_assert_eq!(read.ask(), ask);
            }
        }
    }
}
