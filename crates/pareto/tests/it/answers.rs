//! What comes of the rows of a table.

use fizeau_pareto::{Axis, FrontierAnswer, FrontierQuery, RowPoints};

/// The answer of a table, whose incomplete rows are left out.
fn answer<const N: usize>(
    query: FrontierQuery,
    heads: [&str; N],
    rows: &[[&str; N]],
) -> FrontierAnswer {
    let mut points = RowPoints::new(query, &heads).unwrap();
    for (number, row) in rows.iter().enumerate() {
        let field = |name: &str| {
            let at = heads.iter().position(|head| *head == name)?;
            Some(row[at].into()).filter(|_| !row[at].is_empty())
        };
        if let Err(error) = points.add(number, &field) {
            assert!(error.is_incomplete(), "{error}");
        }
    }
    points.answer().unwrap()
}

fn axes() -> Vec<Axis> {
    vec![Axis::maximize("rps"), Axis::minimize("p99_ms")]
}

const RUNS: [[&str; 3]; 6] = [
    ["a", "1", "210"],
    ["a", "7", "480"],
    ["b", "6.5", "900"],
    ["b", "", "1"],
    ["b", "1", "300"],
    ["b", "0.5", "1000"],
];

#[test]
fn rows_keep_their_numbers_where_one_before_them_was_left_out() {
    let mut query = FrontierQuery::new(axes());
    (query.layers, query.by) = (true, Some("run".to_owned()));
    let answer = answer(query, ["run", "rps", "p99_ms"], &RUNS);
    assert_eq!(
        (answer.rows.as_slice(), answer.frontier.as_slice()),
        (&[0, 1, 2, 4, 5][..], &[0, 1][..])
    );
    assert_eq!(answer.layer_lists(), Some(vec![vec![0, 1], vec![2, 4], vec![5]]));
    assert_eq!([0, 3, 4, 5].map(|row| answer.layer_of(row)), [Some(1), None, Some(2), Some(3)]);
    assert_eq!((answer.on_any(), answer.shown()), (vec![0, 1, 2, 4], vec![0, 1, 2, 4, 5]));
    assert!(answer.is_on_frontier(1) && !answer.is_on_frontier(2) && !answer.is_undecided(1));
    let columns = answer.columns(&["run", "layer"]);
    let expected = [("pareto_layer", "1 1 2 2 3"), ("frontier", "all all own own ")];
    let columns = columns.iter().map(|(name, fields)| (name.as_str(), fields.join(" ")));
    assert_eq!(
        columns.collect::<Vec<_>>(),
        expected.map(|(name, fields)| (name, fields.to_owned()))
    );
}

#[test]
fn what_nobody_asked_for_is_absent() {
    let answer = answer(FrontierQuery::new(axes()), ["run", "rps", "p99_ms"], &RUNS);
    assert_eq!(
        (answer.layer_lists(), answer.layer_of(0), answer.undecided.clone()),
        (None, None, None)
    );
    assert_eq!((answer.shown(), answer.columns(&["run"])), (vec![0, 1], Vec::new()));
}

#[test]
fn a_row_that_may_be_beaten_is_undecided() {
    let mut query = FrontierQuery::new(axes());
    (query.layers, query.significant) = (true, true);
    let rows = [["10", "9", "11", "5"], ["9.5", "8", "10.5", "6"], ["1", "0.5", "1.5", "7"]];
    let answer = answer(query, ["rps", "rps_low", "rps_high", "p99_ms"], &rows);
    assert_eq!((&answer.frontier, &answer.undecided), (&vec![0, 1], &Some(vec![1])));
    assert!(answer.is_undecided(1) && !answer.is_undecided(0));
    let (name, membership) = answer.columns(&["rps"]).pop().unwrap();
    assert_eq!(
        (name.as_str(), membership.join(" ").as_str()),
        ("membership", "frontier undecided dominated")
    );
}

#[test]
fn a_table_without_points_says_what_it_lacks() {
    let query = FrontierQuery::new(axes());
    assert_eq!(query.why_empty(0), "there are no rows");
    assert_eq!(query.why_empty(1), "its one row has no number for rps or p99_ms");
    assert_eq!(query.why_empty(7), "none of its 7 rows has a number for each of rps, p99_ms");
    let mut points = RowPoints::new(query, &["rps", "p99_ms"]).unwrap();
    assert!(points.is_empty());
    points.add(0, &|_| Some("1".into())).unwrap();
    assert!(!points.is_empty());
}
