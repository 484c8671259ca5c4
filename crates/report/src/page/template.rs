//! From what a page says to HTML: templates, style sheet, scripts.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error, UndefinedBehavior, context};
use serde::Serialize;

use super::script::{self, LIBRARY, SCRIPT};
use crate::ChartRun;
use crate::charts::description::ChartDescription;

/// Everything about the looks of pages but of what scripts add to them; the colours of charts too.
const STYLE: &str = include_str!("style.css");

/// Every template, by the name that others know it by. What ends in `.html` is escaped.
const TEMPLATES: [(&str, &str); 6] = [
    ("base.html", include_str!("templates/base.html")),
    ("parts.html", include_str!("templates/parts.html")),
    ("run.html", include_str!("templates/run.html")),
    ("comparison.html", include_str!("templates/comparison.html")),
    ("imported.html", include_str!("templates/imported.html")),
    ("plain.html", include_str!("templates/plain.html")),
];

/// Which page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Template {
    /// Of one run.
    Run,
    /// Of several.
    Comparison,
    /// Of figures of another tool.
    Imported,
}

/// The page of `template` that shows `page`, with the charts of `data`, which is JSON that [`data`] wrote.
pub(super) fn render(template: Template, title: &str, page: &impl Serialize, data: &str) -> String {
    let name = match template {
        Template::Run => "run.html",
        Template::Comparison => "comparison.html",
        Template::Imported => "imported.html",
    };
    let style = safe(&[STYLE, script::STYLE].concat());
    let context = context! {
        title, page => Serde(page), style, data => safe(data), library => safe(LIBRARY), script => safe(SCRIPT),
    };
    drawn(name, context)
}

/// A page of its own with `title` around `content`, which is HTML already; `style` goes below the page's own.
pub(crate) fn document(title: &str, content: &str, style: &str) -> String {
    let style = safe(&format!("{STYLE}{style}"));
    drawn("plain.html", context! { title, style, content => safe(content) })
}

fn safe(html: &str) -> Value {
    Value::from_safe_string(html.to_owned())
}

fn drawn(name: &str, context: Value) -> String {
    // Templates and what they are given are both of this crate and drawn in its tests: what is left is a defect, which is
    // better said on the page than by a page that is missing.
    try_drawn(name, context).unwrap_or_else(|error| {
        let error = crate::escape::escape(&format!("{error:#}"));
        format!(
            "<!doctype html>\n<title>Fizeau</title>\n<p>This page could not be drawn: {error}</p>\n"
        )
    })
}

fn try_drawn(name: &str, context: Value) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let lines = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?;
    environment.set_syntax(lines);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source)?;
    }
    environment.get_template(name)?.render(context)
}

/// What charts are drawn from, as JSON that can stand inside a script element whatever texts are in it.
pub(super) fn data(runs: &[ChartRun]) -> String {
    #[derive(Serialize)]
    struct Data<'a> {
        charts: [ChartDescription; 7],
        runs: &'a [ChartRun],
    }
    // Numbers, texts and lists of them: the writer has no reason to fail.
    let json = serde_json::to_string(&Data { charts: ChartDescription::all(), runs })
        .unwrap_or_else(|_| "{\"runs\":[]}".to_owned());
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            // None of these stands in JSON but within a text, where an escape says the same.
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}
