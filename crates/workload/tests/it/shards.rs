//! Shards of a plan, from 1 to 64: together they are the plan, whatever it is.

use std::num::NonZeroU32;

use fizeau_core::{RequestSource as _, Scheduled};
use fizeau_workload::{Plan, PlanSpec, Shard, Workload as _};
use proptest::prelude::*;

use crate::arrivals::any_law;
use crate::spec;

fn all(plan: &Plan, shard: Shard) -> Vec<Scheduled> {
    let mut walk = plan.walk(shard.sessions());
    std::iter::from_fn(|| walk.next_request().unwrap()).collect()
}

fn by_number(mut requests: Vec<Scheduled>) -> Vec<Scheduled> {
    requests.sort_by_key(|scheduled| scheduled.request.id);
    requests
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn shards_are_disjoint_and_together_the_plan_to_the_nanosecond(
        arrivals in any_law(), requests in 1_u64..200, seed: u64, count in 1_u64..65,
    ) {
        let plan = Plan::new(PlanSpec { arrivals, ..spec(requests, seed) }).unwrap();
        let shares = (0..count).map(|index| all(&plan, Shard::new(index, count).unwrap()));
        let shares: Vec<Vec<Scheduled>> = shares.collect();
        let (least, most) = (shares.iter().map(Vec::len).min(), shares.iter().map(Vec::len).max());
        prop_assert!(most.unwrap() - least.unwrap() <= 1);
        let together = by_number(shares.into_iter().flatten().collect());
        prop_assert_eq!(together, by_number(all(&plan, Shard::WHOLE)));
    }

    #[test]
    fn under_a_cap_every_session_falls_to_a_shard_with_a_slot(
        requests in 1_u64..200, cap in 1_u32..100, count in 1_u64..65,
    ) {
        let plan = Plan::new(spec(requests, 1)).unwrap();
        let slots = NonZeroU32::new(cap).unwrap();
        let mut together = Vec::new();
        let mut given = 0;
        for index in 0..count {
            let shard = Shard::new(index, count).unwrap();
            let own = all(&plan, shard.under_cap(slots));
            let share = shard.share_of(cap.into());
            prop_assert!(share > 0 || own.is_empty(), "{shard} has sessions and no slot");
            given += share;
            together.extend(own);
        }
        prop_assert_eq!(given, u64::from(cap));
        prop_assert_eq!(by_number(together), by_number(all(&plan, Shard::WHOLE)));
    }

    /// A shard with fewer slots has fewer requests, so that none runs on alone for long.
    #[test]
    fn by_slots_each_shard_has_requests_in_proportion_to_its_slots(
        requests in 1_u64..400, cap in 1_u32..100, count in 1_u64..65,
    ) {
        let plan = Plan::new(spec(requests, 1)).unwrap();
        let slots = NonZeroU32::new(cap).unwrap();
        let mut together = Vec::new();
        for index in 0..count {
            let shard = Shard::new(index, count).unwrap();
            let (own, share) = (all(&plan, shard.by_slots(slots)), shard.share_of(cap.into()));
            prop_assert_eq!(own.len() as u64, shard.by_slots(slots).share_of(requests));
            let of_its_slots = requests as f64 * share as f64 / f64::from(cap);
            // A round is one request for each of its slots.
            let off = (own.len() as f64 - of_its_slots).abs();
            prop_assert!(off <= share as f64, "{shard} of {cap} slots has {}", own.len());
            for request in &own {
                let slot = request.request.session.0 % u64::from(cap);
                prop_assert_eq!(slot % count, index);
            }
            together.extend(own);
        }
        prop_assert_eq!(by_number(together), by_number(all(&plan, Shard::WHOLE)));
    }
}
