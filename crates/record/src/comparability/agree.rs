//! In what two runs must agree to be compared, and what else differs.

use fizeau_metrics::LoadPacing;
use fizeau_roofline::KnownModel;

use super::level::Level;
use super::{CompareError, CompareOptions, UnlikeRuns};
use crate::fields::told;
use crate::{ChangedField, ComparedRunNote, DocumentFields};

/// What was requested, and from whom: the workload, the model and the goals.
const MUST_AGREE: [&str; 8] =
    ["plan", "lengths", "probe", "shard", "sampling", "setup.endpoint.model", "goodput", ARRIVALS];

/// How requests arrive, in words: of a sweep with the list of its rates.
const ARRIVALS: &str = "setup.workload.arrivals";

/// Where no plan was written down, what says in words what it was.
const IN_WORDS: [&str; 4] = [
    "setup.workload.dataset",
    "setup.workload.input_tokens",
    "setup.workload.output_tokens",
    "setup.workload.requested",
];

/// Of these, what has no bearing: which texts and draws of one law there are, and where a file lay.
const NO_BEARING: [&str; 4] = ["plan.salt", "plan.seed", "plan.dataset.path", "probe.salt"];

/// Parts of a plan, and the fields in which its run says them as a person would.
const SAID_BY: [(&str, &[&str]); 2] = [
    ("plan.lengths", &["lengths.input.law", "lengths.output.law"]),
    ("plan.arrivals", &[ARRIVALS]),
];

/// What says nothing of the measurement, or follows from what is shown already.
const NOT_SHOWN: [&str; 6] = [
    "setup.started",
    "setup.command_line",
    "setup.workload",
    "plan.salt",
    "probe.salt",
    "client.calibration",
];

/// The fields in which both must agree and do not.
pub(crate) fn must_agree(
    baseline: &DocumentFields,
    candidate: &DocumentFields,
) -> Vec<ChangedField> {
    let differing = baseline.differing(candidate, &MUST_AGREE);
    // Of sweeps each level has arrivals of its own: those of loads that both have must agree, whatever else there is.
    let by_level = is_sweep(baseline)
        && is_sweep(candidate)
        && turns(baseline).zip(turns(candidate)).is_none_or(|(one, other)| one == other);
    let bears = |differing: &ChangedField| {
        let has_none = is_at(&differing.field, &NO_BEARING)
            || by_level && differing.field == ARRIVALS
            || is_untold(differing, baseline, candidate)
            || is_one_model(differing);
        !has_none
    };
    let fields: Vec<ChangedField> = differing.into_iter().filter(bears).collect();
    without_repetitions(fields)
}

/// The fields that differ without those that only repeat others: words stand in for the parts of the plan that they say.
fn without_repetitions(fields: Vec<ChangedField>) -> Vec<ChangedField> {
    let has = |is_meant: &dyn Fn(&str) -> bool| fields.iter().any(|field| is_meant(&field.field));
    if !has(&|field| is_at(field, &["plan"])) {
        return fields;
    }
    let is_said = |(part, words): &&(&str, &[&str])| {
        has(&|field| is_at(field, &[part])) && has(&|field| words.contains(&field))
    };
    let said: Vec<&(&str, &[&str])> = SAID_BY.iter().filter(is_said).collect();
    let is_shown = |field: &ChangedField| {
        let field = field.field.as_str();
        let is_of_words = said.iter().any(|(_, words)| words.contains(&field));
        let is_of_part = said.iter().any(|(part, _)| is_at(field, &[part]));
        is_of_words || !(is_of_part || is_at(field, &["lengths", "setup.workload"]))
    };
    let shown: Vec<bool> = fields.iter().map(is_shown).collect();
    let fields = fields.into_iter().zip(shown);
    fields.filter_map(|(field, is_shown)| is_shown.then_some(field)).collect()
}

/// The same of runs of which there is no more than a file that was made of them.
pub(super) fn files_must_agree(
    baseline: &DocumentFields,
    candidate: &DocumentFields,
) -> Vec<ChangedField> {
    let mut fields = must_agree(baseline, candidate);
    fields.extend(baseline.differing(candidate, &IN_WORDS));
    fields
}

/// All else that differs: what a comparison is made for.
pub(super) fn changed(baseline: &DocumentFields, candidate: &DocumentFields) -> Vec<ChangedField> {
    const ALL: [&str; 7] = ["setup", "plan", "probe", "timeouts", "client", "probed", "version"];
    let differing = baseline.differing(candidate, &ALL);
    let shown = |differing: &ChangedField| {
        let field = differing.field.as_str();
        let refused = is_at(field, &MUST_AGREE) && !is_at(field, &NO_BEARING);
        let is_noise = is_at(field, &NOT_SHOWN) || field.ends_with("_reason");
        !refused && !is_noise && !is_untold(differing, baseline, candidate)
    };
    differing.into_iter().filter(shown).collect()
}

/// What the words of its arrivals say of turns; none where they list rates in place of that.
fn turns(run: &DocumentFields) -> Option<&str> {
    let words = run.get(ARRIVALS)?;
    let said = words.split_once("; turns: ").map_or("", |(_, turns)| turns);
    (!words.contains("open loop at ")).then_some(said)
}

/// Whether its levels have loads of their own.
fn is_sweep(run: &DocumentFields) -> bool {
    let load = |kind: &str| run.get(&format!("levels[0].load.{kind}"));
    ["concurrency", "requests_per_s"].into_iter().any(|kind| load(kind).is_some())
}

/// In what levels of both must agree and do not. The load of a closed loop is its cap; of a rate the cap and the law of gaps are
/// parts of the workload.
pub(super) fn levels_must_agree(
    a: &Level,
    baseline: &DocumentFields,
    b: &Level,
    candidate: &DocumentFields,
) -> Vec<ChangedField> {
    if a.pace == LoadPacing::ClosedLoop {
        return Vec::new();
    }
    let mut fields = of_level(a, baseline, b, candidate, &["max_in_flight"]);
    // The plan of a run that is no sweep has its whole law.
    if is_sweep(baseline) && is_sweep(candidate) {
        fields.extend(of_level(a, baseline, b, candidate, &["arrivals.cv_squared"]));
    }
    fields
}

/// What was asked of a level of each that differs, of these fields.
pub(super) fn of_level(
    a: &Level,
    baseline: &DocumentFields,
    b: &Level,
    candidate: &DocumentFields,
    fields: &[&str],
) -> Vec<ChangedField> {
    let differing = fields.iter().filter_map(|field| {
        let (one, other) = (a.requested(baseline, field), b.requested(candidate, field));
        let is_untold =
            (is_imported(baseline) || is_imported(candidate)) && (one.is_none() || other.is_none());
        (one != other && !is_untold).then(|| ChangedField {
            field: format!("levels[{}].{field}", a.index),
            baseline: one.map(str::to_owned),
            candidate: other.map(str::to_owned),
        })
    });
    differing.collect()
}

fn is_imported(run: &DocumentFields) -> bool {
    run.get("imported.source.tool").is_some_and(|tool| tool != "null")
}

/// Whether a field differs only since a run was imported: its file does not tell, or tells it in a form of its own.
fn is_untold(
    differing: &ChangedField,
    baseline: &DocumentFields,
    candidate: &DocumentFields,
) -> bool {
    let ChangedField { field, baseline: one, candidate: other } = differing;
    let says_nothing = |value: &Option<String>| {
        value
            .as_ref()
            .is_none_or(|value| ["null", "[]", "\"not recorded\""].contains(&value.as_str()))
    };
    let is_any_imported = is_imported(baseline) || is_imported(candidate);
    let is_in_words = is_at(field, &["setup.workload"]);
    // Another tool's file has how many devices there were, and nothing of what is on them.
    let is_begun = |[short, long]: [&Option<String>; 2]| {
        let words = |json: &Option<String>| json.clone().unwrap_or_default().replace('"', "");
        is_at(field, &["setup.deployment"]) && words(long).starts_with(&words(short))
    };
    is_any_imported
        && (says_nothing(one)
            || says_nothing(other)
            || is_in_words
            || is_begun([one, other])
            || is_begun([other, one]))
}

/// Whether it is a model that both call by a name of their own.
fn is_one_model(differing: &ChangedField) -> bool {
    let [one, other] = differing.values();
    differing.field == "setup.endpoint.model" && KnownModel::is_same_model(&one, &other)
}

/// Whether `field` is one of `paths`, or below one.
fn is_at(field: &str, paths: &[&str]) -> bool {
    paths.iter().any(|path| {
        let rest = field.strip_prefix(path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    })
}

/// Refuses a run that stands for one side with the first although these fields differ, or says so of it.
pub(super) fn repeats_must_agree(
    options: &CompareOptions,
    first: &str,
    other: &str,
    fields: Vec<ChangedField>,
) -> Result<Option<ComparedRunNote>, CompareError> {
    if fields.is_empty() {
        return Ok(None);
    }
    let (first, other) = (first.to_owned(), other.to_owned());
    if options.unlike == UnlikeRuns::Refuse {
        return Err(CompareError::UnlikeRepeats { first, other, fields });
    }
    let differing = told(&fields).map(|field| {
        let [a, b] = field.values();
        format!("{}: {b}, not {a}", field.label())
    });
    let differing = differing.collect::<Vec<_>>().join("; ");
    let text = format!("counts as a repeat of {first}, from which it differs in {differing}");
    Ok(Some(ComparedRunNote { at: Some(other), text }))
}

/// Each setting and what both have there, a line each.
pub(super) fn words(fields: &[ChangedField], [one, other]: [&str; 2]) -> String {
    let line = |field: &ChangedField| {
        let [a, b] = field.values();
        format!("\n  {}: {a} in {one}, {b} in {other}", field.label())
    };
    told(fields).map(line).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{changed, must_agree};
    use crate::DocumentFields;

    fn fields(document: &Value) -> DocumentFields {
        DocumentFields::of(document).expect("it is JSON")
    }

    #[test]
    fn a_model_may_be_called_by_any_of_its_names() {
        let run = |model: &str| fields(&json!({"setup": {"endpoint": {"model": model}}}));
        let differing = |one: &str, other: &str| must_agree(&run(one), &run(other)).len();
        for (one, other) in [
            ("llama-3.1-8b", "Llama-3.1-8B"),
            ("meta-llama/Llama-3.1-8B", "Llama-3.1-8B"),
            ("own/Thing-7B", "thing-7b"),
            ("kimi-k2", "moonshotai/Kimi-K2-Instruct"),
        ] {
            assert_eq!(differing(one, other), 0, "{one} {other}");
        }
        for (one, other) in [
            ("llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct"),
            ("own/Thing-7B", "other/Thing-7B"),
            ("model", "thing-7b"),
        ] {
            assert_eq!(differing(one, other), 1, "{one} {other}");
        }
    }

    /// A file of another tool says how many devices there were, and not what is on them.
    #[test]
    fn a_deployment_that_only_one_side_tells_in_full_is_no_change() {
        let run = |tool: Value, deployment: &str| {
            let source = json!({"tool": tool});
            fields(&json!({"setup": {"deployment": deployment}, "imported": {"source": source}}))
        };
        let own = run(Value::Null, "one device; weights fp8");
        assert!(changed(&own, &run("vllm".into(), "one device")).is_empty());
        assert_eq!(changed(&own, &run("vllm".into(), "8 devices")).len(), 1);
        assert_eq!(changed(&own, &run(Value::Null, "one device")).len(), 1);
    }
}
