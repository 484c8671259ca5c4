//! Pages: what is read of each program's, and what holds whatever bytes come.

use std::fmt::Write as _;

use fizeau_telemetry::{
    Exporter, History, Labels, Page, PageEnd, PageError, PageForm, PageLimits, PageParser,
    meaning_of,
};
use proptest::prelude::*;

use super::pages::{content_type, fixture, fixtures, golden, instant};

/// All that is known of a page, as text: what a person would look through.
fn shown(name: &str, page: &Page) -> String {
    let mut history = History::new();
    history.record(instant(0), page);
    let exporter = Exporter::of_history(&history).map_or("nobody", Exporter::name);
    let mut text = format!("=== {name}: {exporter}, {} series\n", page.samples.len());
    for (series, sample) in page.samples.iter() {
        // Triton's labels say what a series is about.
        let by_name = |_: &_| !series.metric.starts_with("nv_trt_llm_");
        if let Some(entry) = meaning_of(&series.metric).filter(by_name) {
            let value = sample.value * entry.scale;
            let words = entry.meaning.words();
            let at = sample.told_at_unix_ms.map_or(String::new(), |at| format!(" at {at}"));
            writeln!(text, "{words}: {series} {value}{at}").unwrap();
        }
    }
    text
}

#[test]
fn each_program_is_read() {
    let read: String = fixtures()
        .iter()
        .map(|(name, bytes)| shown(name, &Page::read(bytes, content_type(name)).unwrap()))
        .collect();
    if std::env::var_os("FIZEAU_BLESS").is_some() {
        std::fs::write(golden(), &read).unwrap();
    }
    assert_eq!(read, std::fs::read_to_string(golden()).unwrap());
}

#[test]
fn oddities_of_the_fixtures_are_understood() {
    let vllm = fixture("vllm-0.txt");
    let implementation = Labels::new([("implementation", "C\"Py\\thon\n")]);
    assert_eq!(vllm.value("python_info", &implementation), Some(1.0));
    let openmetrics = fixture("openmetrics.txt");
    assert_eq!((openmetrics.notes.exemplars, openmetrics.notes.end), (1, PageEnd::Whole));
    assert!(
        vllm.notes == fizeau_telemetry::PageNotes::default() || vllm.notes.unreadable_lines == 0
    );
}

#[test]
fn what_is_no_page_is_refused_in_one_sentence() {
    let refused = |text: &str| Page::read(text.as_bytes(), None).unwrap_err();
    assert_eq!(refused(""), PageError::Empty);
    assert_eq!(refused(" \r\n\n"), PageError::Empty);
    assert_eq!(refused("<!DOCTYPE html>\n<html>"), PageError::Html);
    assert_eq!(refused("<html>in one line</html>"), PageError::Html);
    assert!(matches!(refused("{\"detail\":\"Not Found\"}"), PageError::Json { .. }));
    assert!(matches!(refused("{\n\"a\": 1\n}\n"), PageError::Json { .. }));
    assert!(matches!(refused("[1, 2]"), PageError::Json { .. }));
    assert!(matches!(refused("[{\"iter\": 1}, "), PageError::Json { .. }));
    assert!(matches!(refused("Internal Server Error\n"), PageError::NoMetrics { .. }));
    for error in [refused("oops"), refused("<p>"), refused("{}")] {
        assert_eq!(error.to_string().lines().count(), 1);
    }
    assert!(Page::read(b"[]", None).is_ok());
    assert!(Page::read(b"# EOF\n", None).is_ok());
}

#[test]
fn a_page_that_stops_half_way_keeps_whole_lines_and_says_so() {
    let page = Page::read(b"a 1\nb 12", None).unwrap();
    assert_eq!((page.samples.len(), page.notes.end), (1, PageEnd::CutShort));
    let page = Page::read(b"a 1\n", Some("application/openmetrics-text")).unwrap();
    assert_eq!((page.samples.len(), page.notes.end), (1, PageEnd::CutShort));
    let page = Page::read(b"a 1\n# EOF", Some("application/openmetrics-text")).unwrap();
    assert_eq!(page.notes.end, PageEnd::Whole);
}

#[test]
fn duplicates_and_declarations_that_differ_are_counted() {
    let page = Page::read(b"# TYPE a counter\n# TYPE a gauge\na{b=\"1\"} 1\na{b=\"1\"} 2\n", None)
        .unwrap();
    let notes = &page.notes;
    assert_eq!((notes.duplicates, notes.redeclared), (1, 1));
    assert_eq!(notes.first_duplicate.as_deref(), Some("a{b=\"1\"}"));
    assert_eq!(page.value("a", &Labels::new([("b", "1")])), Some(1.0));
}

#[test]
fn what_is_not_wanted_is_not_read() {
    let mut parser =
        PageParser::new(PageForm::Text, PageLimits::default()).wanting(|name| name == "a");
    parser.feed(b"b{c=oops} 1\na{c=\"1\"} 1\na 2\nb\n").unwrap();
    let page = parser.finish().unwrap();
    assert_eq!((page.samples.len(), page.notes.unreadable_lines), (2, 1));
}

#[test]
fn limits_hold() {
    let limits = PageLimits { bytes: 100, line: 10, labels: 1, series: 2 };
    let read = |text: &str| {
        let mut parser = PageParser::new(PageForm::Text, limits);
        parser.feed(text.as_bytes())?;
        parser.finish()
    };
    assert_eq!(read(&"a 1\n".repeat(26)), Err(PageError::TooLong { limit: 100 }));
    let page = read("a 1\nb 1\nc 1\nlonger_than_ten_bytes 1\n").unwrap();
    assert_eq!(
        (page.samples.len(), page.notes.beyond_limit, page.notes.unreadable_lines),
        (2, 1, 1)
    );
}

fn parsed<'a>(
    form: PageForm,
    limits: PageLimits,
    pieces: impl IntoIterator<Item = &'a [u8]>,
) -> Result<String, PageError> {
    let mut parser = PageParser::new(form, limits);
    for piece in pieces {
        parser.feed(piece)?;
    }
    // As text, since a value that is no number differs from itself.
    parser.finish().map(|page| format!("{page:?}"))
}

/// Bytes of any kind, or of the kind that pages are made of.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let likely = prop::sample::select(vec![
        "a",
        "vllm:x_total",
        "{",
        "}",
        "b=\"c\"",
        "\"",
        "\\",
        ",",
        " ",
        "\n",
        "\r\n",
        "1",
        "NaN",
        "+Inf",
        "-0",
        "# TYPE a counter",
        "# EOF",
        "#",
        "[",
        "{\"iter\":1}",
        "]",
        "<",
        "é",
        "\u{feff}",
        "1700000000000",
    ]);
    let likely = prop::collection::vec(likely, 0..60).prop_map(|words| words.concat().into_bytes());
    prop_oneof![likely, prop::collection::vec(any::<u8>(), 0..200)]
}

proptest! {
    #[test]
    fn any_bytes_in_any_pieces_give_the_same(
        bytes in bytes(), cuts in prop::collection::vec(0_usize..200, 0..8), open in any::<bool>(), line in 1_usize..40,
    ) {
        let form = if open { PageForm::OpenMetrics } else { PageForm::Text };
        let limits = PageLimits { line, series: 5, labels: 2, ..PageLimits::default() };
        let whole = parsed(form, limits, [bytes.as_slice()]);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]);
        prop_assert_eq!(&whole, &parsed(form, limits, pieces));
        let single = bytes.chunks(1);
        prop_assert_eq!(whole, parsed(form, limits, single));
    }

    #[test]
    fn a_fixture_that_was_damaged_never_panics(which in 0_usize..18, at in 0_usize..4000, byte in any::<u8>()) {
        let fixtures = fixtures();
        let (_, mut bytes) = fixtures[which % fixtures.len()].clone();
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = Page::read(&bytes, None);
        let _ = Page::read(&bytes[..at], None);
    }

    #[test]
    fn a_value_with_any_label_is_read_as_it_was_written(value in any::<f64>(), label in ".{0,20}") {
        let escaped = label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        prop_assume!(!label.contains('\r'));
        let page = Page::read(format!("m{{l=\"{escaped}\"}} {value}\n").as_bytes(), None).unwrap();
        let read = page.value("m", &Labels::new([("l", label.as_str())])).unwrap();
        prop_assert!(read.to_bits() == value.to_bits() || read.is_nan() && value.is_nan());
    }
}
