//! `fizeau bench`: one level, with the command line and the result of `vllm bench serve`.

mod arrivals;
mod level;

pub(crate) use arrivals::{arrivals, arrivals_flag, check_burstiness, has_arrivals};
pub(crate) use level::{LevelOutputs, selection, settings, text_after};

use fizeau::experiment::{
    EndpointSpec, Experiment, ExperimentError, InputField, LevelSettings, PreparedExperiment,
    RunShards, ShardOutcome, SystemUnderTest,
};
use fizeau::harness::Cancel;
use fizeau::record::text::number;

use crate::args::{BenchArgs, SonnetArgs};
use crate::commands::shared::opening::Opening;
use crate::commands::shared::{
    calibrate, client, endpoint, folder, opening, shards, speed, workload,
};
use crate::exit::{Exit, Fail};
use crate::terminal::say::say;
use crate::terminal::{interrupt, runtime};

/// The level, decided.
type Prepared = PreparedExperiment<LevelSettings>;

pub(crate) fn run(args: &BenchArgs) -> Result<Exit, Fail> {
    let view = opening::view(args.live)?;
    if args.calibrate && !calibrate::has_run(args) {
        say(calibrate::run(args, endpoint(args)?)?.words())?;
        return Ok(Exit::Good);
    }
    let cancel = Cancel::new();
    let refused = workload::refused(arrivals_flag(&args.level.arrivals));
    let shards = shards::find(&args.shards)?;
    let prepared = experiment(args, &shards, &cancel)?.prepare();
    let prepared = prepared.map_err(|error| match (&error, &shards) {
        // A launcher gave the number, so that what is missing is not a salt but a place to meet.
        (ExperimentError::Input(wrong), RunShards::Apart(shard))
            if wrong.field == InputField::Shard && args.shards.shard.is_none() =>
        {
            shards::nowhere_to_meet(*shard)
        }
        _ => refused(error),
    })?;
    if shards.has_report() {
        level_outputs(args, &prepared)?;
    }
    let out = args.level.result.out.as_deref();
    let prepared = shards::met(prepared, &shards, out).map_err(refused)?;
    if !shards.has_report() {
        return shards::part(prepared, &cancel, refused);
    }
    let runtime = runtime::single()?;
    let prepared = runtime.block_on(prepared.open(&mut Opening::default())).map_err(refused)?;
    let kept = level_outputs(args, &prepared)?;
    let prepared = if args.calibrate { calibrated(args, prepared)? } else { prepared };
    announce(args, &prepared)?;
    let folder = prepared.folder().cloned();
    let mut watcher = kept.watcher(prepared.prepared(), folder.as_ref(), view, &cancel);
    interrupt::listen(cancel.clone())?;
    let (measured, written, gone) = match runtime.block_on(prepared.run_shared(&mut watcher)) {
        Ok(ShardOutcome::Part(part)) => return shards::show(&part),
        Ok(ShardOutcome::Whole(measured)) => (measured, Ok(()), None),
        Ok(ShardOutcome::Cut { outcome, why }) => (outcome, Ok(()), Some(why)),
        Err(ExperimentError::NotKept { measured, why }) => {
            (*measured, Err(Fail::broken(why)), None)
        }
        Err(error) => return Err(refused(error)),
    };
    let outcome = kept.finish(folder.as_ref(), measured, watcher, &cancel).written(written);
    client::tell_need(&outcome.sweep, &args.client)?;
    shards::without(gone, outcome.show(&args.trust))
}

/// What is asked for. Files are read; nothing is sent.
fn experiment(
    args: &BenchArgs,
    shards: &RunShards,
    cancel: &Cancel,
) -> Result<Experiment<LevelSettings>, Fail> {
    let engine = &args.subject.engine;
    let light = speed::from_args(&args.speed_of_light, engine.as_deref())?;
    let system = SystemUnderTest::server(engine.clone(), light);
    let mut origin = folder::origin();
    origin.precision.clone_from(&args.subject.precision);
    if !args.calibrate {
        workload::check_lengths(&args.level.workload)?;
    }
    let mut settings = settings(&args.level)?;
    settings.start_at = args.start_at;
    if let RunShards::Apart(shard) = shards {
        settings.shard = *shard;
    }
    let telemetry = args.telemetry.spec()?;
    let experiment = Experiment::new(endpoint(args)?)
        .settings(settings)
        .system(system)
        .client(client::spec(&args.client)?)
        .origin(origin)
        .cancel(cancel.clone());
    // What the server had of all shards is not what one of them asked.
    let experiment = match shards {
        RunShards::Apart(_) => experiment,
        _ => experiment.telemetry(telemetry),
    };
    let experiment = experiment.measured_by(shards);
    Ok(match &args.level.result.out {
        Some(out) if shards.has_report() => experiment.folder(out),
        _ => experiment,
    })
}

fn endpoint(args: &BenchArgs) -> Result<EndpointSpec, Fail> {
    let mut urls = args.target.urls();
    if urls.is_empty() {
        urls.push(args.target.host_url());
    }
    let mut spec = endpoint::spec(&args.endpoint, urls, &args.sampling)?;
    spec.profiled_level = args.telemetry.profile_level;
    Ok(spec)
}

/// What is to be written besides the run's own folder.
fn level_outputs<'a>(args: &'a BenchArgs, prepared: &Prepared) -> Result<LevelOutputs<'a>, Fail> {
    let called = prepared.endpoints().first().map_or("", |endpoint| endpoint.target.model());
    LevelOutputs::new(
        &args.level,
        args.endpoint.model.as_deref().unwrap_or(called),
        prepared.prepared(),
    )
}

/// The same, with a client of which is known what it can do at most.
fn calibrated(args: &BenchArgs, prepared: Prepared) -> Result<Prepared, Fail> {
    if !matches!(&*args.level.workload.dataset_name, "random" | "vllm-random") {
        say("note: calibrated with random prompts of --random-input-len and --random-output-len")?;
    }
    let Some(endpoint) = prepared.endpoints().first() else { return Ok(prepared) };
    let calibration = calibrate::run(args, endpoint.clone())?;
    say(calibration.words())?;
    Ok(prepared.calibrated(calibration))
}

/// Says what is about to be sent, and how long that takes where the arrivals tell.
fn announce(args: &BenchArgs, prepared: &Prepared) -> Result<(), Fail> {
    let level = prepared.prepared();
    let sent = level.sent_by(prepared.shards());
    let work = &level.basis.work;
    let requests = work.requests().get();
    let warmups = match level.warmups() {
        0 => "no warm-up (--num-warmups)".to_owned(),
        1 => "1 warm-up request first, which does not count (--num-warmups)".to_owned(),
        n => format!("{n} warm-up requests first (--num-warmups)"),
    };
    let turns = work.requests_per_arrival();
    if let Some(rate) = work.mean_rate().filter(|rate| rate.get() > 0.0 && turns > 1.0) {
        tell!(
            "note: {} conversations begin each second, which is {} requests per second with all turns",
            number(rate.get()),
            number(rate.get() * turns)
        );
    }
    if let Some(time) = level.settings.time {
        let sent = match level.expected_in_time(sent) {
            Some(sent) => format!("about {sent} requests, in {time}"),
            None => format!("requests for {time}"),
        };
        return say(format!("{sent}; {warmups}"));
    }
    let time = work.arrival_time().map(|time| format!(", in about {:.0} s", time.get()));
    let of_all = if sent < requests { format!(" of {requests}") } else { String::new() };
    say(format!("{sent}{of_all} requests{}; {warmups}", time.unwrap_or_default()))?;
    if args.trust.output.verbose {
        say(workload::describe_salt(level.settings.workload.salt, work.salt()))?;
    }
    workload::say_notes(work, &args.level.workload)
}

// What flags of `vllm bench serve` say in flags of ours.

/// `args` with vLLM's own flags put into ours.
pub(crate) fn settled(mut args: Box<BenchArgs>) -> Result<Box<BenchArgs>, Fail> {
    refuse_if!(
        args.vllm.lora_assignment.as_deref() == Some("round-robin"),
        "--lora-assignment round-robin: adapters are drawn, one for each session, by the weights of --lora-modules; \
         leave it out"
    );
    refuse_if!(
        args.vllm.random_batch_size.is_some_and(|size| size != 1),
        "--random-batch-size: each request has one prompt; leave the flag out, and raise --max-concurrency instead"
    );
    // vLLM's scripts give the lengths of all data sets, whichever it is.
    if args.level.workload.dataset_name != "sonnet" {
        return Ok(args);
    }
    let SonnetArgs { sonnet_input_len, sonnet_output_len, sonnet_prefix_len } = args.vllm.sonnet;
    if sonnet_input_len.or(sonnet_prefix_len).is_some() {
        let (input, prefix) = (sonnet_input_len.unwrap_or(550), sonnet_prefix_len.unwrap_or(200));
        let own = input.checked_sub(prefix).filter(|own| *own > 0).ok_or_else(|| {
            usage!(
                "--sonnet-prefix-len {prefix}: it is a part of --sonnet-input-len {input}, which must be longer")
        })?;
        args.level.workload.lengths.random_input_len = Some(own.to_string());
        args.level.workload.prefix.random_prefix_len = prefix;
    }
    if let Some(output) = sonnet_output_len {
        args.level.workload.lengths.random_output_len = Some(output.to_string());
    }
    Ok(args)
}
