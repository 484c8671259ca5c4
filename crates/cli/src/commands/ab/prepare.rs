//! All that can be decided of an A/B run before anything is measured.

use std::num::{NonZeroU32, NonZeroU64};

use fizeau::core::Nanos;
use fizeau::experiment::{
    AbPrompts, AbSpec, Client, ContextLimit, InputError, LevelSize, PlanParts, PreparedEndpoint,
    PreparedWorkload, Rounds, WallTime, WorkloadSpec, in_flight, split_url,
};
use fizeau::harness::{Load, TextAfter};
use fizeau::metrics::{Alpha, ComparisonSettings, Figure, GoodputGoals};
use fizeau::record::{Engine, LoadPoint, Setup};
use fizeau::transport::Target;
use fizeau::workload::{Content, Salt};

use crate::args::{AbArgs, AnswerArgs, EndpointArgs};
use crate::commands::bench;
use crate::commands::shared::client;
use crate::commands::shared::endpoint;
use crate::commands::shared::folder::{self, Claim};
use crate::commands::shared::workload::{self, Nominal};
use crate::commands::shared::{probe, record};
use crate::exit::{Fail, Named};
use crate::terminal::say::say;

/// Everything that is decided before anything is measured.
pub(super) struct Job {
    pub(super) a: Party,
    pub(super) b: Party,
    pub(super) client: Client,
    pub(super) spec: AbSpec,
    /// How the sides are compared, settled before anything is measured.
    pub(super) settings: ComparisonSettings,
    /// The figures that were asked for by name.
    pub(super) asked: Vec<Figure>,
    /// A plan of the workload, for the request before the first.
    pub(super) sample: PreparedWorkload,
    pub(super) load_point: LoadPoint,
    /// The most tokens that the models take, where that is known before the servers are asked.
    pub(super) limit: Option<ContextLimit>,
    /// What is not as one might think, in words.
    pub(super) notes: Vec<String>,
    pub(super) setup: Setup,
    pub(super) out: Claim,
}

/// One side.
pub(super) struct Party {
    /// What it is called, where somebody gave it a name.
    pub(super) name: Option<String>,
    pub(super) called: PreparedEndpoint,
}

/// The run that `args` ask for. Files are read; with `--backend auto` the servers are asked what they are.
pub(super) fn prepare(args: &AbArgs) -> Result<Job, Fail> {
    refuse(args)?;
    let now = WallTime::now();
    let rounds = Rounds::new(args.rounds.rounds).named("--rounds")?;
    let settle = time("--settle", &args.rounds.settle)?;
    let asked = args.answer.decision.metrics.iter().map(|name| name.parse().named("--metrics"));
    let asked: Vec<Figure> = asked.collect::<Result<_, Fail>>()?;
    let settings = settings(&args.answer)?;
    let goals: GoodputGoals = args.answer.goodput.join(" ").parse().named("--goodput")?;
    let cap = bench::cap(args.rounds.max_concurrency)?;
    let out = args.answer.out.clone().unwrap_or_else(|| folder::by_default(now, "ab"));
    let [a, b] = [side_a(args), side_b(args)];
    if a.backend == probe::AUTO || b.backend == probe::AUTO {
        // Whatever else is wrong is found before the servers are asked what they are.
        let known = |side: &EndpointArgs| probe::stand_in(side).unwrap_or_else(|| side.clone());
        ask(args, cap, (&call(args, &known(&a))?.target, &call(args, &known(&b))?.target))?;
        Claim::new(&out)?.give_back();
    }
    let (a, b) = (party(args, &a, &args.sides.a_name)?, party(args, &b, &args.sides.b_name)?);
    let (mut notes, urls) = (Vec::new(), all_urls(args));
    let ask = ask(args, cap, (&a.called.target, &b.called.target))?;
    let prompts = prompts(args, (&a.called.target, &b.called.target), &ask, &mut notes)?;
    let sample = PreparedWorkload::of(ask.clone()).map_err(refused(args))?;
    let requests = sample.requests().get();
    let limit = workload_of(args)?.context_limit(None);
    limit.iter().try_for_each(|limit| sample.check(limit))?;
    notes.extend(sample.repeated());
    notes.extend(workload::notes(&sample, &args.workload));
    let pacing = sample.plan().pacing();
    // Both sides keep their connections while the other has its turn.
    let most = in_flight(requests, cap, pacing).saturating_mul(2);
    let wanted = endpoint::reached(&args.endpoint.connections).needs(&urls, most);
    let client = client::spec(&args.client)?.prepare(wanted)?;
    if args.endpoint.connections.new_connection_per_request {
        client::note_ports(&client, requests.saturating_mul(2 * u64::from(rounds.get())));
    }
    let PlanParts { spec: workload, tokenizer, dataset, .. } = ask;
    let spec = AbSpec {
        rounds,
        workload,
        tokenizer,
        dataset,
        load: Load { max_in_flight: cap, stop_after: None },
        warmup: bench::warmups_of(requests, args.rounds.num_warmups),
        settle,
        prompts,
        goals,
        text: TextAfter::Drop,
    };
    let setup = setup(&a.called, &sample, now);
    let load_point = bench::load_point(&sample, NonZeroU64::MIN, cap);
    let out = Claim::new(&out)?;
    Ok(Job { a, b, client, spec, settings, asked, sample, load_point, limit, notes, setup, out })
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

/// A side, found out where that was asked for.
fn party(args: &AbArgs, side: &EndpointArgs, name: &Option<String>) -> Result<Party, Fail> {
    endpoint::announce(&side.connections, &side.base_url);
    let (side, found) = probe::found(side, &side.base_url)?;
    if let Some(found) = found.as_ref().filter(|_| !args.answer.json) {
        say(probe::block(found))?;
    }
    Ok(Party { name: name.clone(), called: call(args, &side)?.with_found(found) })
}

fn call(args: &AbArgs, side: &EndpointArgs) -> Result<PreparedEndpoint, Fail> {
    let name = side.served_model_name.as_ref().or(side.model.as_ref());
    let name = name.ok_or_else(|| {
        Fail::usage("--model: name the model as the servers know it, or --a-model and --b-model")
    })?;
    let keep_text = workload_of(args)?.keep_text(TextAfter::Drop);
    let extra = workload::sampling_body(&args.sampling)?;
    endpoint::call(side, &side.base_url, name, &extra, keep_text)
}

/// The workload, in a form that both sides take: text where one of them takes no token ids.
fn ask(
    args: &AbArgs,
    cap: Option<NonZeroU32>,
    (a, b): (&Target, &Target),
) -> Result<PlanParts, Fail> {
    let by_default = || match cap {
        Some(cap) => LevelSize::default().requests_at(cap.into()).get(),
        None => REQUESTS,
    };
    let mut spec = workload_of(args)?;
    let requests = args.rounds.num_prompts.unwrap_or_else(by_default);
    spec.requests = workload::requests(Some(requests))?;
    spec.arrivals = bench::arrivals(&args.arrivals, cap.is_some())?;
    let (plainer, other) = if b.takes_token_ids() { (a, b) } else { (b, a) };
    let ask = spec.parts(plainer).map_err(refused(args))?;
    ask.check_sendable(other)?;
    Ok(ask)
}

/// The workload, but for how many requests there are and when they leave.
fn workload_of(args: &AbArgs) -> Result<WorkloadSpec, Fail> {
    workload::spec(&args.workload, nominal(args))
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

/// Whether each side needs prompts of its own.
fn prompts(
    args: &AbArgs,
    (a, b): (&Target, &Target),
    ask: &PlanParts,
    notes: &mut Vec<String>,
) -> Result<AbPrompts, Fail> {
    let (is_asked, is_one) = (args.sides.salt_sides, are_one(a, b));
    let is_fixed = matches!(ask.spec.content, Content::VllmRandom(_));
    if is_asked && is_fixed {
        return Err(Fail::usage(
            "--salt-sides: the prompts of --dataset-name vllm-random are those of its seed, and no salt changes them",
        ));
    }
    if !is_asked && !is_one {
        return Ok(AbPrompts::Same);
    }
    if !is_asked && (is_fixed || ask.spec.salt == Salt::NONE) {
        notes.push(
            "A and B are the same address and get the same prompts: a prefix cache there serves whoever is second in a \
             round"
                .to_owned(),
        );
        return Ok(AbPrompts::Same);
    }
    if !is_asked {
        notes.push(
            "A and B are the same address: each gets prompts of its own, of the same lengths, so that no prefix cache \
             filled by the one serves the other"
                .to_owned(),
        );
    }
    Ok(AbPrompts::OwnBySide)
}

/// Whether some server is on both sides.
fn are_one(a: &Target, b: &Target) -> bool {
    let origins = |target: &Target| -> Vec<String> {
        target.urls().map(|url| split_url(&url).0.to_owned()).collect()
    };
    let of_b = origins(b);
    origins(a).iter().any(|url| of_b.contains(url))
}

fn setup(called: &PreparedEndpoint, sample: &PreparedWorkload, now: WallTime) -> Setup {
    Setup {
        tool: record::tool(),
        started: now.rfc3339(),
        command_line: record::command_line(),
        endpoint: called.describe(),
        engine: Engine::Remote { description: None },
        workload: sample.described(NonZeroU64::MIN),
        host: record::host(),
        model_config: None,
        hardware: None,
        deployment: None,
        precision: None,
    }
}

/// The requests of a turn where no cap suggests more: enough for a p99.
const REQUESTS: u64 = 100;

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
