//! Speculation, chunks, separate roles, prices and power, as the flags ask for them.

use std::num::NonZeroU32;

use fizeau::core::{Tokens, UsdPerHour, Watts};
use fizeau::report::Mechanisms;
use fizeau::roofline::{
    Acceptance, Disaggregation, Drafter, HourlyRate, Load, PowerDraw, Reckoning, Speculation,
    System,
};

use crate::args::WhatIfArgs;
use crate::exit::{Fail, Named};
use crate::model_config;

/// What was asked for of `load` on `system` with `batch` sequences running.
pub(super) fn mechanisms(
    args: &WhatIfArgs,
    system: &System,
    load: &Load,
    batch: f64,
) -> Result<Mechanisms, Fail> {
    let at = At { system, load, batch };
    let mut all = Mechanisms::default();
    if let Some(length) = &args.draft {
        all.speculation = Some(at.speculation(args, length)?);
    }
    if let Some(budget) = args.chunk {
        all.chunked = Some(at.chunked(budget)?);
    }
    if let Some(devices) = args.disaggregate {
        all.split = Some((devices, at.split(args, devices)?));
    }
    if let Some(price) = &args.price {
        let rate = rate(price, system)?;
        all.cost = Some(Reckoning::ALL.map(|by| system.cost(by, load, batch, &rate)));
    }
    if let Some(limit) = &args.power {
        all.energy = Some(at.energy(limit)?);
    }
    Ok(all)
}

#[derive(Clone, Copy)]
struct At<'a> {
    system: &'a System,
    load: &'a Load,
    batch: f64,
}

/// The longest draft that `best` tries.
const LONGEST_TRIED: u32 = 16;
const LONGEST_DRAFT: u32 = 64;

impl At<'_> {
    fn speculation(
        &self,
        args: &WhatIfArgs,
        length: &str,
    ) -> Result<(String, [fizeau::roofline::Speculated; 2]), Fail> {
        let acceptance = Acceptance::per_position(&args.acceptance).map_err(Fail::usage)?;
        let (name, drafter) = drafter(args.drafter.as_deref(), self.system)?;
        let speculation = Speculation::new(acceptance, drafter);
        let Self { system, load, batch } = *self;
        let length = match length {
            "best" => {
                let by = Reckoning::Expected;
                speculation.best_chain(system, by, load, batch, LONGEST_TRIED).drafted
            }
            number => {
                number.parse().ok().filter(|length| *length <= LONGEST_DRAFT).ok_or_else(|| {
                    let most = LONGEST_DRAFT;
                    Fail::usage(format!("--draft {number}: it must be from 0 to {most}, or best"))
                })?
            }
        };
        let each = Reckoning::ALL.map(|by| speculation.chain(system, by, load, batch, length));
        Ok((name, each))
    }

    fn chunked(&self, budget: u64) -> Result<[fizeau::roofline::Chunked; 2], Fail> {
        let Self { system, load, batch } = *self;
        let budget = Tokens::new(budget);
        let of = |by| system.chunked(by, load, batch, budget);
        let [bound, expected] = Reckoning::ALL.map(of);
        bound.zip(expected).map(|(bound, expected)| [bound, expected]).ok_or_else(|| {
            Fail::usage(format!(
                "--chunk {budget}: {batch:.0} sequences decode, which leaves no room for a prompt"
            ))
        })
    }

    fn split(&self, args: &WhatIfArgs, devices: u64) -> Result<fizeau::roofline::Split, Fail> {
        let Self { system, load, .. } = *self;
        let device = system.device();
        let link = device.network().or_else(|| device.link()).ok_or_else(|| {
            let name = device.name();
            Fail::usage(format!("--disaggregate: no link of {name} is known to send caches over"))
        })?;
        let service = Disaggregation {
            prefill: system,
            prefill_instances: NonZeroU32::MIN,
            decode: system,
            decode_instances: NonZeroU32::MIN,
            link: *link,
            transfer: args.transfer.into(),
        };
        service.best_split(load, devices).ok_or_else(|| {
            let each = system.deployment().devices();
            Fail::usage(format!(
                "--disaggregate {devices}: an instance has {each} devices, and it takes one of each kind"
            ))
        })
    }

    fn energy(&self, limit: &str) -> Result<(Watts, [fizeau::roofline::Energy; 2]), Fail> {
        let Self { system, load, batch } = *self;
        let draw = PowerDraw::estimate(system.device()).map_err(Fail::usage)?;
        let own = system.device().tdp().map_or(0.0, Watts::get);
        let watts = match limit.strip_suffix('%') {
            Some(share) => share.trim().parse::<f64>().ok().map(|share| share / 100.0 * own),
            None => limit.trim_end_matches('W').trim().parse().ok(),
        };
        let watts = watts.filter(|watts: &f64| watts.is_finite()).ok_or_else(|| {
            Fail::usage(format!("--power {limit}: it must be watts, or per cent such as 70%"))
        })?;
        let limit = Watts::new(watts);
        let of = |by| system.energy(by, load, batch, &draw, limit).map_err(Fail::usage);
        Ok((limit, [of(Reckoning::Bound)?, of(Reckoning::Expected)?]))
    }
}

/// Who drafts, by name.
fn drafter(asked: Option<&str>, system: &System) -> Result<(String, Drafter), Fail> {
    let own = || Drafter::own_module(system).map_err(Fail::usage);
    let named = |name: &str, drafter| Ok((name.to_owned(), drafter));
    match asked {
        None => match own()? {
            Some(module) => named("mtp", module),
            None => named("lookup", Drafter::Lookup),
        },
        Some("lookup") => named("lookup", Drafter::Lookup),
        Some("mtp") => match own()? {
            Some(module) => named("mtp", module),
            None => Err(Fail::usage("--drafter mtp: the model has no module that drafts")),
        },
        Some(other) => {
            if let Ok(share) = other.parse::<f64>() {
                return match share {
                    share if share.is_finite() && share >= 0.0 => Ok((
                        format!("something that takes {share} of a step"),
                        Drafter::Share(share),
                    )),
                    _ => {
                        Err(Fail::usage(format!("--drafter {other}: a share must not be below 0")))
                    }
                };
            }
            let flag = format!("--drafter {other}");
            let model = model_config::load(other).named(&flag)?.model;
            let drafter = System::new(model, system.device().clone(), *system.deployment())
                .map_err(|error| Fail::usage(format!("{flag}: {error}")))?;
            Ok((other.to_owned(), Drafter::Model(Box::new(drafter))))
        }
    }
}

fn rate(price: &str, system: &System) -> Result<HourlyRate, Fail> {
    if price == "published" {
        return HourlyRate::published(system.device()).map_err(Fail::usage);
    }
    let usd: f64 = price.parse().map_err(|_| {
        Fail::usage(format!("--price {price}: it must be US dollars, such as 2.50"))
    })?;
    HourlyRate::given(UsdPerHour::new(usd)).map_err(Fail::usage)
}
