//! Forward-pass records of a file, as a fit takes them.

use std::path::Path;

use fizeau_core::Seconds;
use fizeau_roofline::{CalibrationSample, PassScope, PassSums, System};
use fizeau_telemetry::ForwardPass;

use super::samples::above;
use super::{SampleError, SolQueryError, SolSystems, SystemQuery};

/// More passes than this say no more; of a longer file every so many-th counts.
const MOST: usize = 1_000;
/// What vLLM calls the time of a model's execution alone.
const MODEL_ALONE: &str = "execute_model";

impl SystemQuery<'_> {
    /// The forward passes in `file`, a JSON object a line with the fields of an engine's stream ([`ForwardPass`]), as a fit takes them:
    /// of more than a thousand as many, evenly among those with prompts and those without. The query says which system they ran on, the
    /// devices of one rank. Seconds without a pass are left out, and so are passes that are faster than the bound, each with the reason.
    ///
    /// # Errors
    /// If the file cannot be read, a line is no record, nothing ran, or the system is not known.
    pub fn samples_of_passes(
        &self,
        file: &Path,
    ) -> Result<Vec<Result<CalibrationSample, SampleError>>, SolQueryError> {
        let wrong = |what: &dyn std::fmt::Display| {
            SolQueryError::new(format_args!("{}: {what}", file.display()))
        };
        let text = std::fs::read_to_string(file).map_err(|error| wrong(&error))?;
        let mut passes = Vec::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let pass: ForwardPass = serde_json::from_str(text).map_err(|error| {
                wrong(&format_args!("line {line} is not a forward pass: {error}"))
            })?;
            if !pass.is_heartbeat() {
                passes.push((line, pass));
            }
        }
        if passes.is_empty() {
            return Err(wrong(&"none of its forward passes processed a token"));
        }
        let mut systems = SolSystems::default();
        let system = systems.get(self)?.system.clone();
        let name = self.model_config.as_deref().unwrap_or_default();
        let (mut possible, mut left_out) = (Vec::new(), Vec::new());
        for (line, pass) in passes {
            let least = pass.scheduled_requests.least_sums(system.model().max_context);
            let least = system.bound_group(&least);
            match above(|| format!("line {line}"), pass.wall_time, least) {
                Ok(()) => possible.push(pass),
                Err(error) => left_out.push(Err(error)),
            }
        }
        let samples = samples(&system, name, &possible).map_err(|error| wrong(&error))?;
        let samples = samples.into_iter().map(|sample| Ok(self.of_engine(sample)));
        Ok(samples.chain(left_out).collect())
    }
}

/// The passes, those of either scope together.
fn samples(
    system: &System,
    name: &str,
    passes: &[ForwardPass],
) -> Result<Vec<CalibrationSample>, fizeau_roofline::CalibrationSampleError> {
    let has_prompts = |pass: &&ForwardPass| pass.scheduled_requests.num_prefill_requests > 0;
    let (reading, decoding): (Vec<&ForwardPass>, Vec<&ForwardPass>) =
        passes.iter().partition(has_prompts);
    let chosen = thinned(&reading).chain(thinned(&decoding));
    let (alone, whole): (Vec<&ForwardPass>, Vec<&ForwardPass>) =
        chosen.partition(|pass| scope(pass) == PassScope::Model);
    let of = |scope, passes: Vec<&ForwardPass>| {
        let timed = passes.into_iter().map(timed);
        CalibrationSample::passes(system, scope, name, timed)
    };
    let mut samples = of(PassScope::Model, alone)?;
    samples.extend(of(PassScope::Step, whole)?);
    Ok(samples)
}

/// At most half of [`MOST`], evenly over time.
fn thinned<'a>(passes: &[&'a ForwardPass]) -> impl Iterator<Item = &'a ForwardPass> {
    passes.iter().copied().step_by(passes.len().div_ceil(MOST / 2).max(1))
}

fn scope(pass: &ForwardPass) -> PassScope {
    match &pass.timing_scope {
        Some(scope) if scope.starts_with(MODEL_ALONE) => PassScope::Model,
        _ => PassScope::Step,
    }
}

fn timed(pass: &ForwardPass) -> (PassSums, Seconds) {
    (pass.scheduled_requests.even_sums(), pass.wall_time)
}
