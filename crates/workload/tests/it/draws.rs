//! Random numbers as laws and contents of one's own get them: pinned to the bit, and the same one by one or many at a time.

use std::sync::{Arc, Mutex};

use fizeau_core::{RequestId, SessionId, Tokens};
use fizeau_workload::{
    ArrivalProcess, Instants, Length, Plan, PlanSpec, PromptContent, RandomStream, RequestPhase,
    RequestPosition, Seed,
};
use proptest::prelude::*;

use crate::{ids, input, spec};

/// Keeps what a law of arrivals is given to draw from.
#[derive(Debug)]
struct Catch(Arc<Mutex<Option<RandomStream>>>);

impl ArrivalProcess for Catch {
    fn instants(&self, _: u64, draws: RandomStream) -> Instants {
        *self.0.lock().unwrap() = Some(draws);
        Box::new(std::iter::empty())
    }
}

fn of_arrivals(seed: u64) -> RandomStream {
    let caught = Arc::default();
    let plan = Plan::builder(spec(1, seed)).arrivals(Catch(Arc::clone(&caught))).build().unwrap();
    assert_eq!(plan.schedule().count(), 0);
    caught.lock().unwrap().take().unwrap()
}

fn of_content(seed: u64, request: u64) -> RandomStream {
    let (request, session) = (RequestId(request), SessionId(request));
    let (phase, input) = (RequestPhase::Measured, Tokens::ZERO);
    RequestPosition { seed: Seed(seed), phase, request, session, turn: 0, input }.draws()
}

/// The first four draws of `sampler`, as bits.
///
/// The golden values below are this code's own: they say that a seed still means what it meant. An
/// independent implementation in Python of generator and samplers, over the C library's functions, gives
/// the same bits but for one in the last place; `statistics` holds the samplers against the laws.
#[track_caller]
fn check(seed: u64, sampler: impl Fn(&mut RandomStream) -> f64, expected: [u64; 4]) {
    let mut draws = of_arrivals(seed);
    assert_eq!(std::array::from_fn(|_| sampler(&mut draws).to_bits()), expected);
}

#[test]
#[rustfmt::skip] // Four numbers a line.
fn samplers_keep_their_bits() {
    check(0, RandomStream::exponential, [0x3faa_7932_c75f_1c7c, 0x4005_aa70_9663_295c, 0x3fd2_c371_f571_1c6f, 0x3ff5_2d18_7deb_cf58]);
    check(42, RandomStream::exponential, [0x3ff4_7451_6f36_88a0, 0x3fd6_7dc3_c34b_0896, 0x4003_c691_0b2f_aa79, 0x3fc6_6f0b_f240_10a3]);
    let bursty = |draws: &mut RandomStream| draws.gamma(0.5);
    check(0, bursty, [0x3fef_d390_6fe8_6ec3, 0x3f6f_dd1b_7472_1dbe, 0x3f53_4855_b396_33ef, 0x3fd0_e2fc_fbc1_5068]);
    check(42, bursty, [0x3fc5_31bd_0457_7956, 0x3fa8_cafe_7c71_3b4e, 0x3f67_3f80_e7e6_1f3d, 0x3fcb_d438_0b92_f0f9]);
    let smooth = |draws: &mut RandomStream| draws.gamma(4.0);
    check(0, smooth, [0x4011_08af_7b4a_fd6c, 0x401e_0002_5687_bb74, 0x4014_2540_e1ab_a36f, 0x400c_b543_1caa_cfb5]);
    check(42, smooth, [0x4006_da01_30a3_6c2c, 0x400a_a553_2181_a1ff, 0x4000_827f_9230_6124, 0x3ff4_4ea6_c1f0_4a0b]);
}

proptest! {
    /// Behind the ids that spell its number, a prompt is filled with what single draws give.
    #[test]
    fn filling_gives_what_single_draws_give(
        seed: u64, bound in prop_oneof![2_u32..300, 2_u32..], count in 1_u64..200, number in 0_u64..1_000,
    ) {
        let content = PromptContent::TokenIds { range: 0..bound };
        let lengths = input(Length::Fixed(Tokens::new(count)));
        let plan = Plan::new(PlanSpec { content, lengths, ..spec(1, seed) }).unwrap();
        let spelled = std::iter::successors(Some(u64::MAX), |left| Some(left / u64::from(bound)));
        let spelled = spelled.take_while(|left| *left > 0).count();
        let mut single = of_content(seed, number);
        for (place, id) in ids(&plan.request(RequestId(number)).prompt).iter().enumerate() {
            let drawn = single.below(bound.into());
            prop_assert!(place < spelled || u64::from(*id) == drawn, "{place}");
        }
    }
}

#[test]
fn below_reaches_both_ends_and_no_further() {
    let mut draws = of_content(0, 0);
    let drawn: Vec<u64> = (0..1_000).map(|_| draws.below(3)).collect();
    assert!((0..3).all(|n| drawn.contains(&n)));
    assert!(drawn.iter().all(|&n| n < 3));
    assert_eq!(draws.below(0), 0);
}

#[test]
fn streams_of_other_purpose_index_or_seed_are_others() {
    let base = of_content(0, 0).next_u64();
    assert_eq!(base, of_content(0, 0).next_u64());
    assert_ne!(base, of_content(1, 0).next_u64());
    assert_ne!(base, of_content(0, 1).next_u64());
    assert_ne!(base, of_arrivals(0).next_u64());
}
