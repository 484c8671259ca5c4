//! Parquet files, read back with the reader of the format's own crate, hold what the CSV files hold.

use bytes::Bytes;
use fizeau_core::LoadKind;
use fizeau_report::{LevelTable, RequestRow, RequestsParquet, TableRun};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::requests::fields;
use crate::sample;

/// The names of the columns, and every row with its fields as a CSV file has them.
fn read(file: Vec<u8>) -> (Vec<String>, Vec<Vec<String>>) {
    let reader = SerializedFileReader::new(Bytes::from(file)).unwrap();
    let columns = reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let heads = columns.iter().map(|column| column.name().to_owned()).collect();
    let text = |field: &Field| match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("{other:?}"),
    };
    let rows = reader.get_row_iter(None).unwrap();
    let rows =
        rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| text(field)).collect());
    (heads, rows.collect())
}

#[test]
fn requests_are_those_of_the_csv() {
    let tapes = sample::tapes(64);
    let mut file = RequestsParquet::new(Vec::new()).unwrap();
    let mut expected = Vec::new();
    for tape in &tapes {
        let row = RequestRow {
            level: "a, \"b\"",
            load: LoadKind::Concurrency.at(64.0),
            tape,
            unseen: None,
        };
        file.add(&row).unwrap();
        expected.push(fields(&row.csv()));
    }
    let (heads, rows) = read(file.finish().unwrap());
    assert_eq!(heads.join(","), RequestRow::csv_head());
    assert_eq!(rows, expected);
}

#[test]
fn levels_are_those_of_the_csv() {
    let sweep = sample::sweep();
    let run = TableRun {
        name: "a run".to_owned(),
        setup: sweep.setup(),
        levels: sweep.levels(),
        system: None,
        devices: Some(1),
        price: None,
        quality: None,
    };
    let table = LevelTable::new(&[run]);
    let csv = table.to_csv();
    let mut lines = csv.lines();
    let (heads, rows) = read(table.to_parquet(Vec::new()).unwrap());
    assert_eq!(heads, fields(lines.next().unwrap()));
    assert_eq!(rows, lines.map(fields).collect::<Vec<_>>());
}

/// A row group is bounded: what is held does not grow with the run.
#[test]
fn a_row_group_holds_so_many_and_no_more() {
    let tape = sample::tapes(1).remove(0);
    let row =
        RequestRow { level: "", load: LoadKind::Concurrency.at(1.0), tape: &tape, unseen: None };
    let mut file = RequestsParquet::new(Vec::new()).unwrap();
    for _ in 0..(1 << 16) + 3 {
        file.add(&row).unwrap();
    }
    let reader = SerializedFileReader::new(Bytes::from(file.finish().unwrap())).unwrap();
    let groups = reader.metadata().row_groups().iter();
    assert_eq!(
        groups.map(parquet::file::metadata::RowGroupMetaData::num_rows).collect::<Vec<_>>(),
        [1 << 16, 3]
    );
}

#[test]
fn a_file_without_requests_is_a_file() {
    let (heads, rows) = read(RequestsParquet::new(Vec::new()).unwrap().finish().unwrap());
    assert_eq!(heads.len(), RequestRow::legend().count());
    assert!(rows.is_empty());
}
