//! Searches of responses whose edge is known.

use fizeau_pareto::{
    EdgeSide, Evaluation, FigureEstimate, LimitRelation, LoadOutcome, Loads, NextLoad, Search,
    SearchEnding, SearchSpec, SearchSpecError, log_margin,
};
use proptest::prelude::*;

use crate::fixed;

/// Numbers that are normal, nearly: the sum of twelve that are uniform, from a linear congruential generator (Knuth's MMIX).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let uniform = |state: &mut u64| {
            *state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform(&mut self.0)).sum::<f64>() - 6.0
    }
}

/// A latency that grows with the load, measured with an error of a share of it.
#[derive(Debug, Clone, Copy)]
struct Response {
    latency: fn(f64) -> f64,
    limit: f64,
    error: f64,
    /// More than this is not served.
    capacity: f64,
}

/// A queue: hardly any growth, then a wall.
const QUEUE: Response = Response {
    latency: |rate| 50.0 / (1.0 - rate.min(19.9) / 20.0),
    limit: 500.0,
    error: 0.1,
    capacity: 20.0,
};
/// A batch: slow growth all along.
const BATCH: Response =
    Response { latency: |rate| 8.0 + 0.3 * rate, limit: 14.0, error: 0.01, capacity: 40.0 };

impl Response {
    fn evaluation(&self, load: f64, noise: &mut Noise) -> Evaluation {
        let value = (self.latency)(load) * (self.error * noise.next()).exp();
        let (low, high) = (value * (1.0 - 1.96 * self.error), value * (1.0 + 1.96 * self.error));
        let figure = FigureEstimate::new(value, low, high).unwrap();
        let bearing = if load > self.capacity {
            LoadOutcome::Saturated { served: Some(self.capacity) }
        } else {
            LoadOutcome::Borne
        };
        Evaluation {
            load,
            margins: vec![log_margin(figure, LimitRelation::AtMost, self.limit)],
            bearing,
        }
    }

    fn searched(&self, spec: SearchSpec, seed: u64) -> Search {
        let mut noise = Noise(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let mut search = Search::new(spec).unwrap();
        while let NextLoad::Evaluate { load } = search.next() {
            search.observe(&self.evaluation(load, &mut noise));
        }
        search
    }
}

fn spec() -> SearchSpec {
    SearchSpec { start: 5.0, ..SearchSpec::between(Loads::Any, 0.1, 1000.0) }
}

fn hits(response: Response, truth: f64, spec: SearchSpec) -> usize {
    let found = (0..200).map(|seed| response.searched(spec, seed).result());
    let is_hit = |found: &fizeau_pareto::SearchResult| {
        assert!(found.evaluations <= 12);
        (found.edge.unwrap().value() / truth - 1.0).abs() <= 0.03
    };
    found.filter(is_hit).count()
}

/// To 3 % in at most twelve, 95 times of 100 at the least.
#[test]
fn it_finds_the_edge_of_noisy_responses() {
    for start in [0.2, 5.0, 17.0, 300.0] {
        let spec = SearchSpec { start, ..spec() };
        let found = [hits(QUEUE, 18.0, spec), hits(BATCH, 20.0, spec)];
        assert!(found.iter().all(|hits| *hits >= 190), "from {start}: {found:?} of 200");
    }
}

/// What it claims to be sure of holds about as often as it claims.
#[test]
fn the_interval_encloses_the_edge() {
    for (response, truth) in [(QUEUE, 18.0), (BATCH, 20.0)] {
        let encloses = |seed: &u64| {
            let edge = response.searched(spec(), *seed).result().edge.unwrap();
            (edge.low()..=edge.high()).contains(&truth)
        };
        let enclosed = (0..200).filter(encloses).count();
        assert!(enclosed >= 180, "{enclosed} of 200");
    }
}

/// Hardly any growth: margins say little of where the edge is.
const GENTLE: Response = Response {
    latency: |rate| 400.0 * (rate / 18.0).powf(0.1) * 1.25,
    limit: 500.0,
    error: 0.02,
    capacity: 1000.0,
};
/// Slots: nothing, then a jump.
const JUMP: Response = Response {
    latency: |rate| if rate < 18.0 { 100.0 } else { 900.0 },
    limit: 500.0,
    error: 0.1,
    capacity: 1000.0,
};
const NOISY_QUEUE: Response = Response { error: 0.3, ..QUEUE };

/// Whatever ends a search, its interval holds in seven of eight at the worst, and few searches call decided what they do not know.
#[test]
fn what_it_calls_decided_it_knows() {
    for (name, response) in [("gentle", GENTLE), ("jump", JUMP), ("queue", NOISY_QUEUE)] {
        let found: Vec<_> =
            (1_000..1_200).map(|seed| response.searched(spec(), seed).result()).collect();
        let misses = |found: &&fizeau_pareto::SearchResult| {
            let edge = found.edge.unwrap();
            !(edge.low()..=edge.high()).contains(&18.0)
        };
        let missed: Vec<_> = found.iter().filter(misses).collect();
        let is_decided =
            |found: &&&fizeau_pareto::SearchResult| found.ending == SearchEnding::Decided;
        let (all, decided) = (missed.len(), missed.iter().filter(is_decided).count());
        assert!(all <= 25 && decided <= 5, "{name}: {all}, {decided} of them decided, of 200");
    }
}

/// A load that could not be borne breaks no goal by that.
#[test]
fn saturation_is_not_blamed_on_a_goal() {
    let borne = Response { latency: |_| 100.0, limit: 500.0, error: 0.01, capacity: 48.0 };
    let found = borne.searched(spec(), 5).result();
    assert_eq!(found.first_broken, None);
    let edge = found.edge.unwrap();
    assert!((edge.low()..=edge.high()).contains(&48.0), "{edge:?}");
}

#[test]
fn whole_loads_are_whole() {
    let spec = SearchSpec { start: 16.0, ..SearchSpec::between(Loads::Whole, 1.0, 512.0) };
    let exact = Response { error: 0.0, limit: 14.1, ..BATCH };
    let found = exact.searched(spec, 1).result();
    assert_eq!((found.load, found.ending), (Some(20.0), SearchEnding::Decided));
    let steep = Response { limit: 8.8, ..exact };
    assert_eq!(steep.searched(spec, 1).result().load, Some(2.0));
}

#[test]
fn the_ends_of_the_range_are_answers() {
    let upto = |lowest, highest| SearchSpec::between(Loads::Any, lowest, highest);
    let found = BATCH.searched(upto(1.0, 15.0), 3).result();
    assert_eq!((found.ending, found.load), (SearchEnding::AllGood, Some(15.0)));
    assert_eq!(found.edge.unwrap().high(), f64::INFINITY);
    let found = BATCH.searched(upto(25.0, 100.0), 3).result();
    assert_eq!((found.ending, found.load, found.edge), (SearchEnding::Unmet, None, None));
    assert!(found.nearest.is_some());
}

/// The loads that a search asks for where all are beyond the goals, which `bearing` is told of each.
fn descent(bearing: fn(f64) -> LoadOutcome) -> Vec<f64> {
    let spec = SearchSpec { start: 512.0, most: 5, ..SearchSpec::between(Loads::Any, 0.01, 1e3) };
    let (mut search, mut asked) = (Search::new(spec).unwrap(), Vec::new());
    while let NextLoad::Evaluate { load } = search.next() {
        asked.push(load);
        let margins = vec![Some(FigureEstimate::new(-3.0, -3.1, -2.9).unwrap())];
        search.observe(&Evaluation { load, margins, bearing: bearing(load) });
    }
    asked
}

#[test]
fn a_start_too_high_goes_down_by_two_then_four_then_eight() {
    assert_eq!(descent(|_| LoadOutcome::Borne), [512.0, 256.0, 64.0, 8.0, 1.0]);
    // What was served says where to go at first, and only then.
    let saturated = |load| LoadOutcome::Saturated { served: Some(load / 10.0) };
    assert_eq!(descent(saturated), [512.0, 48.64, 12.16, 1.52, 0.19]);
}

/// As long as the loads on both sides of the edge are more than three tolerances apart, the next lies well between them: lines that
/// cross outside or at an end leave a wide bracket as it is. From then on it lies next to the edge.
#[test]
fn a_wide_bracket_is_made_narrow_before_its_edge_is_made_sure() {
    let tolerance = 1.03_f64.ln();
    for (response, truth) in [(QUEUE, 18.0_f64), (BATCH, 20.0), (JUMP, 18.0)] {
        for start in [0.2, 5.0, 17.0, 300.0] {
            let exact = Response { error: 0.0, ..response };
            let mut search = Search::new(SearchSpec { start, ..spec() }).unwrap();
            let (mut low, mut high) = (0.0_f64, f64::INFINITY);
            while let NextLoad::Evaluate { load } = search.next() {
                let width = (high / low).ln();
                let (from, to) = ((load / low).ln(), (high / load).ln());
                if width.is_finite() && width > 3.0 * tolerance {
                    let inside = 0.14 * width;
                    assert!(from > inside && to > inside, "{load} between {low} and {high}");
                } else if width.is_finite() {
                    assert!((load / truth).ln().abs() < 3.0 * tolerance, "{load} of {truth}");
                }
                search.observe(&exact.evaluation(load, &mut Noise(1)));
                match load < truth {
                    true => low = low.max(load),
                    false => high = high.min(load),
                }
            }
        }
    }
}

#[test]
fn a_missing_figure_meets_nothing() {
    let mut search = Search::new(spec()).unwrap();
    while let NextLoad::Evaluate { load } = search.next() {
        search.observe(&Evaluation { load, margins: vec![None], bearing: LoadOutcome::Borne });
    }
    assert_eq!(search.result().ending, SearchEnding::Unmet);
}

/// Saturated once at a fifth of the capacity, by a false alarm: the search comes back to it.
#[test]
fn a_false_alarm_is_outvoted() {
    let (mut noise, mut alarms) = (Noise(7), 0);
    let mut search = Search::new(SearchSpec { most: 20, ..spec() }).unwrap();
    while let NextLoad::Evaluate { load } = search.next() {
        let mut evaluation = BATCH.evaluation(load, &mut noise);
        if alarms == 0 {
            evaluation.bearing = LoadOutcome::Saturated { served: Some(load) };
            alarms += 1;
        }
        search.observe(&evaluation);
    }
    let found = search.result();
    assert!((found.edge.unwrap().value() / 20.0 - 1.0).abs() < 0.05, "{found:?}");
}

/// What can be evaluated may turn out less than the range that was given: the search ends there, and never below its lowest load.
#[test]
fn no_load_above_a_later_limit_is_tried() {
    for (limit, highest) in [(12.5, 12.5), (1e9, 100.0), (0.001, 1.0)] {
        let mut search =
            Search::new(SearchSpec { start: 4.0, ..SearchSpec::between(Loads::Any, 1.0, 100.0) })
                .unwrap();
        let mut tried = 0.0_f64;
        while let NextLoad::Evaluate { load } = search.next() {
            tried = if load == 4.0 { tried } else { tried.max(load) };
            let margin = FigureEstimate::new(1.0, 0.9, 1.1).ok();
            search.observe(&Evaluation {
                load,
                margins: vec![margin],
                bearing: LoadOutcome::Borne,
            });
            search.limit_to(limit);
        }
        assert_eq!(
            (search.result().ending, tried),
            (SearchEnding::AllGood, if highest < 4.0 { 0.0 } else { highest })
        );
    }
}

#[test]
fn what_makes_no_search_is_refused() {
    let spec = spec();
    let refused = |spec| Search::new(spec).unwrap_err();
    assert!(matches!(
        refused(SearchSpec { lowest: 9.0, highest: 2.0, ..spec }),
        SearchSpecError::Range { .. }
    ));
    assert_eq!(refused(SearchSpec { start: 5e3, ..spec }), SearchSpecError::Start(5e3));
    assert_eq!(refused(SearchSpec { most: 1, ..spec }), SearchSpecError::TooFew(1));
    assert_eq!(refused(SearchSpec { tolerance: 0.0, ..spec }), SearchSpecError::Tolerance(0.0));
    assert_eq!(refused(SearchSpec { confidence: 1.0, ..spec }), SearchSpecError::Confidence(1.0));
    let between = SearchSpec::between(Loads::Whole, 1.2, 1.8);
    assert!(matches!(
        refused(SearchSpec { start: 1.5, ..between }),
        SearchSpecError::NoneWhole { .. }
    ));
}

#[test]
fn a_standing_takes_more_than_the_error() {
    let at = |value: f64, low: f64, high: f64| {
        let figure = FigureEstimate::new(value, low, high).unwrap();
        let margins = vec![log_margin(figure, LimitRelation::AtMost, 100.0)];
        Evaluation { load: 1.0, margins, bearing: LoadOutcome::Borne }.side(0.95)
    };
    assert_eq!(at(80.0, 75.0, 85.0), EdgeSide::Good);
    assert_eq!(at(95.0, 85.0, 110.0), EdgeSide::Undecided);
    assert_eq!(at(130.0, 120.0, 140.0), EdgeSide::Bad);
}

proptest! {
    #![proptest_config(fixed())]

    /// Whatever is measured, it ends, within its range and its number of evaluations.
    #[test]
    fn it_always_ends(
        margins in prop::collection::vec((-3.0..3.0_f64, 0.0..1.0_f64, any::<bool>()), 12),
        start in 1.0..100.0_f64,
        whole in any::<bool>(),
    ) {
        let loads = if whole { Loads::Whole } else { Loads::Any };
        let start = if whole { start.round() } else { start };
        let spec = SearchSpec { start, ..SearchSpec::between(loads, 1.0, 100.0) };
        let mut search = Search::new(spec).unwrap();
        let mut margins = margins.into_iter();
        while let NextLoad::Evaluate { load } = search.next() {
            prop_assert!((1.0..=100.0).contains(&load));
            prop_assert!(!whole || load.fract() == 0.0);
            let (value, error, is_saturated) = margins.next().unwrap();
            let margin = FigureEstimate::new(value, value - error, value + error).unwrap();
            let bearing = if is_saturated { LoadOutcome::Saturated { served: None } } else { LoadOutcome::Borne };
            search.observe(&Evaluation { load, margins: vec![Some(margin)], bearing });
        }
        let found = search.result();
        prop_assert!(found.evaluations <= 12);
        prop_assert!(found.ending != SearchEnding::BrokenOff);
        if let Some(edge) = found.edge {
            prop_assert!(edge.low() <= edge.value() && edge.value() <= edge.high());
        }
    }

    /// A wider limit is never met at a lower load only, where figures are exact.
    #[test]
    fn a_looser_limit_never_lowers_the_edge(limit in 10.0..18.0_f64, more in 1.2..2.0_f64) {
        let found = |limit| {
            let exact = Response { error: 0.0, limit, ..BATCH };
            exact.searched(spec(), 1).result().edge.unwrap().value()
        };
        prop_assert!(found(limit) <= found(limit * more));
    }
}

/// A search that was told of loads with margins, each of one goal and known to within `error` standard errors of 0.1.
fn told(spec: SearchSpec, margins: &[(f64, f64)]) -> Search {
    let mut search = Search::new(spec).unwrap();
    for &(load, margin) in margins {
        let half = 1.96 * 0.1;
        let margin = FigureEstimate::new(margin, margin - half, margin + half).unwrap();
        let bearing = LoadOutcome::Borne;
        search.observe(&Evaluation { load, margins: vec![Some(margin)], bearing });
    }
    search
}

#[test]
fn a_higher_load_that_keeps_what_a_lower_one_misses_is_said_if_chance_does_not_explain_it() {
    let pair = |margins: &[(f64, f64)]| told(spec(), margins).result().not_monotone;
    // Each difference has an error of 0.1 times the root of 2: 0.42 is three of them.
    assert_eq!(pair(&[(4.0, -0.3), (8.0, 0.3)]), Some((0, 1)));
    assert_eq!(pair(&[(4.0, -0.2), (8.0, 0.2)]), None);
    assert_eq!(pair(&[(8.0, -0.5), (4.0, 0.5)]), None);
    assert_eq!(pair(&[(4.0, -0.9), (8.0, -0.1)]), None);
    // Of several the one that is the farthest from chance.
    assert_eq!(pair(&[(4.0, -0.3), (8.0, 0.3), (2.0, -0.4), (16.0, 0.4)]), Some((2, 3)));
}

#[test]
fn of_two_whole_loads_side_by_side_the_less_sure_is_evaluated_again() {
    let spec = SearchSpec { start: 5.0, ..SearchSpec::between(Loads::Whole, 1.0, 64.0) };
    let next = |margins: &[(f64, f64)]| told(spec, margins).next();
    assert_eq!(next(&[(5.0, 0.02), (6.0, -0.1)]), NextLoad::Evaluate { load: 5.0 });
    assert_eq!(next(&[(5.0, 0.1), (6.0, -0.02)]), NextLoad::Evaluate { load: 6.0 });
    // Several evaluations of a load make it surer than one that lies as far off.
    let thrice = [(5.0, 0.06), (5.0, 0.06), (5.0, 0.06), (6.0, -0.07)];
    assert_eq!(next(&thrice), NextLoad::Evaluate { load: 6.0 });
    assert_eq!(next(&[(5.0, 1.0), (6.0, -0.02)]), NextLoad::Evaluate { load: 6.0 });
    assert_eq!(next(&[(5.0, 1.0), (6.0, -1.0)]), NextLoad::Done);
}

/// A load on the limit stays there: more of the same settles nothing, whichever of the two it is.
#[test]
fn a_whole_load_that_stays_too_near_to_the_edge_is_left_undecided() {
    for (low, high) in [(1.0, -0.002), (0.002, -1.0), (0.002, -0.002)] {
        let spec = SearchSpec { start: 20.0, ..SearchSpec::between(Loads::Whole, 1.0, 64.0) };
        let mut search = told(spec, &[(20.0, low), (21.0, high)]);
        let mut visits = 0;
        while let NextLoad::Evaluate { load } = search.next() {
            let margin = if load == 20.0 { low } else { high };
            let margin = FigureEstimate::new(margin, margin - 0.2, margin + 0.2).unwrap();
            let (margins, bearing) = (vec![Some(margin)], LoadOutcome::Borne);
            search.observe(&Evaluation { load, margins, bearing });
            visits += 1;
        }
        let found = search.result();
        assert!(visits <= 4, "{low} {high}: {visits} more");
        assert_eq!((found.ending, found.load), (SearchEnding::Undecided, Some(20.0)));
    }
}

#[test]
fn an_edge_by_figures_without_intervals_says_so() {
    let exact = told(spec(), &[(5.0, 0.5), (8.0, -0.5)]);
    assert!(exact.result().has_errors);
    let mut search = Search::new(spec()).unwrap();
    let unknown =
        |value: f64| Some(FigureEstimate::new(value, f64::NEG_INFINITY, f64::INFINITY).unwrap());
    for (load, margin) in [(5.0, 0.5), (8.0, -0.5)] {
        let (margins, bearing) = (vec![unknown(margin)], LoadOutcome::Borne);
        search.observe(&Evaluation { load, margins, bearing });
    }
    assert!(search.result().edge.is_some() && !search.result().has_errors);
}

/// A latency of 0 keeps every limit, and a limit of 0 is missed by the less the smaller a figure is.
#[test]
fn next_to_nothing_is_within_every_upper_limit() {
    let margin = |figure: f64, limit: f64| {
        let figure = FigureEstimate::exact(figure).unwrap();
        log_margin(figure, LimitRelation::AtMost, limit).unwrap().value()
    };
    assert!(margin(0.0, 500.0) > margin(1.0, 500.0));
    assert!(margin(0.0, 0.0) > 0.0);
    assert!(margin(2.0, 0.0) < margin(1.0, 0.0) && margin(1.0, 0.0) < 0.0);
    let nothing = FigureEstimate::new(0.0, 0.0, 1.0).unwrap();
    assert!(log_margin(nothing, LimitRelation::AtMost, 500.0).is_some());
    assert_eq!(log_margin(nothing, LimitRelation::AtLeast, 500.0), None);
}
