//! What was run, read back from `run.json`.

use fizeau::core::PerSec;
use fizeau::metrics::CacheExpectation;
use fizeau::record::{Asked, AskedArrivals, DocumentFields, RunDocument, Setup, StoredLevel};

/// The prompt's nominal length; zero where it was not known before the run.
pub(super) fn typical_prompt(run: &RunDocument) -> u64 {
    run.lengths.input.as_ref().and_then(|input| input.p50).map_or(0, fizeau::core::Tokens::get)
}

/// The arrivals and cache hits that were asked for, as a summary has them.
pub(super) fn asked(record: &DocumentFields) -> Asked {
    let name = |name: &str| format!("asked.{name}");
    let number = |field: &str| record.number(&name(field));
    // An object of unknown numbers is one all the same: the loop was open.
    let is_open = ["rate_per_s", "cv_squared"]
        .iter()
        .any(|field| record.get(&name(&format!("arrivals.{field}"))).is_some());
    Asked {
        arrivals: is_open.then(|| AskedArrivals {
            rate: number("arrivals.rate_per_s").map(PerSec::new),
            cv_squared: number("arrivals.cv_squared"),
        }),
        cache: match (record.text(&name("cache")).as_deref(), number("cached_share")) {
            (Some("share"), Some(share)) => CacheExpectation::Share(share),
            (Some("reuse"), _) => CacheExpectation::Reuse,
            _ => CacheExpectation::None,
        },
    }
}

/// That of a level: in an A/B run the turns of B have an endpoint of their own.
pub(super) fn of_level(run: &RunDocument, level: &StoredLevel) -> Setup {
    match level.name().starts_with("b-") {
        true => run.of_side_b().setup,
        false => run.setup.clone(),
    }
}
