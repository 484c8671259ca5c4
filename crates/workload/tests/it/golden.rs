//! Golden vectors: a seed means today what it meant when they were written down, whoever links the crate and on
//! whatever platform. The values are this crate's own output, and an independent implementation in Python of
//! ChaCha8 and all that is built on it gives the same; that they follow the right laws is shown in
//! `statistics`. A change here changes every recorded run's workload: only with a note in the changelog.

use fizeau_core::{RequestId, Tokens};
use fizeau_workload::{Lengths, Plan, PlanSpec, PromptContent, Rescale, Seed, TextSource};

use crate::{common, gamma, ids, spec, text, uniform};

fn instants(burstiness: f64, seed: u64) -> Vec<u64> {
    let arrivals = gamma(10.0, burstiness, Rescale::None);
    let plan = Plan::new(PlanSpec { arrivals, ..spec(4, seed) }).unwrap();
    plan.schedule().flatten().map(fizeau_core::Nanos::as_nanos).collect()
}

#[test]
fn schedules() {
    assert_eq!(instants(1.0, 0), [5_170_592, 275_992_848, 305_310_750, 437_661_719]);
    assert_eq!(instants(1.0, 42), [127_839_797, 162_982_404, 410_178_038, 427_704_425]);
    assert_eq!(instants(0.5, 0), [198_915_142, 199_693_064, 199_928_447, 252_699_299]);
    assert_eq!(instants(0.5, 42), [33_116_079, 42_800_823, 43_368_403, 86_851_184]);
    assert_eq!(instants(4.0, 0), [106_462_048, 293_962_271, 419_871_779, 509_584_451]);
    assert_eq!(instants(4.0, 42), [71_411_190, 154_679_314, 206_272_311, 238_002_361]);
}

#[test]
fn lengths() {
    let lengths = |seed| -> Vec<(u64, u64)> {
        let (input, output) = (uniform(250, 0.3), uniform(250, 0.3));
        let lengths = Lengths::Independent { input, output };
        let plan = Plan::new(PlanSpec { lengths, ..spec(4, seed) }).unwrap();
        let length = |tokens: Option<Tokens>| tokens.map_or(0, Tokens::get);
        plan.source()
            .map(|s| (length(s.request.input_tokens), s.request.max_output_tokens.get()))
            .collect()
    };
    assert_eq!(lengths(0), [(190, 309), (203, 281), (255, 316), (266, 198)]);
    assert_eq!(lengths(42), [(272, 262), (214, 320), (282, 263), (311, 274)]);
}

#[test]
fn token_ids() {
    let drawn = |seed, number| {
        let plan = Plan::new(PlanSpec { prefix: common(2), ..spec(1, seed) }).unwrap();
        ids(&plan.request(RequestId(number)).prompt).to_vec()
    };
    assert_eq!(
        drawn(0, 0),
        [609, 1321, 3244, 3585, 3056, 2554, 2917, 118, 2693, 3280, 3209, 1998, 1531, 3835]
    );
    assert_eq!(
        drawn(0, 1_000_000),
        [609, 1321, 170, 3584, 2035, 1403, 1226, 117, 2140, 512, 773, 1588, 547, 1892]
    );
    assert_eq!(
        drawn(42, 0),
        [116, 3763, 718, 1918, 3650, 3036, 555, 115, 1433, 1123, 2484, 3670, 3644, 1151]
    );
}

#[test]
fn words() {
    let content = PromptContent::Text(TextSource::Words);
    let plan = Plan::new(PlanSpec { content, ..spec(1, 0) }).unwrap();
    assert_eq!(
        text(&plan.request(RequestId(0)).prompt),
        "hall cow bone above house clean line warm street most hot wife"
    );
}

#[test]
fn children_of_a_seed() {
    assert_eq!(Seed(0).child(0), Seed(2_233_940_332_855_213_657));
    assert_eq!(Seed(42).child(7), Seed(5_296_295_248_819_800_576));
}
