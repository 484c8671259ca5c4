//! Operating points: the rules by hand, and what must hold for any candidates.

use fizeau_pareto::LimitRelation::{AtLeast, AtMost};
use fizeau_pareto::{
    Axis, AxisLimit, Constraint, LimitRelation, OperatingCandidate, OperatingChoice, Points,
    operating_point,
};
use proptest::prelude::*;

use crate::fixed;

fn at_most(value: impl Into<Option<f64>>, limit: f64) -> Constraint {
    let value = value.into();
    Constraint { value, relation: AtMost, limit }
}

fn at_least(value: impl Into<Option<f64>>, limit: f64) -> Constraint {
    let value = value.into();
    Constraint { value, relation: AtLeast, limit }
}

fn candidate(objective: f64, constraints: &[Constraint]) -> OperatingCandidate {
    OperatingCandidate { objective, constraints: constraints.to_vec() }
}

#[test]
fn a_margin_is_relative_to_its_limit() {
    assert_eq!(at_most(400.0, 500.0).margin(), Some(0.2));
    assert_eq!(at_most(600.0, 500.0).margin(), Some(-0.2));
    assert_eq!(at_least(0.99, 0.9).margin().map(|m| (m * 1e9).round()), Some(1e8));
    assert_eq!(at_least(40.0, 50.0).margin(), Some(-0.2));
    assert_eq!(at_most(-3.0, -2.0).margin(), Some(0.5));
    // At the limit is within it.
    assert_eq!(at_most(5.0, 5.0).margin(), Some(0.0));
}

#[test]
fn a_limit_of_an_axis_says_what_it_is_of() {
    let (most, least) = (AxisLimit::at_most("p99_ms", 500.0), AxisLimit::at_least("rps", 3.0));
    assert_eq!((most.axis(), most.limit()), ("p99_ms", 500.0));
    assert_eq!((least.axis(), least.limit()), ("rps", 3.0));
}

#[test]
fn margins_at_the_edges_are_numbers() {
    let inf = f64::INFINITY;
    assert_eq!(at_most(-2.0, 0.0).margin(), Some(1.0));
    assert_eq!(at_most(0.0, 0.0).margin(), Some(0.0));
    assert_eq!(at_most(1e-9, 0.0).margin(), Some(-1.0));
    assert_eq!(at_most(7.0, inf).margin(), Some(inf));
    assert_eq!(at_most(inf, inf).margin(), Some(0.0));
    assert_eq!(at_most(inf, 7.0).margin(), Some(-inf));
    assert_eq!(at_most(None, 7.0).margin(), None);
    assert_eq!(at_most(f64::NAN, 7.0).margin(), None);
    assert_eq!(at_most(7.0, f64::NAN).margin(), None);
}

#[test]
fn the_highest_objective_within_all_limits_is_chosen() {
    let candidates = [
        candidate(1.0, &[at_most(100.0, 500.0), at_least(1.0, 0.5)]),
        candidate(3.0, &[at_most(400.0, 500.0), at_least(0.8, 0.5)]),
        candidate(4.0, &[at_most(450.0, 500.0), at_least(0.4, 0.5)]),
        candidate(9.0, &[at_most(900.0, 500.0), at_least(1.0, 0.5)]),
    ];
    assert_eq!(operating_point(&candidates), OperatingChoice::Met { index: 1, margin: 0.2 });
}

#[test]
fn ties_go_to_the_larger_margin_then_to_the_first() {
    let candidates = [
        candidate(5.0, &[at_most(450.0, 500.0)]),
        candidate(5.0, &[at_most(400.0, 500.0)]),
        candidate(5.0, &[at_most(400.0, 500.0)]),
    ];
    assert_eq!(operating_point(&candidates), OperatingChoice::Met { index: 1, margin: 0.2 });
}

#[test]
fn without_limits_the_highest_objective_is_chosen() {
    let candidates = [candidate(1.0, &[]), candidate(f64::NAN, &[]), candidate(2.0, &[])];
    assert_eq!(
        operating_point(&candidates),
        OperatingChoice::Met { index: 2, margin: f64::INFINITY }
    );
}

#[test]
fn the_nearest_miss_is_named_when_none_is_within() {
    let candidates = [
        candidate(9.0, &[at_most(900.0, 500.0)]),
        candidate(1.0, &[at_most(550.0, 500.0)]),
        candidate(2.0, &[at_most(550.0, 500.0)]),
        candidate(3.0, &[at_most(None, 500.0)]),
    ];
    assert_eq!(
        operating_point(&candidates),
        OperatingChoice::Unmet { nearest: Some(2), over_limit: 0.1 }
    );
}

/// The nearest is judged by its worst limit, not by one that it happens to meet.
#[test]
fn the_worst_miss_counts() {
    let candidates = [
        candidate(1.0, &[at_most(500.0, 500.0), at_most(1000.0, 500.0)]),
        candidate(1.0, &[at_most(750.0, 500.0), at_most(750.0, 500.0)]),
    ];
    assert_eq!(
        operating_point(&candidates),
        OperatingChoice::Unmet { nearest: Some(1), over_limit: 0.5 }
    );
}

#[test]
fn an_unknown_value_meets_nothing() {
    let lacking = candidate(9.0, &[at_most(100.0, 500.0), at_most(None, 500.0)]);
    let nothing = OperatingChoice::Unmet { nearest: None, over_limit: f64::INFINITY };
    assert_eq!(operating_point(std::slice::from_ref(&lacking)), nothing);
    let known = candidate(1.0, &[at_most(100.0, 500.0)]);
    assert_eq!(operating_point(&[lacking, known]), OperatingChoice::Met { index: 1, margin: 0.8 });
}

#[test]
fn nothing_to_choose_from_is_said() {
    assert_eq!(operating_point(&[]), OperatingChoice::NoCandidates);
    assert_eq!(operating_point(&[candidate(f64::NAN, &[])]), OperatingChoice::NoCandidates);
}

fn relation() -> impl Strategy<Value = LimitRelation> {
    prop::sample::select(vec![AtLeast, AtMost])
}

prop_compose! {
    fn constraint()(
        value in proptest::option::weighted(0.9, -3_i32..4),
        relation in relation(),
        limit in -3_i32..4,
    ) -> Constraint {
        Constraint { value: value.map(f64::from), relation, limit: limit.into() }
    }
}

fn candidates() -> impl Strategy<Value = Vec<OperatingCandidate>> {
    let one = (-3_i32..4, proptest::collection::vec(constraint(), 0..3));
    let one = one.prop_map(|(objective, constraints)| candidate(objective.into(), &constraints));
    proptest::collection::vec(one, 0..12)
}

fn meets(candidate: &OperatingCandidate) -> bool {
    candidate.constraints.iter().all(|constraint| match (constraint.value, constraint.relation) {
        (None, _) => false,
        (Some(value), AtLeast) => value >= constraint.limit,
        (Some(value), AtMost) => value <= constraint.limit,
    })
}

/// A choice without the index: what must not depend on the order.
fn merits(candidates: &[OperatingCandidate], choice: OperatingChoice) -> (Option<f64>, f64) {
    let objective = |index: usize| candidates[index].objective;
    match choice {
        OperatingChoice::Met { index, margin } => (Some(objective(index)), margin),
        OperatingChoice::Unmet { nearest, over_limit } => (nearest.map(objective), -over_limit),
        OperatingChoice::NoCandidates => (None, 0.0),
    }
}

proptest! {
    #![proptest_config(fixed())]

    #[test]
    fn the_choice_is_the_best_that_meets_its_limits(candidates in candidates()) {
        let met: Vec<&OperatingCandidate> = candidates.iter().filter(|one| meets(one)).collect();
        match operating_point(&candidates) {
            OperatingChoice::Met { index, margin } => {
                prop_assert!(margin >= 0.0 && meets(&candidates[index]));
                prop_assert!(met.iter().all(|one| one.objective <= candidates[index].objective));
            }
            OperatingChoice::Unmet { nearest, over_limit } => {
                prop_assert!(met.is_empty() && over_limit > 0.0);
                prop_assert_eq!(nearest.is_none(), over_limit.is_infinite());
            }
            OperatingChoice::NoCandidates => prop_assert!(candidates.is_empty()),
        }
    }

    #[test]
    fn order_does_not_matter(
        (candidates, shuffled) in candidates().prop_flat_map(|c| (Just(c.clone()), Just(c).prop_shuffle())),
    ) {
        let one = merits(&candidates, operating_point(&candidates));
        let other = merits(&shuffled, operating_point(&shuffled));
        prop_assert_eq!(one, other);
    }

    #[test]
    fn one_more_that_misses_changes_no_choice_that_is_met(candidates in candidates(), extra in -3_i32..4) {
        let before = operating_point(&candidates);
        if let OperatingChoice::Met { .. } = before {
            let mut more = candidates;
            more.push(candidate(extra.into(), &[at_most(2.0, 1.0)]));
            prop_assert_eq!(operating_point(&more), before);
        }
    }

    /// Of a table it is that of the candidates that its points are.
    #[test]
    fn a_table_chooses_as_its_candidates_do(
        rows in prop::collection::vec([0.5_f64..9.0, 0.5_f64..9.0, 0.0_f64..1.0], 0..9), most in 0.5_f64..9.0, least in 0.0_f64..1.0,
    ) {
        let axes = vec![Axis::minimize("usd"), Axis::minimize("ms"), Axis::maximize("good")];
        let mut points = Points::new(axes).unwrap();
        rows.iter().for_each(|row| points.push(row).unwrap());
        let limits = [AxisLimit::at_most("ms", most), AxisLimit::at_least("good", least)];
        let of = |[usd, ms, good]: &[f64; 3]| candidate(-usd, &[at_most(*ms, most), at_least(*good, least)]);
        let candidates: Vec<OperatingCandidate> = rows.iter().map(of).collect();
        prop_assert_eq!(points.operating_point("usd", &limits).unwrap(), operating_point(&candidates));
    }
}

#[test]
fn an_axis_that_is_not_there_is_named() {
    let points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("ms")]).unwrap();
    let text = |best, limit| points.operating_point(best, &[limit]).unwrap_err().to_string();
    let wanted = "there is no axis `tps`; there are rps, ms";
    assert_eq!(text("tps", AxisLimit::at_most("ms", 1.0)), wanted);
    assert_eq!(text("rps", AxisLimit::at_most("tps", 1.0)), wanted);
}
