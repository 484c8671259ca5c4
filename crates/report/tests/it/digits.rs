//! One figure, wherever it is said: the digits that its interval supports, and no verdict that they contradict.

use proptest::prelude::*;

use crate::decision::{rate, said, sweep};

/// A level has one figure, wherever it is said: with the digits of the table, unless these would contradict the verdict.
#[test]
fn a_goal_has_the_digits_of_the_table_and_its_own_as_given() {
    let report = sweep(vec![rate(31.739, 1_671.0, 30.0)], "p99 ttft<2000ms");
    let text = said(&report);
    assert!(text.contains("31.739 requests/s offered, 31.7 completed"), "{text}");
    assert!(text.contains("p99 TTFT < 2000 ms: met, measured 1670 ms"), "{text}");
    let near = sweep(vec![rate(4.0, 1_999.96, 80.0)], "p99 ttft<2000ms");
    assert!(said(&near).contains("met, measured 1999.96 ms"), "{}", said(&near));
}

proptest! {
    #![proptest_config(crate::cases(64))]
    #[test]
    fn the_digits_of_a_figure_never_contradict_its_verdict(
        limit in 10_u32..5_000,
        off in -0.02_f64..0.02,
        half in 0.0_f64..0.2,
    ) {
        let value = f64::from(limit) * (1.0 + off * off * off * 1e3);
        let report = sweep(vec![rate(4.0, value, half * value)], &format!("p99 ttft<{limit}ms"));
        let goal = report.operating_point().goals()[0];
        let words = goal.words();
        let (_, figure) = words.split_once("measured ").unwrap();
        let shown: f64 = figure.split(' ').next().unwrap().parse().unwrap();
        prop_assert_eq!(shown < f64::from(limit), goal.is_met(), "{}", words);
    }
}
