use fizeau_core::number::{decimals, number};
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_number_has_three_digits_from_one_to_a_thousand(value in 1.0..999.49) {
        let text = number(value);
        prop_assert_eq!(text.bytes().filter(u8::is_ascii_digit).count(), 3, "{}", text);
    }

    #[test]
    fn what_is_shown_is_near(exponent in -3.0..9.0, is_negative in any::<bool>()) {
        let value = 10_f64.powf(exponent) * if is_negative { -1.0 } else { 1.0 };
        let shown: f64 = number(value).parse().unwrap();
        prop_assert!((shown / value - 1.0).abs() <= 0.0503, "{} of {}", shown, value);
        let most = if value.abs() < 0.0995 { 4 } else { 2 };
        prop_assert!(decimals(value) <= most, "{}", value);
    }
}

#[test]
fn a_number_that_rounds_up_has_the_decimals_of_what_it_becomes() {
    let shown = [(0.00995, "0.010"), (0.0995, "0.10"), (9.995, "10.0"), (99.95, "100")];
    for (value, text) in shown {
        assert_eq!(number(value), text);
    }
    assert_eq!([0.0, -5.0, 0.00994, 0.0994, 9.99, 99.9].map(decimals), [2, 2, 4, 3, 2, 1]);
    assert_eq!([f64::NAN, f64::INFINITY].map(number), ["-", "-"]);
}
