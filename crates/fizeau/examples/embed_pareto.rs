//! The frontier and the operating point of points from anywhere. Needs `fizeau-pareto` only.

use fizeau::pareto::{
    Constraint, LimitRelation, Objective, OperatingCandidate, OperatingChoice, frontier,
    operating_point,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Requests per second and p99 latency in milliseconds, at rising concurrency.
    let points =
        [[0.9, 1_150.0], [3.4, 1_190.0], [12.6, 1_290.0], [40.1, 1_610.0], [40.0, 3_180.0]];
    let best = frontier(&points, &[Objective::Maximize, Objective::Minimize])?;
    println!("on the frontier: {best:?}");
    assert_eq!(best, [0, 1, 2, 3], "the last one costs latency and buys nothing");

    // The most throughput with a p99 of at most 1.5 seconds.
    let candidates: Vec<OperatingCandidate> = best
        .iter()
        .map(|&i| OperatingCandidate {
            objective: points[i][0],
            constraints: vec![Constraint {
                value: Some(points[i][1]),
                relation: LimitRelation::AtMost,
                limit: 1_500.0,
            }],
        })
        .collect();
    match operating_point(&candidates) {
        OperatingChoice::Met { index, margin } => {
            println!("operate at {} requests/s, margin {:.0} %", points[index][0], 100.0 * margin);
            assert_eq!(index, 2);
        }
        other => return Err(format!("no level meets the goal: {other:?}").into()),
    }
    Ok(())
}
