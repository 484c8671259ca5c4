//! How many carry a demand.

use fizeau_pareto::{CapacityError, Demand, FigureEstimate};
use proptest::prelude::*;

use crate::fixed;

#[test]
fn what_is_no_demand_is_refused_by_its_name() {
    let text = |error: CapacityError| error.to_string();
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(Demand::new(rate, 0.2, 0), Err(CapacityError::Rate(_))));
    }
    for headroom in [1.0, -0.1, 1.5, f64::NAN] {
        assert!(matches!(Demand::new(1.0, headroom, 0), Err(CapacityError::Headroom(_))));
    }
    let high = text(Demand::new(1e300, 0.2, 0).unwrap_err());
    assert_eq!(high, "the rate is 1e300 requests/s; no more than 1e15 can be planned for");
    let all = Demand::new(1.0, 1.0, 0).unwrap_err();
    assert_eq!(text(all), "the headroom is 1; give a share from 0 to below 1, such as 0.2");
    let demand = Demand::new(100.0, 0.0, 0).unwrap();
    for one in [0.0, -2.0, f64::NAN] {
        assert!(matches!(demand.fleet(one), Err(CapacityError::Nothing(_))));
    }
    assert!(matches!(demand.fleet(1e-300), Err(CapacityError::Countless(_))));
}

/// 0.1 and 0.9 have no exact binary form; whoever asks for a tenth of ten does not mean eleven.
#[test]
fn whole_numbers_stay_whole() {
    for (rate, headroom, one, needed) in
        [(10.0, 0.9, 100.0, 1), (24.0, 0.2, 10.0, 3), (0.3, 0.0, 0.1, 3), (8.1, 0.1, 9.0, 1)]
    {
        let fleet = Demand::new(rate, headroom, 0).unwrap().fleet(one).unwrap();
        assert_eq!(fleet.needed, needed, "{rate} with {headroom} free of {one}");
    }
}

/// A share of so many would be several of them.
#[test]
fn of_very_many_none_is_rounded_away() {
    for rate in [3e9, 1e15] {
        let fleet = Demand::new(rate, 0.0, 0).unwrap().fleet(1.0).unwrap();
        assert_eq!((fleet.needed, fleet.utilisation), (rate as u64, 1.0));
    }
    let half = Demand::new(3e9 + 0.5, 0.0, 0).unwrap().fleet(1.0).unwrap();
    assert_eq!(half.needed, 3_000_000_001);
}

#[test]
fn an_interval_down_to_nothing_has_no_cautious_fleet() {
    let demand = Demand::new(100.0, 0.0, 1).unwrap();
    let fleets = demand.fleets(&FigureEstimate::new(10.0, 0.0, f64::INFINITY).unwrap()).unwrap();
    assert_eq!(fleets.cautious, None);
    assert_eq!((fleets.likely.needed, fleets.likely.installed()), (10, 11));
    assert_eq!((fleets.hopeful.needed, fleets.hopeful.utilisation), (1, 0.0));
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn the_needed_carry_it_and_one_fewer_does_not(
        rate in 1e-3_f64..1e6,
        headroom in 0.0_f64..0.95,
        one in 1e-2_f64..1e4,
        spare in 0_u32..4,
    ) {
        let fleet = Demand::new(rate, headroom, spare).unwrap().fleet(one).unwrap();
        let carried = |count: u64| count as f64 * one * (1.0 - headroom);
        prop_assert!(carried(fleet.needed) >= rate * (1.0 - 1e-8));
        prop_assert!(fleet.needed == 1 || carried(fleet.needed - 1) < rate);
        prop_assert_eq!(fleet.installed(), fleet.needed + u64::from(spare));
        // Without the spare ones each still has its headroom.
        let busy = rate / (fleet.needed as f64 * one);
        prop_assert!(busy <= (1.0 - headroom) * (1.0 + 1e-8));
        prop_assert!(fleet.utilisation <= busy && fleet.utilisation > 0.0);
    }

    #[test]
    fn who_carries_more_is_never_needed_more_often(
        rate in 1.0_f64..1e4,
        headroom in 0.0_f64..0.9,
        one in 0.1_f64..1e3,
        more in 1.0_f64..10.0,
    ) {
        let demand = Demand::new(rate, headroom, 0).unwrap();
        let fleets = demand.fleets(&FigureEstimate::new(one, one / more, one * more).unwrap()).unwrap();
        prop_assert!(fleets.hopeful.needed <= fleets.likely.needed);
        prop_assert!(fleets.cautious.unwrap().needed >= fleets.likely.needed);
    }
}
