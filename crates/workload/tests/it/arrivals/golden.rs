//! Golden vectors of the laws whose rate changes. The values are this crate's own output. A Python program with a ChaCha8
//! of its own, that looks for each instant by halving over the integral of the rate (and for on/off and ramps over requests
//! adds up the gaps), gives the same to the nanosecond.

use fizeau_core::Nanos;
use fizeau_workload::{ArrivalLaw, RampShape, RampSpan, Spacing};

use super::{POISSON, diurnal, on_off, ramp, schedule, stages, time};

/// The instants of these numbers among the first 201, in nanoseconds.
fn some(arrivals: ArrivalLaw, seed: u64) -> [u64; 4] {
    let all: Vec<Nanos> = schedule(arrivals, 201, seed).flatten().collect();
    [0, 1, 60, 200].map(|number: usize| all[number].as_nanos())
}

/// All instants of a plan of five, in nanoseconds.
fn five(arrivals: ArrivalLaw, seed: u64) -> Vec<u64> {
    schedule(arrivals, 5, seed).flatten().map(Nanos::as_nanos).collect()
}

#[test]
fn linear_ramp() {
    let law = |spacing| ramp([10.0, 100.0], RampShape::Linear, time(2.0), spacing);
    assert_eq!(some(law(POISSON), 0), [5_111_798, 192_562_305, 1_493_718_538, 3_071_335_177]);
    assert_eq!(some(law(POISSON), 42), [103_661_812, 126_804_052, 1_630_141_755, 3_074_501_639]);
    assert_eq!(
        some(law(Spacing::Even), 0),
        [84_089_972, 149_626_678, 1_439_251_168, 2_910_000_000]
    );
}

#[test]
fn exponential_ramp() {
    let law = |spacing| ramp([10.0, 100.0], RampShape::Exponential, time(2.0), spacing);
    assert_eq!(some(law(POISSON), 0), [5_155_263, 239_665_067, 1_858_777_875, 3_389_605_110]);
    assert_eq!(some(law(POISSON), 42), [119_263_895, 149_369_945, 1_978_937_263, 3_392_771_571]);
    assert_eq!(
        some(law(Spacing::Even), 0),
        [94_650_419, 179_992_755, 1_808_661_084, 3_228_269_933]
    );
}

#[test]
fn ramps_over_requests() {
    let law = |shape, spacing| ramp([10.0, 100.0], shape, RampSpan::Requests, spacing);
    let linear = |spacing, seed| five(law(RampShape::Linear, spacing), seed);
    assert_eq!(linear(POISSON, 0), [5_170_592, 88_500_517, 93_831_045, 110_908_589, 140_879_830]);
    assert_eq!(
        linear(POISSON, 42),
        [127_839_797, 138_652_907, 183_597_568, 185_859_037, 197_916_355]
    );
    assert_eq!(
        linear(Spacing::Even, 0),
        [100_000_000, 130_769_231, 148_951_049, 161_854_275, 171_854_275]
    );
    let exponential = |spacing, seed| five(law(RampShape::Exponential, spacing), seed);
    assert_eq!(
        exponential(POISSON, 0),
        [5_170_592, 157_465_138, 166_736_273, 190_271_973, 220_243_215]
    );
    assert_eq!(
        exponential(POISSON, 42),
        [127_839_797, 147_601_938, 225_772_061, 228_888_742, 240_946_060]
    );
    assert_eq!(
        exponential(Spacing::Even, 0),
        [100_000_000, 156_234_133, 187_856_909, 205_639_703, 215_639_703]
    );
}

#[test]
fn stages_with_a_pause() {
    let law = |spacing| stages(&[(5.0, 1.0), (0.0, 2.0), (50.0, 1.0)], spacing);
    assert_eq!(some(law(POISSON), 0), [10_341_184, 551_985_695, 4_202_781_490, 7_242_670_354]);
    assert_eq!(some(law(POISSON), 42), [255_679_595, 325_964_808, 4_421_841_315, 7_249_003_278]);
    assert_eq!(
        some(law(Spacing::Even), 0),
        [200_000_000, 400_000_000, 4_120_000_000, 6_920_000_000]
    );
}

#[test]
fn bursts() {
    let law = || on_off([50.0, 1.0], [0.5, 1.0]);
    assert_eq!(some(law(), 0), [293_179_025, 1_616_688_711, 7_505_569_932, 17_104_322_203]);
    assert_eq!(some(law(), 42), [49_439_127, 52_944_404, 2_567_982_322, 7_752_802_095]);
}

#[test]
fn days() {
    let law = |spacing| diurnal(10.0, 0.8, 5.0, spacing);
    assert_eq!(some(law(POISSON), 0), [5_157_223, 245_851_735, 6_041_886_849, 21_153_635_401]);
    assert_eq!(some(law(POISSON), 42), [120_549_129, 151_482_759, 6_659_355_562, 21_171_274_408]);
    assert_eq!(
        some(law(Spacing::Even), 0),
        [95_428_050, 183_203_514, 5_802_683_572, 20_095_428_050]
    );
}
