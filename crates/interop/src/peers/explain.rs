//! One word, and what each tool means by it.

use fizeau_core::Tape;
use serde::{Serialize, Serializer};

use fizeau_record::text::{five_digits, wrap};
use fizeau_record::{JsonError, PeerRow};

use super::comparison::row;
use super::{
    OwnFigures, PeerFigure, PeerSettings, PeerStatistic, PeerTerm, PeerUnit, PeerValue,
    TermDefinition,
};

/// What each tool means by a word, its figures of a run, and why they differ; our own first.
///
/// It serializes as `concept`, `ours` and `tools`.
///
/// ```
/// use fizeau_interop::PeerTerm;
/// use fizeau_interop::TermExplanation;
/// let text = TermExplanation::new(PeerTerm::Tpot).text(80);
/// assert!(text.contains("guidellm: inter_token_latency_ms"));
/// assert!(text.lines().all(|line| line.chars().count() <= 80));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct TermExplanation {
    concept: PeerTerm,
    /// Absent without a run.
    ours: Option<Vec<PeerFigure>>,
    tools: Vec<ToolDefinition>,
}

/// What one tool means.
#[derive(Debug, Clone, PartialEq)]
struct ToolDefinition {
    definition: TermDefinition,
    figures: Option<Vec<PeerFigure>>,
}

/// What the letters in rules stand for, in lines that fit the narrowest width.
const SYMBOLS: [&str; 3] = [
    "s: the first byte of the request is sent; e: the reply ends",
    "f, l: the first and the last token arrive",
    "n: tokens of the reply; k: those of its first event",
];

impl TermExplanation {
    /// The document of schema `fizeau.explanation/1`, of no run.
    ///
    /// # Errors
    /// If it cannot be put into JSON.
    pub fn to_json(&self) -> Result<String, JsonError> {
        #[derive(Serialize)]
        struct Document<'a> {
            schema: &'a str,
            version: &'a str,
            #[serde(flatten)]
            explanation: &'a TermExplanation,
        }
        let (schema, version) = ("fizeau.explanation/1", env!("CARGO_PKG_VERSION"));
        let document = Document { schema, version, explanation: self };
        serde_json::to_string_pretty(&document).map_err(JsonError::new)
    }

    /// The definitions alone.
    #[must_use]
    pub fn new(concept: PeerTerm) -> Self {
        let tools = concept.definitions().into_iter();
        let tools = tools.map(|definition| ToolDefinition { definition, figures: None }).collect();
        Self { concept, ours: None, tools }
    }

    /// With the figures of `tapes`. They are looked at more than once.
    #[must_use]
    pub fn of(concept: PeerTerm, tapes: &[Tape], settings: &PeerSettings) -> Self {
        let own = OwnFigures::of(tapes, settings);
        let tool = |definition: TermDefinition| {
            let report = definition.peer.figures(tapes, settings);
            let figures = concept.figures_of(&report).into_iter().cloned().collect();
            ToolDefinition { definition, figures: Some(figures) }
        };
        Self {
            concept,
            ours: Some(concept.own_figures(&own)),
            tools: concept.definitions().into_iter().map(tool).collect(),
        }
    }

    /// As text within `width` columns, from 60 on. Without a newline after the last line.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let columns = self.columns();
        let mut lines = vec![self.concept.title().to_owned()];
        lines.extend(SYMBOLS.map(|line| format!("  {line}")));
        lines.push(String::new());
        let name = format!("Fizeau: {}", self.concept.key());
        lines.extend(
            self.ours
                .as_ref()
                .map(|_| line("", &columns.iter().map(|s| head(*s)).collect::<Vec<_>>())),
        );
        lines.push(self.line(&name, self.ours.as_deref()));
        lines.push(wrap(&format!("  {}", self.concept.ours()), width));
        for ToolDefinition { definition, figures } in &self.tools {
            let name = match (definition.name, figures.iter().flatten().next()) {
                ("", None) => definition.peer.key().to_owned(),
                ("", Some(intermediate)) => {
                    format!("{}: ({})", definition.peer.key(), intermediate.name)
                }
                (name, _) => format!("{}: {name}", definition.peer.key()),
            };
            lines.push(self.line(&name, figures.as_deref()));
            lines.push(wrap(&format!("  {}", definition.rule), width));
            if !definition.differs.is_empty() {
                lines.push(wrap(&format!("  differs: {}", definition.differs), width));
            }
            let absent = figures.iter().flatten().find_map(|figure| match figure.value {
                PeerValue::Absent(reason) => Some(reason),
                PeerValue::Known(_) => None,
            });
            lines.extend(absent.map(|reason| wrap(&format!("  absent here: {reason}"), width)));
        }
        lines.join("\n")
    }

    /// Which statistics have a column: those that we have.
    fn columns(&self) -> Vec<Option<PeerStatistic>> {
        self.ours.iter().flatten().map(|figure| figure.statistic).collect()
    }

    fn line(&self, name: &str, figures: Option<&[PeerFigure]>) -> String {
        let (Some(figures), columns) = (figures, self.columns()) else {
            return name.to_owned();
        };
        let cell = |statistic: &Option<PeerStatistic>| {
            let same = figures.iter().find(|figure| figure.statistic == *statistic);
            // A number of the whole run is one even where the tool has it as a statistic.
            let figure = same.or_else(|| figures.first().filter(|_| columns.len() == 1));
            let cell = figure.map(|figure| match figure.value {
                PeerValue::Known(value) => {
                    format!("{} {}", shown(value, figure.unit), figure.unit.as_str())
                        .trim_end()
                        .to_owned()
                }
                PeerValue::Absent(_) => "-".to_owned(),
            });
            cell.unwrap_or_default()
        };
        line(name, &columns.iter().map(cell).collect::<Vec<_>>())
    }
}

/// The name, and figures to the right of it; below it where the name is too long for that.
fn line(name: &str, cells: &[String]) -> String {
    let cells: String = cells.iter().map(|cell| format!("{cell:>14}")).collect();
    let room = 80_usize.saturating_sub(cells.len());
    let (cells, pad) = (cells.trim_end(), " ".repeat(room));
    match name.len() < room || cells.trim_start().is_empty() {
        true => format!("{name:<room$}{cells}").trim_end().to_owned(),
        false => format!("{name}\n{pad}{cells}"),
    }
}

fn head(statistic: Option<PeerStatistic>) -> String {
    match statistic {
        None => "figure".to_owned(),
        Some(PeerStatistic::Mean) => "mean".to_owned(),
        Some(PeerStatistic::Percentile(percent)) => format!("p{percent}"),
        Some(other) => format!("{other:?}").to_lowercase(),
    }
}

/// By hand, since what a tool lacks is null with its reason beside it, which follows from the figure.
impl Serialize for TermExplanation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let rows = |figures: &Vec<PeerFigure>| figures.iter().map(row).collect();
        let ours = self.ours.as_ref().map(rows);
        let tool = |ToolDefinition { definition, figures }: &ToolDefinition| {
            let name = Some(definition.name).filter(|name| !name.is_empty());
            ToolShown {
                tool: definition.peer.key(),
                version: definition.peer.version(),
                name,
                name_reason: name
                    .is_none()
                    .then_some("it has no such figure, or the figure cannot be computed"),
                rule: definition.rule,
                differs: definition.differs,
                figures: figures.as_ref().map(rows),
            }
        };
        ExplanationDocument {
            concept: self.concept.key(),
            ours: OwnDefinition { rule: self.concept.ours(), figures: ours },
            tools: self.tools.iter().map(tool).collect(),
        }
        .serialize(to)
    }
}

/// An explanation as a document.
#[derive(Serialize)]
struct ExplanationDocument {
    concept: &'static str,
    ours: OwnDefinition,
    tools: Vec<ToolShown>,
}

#[derive(Serialize)]
struct OwnDefinition {
    rule: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Vec<PeerRow>>,
}

#[derive(Serialize)]
struct ToolShown {
    tool: &'static str,
    version: &'static str,
    name: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name_reason: Option<&'static str>,
    rule: &'static str,
    differs: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Vec<PeerRow>>,
}

/// Five digits; counts whole.
fn shown(value: f64, unit: PeerUnit) -> String {
    match unit == PeerUnit::Count && value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => five_digits(value),
    }
}
