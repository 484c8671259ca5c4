//! From arguments to when requests leave.

use fizeau::core::{PerSec, Seconds};
use fizeau::workload::{
    ArrivalLaw, InFlightCap, RampShape, RampSpan, Rescale, Spacing, TracePacing,
};

use crate::args::{ArrivalArgs, ReplayArgs};
use crate::exit::{Fail, Named};

/// The law of arrivals that the flags ask for.
pub(crate) fn arrivals(args: &ArrivalArgs, is_capped: bool) -> Result<ArrivalLaw, Fail> {
    let law = law(args)?;
    let spacing = spacing(args)?;
    refuse_if!(
        args.arrival_rescale && !matches!(law, Law::Rate(rate) if rate.is_finite()),
        "--arrival-rescale: it stretches arrivals to a rate; give one with --request-rate"
    );
    match law {
        Law::Rate(rate) => Ok(rate_of(args, rate, is_capped)),
        Law::Ramp(shape) => Ok(ramp(args, shape, spacing)),
        Law::Series(text) => ArrivalLaw::stages(text, spacing).given_as("--request-rate-series"),
        Law::Burst(_) if args.spacing.burstiness.to_bits() != 1.0_f64.to_bits() => Err(usage!(
            "--burstiness has no effect with --burst, whose arrivals are a Poisson \
                process; leave it out"
        )),
        Law::Burst(text) => ArrivalLaw::bursts(text).given_as("--burst"),
        Law::Diurnal(text) => ArrivalLaw::diurnal(text, spacing).given_as("--diurnal"),
    }
}

/// Which flag sets the pace.
enum Law<'a> {
    Rate(f64),
    Ramp(RampShape),
    Series(&'a str),
    Burst(&'a str),
    Diurnal(&'a str),
}

/// Every flag that says when requests leave, with what it says.
fn laws(args: &ArrivalArgs) -> impl Iterator<Item = (&'static str, Law<'_>)> {
    let laws = [
        ("--request-rate", args.request_rate.map(Law::Rate)),
        ("--ramp-up-strategy", args.ramp_up_strategy.map(Law::Ramp)),
        ("--request-rate-series", args.request_rate_series.as_deref().map(Law::Series)),
        ("--burst", args.burst.as_deref().map(Law::Burst)),
        ("--diurnal", args.diurnal.as_deref().map(Law::Diurnal)),
    ];
    laws.into_iter().filter_map(|(flag, law)| Some((flag, law?)))
}

fn law(args: &ArrivalArgs) -> Result<Law<'_>, Fail> {
    let mut laws = laws(args);
    match (laws.next(), laws.next()) {
        (None, _) => Ok(Law::Rate(f64::INFINITY)),
        (Some((_, law)), None) => Ok(law),
        // An infinite rate is none: vLLM's own scripts say both.
        (Some((_, Law::Rate(f64::INFINITY))), Some((_, law))) => Ok(law),
        (Some((one, _)), Some((other, _))) => {
            Err(usage!("{one} and {other} both say when requests leave: give one of them"))
        }
    }
}

/// Refuses a burstiness that no gap has. vLLM's scripts try an infinite rate among others, beside which it does nothing, as there.
pub(crate) fn check_burstiness(args: &ArrivalArgs, is_trace: bool) -> Result<(), Fail> {
    if args.spacing.burstiness.to_bits() == 1.0_f64.to_bits() {
        return Ok(());
    }
    refuse_if!(
        is_trace,
        "--burstiness has no effect with a trace, which has its own arrival times; leave it out"
    );
    match (law(args)?, args.request_rate) {
        (Law::Rate(f64::INFINITY), Some(_)) => {
            tell!("note: --burstiness has no effect with --request-rate inf");
        }
        (Law::Rate(f64::INFINITY), None) => bail!(
            "--burstiness has no effect where requests leave at no rate; give one with --request-rate, or leave it out"
        ),
        _ => {}
    }
    Ok(())
}

/// Whether a flag says when requests leave.
pub(crate) fn has_arrivals(args: &ArrivalArgs) -> bool {
    laws(args).next().is_some()
}

/// The flag that says when requests leave.
pub(crate) fn arrivals_flag(args: &ArrivalArgs) -> &'static str {
    laws(args).last().map_or("--request-rate", |(flag, _)| flag)
}

/// How regular gaps are where the rate changes.
fn spacing(args: &ArrivalArgs) -> Result<Spacing, Fail> {
    let burstiness = args.spacing.burstiness;
    Spacing::of_burstiness(burstiness).ok_or_else(|| {
        usage!("--burstiness {burstiness}: give a number above 0; 1 is Poisson, inf is constant")
    })
}

/// vLLM's reading: an infinite rate sends all at once, an infinite burstiness at equal distances.
fn rate_of(args: &ArrivalArgs, rate: f64, is_capped: bool) -> ArrivalLaw {
    let rescale = if args.arrival_rescale { Rescale::ToMean } else { Rescale::None };
    let cap = if is_capped { InFlightCap::Some } else { InFlightCap::None };
    ArrivalLaw::as_vllm(PerSec::new(rate), args.spacing.burstiness, rescale, cap)
}

/// clap has made sure that both rates are there.
fn ramp(args: &ArrivalArgs, shape: RampShape, spacing: Spacing) -> ArrivalLaw {
    let rate = |rate: Option<f64>| PerSec::new(rate.unwrap_or(f64::NAN));
    let over = args.ramp_up_seconds.map(Seconds::new).map_or(RampSpan::Requests, RampSpan::Time);
    let (from, to) = (rate(args.ramp_up_start_rps), rate(args.ramp_up_end_rps));
    ArrivalLaw::Ramp { from, to, shape, over, spacing }
}

// From arguments to when the requests of a trace leave.

/// When the requests of a trace leave. What paces other data sets does not pace a trace.
pub(crate) fn pacing(
    args: &ArrivalArgs,
    replay: &ReplayArgs,
    is_capped: bool,
) -> Result<TracePacing, Fail> {
    let is_unlimited = args.request_rate == Some(f64::INFINITY);
    refuse_if!(
        args.request_rate.is_some() && !is_unlimited,
        "--request-rate: a trace has its own arrival times; use --trace-speedup X to replay it \
         faster, or --ignore-trace-times to send without them"
    );
    refuse_if!(
        is_unlimited && replay.trace_speedup.is_some(),
        "--trace-speedup has no effect with --request-rate inf, which ignores the times of a \
        trace; leave one of them out"
    );
    if let Some((flag, _)) = laws(args).find(|(_, law)| !matches!(law, Law::Rate(_))) {
        bail!("{flag}: a trace has its own arrival times; leave the flag out");
    }
    match replay.ignore_trace_times {
        _ if is_unlimited => Ok(TracePacing::ClosedLoop),
        false => Ok(TracePacing::TimeStamps { speed_up: replay.trace_speedup.unwrap_or(1.0) }),
        true if is_capped => Ok(TracePacing::ClosedLoop),
        true => Err(usage!(
            "--ignore-trace-times: say how many requests are in flight at a time: --max-concurrency N, or --request-rate inf"
        )),
    }
}
