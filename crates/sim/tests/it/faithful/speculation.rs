//! When guessing ahead is worth it.

use fizeau_core::Nanos;
use fizeau_roofline::Acceptance;
use fizeau_sim::{EngineConfig, EngineDrafts, Serve};

use super::observe::{Seen, engine, mean, roomy, run, stream};
use crate::support::ms;

/// The mean TPOT of a batch, with and without drafts of five tokens of which each is accepted in 60 % of cases.
fn tpot(batch: u64, drafts: Option<EngineDrafts>) -> f64 {
    let mut engine = engine(EngineConfig { drafts, ..roomy() });
    let seen = run(&mut engine, &stream(0, batch, (100, 120), ms(0), Nanos::ZERO));
    assert_eq!(engine.gauges().waiting, 0);
    mean(seen.iter().map(Seen::tpot))
}

/// Leviathan et al. (ICML 2023, arXiv 2211.17192): a draft is verified for the price of reading the weights
/// once, as long as that is the price. Near the ridge each drafted token costs arithmetic, and those that
/// are refused cost it for nothing.
#[test]
fn speculation_pays_at_small_batch_and_not_near_the_ridge() {
    let drafts = || {
        let acceptance = Acceptance::uniform(0.6).unwrap();
        Some(EngineDrafts { length: 5, acceptance })
    };
    let gain = |batch| tpot(batch, None) / tpot(batch, drafts());
    // Of (1 - 0.6^6) / 0.4 = 2.38 tokens a step nearly all is won.
    let (one, few, many) = (gain(1), gain(8), gain(256));
    assert!(few > 1.8 && one > 1.6, "{one} {few}");
    assert!(many < 1.0, "{many}");
}
