//! The page as a person meets it: in a browser, with a pointer, a keyboard, a phone, a dark room and paper.

mod chromium;
mod drawing;
mod tab;
mod wire;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::stand::{Scratch, run};
use chromium::Chromium;
use tab::Tab;

/// A sweep with a frontier, levels behind it, goals, the speed of light, and tapes.
const SWEEP: &str = "simulate --model-config llama-3.1-8b --hardware h100-sxm --levels 1,2,4,8,16,32,64,128 --isl 256 --osl 24 \
                     --max-num-seqs 48 --out";
const SLO: [&str; 2] = ["--slo", "p99 ttft<100ms, p99 e2el<400ms"];

/// What an 8-level page may weigh.
const MOST_BYTES: usize = 1_500_000;

const LEVELS: &str = "document.querySelector('table[data-name=levels]')";
const FRONTIER: &str = "document.querySelector('figure[data-chart=frontier]')";

#[test]
fn the_page_of_a_sweep() {
    let Some(chromium) = Chromium::start("browser") else { return };
    let page = sweep(&chromium.scratch, "sweep");
    assert!(std::fs::metadata(&page).unwrap().len() < MOST_BYTES as u64);
    let mut tab = Tab::new(&chromium);
    tab.show_as("screen", "light");
    tab.resize(1440, 900);
    tab.open(&page);
    every_chart_is_drawn(&mut tab);
    the_answers_are_seen_at_once(&mut tab);
    a_point_says_its_level(&mut tab);
    one_cursor_goes_through_the_timeline(&mut tab);
    the_keyboard_walks_the_points(&mut tab);
    the_axis_switches(&mut tab);
    the_legend_hides_and_shows(&mut tab);
    the_table_sorts(&mut tab);
    the_table_is_downloaded(&mut tab);
    the_chart_is_saved(&mut tab);
    drawing::of_what_is_odd(&mut tab);
    it_fits_every_screen(&mut tab);
    charts_are_on_paper(&mut tab);
    assert_eq!(tab.complaints(), Vec::<Value>::new());
    assert_eq!(tab.requests(), [format!("file://{}", page.display())]);
}

/// A run's name is whatever somebody called a folder.
#[test]
fn a_page_of_two_runs_with_a_hostile_name() {
    const HOSTILE: &str = "<img src=x onerror=globalThis.owned=1><b>";
    let Some(chromium) = Chromium::start("browser-two") else { return };
    let scratch = &chromium.scratch;
    sweep(scratch, "base");
    sweep(scratch, HOSTILE);
    let page = scratch.path("both.html");
    let ended = run(&["report", &scratch.path("base"), &scratch.path(HOSTILE), "--html", &page]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let mut tab = Tab::new(&chromium);
    tab.show_as("screen", "light");
    tab.resize(1440, 900);
    tab.open(Path::new(&page));
    every_chart_is_drawn(&mut tab);
    let last = tab.eval("fizeau.chart('frontier').points().length - 1");
    let tip = point_at(&mut tab, last.as_u64().unwrap());
    assert!(tip.contains(HOSTILE), "{tip}");
    assert_eq!(tab.eval("document.querySelectorAll('img').length"), 0);
    assert_eq!(tab.eval("globalThis.owned === undefined"), true);
    assert_eq!(tab.eval(TABLES_OUT_OF_SIGHT), json!([]));
    tab.photograph("comparison-1440-light");
    tab.resize(390, 844);
    tab.drawn();
    assert_eq!(tab.eval(WIDER_THAN_THE_WINDOW), json!([]));
    assert_eq!(tab.eval(TABLES_OUT_OF_SIGHT), json!([]));
    tab.photograph("comparison-390-light");
    assert_eq!(tab.complaints(), Vec::<Value>::new());
    assert_eq!(tab.requests(), [tab.text("location.href")]);
}

/// Runs a sweep into a folder of that name, and gives its page.
fn sweep(scratch: &Scratch, name: &str) -> PathBuf {
    let out = scratch.path(name);
    let mut words: Vec<&str> = SWEEP.split_whitespace().collect();
    words.push(&out);
    words.extend(SLO);
    let ended = run(&words);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    Path::new(&out).join("report.html")
}

fn every_chart_is_drawn(tab: &mut Tab) {
    let drawn = tab.eval(
        "[...document.querySelectorAll('figure.chart')].map((figure) => \
         [figure.dataset.chart, figure.dataset.drawn, figure.querySelectorAll('.plot svg path').length > 5])",
    );
    let names = ["frontier", "interactivity", "load", "quantiles", "itl", "timeline", "lengths"];
    let wanted: Vec<Value> = names.iter().map(|name| json!([name, "yes", true])).collect();
    let mut found = drawn.as_array().unwrap().clone();
    found.sort_by_key(|one| names.iter().position(|name| one[0] == *name));
    assert_eq!(found, wanted);
    let unnamed = tab
        .eval("[...document.querySelectorAll('.plot')].filter((plot) => !plot.ariaLabel).length");
    assert_eq!(unnamed, 0);
}

/// Operating point, speed of light, trust: without scrolling.
fn the_answers_are_seen_at_once(tab: &mut Tab) {
    tab.eval("window.scrollTo(0, 0)");
    let bottoms = tab.eval(
        "['.measured', '.believe', '.answers'].map((name) => document.querySelector(name).getBoundingClientRect().bottom)",
    );
    for bottom in bottoms.as_array().unwrap() {
        assert!(bottom.as_f64().unwrap() < 900.0, "{bottoms}");
    }
    let top = tab.eval(&format!("{FRONTIER}.getBoundingClientRect().top"));
    assert!(top.as_f64().unwrap() < 900.0, "the first chart begins at {top}");
    tab.photograph_the_top("top-1440-light");
}

/// Moves the pointer to a point of the frontier chart and gives what comes up.
fn point_at(tab: &mut Tab, index: u64) -> String {
    tab.eval(&format!("{FRONTIER}.querySelector('.plot').scrollIntoView({{ block: 'center', behavior: 'instant' }})"));
    let at = tab.eval(&format!("fizeau.pixelOf('frontier', {index})"));
    tab.point_at(at["x"].as_f64().unwrap(), at["y"].as_f64().unwrap());
    let tip = tab.until(&format!(
        "(() => {{ const tip = {FRONTIER}.querySelector('.fizeau-tip'); \
         return tip && getComputedStyle(tip.parentElement).visibility !== 'hidden' && tip.textContent; }})()"
    ));
    tip.as_str().unwrap().to_owned()
}

fn a_point_says_its_level(tab: &mut Tab) {
    let loads = tab.eval("fizeau.data().runs[0].levels.map((level) => level.load)");
    let frontier = tab.eval("fizeau.data().runs[0].frontier");
    let first = frontier[0].as_u64().unwrap() as usize;
    let tip = point_at(tab, 0);
    assert!(tip.contains(loads[first].as_str().unwrap()), "{tip}");
    assert!(tip.contains("requests/s") && tip.contains("p99 E2EL") && tip.contains(" ms"), "{tip}");
    tab.point_at(5.0, 5.0);
}

/// A pointer in the topmost panel of a level over time tells of all panels at that moment.
fn one_cursor_goes_through_the_timeline(tab: &mut Tab) {
    tab.eval(
        "fizeau.chart('timeline').plot.scrollIntoView({ block: 'center', behavior: 'instant' })",
    );
    let at = tab.eval(
        "(() => { const { plot, instance, built } = fizeau.chart('timeline'); \
         const [seconds] = built.option.series.find((one) => one.name === 'median TTFT').data.find((one) => one[1] !== null); \
         const box = plot.getBoundingClientRect(); \
         return [box.left + instance.convertToPixel({ xAxisIndex: 0 }, seconds), box.top + 90]; })()",
    );
    tab.point_at(at[0].as_f64().unwrap(), at[1].as_f64().unwrap());
    let tip = tab.until(
        "(() => { const tip = fizeau.chart('timeline').figure.querySelector('.fizeau-tip'); \
         return tip && getComputedStyle(tip.parentElement).visibility !== 'hidden' && tip.textContent; })()",
    );
    let tip = tip.as_str().unwrap();
    for name in ["median TTFT", "output tokens/s", "in flight"] {
        assert!(tip.contains(name), "{name}: {tip}");
    }
    tab.point_at(5.0, 5.0);
}

fn the_keyboard_walks_the_points(tab: &mut Tab) {
    tab.eval(&format!("{FRONTIER}.querySelector('.plot').focus()"));
    tab.press("ArrowRight");
    tab.press("ArrowRight");
    let said = tab.text(&format!("{FRONTIER}.querySelector('[aria-live]').textContent"));
    assert_eq!(said, tab.text("fizeau.pixelOf('frontier', 1).tip"));
    tab.press("Escape");
    let said = tab.text(&format!("{FRONTIER}.querySelector('[aria-live]').textContent"));
    assert_eq!(said, "");
}

fn the_axis_switches(tab: &mut Tab) {
    let axis = "fizeau.chart('frontier').instance.getOption().yAxis[0].name";
    let lines =
        "fizeau.chart('frontier').built.option.series.flatMap((one) => one.markLine?.data || [])";
    assert_ne!(tab.eval(lines), json!([]), "it opens where a goal is: {}", tab.text(axis));
    for (value, text) in [("ttft", "TTFT"), ("tpot", "TPOT"), ("e2el", "E2EL")] {
        let button = format!("{FRONTIER}.querySelector('button[data-value={value}]')");
        tab.click(&button);
        assert!(tab.text(axis).starts_with(&format!("p99 {text}")), "{}", tab.text(axis));
        assert_eq!(tab.text(&format!("{button}.ariaPressed")), "true");
        let written = tab.text(&format!("{FRONTIER}.querySelector('.plot').textContent"));
        assert!(written.contains(&format!("p99 {text}")), "{written}");
    }
    let pressed = tab.eval(&format!(
        "{FRONTIER}.querySelectorAll('.group:first-child [aria-pressed=true]').length"
    ));
    assert_eq!(pressed, 1);
}

fn the_legend_hides_and_shows(tab: &mut Tab) {
    let points = "fizeau.chart('frontier').points().length";
    let before = tab.eval(points);
    let entry = format!("{FRONTIER}.querySelector('.legend [data-name=frontier]')");
    tab.click(&entry);
    assert_eq!(tab.text(&format!("{entry}.ariaPressed")), "false");
    assert!(tab.eval(points).as_u64() < before.as_u64());
    tab.click(&entry);
    assert_eq!(tab.eval(points), before);
}

fn the_table_sorts(tab: &mut Tab) {
    let column = tab.eval(&format!(
        "[...{LEVELS}.tHead.rows[{LEVELS}.tHead.rows.length - 1].cells].findIndex((head) => /E2EL/.test(head.textContent))"
    ));
    let head = format!("{LEVELS}.tHead.rows[{LEVELS}.tHead.rows.length - 1].cells[{column}]");
    let values = format!(
        "[...{LEVELS}.tBodies[0].rows].map((row) => Number(row.cells[{column}].dataset.value))"
    );
    for (order, sign) in [("ascending", 1.0), ("descending", -1.0)] {
        tab.click(&format!("{head}.querySelector('button')"));
        assert_eq!(tab.text(&format!("{head}.ariaSort")), order);
        let sorted = tab.eval(&values);
        let sorted: Vec<f64> =
            sorted.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert_eq!(sorted.len(), 8);
        assert!(sorted.is_sorted_by(|a, b| sign * a <= sign * b), "{order}: {sorted:?}");
    }
}

fn the_table_is_downloaded(tab: &mut Tab) {
    let tools = "document.querySelector('.table-tools[data-for=levels]')";
    let (name, bytes) = tab.download(&format!("{tools}.querySelectorAll('button')[1]"));
    assert_eq!(name, "levels.csv");
    let csv = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 9, "{csv}");
    assert!(lines[0].contains("E2EL"), "{csv}");
    let shown = tab.eval(&format!(
        "[...{LEVELS}.tBodies[0].rows].map((row) => row.cells[1].dataset.value ?? row.cells[1].textContent.trim())"
    ));
    for (line, value) in lines[1..].iter().zip(shown.as_array().unwrap()) {
        assert_eq!(line.split(',').nth(1).unwrap(), value.as_str().unwrap(), "{csv}");
    }
    // The numbers are without the star that stands at the greatest of few values: a column says where it is.
    let starred = tab.eval(&format!(
        "[...{LEVELS}.tBodies[0].rows].map((row) => [...row.cells].some((cell) => /^[\\d.]+\\*/.test(cell.textContent.trim())))"
    ));
    let starred: Vec<bool> =
        starred.as_array().unwrap().iter().map(|row| row.as_bool().unwrap()).collect();
    let has_column = lines[0].contains("greatest of fewer than 100 values");
    assert_eq!(has_column, starred.contains(&true), "{csv}");
    for (line, starred) in lines[1..].iter().zip(starred).filter(|_| has_column) {
        assert_eq!(line.contains(" E2EL ms"), starred, "{csv}");
    }
    tab.click(&format!("{tools}.querySelectorAll('button')[0]"));
    tab.until(&format!("{tools}.querySelector('.said').textContent.startsWith('Copied')"));
}

fn the_chart_is_saved(tab: &mut Tab) {
    for (at, name, start) in [(2, "frontier.svg", &b"<svg"[..]), (1, "frontier.png", b"\x89PNG")] {
        let (saved, bytes) =
            tab.download(&format!("[...{FRONTIER}.querySelectorAll('.tools button')].at(-{at})"));
        assert_eq!(saved, name);
        assert!(bytes.starts_with(start) && bytes.len() > 5_000, "{name}: {} bytes", bytes.len());
    }
}

/// What makes the page scroll sideways: its width beside the window's.
const WIDER_THAN_THE_WINDOW: &str = "document.documentElement.scrollWidth > document.documentElement.clientWidth \
    ? [document.documentElement.scrollWidth, document.documentElement.clientWidth] : []";

/// Tables that are cut on a desktop; and those that scroll with a first column that leaves no room for the others.
const TABLES_OUT_OF_SIGHT: &str = "[...document.querySelectorAll('.scroll')] \
    .filter((one) => one.offsetParent && one.scrollWidth > one.clientWidth) \
    .filter((one) => innerWidth > 1000 || one.querySelector('tbody th').offsetWidth > 0.45 * one.clientWidth) \
    .map((one) => [one.ariaLabel, one.scrollWidth, one.clientWidth])";

fn it_fits_every_screen(tab: &mut Tab) {
    for (width, height) in [(1440, 900), (390, 844)] {
        tab.resize(width, height);
        for scheme in ["light", "dark"] {
            tab.show_as("screen", scheme);
            tab.drawn();
            assert_eq!(tab.eval(WIDER_THAN_THE_WINDOW), json!([]), "{width} px");
            assert_eq!(tab.eval(TABLES_OUT_OF_SIGHT), json!([]), "{width} px");
            let wide = tab.eval(
                "[...document.querySelectorAll('.plot')].filter((plot) => \
                 plot.querySelector('svg').getBoundingClientRect().right > plot.getBoundingClientRect().right + 1).length",
            );
            assert_eq!(wide, 0, "{width} px");
            let ink = tab.text("fizeau.colours().ink");
            let named = tab.text(&format!("{FRONTIER}.querySelector('.plot svg').outerHTML"));
            assert!(named.contains(&ink), "the chart is not drawn in {ink}");
            tab.photograph(&format!("page-{width}-{scheme}"));
            tab.photograph_the_top(&format!("top-{width}-{scheme}"));
        }
    }
    tab.resize(800, 1100);
    tab.show_as("print", "dark");
    let hidden = tab.eval(
        "[...document.querySelectorAll('.table-tools, .controls select')].filter((one) => one.offsetParent !== null).length",
    );
    assert_eq!(hidden, 0, "paper has no buttons");
    tab.photograph("page-print");
    tab.show_as("screen", "light");
}

/// As a person prints: from the screen, which becomes paper for that moment alone.
fn charts_are_on_paper(tab: &mut Tab) {
    /// Lines, axes and labels of seven charts take more than that.
    const CHARTS: usize = 20_000;
    tab.resize(1440, 900);
    for scheme in ["light", "dark"] {
        tab.show_as("", scheme);
        tab.drawn();
        let whole = tab.print(&format!("page-{scheme}"));
        let unlike = tab.until(
            "(() => { const all = [...document.querySelectorAll('.plot')]; \
             return all.every((one) => one.clientHeight === one.querySelector('svg').clientHeight) && 'none'; })()",
        );
        assert_eq!(unlike, "none", "charts fill their place again");
        tab.eval("document.head.append(Object.assign(document.createElement('style'), { id: 'bare', textContent: '.plot { display: none; }' }))");
        let bare = tab.print("page-without-charts");
        tab.eval("document.querySelector('#bare').remove()");
        assert!(whole > bare + CHARTS, "{scheme}: {whole} bytes, {bare} without charts");
    }
    tab.show_as("screen", "light");
}
