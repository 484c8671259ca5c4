//! Levels of another tool as tables, pages, charts and Markdown.

use fizeau_interop::{ForeignFile, ForeignFormats};
use fizeau_record::{ImportedLevel, ImportedRun, UnknownFact};
use fizeau_report::{
    AxesPreset, Charset, ChecklistRows, ImportedTableRun, LevelTable, Shown, TableCell, Terminal,
    TextStyle,
};

use super::{fixture, import};

fn sweep() -> Vec<ImportedLevel> {
    let mut files = Vec::new();
    for slots in [4, 16] {
        for file in ["run=0.json", "run=1.json", "summary.json"] {
            let name = format!("vllm-sweep/SERVE--tp=2-BENCH--max_concurrency={slots}/{file}");
            files.push((name.clone(), fixture(&name)));
        }
    }
    let files = files.iter().map(|(name, bytes)| ForeignFile::new(name, bytes));
    ForeignFormats::import(files.collect(), None).unwrap()
}

#[test]
fn a_load_that_is_not_known_is_an_empty_cell() {
    let name = "aiperf-table/profile_export_aiperf.csv";
    let level = import(name, &fixture(name)).unwrap().remove(0);
    let run = ImportedRun::new("old", vec![level.clone(), level]);
    let chart = &Shown(&run).charts("old").levels[0];
    assert_eq!((chart.load.as_str(), chart.label.as_str()), ("load not known", "?"));
    let row = ImportedTableRun {
        name: "old".to_owned(),
        run: &run,
        devices: None,
        price: None,
        quality: None,
    };
    let table = LevelTable::new(&[]).with_imported(&[row]);
    let at = |name: &str| table.heads().iter().position(|head| head == name).unwrap();
    assert_eq!(table.rows()[0][at("load")], TableCell::Text("load not known".into()));
    assert_eq!(table.rows()[0][at("load_value")], TableCell::Empty);
    assert_eq!(table.rows()[0][at("load_kind")], TableCell::Empty);
}

#[test]
fn every_figure_has_a_column() {
    let level = import("vllm.json", &fixture("vllm.json")).unwrap().remove(0);
    assert!(level.figures.keys().all(|name| LevelTable::legend().any(|(own, _)| own == name)));
}

#[test]
fn a_contradiction_stands_before_the_figures() {
    let mut level = import("vllm.json", &fixture("vllm.json")).unwrap().remove(0);
    level.not_known.push(UnknownFact::contradiction("one is two".to_owned()));
    let run = ImportedRun::new("old", vec![level]);
    for (shown, figures) in [(Shown(&run).text(), "Not known:"), (Shown(&run).page(), "<table")] {
        let (doubt, figures) = (shown.find("one is two"), shown.find(figures));
        assert!(doubt.is_some() && doubt < figures, "{doubt:?} {figures:?}");
    }
}

#[test]
fn one_run_stands_for_a_load_in_a_chart() {
    let run = ImportedRun::new("old", sweep());
    let charts = Shown(&run).charts("sweep");
    assert_eq!(charts.levels.iter().filter(|level| level.left_out.is_none()).count(), 2);
}

#[test]
fn imported_levels_are_rows_beside_others() {
    let run = ImportedRun::new("old", sweep());
    let row = ImportedTableRun {
        name: "old".to_owned(),
        run: &run,
        devices: Some(4),
        price: None,
        quality: None,
    };
    let table = LevelTable::new(&[]).with_imported(&[row]);
    assert_eq!(table.rows().len(), 2);
    let at = |name: &str| table.heads().iter().position(|head| head == name).unwrap();
    assert_eq!(table.rows()[0][at("devices")], TableCell::Number(4.0));
    for axis in AxesPreset::all()[0].axes() {
        assert!(
            matches!(table.rows()[0][at(axis.name())], TableCell::Number(_)),
            "{}",
            axis.name()
        );
    }
    assert_eq!(table.rows()[0][at("verdict")], TableCell::Text("suspect".into()));
}

#[test]
fn text_and_markdown_say_what_is_not_known_and_obey_no_file() {
    let mut levels = sweep();
    for level in &mut levels {
        level.about.model = Some("<script>alert(1)</script>\u{1b}[2J|x".to_owned());
    }
    let run = ImportedRun::new("old", levels);
    let text = Shown(&run).text();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("Not known:") && !text.contains('\u{1b}'), "{text}");
    let best = |line: &str| line.strip_prefix('+').is_some_and(|row| row.trim().starts_with("4 "));
    assert!(text.lines().any(best), "{text}");
    let markdown = Shown(&run).markdown();
    assert!(!markdown.contains("<script>") && !markdown.contains('\u{1b}'), "{markdown}");
    assert!(markdown.contains("| **concurrency 4** |"), "{markdown}");
}

/// Figures are of those that completed: whoever shows them says how many did not.
#[test]
fn failures_of_an_imported_run_are_said_everywhere() {
    let mut levels = sweep();
    levels[0].counts.failed = Some(500);
    levels[1].counts.completed = 0;
    let left_out = format!("left out: {} (no request completed)", levels[1].load_words());
    let run = ImportedRun::new("old", levels);
    let mut shown = vec![Shown(&run).text(), Shown(&run).markdown()];
    #[cfg(feature = "html")]
    shown.push(Shown(&run).page());
    for text in shown {
        for said in ["500 requests failed; they are in no figure", &left_out] {
            assert!(text.contains(said), "{said}: {text}");
        }
    }
}

#[cfg(feature = "html")]
#[test]
fn the_page_of_figures_alone_says_what_is_missing_and_runs_no_foreign_script() {
    let mut levels = sweep();
    for level in &mut levels {
        level.about.model = Some("<script>alert(1)</script>".to_owned());
    }
    let page = Shown(&ImportedRun::new("old", levels)).page();
    assert!(!page.contains("<script>alert"), "escaped");
    assert!(page.contains("What is not known?") && page.contains("figures cannot be"), "reasons");
    for chart in ["frontier", "interactivity", "load"] {
        assert!(page.contains(&format!("data-chart=\"{chart}\"")), "{chart}");
    }
    assert!(!page.contains("data-chart=\"quantiles\""), "no chart of what takes tapes");
}

#[test]
fn a_table_of_figures_is_drawn_as_that_of_a_sweep() {
    let run = ImportedRun::new("old", sweep());
    for width in [40, 80, 120] {
        let (style, charset) = (TextStyle::Ansi, Charset::Unicode);
        let checklist = ChecklistRows::Missed;
        let text = Shown(&run).terminal(&Terminal {
            width,
            style,
            charset,
            verbosity: fizeau_report::Verbosity::Full,
            checklist,
            report: None,
        });
        let table: Vec<&str> = text.lines().filter(|line| line.contains("\u{1b}[")).collect();
        assert_eq!(table.len(), run.levels().len(), "a line a level: {text}");
        let shown = |line: &str| line.chars().count() - "\u{1b}[1m\u{1b}[0m".len();
        assert!(table.iter().all(|line| shown(line) <= width), "{text}");
        assert!(text.contains("conc"), "{text}");
        assert_eq!(text.contains("Not shown at this width"), width == 40, "{text}");
    }
    assert!(Shown(&run).text().contains("- E2EL ms -"), "{}", Shown(&run).text());
}
