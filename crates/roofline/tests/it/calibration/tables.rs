//! Tables of measured levels, as people write them.

use fizeau_roofline::MeasuredTable;

const HEADER: &str = "model,hardware,engine,weights,moe_weights,kv,tp,attention_dp,moe_ep,isl,osl,concurrency,ttft_ms,tpot_ms";

fn errors(row: &str) -> Vec<String> {
    let table = MeasuredTable::read(&format!("{HEADER}\n{row}\n")).unwrap();
    table.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn a_row_says_what_was_measured() {
    let row = "\"a, b\",h100-sxm,vllm,fp8,nvfp4,fp8,4,2,8,1024,128,16,120.5,15.2";
    let table = MeasuredTable::read(&format!("{HEADER}\r\n{row}\r\n\r\n")).unwrap();
    let [level] = table.levels.as_slice() else { panic!("{table:?}") };
    assert_eq!(level.model, "a, b");
    assert_eq!(level.weights.as_ref().unwrap().to_string(), "fp8,experts=nvfp4");
    assert_eq!(level.deployment.to_string(), "TP4 EP8 DP2");
    assert_eq!((level.tpot.get() * 1e6).round(), 15_200.0);
    assert_eq!((level.ttft.unwrap().get() * 1e6).round(), 120_500.0);
    assert_eq!(level.line, 2);
}

#[test]
fn what_is_not_said_has_defaults() {
    let table = MeasuredTable::read(&format!("{HEADER}\nm,d,,,,,,,,10,20,1,,5\n")).unwrap();
    let [level] = table.levels.as_slice() else { panic!("{table:?}") };
    assert_eq!(level.deployment.devices(), 1);
    assert_eq!((&level.engine, &level.weights, level.ttft), (&None, &None, None));
}

#[test]
fn a_bad_row_is_named_with_its_field() {
    assert_eq!(errors("m,d,,,,,,,,10,20,1,,5,6"), ["line 2: 15 fields where the header has 14"]);
    assert_eq!(
        errors("m,d,,,,,,,,ten,20,1,,5"),
        ["line 2: isl is `ten`; it must be a whole number above 0"]
    );
    assert_eq!(
        errors("m,d,,,,,0,,,10,20,1,,5"),
        ["line 2: tp is `0`; it must be a whole number from 1 to 65536"]
    );
    assert_eq!(
        errors("m,d,,,,,,,,10,20,1,,-5"),
        ["line 2: tpot_ms is `-5`; it must be a number of milliseconds above 0"]
    );
    assert_eq!(errors(",d,,,,,,,,10,20,1,,5"), ["line 2: model is empty; give a value"]);
    let wrong = errors("m,d,,fp9,,,,,,10,20,1,,5");
    assert!(wrong[0].starts_with("line 2: weights is `fp9`; "), "{wrong:?}");
}

#[test]
fn lines_are_those_of_the_file() {
    let rows = "\n \r\n\r\n m , d ,,,,,,,,10,20,1,,5\n\n\nm,d,,,,,,,,10,20,none,,5\n";
    let table = MeasuredTable::read(&format!("\u{feff}{HEADER}\n{rows}")).unwrap();
    let [level] = table.levels.as_slice() else { panic!("{table:?}") };
    assert_eq!((level.model.as_str(), level.line), ("m", 5));
    assert_eq!(
        table.errors[0].to_string(),
        "line 8: concurrency is `none`; it must be a whole number above 0"
    );
}

#[test]
fn a_table_without_a_column_is_refused() {
    let error = MeasuredTable::read("model,hardware,isl,osl,tpot_ms\n").unwrap_err();
    assert!(error.to_string().starts_with("there is no column `concurrency`; needed are model"));
    assert!(MeasuredTable::read("").is_err());
    let table = MeasuredTable::read(&format!("{HEADER},mood\n")).unwrap();
    assert_eq!(table.unknown, ["mood"]);
}
