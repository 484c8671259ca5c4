//! A thin stream of small requests beside the load.

use fizeau::core::PerSec;
use fizeau::experiment::{ContextLimit, WorkloadSpec, words_or_ids};
use fizeau::transport::Target;
use fizeau::workload::{Arrivals, Lengths, Plan, Salt, Spec};

use crate::args::LevelArgs;
use crate::exit::{Fail, Named};

/// The stream that the flags ask for: small requests at a constant rate, as many as there is time for.
/// They have the `salt` of the run.
pub(super) fn probe(
    args: &LevelArgs,
    target: &Target,
    (of, salt): (&WorkloadSpec, Salt),
) -> Result<Option<Plan>, Fail> {
    let probe = &args.arrivals.probe;
    let Some(rate) = probe.probe_request_rate else {
        return Ok(None);
    };
    if !(rate > 0.0 && rate <= MOST) {
        return Err(Fail::usage(format!(
            "--probe-request-rate {rate}: give requests per second above 0, at most {MOST}: probes are a thin stream \
             beside the load"
        )));
    }
    let length = |flag: &str, tokens: u64| match tokens {
        0 => Err(Fail::usage(format!("{flag} 0: give at least 1 token"))),
        _ => Ok(tokens),
    };
    let spec = Spec {
        arrivals: Arrivals::Constant { rate: PerSec::new(rate) },
        lengths: Lengths::fixed(
            length("--probe-input-len", probe.probe_input_len)?,
            length("--probe-output-len", probe.probe_output_len)?,
        ),
        content: words_or_ids(target),
        // None of the load's prompts, and those of another run only where the load's are.
        seed: of.seed.child(PROBE),
        salt: of.salt.of_probes(salt),
        ..Spec::new(u64::MAX).named("--probe-request-rate")?
    };
    Plan::new(spec).map(Some).named("--probe-request-rate")
}

/// Refuses probes that are longer than `limit`.
pub(super) fn check(probe: &Plan, limit: &ContextLimit) -> Result<(), Fail> {
    let longest = probe.spec().lengths.longest();
    let what = || "--probe-input-len and --probe-output-len".to_owned();
    Ok(limit.check(what, longest.input, longest.output)?)
}

/// The most probes a second.
const MOST: f64 = 1000.0;

/// Which child of the run's seed the probes have.
const PROBE: u64 = u64::MAX;
