#![allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]

use super::{InputTable, InputTableError};

/// All fields of some columns, as words.
fn fields(text: &str, columns: &[&str]) -> Vec<Vec<String>> {
    let table = InputTable::new("t.csv", text.as_bytes().to_vec()).unwrap();
    let mut rows = Vec::new();
    table
        .each::<InputTableError>(columns, |row, field| {
            assert_eq!(row, rows.len());
            let words = columns.iter().map(|name| field(name).unwrap_or_default().into_owned());
            rows.push(words.collect());
            Ok(())
        })
        .unwrap();
    rows
}

fn refused(text: &[u8]) -> String {
    InputTable::new("t.csv", text.to_vec()).unwrap_err().to_string()
}

/// The traps of RFC 4180: quotes, doubled quotes, commas, ends of lines and nothing within quotes; CRLF; a byte order mark.
#[test]
fn quoted_fields_are_read_as_the_rfc_has_them() {
    let text = "\u{feff}name,\"a, b\",c\r\n\
                \"x \"\"y\"\"\",1,\"\"\r\n\
                \"two\nlines\",2,z\r\n\
                \r\n\
                plain \"quote\",3,\"\"\"\"\r\n";
    let expected = [["x \"y\"", "1", ""], ["two\nlines", "2", "z"], ["plain \"quote\"", "3", "\""]];
    assert_eq!(fields(text, &["name", "a, b", "c"]), expected);
    assert_eq!(fields(text, &["c", "name"]).first().unwrap(), &["", "x \"y\""]);
}

#[test]
fn the_last_line_needs_no_end_and_names_may_have_spaces_around_them() {
    assert_eq!(fields("a , b\n1,2\n3,", &["b", "a"]), [["2", "1"], ["", "3"]]);
    assert_eq!(fields("a\n1\n\n\n2", &["a"]), [["1"], ["2"]]);
}

#[test]
fn rows_are_given_back_as_they_came() {
    for newline in ["\n", "\r\n"] {
        let lines = ["a,\"b\"", "1.50,\"x, \"\"y\"\"\"", "2e3,", "3,z"];
        let table = InputTable::new("t.csv", lines.join(newline).into_bytes()).unwrap();
        let more = [("layer".to_owned(), vec!["1".to_owned(), "2".to_owned()])];
        let expected = ["a,\"b\",layer", "1.50,\"x, \"\"y\"\"\",1", "3,z,2", ""].join(newline);
        assert_eq!(table.to_csv(&[0, 2], &more), expected);
    }
}

#[test]
fn what_is_no_table_is_refused_with_the_line() {
    assert!(refused(b"").contains("is empty"));
    assert!(refused(b"a,a\n1,2").contains("two columns are named `a`"));
    let ragged = refused(b"a,b\n1,\"x\n\ny\"\n1,2,3\n");
    assert!(ragged.contains("row 1 (line 5) has 3 fields and the header 2"), "{ragged}");
    let open = refused(b"a,b\n1,2\n1,\"x\n1,2\n");
    assert!(open.contains("line 3: a quote is opened and never closed"), "{open}");
    assert!(refused(b"a,b\n1,\xff\n").contains("line 2 is not UTF-8"));
}

#[test]
fn json_lines_are_rows_too() {
    let text = "{\"a\": 1, \"b\": \"x\", \"n\": {\"deep\": [1]}}\n\n{\"b\": null, \"c\": 2.5e3, \"a\": \"7\"}\n";
    assert_eq!(fields(text, &["a", "b", "c"]), [["1", "x", ""], ["7", "", "2500"]]);
    let table = InputTable::new("t.jsonl", text.as_bytes().to_vec()).unwrap();
    assert_eq!(table.heads(), ["a", "b", "n", "c"]);
    let csv = table.to_csv(&[0, 1], &[("layer".to_owned(), vec!["1".into(), "2".into()])]);
    assert_eq!(csv, "a,b,n,c,layer\n1,x,\"{\"\"deep\"\":[1]}\",,1\n7,,,2500.0,2\n");
    // Only what the rows have that are shown.
    assert_eq!(table.to_csv(&[1], &[]), "b,c,a\n,2500.0,7\n");
}

#[test]
fn an_unknown_column_is_answered_with_those_that_there_are() {
    for text in ["a,b\n1,2\n", "{\"a\":1,\"b\":2}\n"] {
        let table = InputTable::new("t", text.as_bytes().to_vec()).unwrap();
        let error = table.each::<InputTableError>(&["a", "z"], |_, _| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "t: there is no column `z`; the columns are `a`, `b`");
    }
}

#[test]
fn a_json_array_is_called_so() {
    for text in ["[{\"a\": 1},\n {\"a\": 2}]\n", "[]"] {
        assert!(refused(text.as_bytes()).starts_with("t.csv: a JSON array; a table is "), "{text}");
    }
    assert!(InputTable::new("t", b"[a],b\n1,2\n".to_vec()).is_ok());
}

#[test]
fn a_line_that_is_no_object_is_named() {
    let error = refused(b"{\"a\":1}\n[2]\n");
    assert!(error.starts_with("t.csv: row 1 (line 2): not a JSON object"), "{error}");
}

#[test]
fn a_file_that_is_not_there_says_what_would_be_right() {
    let error = InputTable::read("no/such.csv").unwrap_err().to_string();
    assert_eq!(error, "no/such.csv: there is no such file; give a table in CSV or JSON");
}
