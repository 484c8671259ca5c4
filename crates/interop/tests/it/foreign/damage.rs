//! Damaged files give one line that names the file, and never a panic.

use fizeau_interop::{ForeignFile, ForeignFormats};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{fixture, import, record};

const FILES: [&str; 12] = [
    "aiperf/profile_export_aiperf.json",
    "aiperf/profile_export.jsonl",
    "guidellm.json",
    "genai-perf.json",
    "inference-perf/stage_0_lifecycle_metrics.json",
    "guidellm-figures.json",
    "vllm.json",
    "vllm-detailed.json",
    "vllm-rs.json",
    "vllm-sweep/SERVE--tp=2-BENCH--max_concurrency=4/run=0.json",
    "sglang.jsonl",
    "sglang-detailed.jsonl",
];

proptest! {
    #![proptest_config(crate::cases(200))]

    #[test]
    fn a_file_that_was_cut_is_refused(which in 0..FILES.len(), share in 0.0..0.999_f64) {
        let bytes = fixture(FILES[which]);
        let bytes = bytes.trim_ascii_end();
        let cut = &bytes[..(bytes.len() as f64 * share) as usize];
        // A whole line less is a shorter file.
        if !cut.ends_with(b"}\n") && !cut.ends_with(b"}") {
            let error = import(FILES[which], cut).unwrap_err().to_string();
            prop_assert!(error.starts_with(FILES[which]), "{}", error);
            prop_assert!(!error.contains('\n'), "{}", error);
        }
    }

    #[test]
    fn a_byte_that_was_changed_breaks_nothing_here(which in 0..FILES.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = fixture(FILES[which]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        // Any answer will do.
        let _ = import(FILES[which], &bytes);
    }

    #[test]
    fn a_field_of_another_kind_is_named_or_taken(
        which in 0..FILES.len(),
        at in any::<prop::sample::Index>(),
        odd in prop::sample::select(vec![json!(null), json!("x"), json!(-1), json!(1e300), json!([]), json!([[1, "x"]]), json!({}), json!(true)]),
    ) {
        let name = FILES[which];
        // The first line is a record of its own.
        let text = String::from_utf8(fixture(name)).unwrap().replace("Infinity", "\"inf\"");
        let mut file: Value = serde_json::Deserializer::from_str(&text).into_iter().next().unwrap().unwrap();
        let fields = file.as_object_mut().unwrap();
        let key = fields.keys().nth(at.index(fields.len())).unwrap().clone();
        fields.insert(key.clone(), odd);
        if let Err(error) = import(name, file.to_string().as_bytes()) {
            let error = error.to_string();
            prop_assert!(error.starts_with(name), "{}", error);
            prop_assert!(error.contains(&key) || error.contains("no form") || error.contains("embeddings") || error.contains("start_times"), "{} {}", key, error);
        }
    }
}

#[test]
fn a_field_that_is_missing_is_named() {
    let needed = [
        "duration",
        "completed",
        "total_input_tokens",
        "total_output_tokens",
        "request_throughput",
        "output_throughput",
    ];
    for (name, tool) in
        [("vllm.json", "vllm bench serve"), ("sglang-detailed.jsonl", "SGLang bench_serving")]
    {
        for field in needed {
            // Early versions of SGLang's do not write it.
            if (name, field) == ("sglang-detailed.jsonl", "request_throughput") {
                continue;
            }
            let mut file = record(name);
            file.as_object_mut().unwrap().remove(field);
            let error = import(name, file.to_string().as_bytes()).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("{name}: the field `{field}` is missing, which a result of {tool} has")
            );
        }
    }
}

#[test]
fn lists_of_other_lengths_are_refused() {
    let mut file = record("vllm-detailed.json");
    file["itls"].as_array_mut().unwrap().pop();
    let error = import("x.json", file.to_string().as_bytes()).unwrap_err().to_string();
    assert!(
        error.starts_with("x.json: `itls` is \"a list of 11, and ttfts one of 12\""),
        "{error}"
    );
}

/// A file of GuideLLM 0.8.1 has such a time: its scheduler starts before the zero of its clock.
#[test]
fn a_request_of_guidellm_may_be_due_before_zero() {
    let mut file = record("guidellm.json");
    let first = "/benchmarks/0/requests/successful/0/info/timings/targeted_start";
    *file.pointer_mut(first).expect("the fixture has it") = json!(-0.0003);
    let whole = import("guidellm.json", &fixture("guidellm.json")).unwrap();
    let taken = import("guidellm.json", file.to_string().as_bytes()).unwrap();
    assert_eq!(taken.len(), whole.len());
}

#[test]
fn a_file_of_no_form_lists_those_that_there_are() {
    for (text, looks) in [
        ("", "no JSON"),
        ("hello", "no JSON"),
        ("[]", "an empty file"),
        ("[1]", "JSON, but no object"),
        ("{\"a\": 1, \"b\": 2}", "JSON with the fields a, b, ..."),
    ] {
        let file = ForeignFile::new("x.json", text.as_bytes());
        let error = ForeignFormats::of(&file).err().unwrap().to_string();
        let wanted = format!("x.json: its format is not known ({looks}); the formats are ");
        assert!(error.starts_with(&wanted), "{error}");
        assert!(error.ends_with(&ForeignFormats::names()), "{error}");
    }
    let error = ForeignFormats::named("jmeter").err().unwrap().to_string();
    assert!(error.starts_with("`jmeter` is not a format; the formats are vllm-sweep, "), "{error}");
}

#[test]
fn a_file_named_as_json_that_is_none_is_broken_and_others_are_not() {
    let good = String::from_utf8(fixture("vllm.json")).unwrap();
    let cut = &good[..good.len() / 2];
    let check = |name: &str, text: &str| ForeignFile::new(name, text.as_bytes()).check_whole();
    for (name, text) in [("a.json", cut), ("a.jsonl", cut), ("a.JSON", "hello"), ("a.json", " ")] {
        let error = check(name, text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{name}: no whole JSON (")), "{error}");
    }
    let whole = [("a.json", good.as_str()), ("a.json", "[NaN]"), ("a.jsonl", ""), ("a.csv", cut)];
    for (name, text) in whole {
        assert_eq!(check(name, text), Ok(()), "{name}");
    }
}

#[test]
fn a_mark_of_byte_order_is_no_damage() {
    for name in ["vllm.json", "sglang.jsonl", "aiperf-table/profile_export_aiperf.csv"] {
        let marked = [b"\xef\xbb\xbf".as_slice(), &fixture(name)].concat();
        let (one, other) = (import(name, &fixture(name)).unwrap(), import(name, &marked).unwrap());
        assert_eq!((&one[0].figures, &one[0].caveats), (&other[0].figures, &other[0].caveats));
    }
}

#[test]
fn a_number_that_is_none_or_beyond_all_measure_is_named() {
    let odd = |value: &str| {
        let mut file = record("vllm.json");
        file["output_throughput"] = json!("VALUE");
        let text = file.to_string().replace("\"VALUE\"", value);
        import("x.json", text.as_bytes()).unwrap_err().to_string()
    };
    let null = "x.json: `output_throughput` is null or NaN; a value is expected";
    assert_eq!([odd("NaN"), odd("null")], [null, null]);
    let great = "x.json: `output_throughput` is 1e+308; a number from 0 to 1e15 is expected";
    assert_eq!(odd("1e308"), great);
}
