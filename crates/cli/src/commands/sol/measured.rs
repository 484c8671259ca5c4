//! `--measured`: what would explain it.

use fizeau::experiment::PreparedSystem;
use fizeau::report::{MeasuredComparison, SolExtra};
use fizeau::roofline::{Bound, MeasuredFigures, RequestLengths, UniformLoad};

use crate::exit::{Fail, Named};

/// The figures beside bound and prediction, if there are any.
pub(super) fn aside(
    figures: &[String],
    of: &PreparedSystem,
    load: &UniformLoad,
) -> Result<Option<SolExtra>, Fail> {
    if figures.is_empty() {
        return Ok(None);
    }
    let measured: MeasuredFigures = figures.join(" ").parse().named("--measured")?;
    let mut lengths = RequestLengths::for_model(of.system.model());
    lengths.add_cached(load.input_tokens, load.cached_tokens, load.output_tokens);
    let bound = Bound::over(&of.system, &lengths, load.concurrency).named("--measured")?;
    let violation = of.system.bound_violation(&lengths, load.concurrency, &measured);
    let violation = violation.named("--measured")?;
    // What is not predicted is refused by name in the answer itself.
    let gaps = of.predictor.as_ref().and_then(|own| Some((own, own.gaps(load, &measured).ok()?)));
    Ok(Some(SolExtra::measured(&MeasuredComparison {
        measured: &measured,
        bound: &bound,
        violation: violation.as_ref(),
        gaps: gaps.as_ref().map(|(predictor, gaps)| (*predictor, gaps.as_slice())),
    })))
}
