//! `fizeau ab`: two endpoints in turns, with the same requests, and whether they differ.

use std::num::NonZeroU32;
use std::ops::ControlFlow;

use fizeau::experiment::{
    AbSettings, BackendChoice, EndpointSpec, Experiment, InputField, PreparedExperiment,
    RoundCount, TelemetrySpec, WorkloadSpec,
};
use fizeau::harness::Cancel;
use fizeau::record::AbPrompts;
use fizeau::record::text::expected_time;
use fizeau::report::{ChecklistRows, Shown, Verbosity};

use crate::args::refusal::{flag, of_experiment};
use crate::args::{AbArgs, EndpointArgs};
use crate::commands::bench;
use crate::commands::shared::opening::Opening;
use crate::commands::shared::shards::Meeting;
use crate::commands::shared::{client, endpoint, opening, shards, workload};
use crate::exit::{Exit, Fail, Named};
use crate::terminal::progress::Progress;
use crate::terminal::say::say;

/// The width of what is not a table.
const WIDTH: usize = 80;

pub(crate) fn run(args: &AbArgs) -> Result<Exit, Fail> {
    opening::view(args.live)?;
    refuse_if!(
        args.sides.salt_sides && args.workload.dataset_name == "vllm-random",
        "--salt-sides has no effect with --dataset-name vllm-random, whose prompts follow from \
        --seed; leave it out"
    );
    let arrivals = bench::arrivals_flag(&args.arrivals);
    let refused = move |error| {
        of_experiment(error, |field| match field {
            InputField::Arrivals => arrivals.to_owned(),
            InputField::BaseUrl => "--a, --b".to_owned(),
            field => flag(field),
        })
    };
    let meeting = Meeting::of("ab", &args.shards, &args.answer.out, &None, None)?;
    let mut opening = Opening::default();
    opening.prints_document = args.answer.json;
    let asked = experiment(args)?;
    let begin = |prepared: &_| begin(args, prepared, &meeting.cancel);
    let (report, folder, gone) = match meeting.measure(asked, refused, opening, begin)? {
        ControlFlow::Continue(whole) => whole,
        ControlFlow::Break(part) => return Ok(part),
    };
    if args.answer.json {
        say(report.to_json().map_err(Fail::broken)?.trim_end())?;
    } else {
        let verbosity = args.output.verbosity();
        say(Shown(&report).text(verbosity).trim_end())?;
        say(Shown(&report.checklist()).text(checklist_rows(verbosity), WIDTH))?;
        say(format!("Run folder: {}", folder.path().display()))?;
    }
    let is_worse = args.answer.decision.fails_on_regression() && report.is_regression();
    shards::without(gone, Ok(Exit::of(&meeting.cancel, is_worse || !report.passes())))
}

/// Which rows of the checklist are shown: in brief none, since the stored run has them.
const fn checklist_rows(verbosity: Verbosity) -> ChecklistRows {
    match verbosity {
        Verbosity::Brief => ChecklistRows::Headline(" (all: `fizeau report RUN --checklist`)"),
        Verbosity::Full => ChecklistRows::Missed,
    }
}

/// Says what is about to be measured, and shows how it goes on.
fn begin(
    args: &AbArgs,
    prepared: &PreparedExperiment<AbSettings>,
    cancel: &Cancel,
) -> Result<Progress, Fail> {
    let ab = prepared.prepared();
    workload::tell_notes(ab.notes(), &args.workload);
    if args.output.verbose && !args.answer.json {
        let asked = workload::prompt_salt(&args.workload);
        say(workload::describe_salt_of_levels(asked, ab.basis.work.salt()))?;
    }
    if let Some(time) = ab.expected_time().and_then(expected_time) {
        tell!("This run takes about {time}.");
    }
    let [a, b] = ab.sides.each_ref().map(|side| side.endpoint.describe().base_url);
    Ok(Progress::new(opening::view(args.live)?, format!("fizeau ab  A {a}, B {b}"), cancel))
}

/// What `args` ask for.
fn experiment(args: &AbArgs) -> Result<Experiment<AbSettings>, Fail> {
    let sides = &args.sides;
    let a = side(args, &sides.a, &sides.a_model, &sides.a_backend)?;
    let b = match sides.toggle {
        None => side(args, &sides.b, &sides.b_model, &sides.b_backend)?,
        Some(_) => a.clone(),
    };
    let experiment =
        Experiment::new(a).settings(settings(args, b)?).client(client::spec(&args.client)?);
    Ok(match sides.toggle {
        None => experiment,
        Some(_) => experiment.telemetry(TelemetrySpec::default()),
    })
}

/// A run against `candidate` too.
fn settings(args: &AbArgs, candidate: EndpointSpec) -> Result<AbSettings, Fail> {
    let (rounds, answer) = (&args.rounds, &args.answer);
    let count = RoundCount::new(rounds.rounds).named("--rounds")?;
    let cap = rounds.in_flight.max_concurrency;
    let mut settings = AbSettings::new(candidate, workload_of(args, cap)?, count);
    let toggled = |name: &str| args.sides.toggle.is_some().then(|| name.to_owned());
    settings.names = [
        args.sides.a_name.clone().or_else(|| toggled("not scraped")),
        args.sides.b_name.clone().or_else(|| toggled("scraped")),
    ];
    settings.settle = rounds.settle;
    // At which figures it is looked shows when it is known whether there are tokens.
    settings.figures = answer.decision.figures()?;
    settings.comparison = answer.decision.comparison()?;
    settings.goals = args.goals.goodput()?;
    settings.slo = args.goals.given()?;
    (settings.max_in_flight, settings.warmups) = (cap, rounds.num_warmups);
    settings.prompts = args.sides.salt_sides.then_some(AbPrompts::OwnBySide);
    Ok(settings)
}

/// The workload of a turn.
fn workload_of(args: &AbArgs, cap: Option<NonZeroU32>) -> Result<WorkloadSpec, Fail> {
    workload::check_lengths(&args.workload)?;
    let mut spec = workload::spec(&args.workload)?;
    spec.requests = args.rounds.num_prompts;
    spec.arrivals = bench::arrivals(&args.arrivals, cap.is_some())?;
    bench::check_burstiness(&args.arrivals, false)?;
    Ok(spec)
}

/// The flags for both, with what is one side's own.
fn side(
    args: &AbArgs,
    urls: &[String],
    model: &Option<String>,
    backend: &Option<String>,
) -> Result<EndpointSpec, Fail> {
    let both = &args.endpoint;
    let side = EndpointArgs {
        model: model.clone().or_else(|| both.model.clone()),
        served_model_name: both.served_model_name.clone().filter(|_| model.is_none()),
        backend: backend.clone().unwrap_or_else(|| both.backend.clone()),
        ..both.clone()
    };
    let spec = endpoint::spec(&side, urls.to_vec(), &args.sampling)?;
    match spec.backend {
        BackendChoice::Named(_) if spec.model.is_empty() => Err(usage!(
            "--model: name the model as the servers know it, or --a-model and --b-model"
        )),
        _ => Ok(spec),
    }
}
