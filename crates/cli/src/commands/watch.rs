//! `fizeau watch`: how near the speed of light production runs, by its own metrics and without any load.

mod page;

use std::io::{IsTerminal, Write};
use std::num::NonZeroU64;
use std::time::Duration;

use fizeau::core::{Clock, Tokens};
use fizeau::experiment::SolSystems;
use fizeau::record::text::expected_time;
use fizeau::report::Shown;
use fizeau::roofline::{HourlyRate, System, UniformLoad};
use fizeau::telemetry::{
    DeviceChoice, FleetReport, FleetSettings, FleetSettingsError, FleetWatch,
    ForwardPassSubscriber, MetricsListener, NvmlSource, in_one_line,
};
use fizeau::transport::MonotonicClock;

use crate::args::WatchArgs;
use crate::commands::shared::speed;
use crate::exit::{Exit, Fail, Named};
use crate::terminal::runtime;
use crate::terminal::say::{pretty, say_either};
use crate::terminal::screen::{Screen, is_dumb};

/// How long the first pages may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How to say what a device costs, where its price is assumed.
const OWN_PRICE: &str = "--gpu-hour is what you pay";

pub(crate) fn run(args: &WatchArgs) -> Result<Exit, Fail> {
    refuse_if!(
        args.forward_pass.is_some() && args.system.spread.pp.is_some_and(|stages| stages > 1),
        "--forward-pass does not work with --pp, because an engine times only one of its stages \
        and does not say which; leave out --forward-pass"
    );
    let sources = page::sources(args)?;
    let system = system(args)?;
    let clock = MonotonicClock::new();
    let listen = |address| MetricsListener::start(address, clock);
    let listener = args.listen.as_deref().map(listen).transpose().named("--listen")?;
    let mut settings = FleetSettings::new(args.system.names().0, system);
    settings.price = match &args.price.gpu_hour {
        Some(price) => Some(price.clone()),
        None => HourlyRate::lowest_published(settings.system.device()).ok(),
    };
    (settings.interval, settings.window) = (args.interval, args.window);
    settings.check().map_err(|error| match error {
        FleetSettingsError::Interval(_) => usage!("--interval is {error}"),
        error => usage!("--window is {error}"),
    })?;
    let mut watch = FleetWatch::new(settings);
    for (name, source) in sources {
        watch.add(&name, source, clock).map_err(Fail::broken)?;
    }
    watch_gpus(&args.gpus, &mut watch, clock)?;
    if let Some(address) = &args.forward_pass {
        let steps = ForwardPassSubscriber::connect(address, clock);
        watch = watch.with_steps(steps.map_err(|error| Fail::endpoint(in_one_line(&error)))?);
    }
    watch.ask_now(PATIENCE);
    let first = watch.report(clock.now());
    if first.is_unreached() {
        return Err(untold(&first));
    }
    match args.once {
        true => once(args, &watch, clock),
        false => live(args, &watch, clock, listener.as_ref()),
    }
}

/// Reads the GPUs of this machine that are `named`, too.
fn watch_gpus(named: &[String], watch: &mut FleetWatch, clock: MonotonicClock) -> Result<(), Fail> {
    let choice = match named {
        [] => return Ok(()),
        [all] if all.eq_ignore_ascii_case("all") => DeviceChoice::All,
        named => DeviceChoice::Named(named.to_vec()),
    };
    let source = NvmlSource::open(&choice).named("--gpus")?;
    watch.add("NVML", source, clock).map_err(Fail::broken)
}

/// The model on the devices behind each page.
fn system(args: &WatchArgs) -> Result<System, Fail> {
    speed::asked(&args.system)?;
    let mut systems = SolSystems::default();
    let prepared = systems.get(&speed::query(&args.system, None)).map_err(Fail::usage)?;
    let least = UniformLoad::new(Tokens::new(1), Tokens::new(1), NonZeroU64::MIN);
    let model = args.system.model_config.as_deref().unwrap_or_default();
    prepared.answer(&least).named(&format!("--model-config {model}"))?;
    Ok(prepared.system.clone())
}

/// One window, and what it came to.
fn once(args: &WatchArgs, watch: &FleetWatch, clock: MonotonicClock) -> Result<Exit, Fail> {
    let window: Duration = args.window.into();
    if let Some(time) = expected_time(window) {
        tell!("The servers are watched for {time}.");
    }
    std::thread::sleep(window);
    watch.ask_now(PATIENCE);
    let report = watch.report(clock.now());
    if report.telling() == 0 {
        return Err(untold(&report));
    }
    let text = || Shown(&report).screen(Screen::of_stdout().width, OWN_PRICE);
    say_either(args.json, || pretty(&report), text)?;
    let is_whole = report.telling() == report.replicas.len() && !report.is_impossible();
    Ok(Exit::missed(!is_whole))
}

/// Until Ctrl-C, or until nobody reads any more.
fn live(
    args: &WatchArgs,
    watch: &FleetWatch,
    clock: MonotonicClock,
    listener: Option<&MetricsListener>,
) -> Result<Exit, Fail> {
    if let Some(listener) = listener {
        tell!("metrics at http://{}/metrics; Ctrl-C ends it", listener.address());
    }
    runtime::single()?.block_on(async {
        let mut interrupt = std::pin::pin!(tokio::signal::ctrl_c());
        let mut is_first = true;
        while tokio::time::timeout(args.interval.into(), interrupt.as_mut()).await.is_err() {
            let report = watch.report(clock.now());
            if is_first && report.is_foreign() {
                return Err(untold(&report));
            }
            is_first &= report.telling() == 0;
            if let Some(listener) = listener {
                listener.set(&report.to_prometheus());
            }
            if !show(args, &report)? {
                break;
            }
        }
        Ok(Exit::Good)
    })
}

/// Shows `report`; whether there still is a reader.
fn show(args: &WatchArgs, report: &FleetReport) -> Result<bool, Fail> {
    let text = if args.json {
        serde_json::to_string(report).map_err(Fail::broken)?
    } else if !std::io::stdout().is_terminal() || is_dumb() {
        Shown(report).line()
    } else {
        // From the upper left corner, and nothing behind or below what is written.
        let text = Shown(report).screen(Screen::of_stdout().width, OWN_PRICE);
        let text = text.replace('\n', "\x1b[K\n");
        format!("\x1b[H{text}\x1b[K\n\x1b[J(Ctrl-C ends it)")
    };
    let mut out = std::io::stdout().lock();
    Ok(writeln!(out, "{text}").and_then(|()| out.flush()).is_ok())
}

/// Nobody tells anything: why, of each.
fn untold(report: &FleetReport) -> Fail {
    if report.findings.len() > 1 {
        report.findings.iter().for_each(|finding| tell!("{finding}"));
    }
    Fail::endpoint(report.silence())
}
