//! What owning a device costs.

use fizeau_roofline::{HourlyRate, Ownership, PriceOrigin};
use proptest::prelude::*;

use crate::fixed;

const OWNED: &str = "purchase_usd = 35064\namortisation_years = 4\npower_w = 1000\npue = 1.25\n\
                     electricity_usd_per_kwh = 0.08\n";

fn hour(text: &str) -> f64 {
    HourlyRate::owned(&Ownership::from_toml(text).unwrap()).low.get()
}

#[test]
fn parts_and_shares_by_hand() {
    // 35,064 dollars over four years of 8,766 hours, and 1.25 kW at 8 cents.
    assert!((hour(OWNED) - 1.1).abs() < 1e-12);
    let all = format!(
        "{OWNED}resale_usd = 17532\nhosting_usd_per_month = 146.1\noverhead_share = 0.1\nutilisation = 0.8"
    );
    let owned = Ownership::from_toml(&all).unwrap();
    let hour = owned.hour();
    let factor = 1.1 / 0.8;
    for (part, by_hand) in
        [(hour.purchase, 0.5), (hour.electricity, 0.1), (hour.hosting, 0.2), (hour.total, 0.8)]
    {
        assert!((part.get() - by_hand * factor).abs() < 1e-12, "{hour:?}");
    }
    let rate = HourlyRate::owned(&owned);
    assert_eq!((rate.origin, rate.low), (PriceOrigin::Owned, rate.high));
}

#[test]
fn what_is_wrong_is_named() {
    let error = |text: &str| Ownership::from_toml(text).unwrap_err().to_string();
    let with = |from: &str, to: &str| error(&OWNED.replace(from, to));
    assert_eq!(
        error("purchase_usd = 3"),
        "amortisation_years is missing; it must be a number above 0"
    );
    let stranger = error(&format!("{OWNED}price = 3"));
    assert!(
        stranger.starts_with("price is not known; the fields are purchase_usd, "),
        "{stranger}"
    );
    assert!(error("purchase_usd = ").starts_with("not TOML: "));
    assert_eq!(with("= 1000", "= \"much\""), "power_w is no number; it must be a number from 0 on");
    assert_eq!(with("pue = 1.25", "pue = 0.9"), "pue is 0.9; it must be a number from 1 on");
    assert_eq!(
        with("power_w = 1000", "power_w = -5"),
        "power_w is -5; it must be a number from 0 on"
    );
    assert_eq!(
        with("years = 4", "years = 0"),
        "amortisation_years is 0; it must be a number above 0"
    );
    let more = format!("{OWNED}resale_usd = 40000");
    assert_eq!(error(&more), "resale_usd is 40000; it must be no more than purchase_usd");
    let idle = format!("{OWNED}utilisation = 0");
    assert_eq!(error(&idle), "utilisation is 0; it must be a share above 0 and up to 1");
    let free = OWNED.replace("35064", "0").replace("0.08", "0");
    assert!(error(&free).starts_with("an hour costs nothing"));
}

proptest! {
    #![proptest_config(fixed())]

    /// Longer life and more use never make an hour dearer; a higher price or draw never cheaper.
    #[test]
    fn more_use_is_never_dearer(
        price in 0.0_f64..1e5,
        years in 0.5_f64..10.0,
        watts in 1.0_f64..5e3,
        utilisation in 0.05_f64..1.0,
        factor in 1.0_f64..3.0,
    ) {
        let of = |price: f64, years: f64, watts: f64, utilisation: f64| hour(&format!(
            "purchase_usd = {price:?}\namortisation_years = {years:?}\npower_w = {watts:?}\npue = 1.2\n\
             electricity_usd_per_kwh = 0.1\nutilisation = {utilisation:?}"
        ));
        let base = of(price, years, watts, utilisation);
        prop_assert!(of(price * factor, years, watts, utilisation) >= base);
        prop_assert!(of(price, years, watts * factor, utilisation) > base * (1.0 - 1e-12));
        prop_assert!(of(price, years * factor, watts, utilisation) <= base);
        prop_assert!(of(price, years, watts, (utilisation * factor).min(1.0)) <= base);
    }
}
