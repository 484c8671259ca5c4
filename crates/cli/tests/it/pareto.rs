//! `fizeau pareto`: tables, and folders of runs.

mod folders;

use std::io::Write;
use std::process::Stdio;

use fizeau::pareto::{Axis, Points};
use serde_json::{Value, json};

use crate::stand::{Ended, Scratch, fizeau, run};

/// Writes a table and asks for its frontier.
fn pareto(scratch: &Scratch, table: &str, flags: &str) -> Ended {
    let path = scratch.path("table.csv");
    std::fs::write(&path, table).unwrap();
    let mut words = vec!["pareto", path.as_str()];
    words.extend(flags.split_whitespace());
    run(&words)
}

fn document(ended: &Ended) -> Value {
    serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

const TABLE: &str = "name,rps,\"p99, ms\"\n\
                     a,1,210\n\
                     \"b, or so\",4.0,230\n\
                     c,9,300\n\
                     d,6.5,900\n\
                     \"e\"\"\",9.5,800\n";

#[test]
fn the_rows_of_the_frontier_come_as_they_were() {
    let scratch = Scratch::new("pareto-csv");
    let table = format!("\u{feff}{}", TABLE.replace('\n', "\r\n").replace("p99, ms", "p99"));
    let ended = pareto(&scratch, &table, "--maximize rps --minimize p99");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected =
        "name,rps,\"p99\"\r\na,1,210\r\n\"b, or so\",4.0,230\r\nc,9,300\r\n\"e\"\"\",9.5,800\r\n";
    assert_eq!(ended.out, expected);
    assert_eq!(ended.err, "");
}

#[test]
fn layers_hypervolume_and_knee_are_answered_as_csv_and_as_json() {
    let scratch = Scratch::new("pareto-answers");
    let table = TABLE.replace("p99, ms", "p99");
    let flags = "--maximize rps --minimize p99 --layers --knee=curvature --hypervolume 0,1000";
    let ended = pareto(&scratch, &table, flags);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let layers: Vec<&str> =
        ended.out.lines().map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(layers, ["layer", "1", "1", "1", "2", "1"]);
    // (1 - 0) (1000 - 210) + (4 - 1) (1000 - 230) + (9 - 4) (1000 - 300) + (9.5 - 9) (1000 - 800)
    assert_eq!(ended.err, "hypervolume: 6700\nknee: row 2\n");

    let ended = pareto(&scratch, &table, &format!("{flags} --json"));
    let expected = json!({"frontier": [0, 1, 2, 4], "layers": [[0, 1, 2, 4], [3]], "hypervolume": 6700.0, "knee": 2});
    assert_eq!(document(&ended), expected);
    let ended = pareto(&scratch, &table, "--maximize rps --minimize p99 --json");
    let expected =
        json!({"frontier": [0, 1, 2, 4], "layers": null, "hypervolume": null, "knee": null});
    assert_eq!(document(&ended), expected);
}

/// The reference point is in the order in which the axes stand, whichever flag they come with.
#[test]
fn the_reference_follows_the_order_of_the_axes() {
    let scratch = Scratch::new("pareto-order");
    let table = TABLE.replace("p99, ms", "p99");
    for flags in [
        "--minimize p99 --maximize rps --hypervolume 1000,0",
        "--hypervolume 0,1000 --maximize rps --minimize p99",
        "--minimize p99 --hypervolume=1000,-0 --maximize rps",
    ] {
        let ended = pareto(&scratch, &table, &format!("{flags} --json"));
        assert_eq!(document(&ended)["hypervolume"], 6700.0, "{flags}: {ended:?}");
    }
    let interleaved = "a,b,c\n3,1,2\n1,1,1\n";
    let flags = "--maximize a --minimize b --maximize c --hypervolume 0,3,0 --json";
    // 3 x 2 x 2: the second row is dominated.
    assert_eq!(document(&pareto(&scratch, interleaved, flags))["hypervolume"], 12.0);
}

#[test]
fn standard_input_and_json_lines_are_read_too() {
    let mut command = fizeau(&["pareto", "-", "--maximize", "x", "--maximize", "y", "--json"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = "{\"x\": 1, \"y\": 2, \"z\": [1]}\n{\"x\": 1, \"y\": 1}\n{\"x\": 2, \"y\": 1}\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let ended: Ended = child.wait_with_output().unwrap().into();
    assert_eq!(document(&ended)["frontier"], json!([0, 2]), "{ended:?}");
}

#[test]
fn rows_without_a_number_are_named_or_left_out_and_counted() {
    let scratch = Scratch::new("pareto-missing");
    for (table, said) in [
        ("x,y\n1,2\n,3\n2,1\n", "row 1 (line 3): `x` is empty"),
        ("x,y\n1,2\n3,n/a\n2,1\n", "row 1 (line 3): `y` is `n/a`, which is not a number"),
        ("x,y\n1,2\nNaN,3\n2,1\n", "row 1 (line 3): `x` is `NaN`, which is not a number"),
    ] {
        let refused = pareto(&scratch, table, "--maximize x --maximize y");
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        assert!(refused.err.contains(said), "{}", refused.err);
        let skipped = pareto(&scratch, table, "--maximize x --maximize y --skip-incomplete --json");
        assert_eq!(document(&skipped)["frontier"], json!([0, 2]));
        assert!(skipped.err.contains("1 row left out"), "{}", skipped.err);
    }
    let nothing = pareto(&scratch, "x,y\n,1\n", "--maximize x --maximize y --skip-incomplete");
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(nothing.err.contains("the frontier is empty: its one row has no number for x or y"));
    let nothing = pareto(&scratch, "x,y\n", "--maximize x");
    assert_eq!(nothing.code, Some(1), "{nothing:?}");
    assert!(nothing.err.contains("there are no rows"), "{}", nothing.err);
}

#[test]
fn each_value_of_a_column_has_its_own_frontier() {
    let scratch = Scratch::new("pareto-by");
    let table = "tp,x,y\n1,1,9\n2,2,9\n1,3,3\n2,1,1\n1,2,3\n";
    let flags = "--maximize x --maximize y --by tp";
    let ended = pareto(&scratch, table, flags);
    assert_eq!(ended.out, "tp,x,y,frontier\n1,1,9,own\n2,2,9,all\n1,3,3,all\n");
    let answer = document(&pareto(&scratch, table, &format!("{flags} --json")));
    assert_eq!(answer["by"], json!({"1": [0, 2], "2": [1]}));
    assert_eq!(answer["frontier"], json!([1, 2]));
}

#[test]
fn what_differs_by_little_is_not_decided_or_stands_for_one() {
    let scratch = Scratch::new("pareto-close");
    let table = "x,x_low,x_high,y\n7,6.9,7.1,5\n6.5,6.4,6.6,5\n6.95,6.8,7.05,5\n";
    let flags = "--maximize x --maximize y --significant";
    let ended = pareto(&scratch, table, flags);
    assert_eq!(
        ended.out,
        "x,x_low,x_high,y,membership\n7,6.9,7.1,5,frontier\n6.95,6.8,7.05,5,undecided\n"
    );
    let answer = document(&pareto(&scratch, table, &format!("{flags} --json")));
    assert_eq!((&answer["frontier"], &answer["undecided"]), (&json!([0, 2]), &json!([2])));
    let near = "x,y\n7.0,480\n7.1,483\n7.2,489\n9.0,700\n";
    let ended = pareto(&scratch, near, "--maximize x --minimize y --epsilon 0.5,5% --json");
    assert_eq!(document(&ended)["frontier"], json!([1, 3]), "{ended:?}");
}

/// Random tables with ties, in one to four dimensions, against the library.
#[test]
fn it_agrees_with_the_library() {
    let scratch = Scratch::new("pareto-random");
    let mut state = 1849_u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for dimensions in 1..=4_usize {
        let axes: Vec<Axis> = (0..dimensions)
            .map(|axis| match draw(2) {
                0 => Axis::maximize(format!("c{axis}")),
                _ => Axis::minimize(format!("c{axis}")),
            })
            .collect();
        let mut points = Points::new(axes.clone()).unwrap();
        let heads: Vec<&str> = axes.iter().map(Axis::name).collect();
        let mut table = format!("id,{}\n", heads.join(","));
        for id in 0..60 {
            let figures: Vec<f64> = (0..dimensions).map(|_| draw(12) as f64 / 4.0).collect();
            points.push(&figures).unwrap();
            let cells: Vec<String> = figures.iter().map(ToString::to_string).collect();
            table.push_str(&format!("{id},{}\n", cells.join(",")));
        }
        let flags: String = axes
            .iter()
            .map(|axis| match axis.direction() {
                fizeau::pareto::Objective::Maximize => format!(" --maximize {}", axis.name()),
                fizeau::pareto::Objective::Minimize => format!(" --minimize {}", axis.name()),
            })
            .collect();
        // As bad as can be on each axis.
        let worst: Vec<f64> = axes
            .iter()
            .map(|axis| match axis.direction() {
                fizeau::pareto::Objective::Maximize => -1.0,
                fizeau::pareto::Objective::Minimize => 4.0,
            })
            .collect();
        let reference: Vec<String> = worst.iter().map(ToString::to_string).collect();
        let reference = reference.join(",");
        let answer = document(&pareto(
            &scratch,
            &table,
            &format!("{flags} --layers --hypervolume {reference} --json"),
        ));
        assert_eq!(answer["frontier"], json!(points.frontier()));
        assert_eq!(answer["hypervolume"], json!(points.hypervolume(&worst).unwrap()));
        let layers = points.layers();
        for (layer, rows) in answer["layers"].as_array().unwrap().iter().enumerate() {
            let expected: Vec<usize> =
                (0..layers.len()).filter(|&row| layers[row] == layer + 1).collect();
            assert_eq!(*rows, json!(expected));
        }
    }
}

#[test]
fn wrong_flags_and_tables_are_refused() {
    let scratch = Scratch::new("pareto-bad");
    let table = "x,y\n1,2\n";
    let cases = [
        ("--maximize z", "there is no column `z`; the columns are `x`, `y`"),
        ("", "--maximize or to --minimize"),
        ("--maximize x --minimize x", "`x` is named twice"),
        ("--maximize x --minimize y --hypervolume 1", "in this order: x,y"),
        ("--maximize x --hypervolume a", "--hypervolume: `a`"),
        ("--maximize x --knee", "--knee: a knee needs two axes, and there are 1"),
        ("--maximize x --significant", "`x_low` and `x_high`"),
        ("--maximize x --epsilon 1,2", "--epsilon: `1,2`"),
        ("--maximize x --by tp", "no column `tp`"),
        ("--axes sideways", "no axes are called `sideways`; there are throughput-latency"),
        ("--maximize x --axes interactivity", "--axes"),
        ("--maximize x --quality a=1", "--quality works only with folders"),
    ];
    for (flags, said) in cases {
        let refused = pareto(&scratch, table, flags);
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{flags}: {refused:?}");
        assert!(refused.err.contains(said), "{flags}: {}", refused.err);
    }
    let nowhere = run(&["pareto", &scratch.path("nowhere.csv"), "--maximize", "x"]);
    assert_eq!(nowhere.code, Some(2));
    assert!(nowhere.err.contains("nowhere.csv"), "{}", nowhere.err);
    let two = run(&["pareto", "a.csv", "b.csv", "--maximize", "x"]);
    assert_eq!(two.code, Some(2));
    assert!(two.err.contains("one table at a time"), "{}", two.err);
    let folder = scratch.path(".");
    let alike = format!("a={folder}");
    let alike = run(&["pareto", &alike, &alike]);
    assert_eq!(alike.code, Some(2));
    assert!(alike.err.contains("a: two runs are called so"), "{}", alike.err);
}

#[test]
fn a_joined_table_adds_its_columns() {
    let scratch = Scratch::new("pareto-join");
    let join = scratch.path("quality.csv");
    std::fs::write(&join, "run,quality\nb,0.9\na,0.7\nz,1\n").unwrap();
    let flags = format!("--minimize cost --maximize quality --join {join}");
    let ended = pareto(&scratch, "run,cost,quality\na,1,\nb,2,\na,3,\n", &flags);
    assert_eq!(ended.out, "run,cost,quality\na,1,0.7\nb,2,0.9\n", "{ended:?}");
    assert!(ended.err.contains("1 of 3 rows match no row"), "{}", ended.err);
    std::fs::write(&join, "model,quality\nb,0.9\n").unwrap();
    let refused = pareto(&scratch, "run,cost\na,1\n", &flags);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("no column in common"), "{}", refused.err);
}
