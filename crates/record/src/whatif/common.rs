//! What all configurations have in common.

use serde_json::{Map, Value};

use super::WhatIf;
use crate::{Json, JsonError, RunSetup, SweepReport};

impl WhatIf {
    /// The model, where all ran the same.
    #[must_use]
    pub fn title(&self) -> String {
        let model = self.shared(|setup| setup.endpoint.model.clone());
        model.unwrap_or_else(|| "several models".to_owned())
    }

    /// What is the same in the setup of every configuration that ran; none where it differs.
    #[must_use]
    pub fn shared<T: PartialEq>(&self, of: impl Fn(&RunSetup) -> T) -> Option<T> {
        let mut all = self.setups().map(&of);
        let first = all.next().unwrap_or_else(|| of(&self.setup));
        all.all(|other| other == first).then_some(first)
    }

    /// The setup as it stands in `whatif.json`: what differs from one configuration to another is null, with the reason beside it.
    pub(super) fn common_setup(&self) -> Result<Json, JsonError> {
        let mut common = serde_json::to_value(&self.setup).map_err(JsonError::new)?;
        for setup in self.setups() {
            keep_common(&mut common, &serde_json::to_value(setup).map_err(JsonError::new)?);
        }
        Json::of(&common)
    }

    fn setups(&self) -> impl Iterator<Item = &RunSetup> {
        self.variants.iter().filter_map(|variant| variant.sweep()).map(SweepReport::setup)
    }
}

/// Of the whole command, and not of one configuration.
const OF_ALL: [&str; 2] = ["started", "command_line"];

/// Takes out of `common` what `other` has otherwise.
fn keep_common(common: &mut Value, other: &Value) {
    let Value::Object(fields) = common else { return };
    let names: Vec<String> = fields.keys().cloned().collect();
    for name in names.iter().filter(|name| !OF_ALL.contains(&name.as_str())) {
        let beside = other.get(name).unwrap_or(&Value::Null);
        let Some(own) = fields.get_mut(name) else { continue };
        match (own.is_object(), beside.is_object()) {
            (true, true) => keep_common(own, beside),
            _ if own == beside => {}
            _ => differs(fields, name),
        }
    }
}

fn differs(fields: &mut Map<String, Value>, name: &str) {
    if name.ends_with("_reason") {
        return;
    }
    fields.insert(name.to_owned(), Value::Null);
    let reason = "it differs from one configuration to another: see their sweeps";
    fields.insert(format!("{name}_reason"), reason.into());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::keep_common;

    #[test]
    fn what_differs_is_null_with_a_reason() {
        let mut common = json!({"started": "a", "workload": {"seed": 0, "input_tokens": "128"}});
        keep_common(
            &mut common,
            &json!({"started": "b", "workload": {"seed": 0, "input_tokens": "4096"}}),
        );
        assert_eq!(common["started"], "a");
        assert_eq!(common["workload"]["seed"], 0);
        assert!(common["workload"]["input_tokens"].is_null());
        assert!(common["workload"]["input_tokens_reason"].as_str().unwrap().contains("differs"));
    }
}
