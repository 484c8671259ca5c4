//! All that can be decided of an A/B run before anything is measured.

use std::num::NonZeroU32;

use fizeau::core::Nanos;
use fizeau::experiment::{
    AbSettings, AbSide, InputError, PreparedAb, PreparedEndpoint, Rounds, WorkloadSpec,
};
use fizeau::harness::TextAfter;
use fizeau::metrics::{Alpha, ComparisonSettings};
use fizeau::record::AbPrompts;
use fizeau::transport::{KeepText, Target};

use crate::args::{AbArgs, AnswerArgs, EndpointArgs};
use crate::commands::bench;
use crate::commands::shared::client;
use crate::commands::shared::endpoint;
use crate::commands::shared::folder::{self, Claim};
use crate::commands::shared::record::NO_PHYSICS;
use crate::commands::shared::workload::{self, Nominal};
use crate::commands::shared::{probe, record};
use crate::exit::{Fail, Named};
use crate::terminal::say::say;

/// Everything that is decided before anything is measured.
pub(super) struct Job {
    pub(super) ab: PreparedAb,
    pub(super) out: Claim,
}

/// The run that `args` ask for. Files are read; with `--backend auto` the servers are asked what they are.
pub(super) fn prepare(args: &AbArgs) -> Result<Job, Fail> {
    refuse(args)?;
    let origin = record::origin();
    let settings = asked(args)?;
    let keep = settings.workload.keep_text(TextAfter::Drop);
    let out = args.answer.out.clone();
    let out = out.unwrap_or_else(|| folder::by_default(origin.started, "ab"));
    let read = |a: &Target, b: &Target| settings.read(a, b).map_err(refused(args));
    let [a, b] = [side_a(args), side_b(args)];
    if a.backend == probe::AUTO || b.backend == probe::AUTO {
        // Whatever else is wrong is found before the servers are asked what they are.
        let known = |side: &EndpointArgs| probe::stand_in(side).unwrap_or_else(|| side.clone());
        read(&call(args, &known(&a), keep)?.target, &call(args, &known(&b), keep)?.target)?;
        Claim::new(&out)?.give_back();
    }
    let a = party(args, (&a, &args.sides.a_name), keep)?;
    let b = party(args, (&b, &args.sides.b_name), keep)?;
    let parts = read(&a.endpoint.target, &b.endpoint.target)?;
    let mut ab = settings.prepare(parts, (a, b), &origin).map_err(refused(args))?;
    ab.no_light = NO_PHYSICS.to_owned();
    ab.notes.extend(workload::unread(&args.workload));
    let wanted = endpoint::reached(&args.endpoint.connections);
    let wanted = wanted.needs(&all_urls(args), ab.in_flight());
    ab.client = client::spec(&args.client)?.prepare(wanted)?;
    if args.endpoint.connections.new_connection_per_request {
        let turns = 2 * u64::from(settings.rounds.get());
        client::note_ports(&ab.client, ab.sample.requests().get().saturating_mul(turns));
    }
    Ok(Job { ab, out: Claim::new(&out)? })
}

/// What `args` ask for, whoever answers.
fn asked(args: &AbArgs) -> Result<AbSettings, Fail> {
    let (rounds, answer) = (&args.rounds, &args.answer);
    let count = Rounds::new(rounds.rounds).named("--rounds")?;
    let settle = time("--settle", &rounds.settle)?;
    let figures = answer.decision.metrics.iter().map(|name| name.parse().named("--metrics"));
    let figures = figures.collect::<Result<_, Fail>>()?;
    let comparison = settings(answer)?;
    let goals = answer.goodput.join(" ").parse().named("--goodput")?;
    let cap = bench::cap(rounds.max_concurrency)?;
    let mut settings = AbSettings::new(workload_of(args, cap)?, count);
    (settings.settle, settings.figures, settings.comparison) = (settle, figures, comparison);
    (settings.goals, settings.max_in_flight) = (goals, cap);
    settings.warmups = rounds.num_warmups;
    settings.prompts = args.sides.salt_sides.then_some(AbPrompts::OwnBySide);
    Ok(settings)
}

/// The workload of a turn.
fn workload_of(args: &AbArgs, cap: Option<NonZeroU32>) -> Result<WorkloadSpec, Fail> {
    let mut spec = workload::spec(&args.workload, nominal(args))?;
    spec.requests = workload::requests(args.rounds.num_prompts)?;
    spec.arrivals = bench::arrivals(&args.arrivals, cap.is_some())?;
    Ok(spec)
}

/// How strictly it is looked at; at which figures shows when it is known whether there are tokens.
fn settings(args: &AnswerArgs) -> Result<ComparisonSettings, Fail> {
    let alpha = Alpha::new(args.decision.alpha).named("--alpha")?;
    let smallest = args.decision.smallest.parse().named("--smallest")?;
    Ok(ComparisonSettings { alpha, smallest, ..ComparisonSettings::default() })
}

/// Refuses flags that have no place in an A/B run.
fn refuse(args: &AbArgs) -> Result<(), Fail> {
    let refused = [
        (
            !args.endpoint.base_url.is_empty(),
            "--base-url: an A/B run has two servers: --a URL --b URL",
        ),
        (
            args.arrivals.trace_speedup.is_some() || args.arrivals.ignore_trace_times,
            "--trace-speedup, --ignore-trace-times: an A/B run replays no trace",
        ),
        (
            args.arrivals.probe.probe_request_rate.is_some(),
            "--probe-request-rate: an A/B run has no probe stream",
        ),
        (
            args.sides.salt_sides && args.workload.dataset_name == "vllm-random",
            "--salt-sides: the prompts of --dataset-name vllm-random are those of its seed, and no salt changes them",
        ),
    ];
    match refused.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, message)) => Err(Fail::usage(message)),
        None => Ok(()),
    }
}

/// `2s`, `500ms`; a bare number is seconds.
fn time(flag: &str, text: &str) -> Result<Nanos, Fail> {
    let (number, scale) = match text.strip_suffix("ms") {
        Some(number) => (number, 1e-3),
        None => (text.strip_suffix('s').unwrap_or(text), 1.0),
    };
    let wrong = || Fail::usage(format!("{flag} {text}: write a time such as 2s or 500ms"));
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    Nanos::from_secs_f64(number * scale).map_err(|_| wrong())
}

fn side_a(args: &AbArgs) -> EndpointArgs {
    side(args, &args.sides.a, &args.sides.a_model, &args.sides.a_backend)
}

fn side_b(args: &AbArgs) -> EndpointArgs {
    side(args, &args.sides.b, &args.sides.b_model, &args.sides.b_backend)
}

/// The flags for both, with what is one side's own.
fn side(
    args: &AbArgs,
    urls: &[String],
    model: &Option<String>,
    backend: &Option<String>,
) -> EndpointArgs {
    let both = &args.endpoint;
    EndpointArgs {
        base_url: urls.to_vec(),
        model: model.clone().or_else(|| both.model.clone()),
        served_model_name: both.served_model_name.clone().filter(|_| model.is_none()),
        backend: backend.clone().unwrap_or_else(|| both.backend.clone()),
        ..both.clone()
    }
}

fn all_urls(args: &AbArgs) -> Vec<String> {
    args.sides.a.iter().chain(&args.sides.b).cloned().collect()
}

/// A side of that name, found out where that was asked for.
fn party(
    args: &AbArgs,
    (side, name): (&EndpointArgs, &Option<String>),
    keep_text: KeepText,
) -> Result<AbSide, Fail> {
    endpoint::announce(&side.connections, &side.base_url);
    let (side, found) = probe::found(side, &side.base_url)?;
    if let Some(found) = found.as_ref().filter(|_| !args.answer.json) {
        say(probe::block(found))?;
    }
    Ok(AbSide::new(name.clone(), call(args, &side, keep_text)?.with_found(found)))
}

fn call(args: &AbArgs, side: &EndpointArgs, keep: KeepText) -> Result<PreparedEndpoint, Fail> {
    let name = side.served_model_name.as_ref().or(side.model.as_ref());
    let name = name.ok_or_else(|| {
        Fail::usage("--model: name the model as the servers know it, or --a-model and --b-model")
    })?;
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(side, &side.base_url, name, &extra, keep)
}

fn nominal(args: &AbArgs) -> Nominal<'_> {
    Nominal {
        input: ("--random-input-len", &args.lengths.random_input_len),
        output: ("--random-output-len", &args.lengths.random_output_len),
    }
}

/// What is wrong with the workload, by this command's flags.
fn refused(args: &AbArgs) -> impl Fn(InputError) -> Fail {
    workload::refused(nominal(args), bench::arrivals_flag(&args.arrivals))
}

#[cfg(test)]
mod tests {
    use fizeau::core::Nanos;

    use super::time;

    #[test]
    fn a_pause_is_written_as_people_write_it() {
        let nanos = |text| time("--settle", text).map_err(|fail| fail.message);
        assert_eq!(nanos("2s"), Ok(Nanos::from_secs(2)));
        assert_eq!(nanos("500ms"), Ok(Nanos::from_millis(500)));
        assert_eq!(nanos("0"), Ok(Nanos::ZERO));
        assert_eq!(nanos("1.5"), Ok(Nanos::from_millis(1_500)));
        for wrong in ["", "s", "-1s", "soon", "NaN", "2h"] {
            let message = nanos(wrong).unwrap_err();
            assert!(message.starts_with(&format!("--settle {wrong}: ")), "{message}");
        }
    }
}
