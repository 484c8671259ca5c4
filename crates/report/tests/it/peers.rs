//! Other tools' figures of the same tapes: text and page choose the same of them.

use fizeau_record::{LevelDetail, PeerComparison, SweepReport};
use fizeau_report::{Shown, Verbosity};
use serde_json::json;

use crate::sample;

/// A figure of each kind.
fn peer() -> PeerComparison {
    serde_json::from_value(json!({
        "tool": "vllm", "version": "vLLM 1", "figures": [
            {"name": "is_same", "unit": "ms", "value": 20.0, "ours": "a", "ours_value": 20.0},
            {"name": "differs", "unit": "ms", "value": 30.0, "ours": "a", "ours_value": 20.0},
            {"name": "theirs_alone", "unit": "ms", "value": 1.0},
            {"name": "is_absent", "unit": "ms", "value": null, "value_reason": "no tokens", "ours": "b", "ours_value": 3.0},
        ],
    }))
    .unwrap()
}

#[test]
fn brief_text_and_page_have_rows_of_the_same_figures() {
    let rows = |verbosity| {
        let text = Shown(&peer()).text(80, verbosity);
        let rows = text.lines().filter_map(|line| line.split_whitespace().next());
        let is_one = |word: &&str| peer().figures.iter().any(|figure| figure.name == *word);
        (rows.filter(is_one).collect::<Vec<_>>().join(" "), text.clone())
    };
    let (brief, text) = rows(Verbosity::Brief);
    assert_eq!(brief, "differs theirs_alone", "{text}");
    assert!(text.contains("1 more figure is the same (-v shows it)"), "{text}");
    assert!(text.contains("- no tokens: is_absent"), "{text}");
    assert_eq!(rows(Verbosity::Full).0, "is_same differs theirs_alone is_absent");

    let mut level = sample::level(4);
    let detail = LevelDetail { peers: vec![peer()], ..LevelDetail::default() };
    level.detail = Some(Box::new(detail));
    let page = Shown(&SweepReport::new(sample::setup(), vec![level], None)).page();
    for name in ["is_same", "differs", "theirs_alone", "is_absent"] {
        let has_row = page.contains(&format!(">{name}</"));
        assert_eq!(has_row, brief.split(' ').any(|row| row == name), "{name}");
    }
    assert!(page.contains("no tokens: is_absent"));
}
