//! What tested loads allow to say: no load that broke a goal is claimed, and no upper limit is called dear.

use fizeau_core::{LevelLoad, LoadKind, PerSec};
use fizeau_metrics::Slo;
use fizeau_pareto::Demand;
use fizeau_record::{PlanQuery, PlanReport, ReplicaCapacity};
use serde_json::{Value, json};

use super::{given, source};

/// A load that came out better above does not smooth away what a lower one broke beyond its interval.
#[test]
fn what_a_tested_load_broke_is_not_claimed() {
    let slo: Slo = "p99 ttft<500ms".parse().unwrap();
    let carried = |second: f64| {
        let levels = [[1.0, 1.0, 100.0, 1.0], [4.0, 4.0, second, 1.0], [8.0, 8.0, 390.0, 1.0]];
        let found = ReplicaCapacity::of(&given(LoadKind::Rate, &levels).levels, &slo.goals);
        found.unwrap()
    };
    let dented = carried(600.0);
    assert!(dented.requests_per_s.value() < 4.0 && !dented.is_open_above, "{dented:?}");
    assert!(dented.breaks.as_deref().unwrap().starts_with("p99 TTFT at 4 requests/s: 600 ms"));
    assert_eq!(dented.kept_beyond, Some(LevelLoad::Rate(PerSec::new(8.0))));
    // 5 % either way reach below the limit: chance may explain it.
    let by_chance = carried(510.0);
    assert!(by_chance.requests_per_s.value() > 4.0, "{by_chance:?}");
    assert_eq!(by_chance.kept_beyond, None);
    // A looser goal never carries less.
    let mut last = 0.0;
    for limit in (120..700).step_by(20) {
        let slo: Slo = format!("p99 ttft<{limit}ms").parse().unwrap();
        let levels = [[1.0, 1.0, 100.0, 1.0], [4.0, 4.0, 600.0, 1.0], [8.0, 8.0, 390.0, 1.0]];
        let found = ReplicaCapacity::of(&given(LoadKind::Rate, &levels).levels, &slo.goals);
        let found = found.unwrap().requests_per_s.value();
        assert!(found >= last, "{limit}: {found} after {last}");
        last = found;
    }
}

/// The replicas of one that kept the goals at every load are an upper limit, and so is its price.
#[test]
fn an_upper_limit_is_not_known_to_be_dearer() {
    let plans = |hour: f64, spare: u32| {
        let open = given(LoadKind::Rate, &[[4.0, 4.0, 100.0, 1.0], [8.0, 8.0, 200.0, 1.0]]);
        let known = given(LoadKind::Rate, &[[4.0, 4.0, 100.0, 1.0], [8.0, 8.0, 900.0, 1.0]]);
        let goals: Slo = "p99 ttft<500ms".parse().unwrap();
        let ask = PlanQuery::new(Demand::new(100.0, 0.2, spare).unwrap(), goals.goals);
        let sources = [source("open", &open, Some(hour)), source("known", &known, Some(1.0))];
        PlanReport::new(ask, sources.into())
    };
    let unknown = plans(2.0, 0);
    assert_eq!(unknown.cheapest(), None);
    let said = "Which plan is the cheapest is not known: open is an upper limit, and may come to less than 21.00 USD an hour of \
                known; test it at higher loads";
    assert_eq!(unknown.findings(), [said]);
    let json: Value = serde_json::from_str(&unknown.to_json().unwrap()).unwrap();
    assert_eq!((&json["cheapest"], &json["findings"][0]), (&Value::Null, &json!(said)));
    // One that is cheaper as it stands is the cheapest, and one of which a single replica costs more is not.
    assert_eq!(plans(1.0, 0).cheapest(), Some(0));
    assert_eq!(plans(30.0, 0).cheapest(), Some(1));
}
