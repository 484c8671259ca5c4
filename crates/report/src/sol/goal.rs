//! What it takes to meet a goal, as text and as JSON.

use fizeau_roofline::{
    Choice, Found, LargestBatch, LargestContext, Load, Need, SearchError, Shortfall, System,
};
use serde_json::{Map, Value, json};

use super::section::Section;
use crate::terminal::wrap;

/// What it takes to meet a goal, by the expectation.
#[derive(Debug)]
pub struct SolGoalView<'a> {
    /// The model on the devices that were named.
    pub system: &'a System,
    /// What is asked of it.
    pub load: &'a Load,
    /// The goal, as it was said.
    pub goal: &'a str,
    /// The largest batch on these devices.
    pub batch: Option<LargestBatch>,
    /// The largest context of one sequence on these devices.
    pub context: Option<LargestContext>,
    /// The fewest devices, and how best to spread the model over them.
    pub fewest: Result<Found, SearchError>,
}

impl SolGoalView<'_> {
    /// Sentences of at most `width` columns, and a table. Without a newline at the end.
    #[must_use]
    pub fn text(&self, width: usize) -> String {
        let (device, deployment) = (self.system.device().name(), self.system.deployment());
        let mut lines = Vec::new();
        let mut say = |sentence: &str| {
            lines.extend(wrap(sentence, width).lines().map(str::to_owned));
        };
        say(&format!("Goal: {}, by what physics leads one to expect.", self.goal));
        if self.system.max_batch(self.load) < 1.0 {
            say(&format!("With {deployment} of {device} the model and one request do not fit."));
        } else {
            say(&format!("With {deployment} of {device}:"));
            say(&self.say_batch());
            say(&self.say_context());
        }
        let found = match &self.fewest {
            Ok(found) => found,
            Err(error) => {
                say(&format!("Fewest devices: {error}."));
                return lines.join("\n");
            }
        };
        lines.push(String::new());
        lines.extend(section(found).table());
        let runner_up = found.runner_up.map(|one| format!("The runner-up is {}. ", one.deployment));
        let less = found.limited_by.map(|lacks| format!("One device less would not do: {lacks}."));
        let last = runner_up.unwrap_or_default() + &less.unwrap_or_default();
        lines.extend(wrap(last.trim_end(), width).lines().map(str::to_owned));
        lines.join("\n")
    }

    fn say_batch(&self) -> String {
        match self.batch {
            None => "- not even one sequence meets the time per token".to_owned(),
            Some(found) => {
                let why = why(found.limited_by, "as many as are offered");
                format!("- the largest batch is {}: {why}", found.batch)
            }
        }
    }

    fn say_context(&self) -> String {
        match self.context {
            None => "- no context meets it".to_owned(),
            Some(found) => {
                let why = why(found.limited_by, "as much as the model or the search allows");
                format!("- the largest context of one sequence is {} tokens: {why}", found.context)
            }
        }
    }

    /// `fizeau.sol-goal/1`. Ends with a newline.
    ///
    /// # Errors
    /// Never, as long as memory lasts; the writer's own error otherwise.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut all = Map::new();
        let mut add = |key: &str, value: Value| all.insert(key.to_owned(), value);
        add("schema", json!("fizeau.sol-goal/1"));
        add("version", json!(env!("CARGO_PKG_VERSION")));
        add("goal", json!(self.goal));
        add("device", json!(self.system.device().name()));
        add("deployment", json!(self.system.deployment().to_string()));
        let limit = |need: Option<Need>| json!(need.map(Need::as_str));
        let batch = |found: LargestBatch| json!({ "batch": found.batch, "limited_by": limit(found.limited_by) });
        add("largest_batch", self.batch.map_or(Value::Null, batch));
        let context = |found: LargestContext| json!({ "tokens": found.context.get(), "limited_by": limit(found.limited_by) });
        add("largest_context", self.context.map_or(Value::Null, context));
        match &self.fewest {
            Ok(found) => add("fewest_devices", section(found).json()),
            Err(error) => add("fewest_devices", json!({ "error": error.to_string() })),
        };
        serde_json::to_string_pretty(&Value::Object(all)).map(|text| text + "\n")
    }
}

fn why(limit: Option<Need>, otherwise: &str) -> String {
    match limit {
        Some(Need::Concurrency | Need::Context | Need::Memory) => "memory holds no more".to_owned(),
        Some(Need::Ttft) => "more would take longer to the first token".to_owned(),
        Some(_) => "more would take longer per token".to_owned(),
        None => otherwise.to_owned(),
    }
}

/// The best deployment, and the next best.
fn section(found: &Found) -> Section {
    let devices = found.best.deployment.devices();
    let title = format!("{devices} at the fewest: {}", found.best.deployment);
    let columns: &[&'static str] =
        if found.runner_up.is_some() { &["best", "runner_up"] } else { &["best"] };
    let mut section = Section::new("fewest_devices", title, columns);
    section.fact("devices", devices);
    section.fact("deployment", found.best.deployment.to_string());
    section
        .fact("runner_up_deployment", json!(found.runner_up.map(|one| one.deployment.to_string())));
    section.fact("one_less_lacks", json!(found.limited_by.map(|one: Shortfall| one.to_string())));
    let each: Vec<Choice> = std::iter::once(found.best).chain(found.runner_up).collect();
    let mut add = |key, name, of: fn(&Choice) -> f64| {
        let values: Vec<f64> = each.iter().map(of).collect();
        section.row(key, name, &values);
    };
    add("running_batch", "sequences at once", |one| one.figures.batch);
    add("ttft_ms", "TTFT of a lone prompt, ms", |one| one.figures.ttft.get() * 1e3);
    add("tpot_ms", "TPOT, ms", |one| one.figures.tpot.get() * 1e3);
    add("e2el_ms", "E2EL, ms", |one| one.figures.e2el.get() * 1e3);
    add("output_tokens_per_s", "output tokens/s", |one| one.figures.output_tokens_per_s.get());
    add("requests_per_s", "requests/s", |one| one.figures.requests_per_s.get());
    section
}
