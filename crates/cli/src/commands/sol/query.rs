//! One query: a system, and what is asked of it.

use std::borrow::Cow;
use std::num::NonZeroU64;

use fizeau::core::Tokens;
use fizeau::record::DeploymentRecord;
use fizeau::roofline::Load;

use crate::args::{ChoiceArgs, SolArgs, SolLoadArgs, SystemArgs};

/// Which system, in the words of the command line or of a line of a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SystemQuery<'a> {
    pub(super) model_config: Option<Cow<'a, str>>,
    pub(super) hardware: Option<Cow<'a, str>>,
    pub(super) degrees: Degrees,
    pub(super) weights: Option<Cow<'a, str>>,
    pub(super) kv: Option<Cow<'a, str>>,
    pub(super) memory_share: f64,
    pub(super) max_num_seqs: Option<NonZeroU64>,
    pub(super) choices: ChoiceArgs,
    /// As a calibration calls it.
    pub(super) engine: Option<Cow<'a, str>>,
}

/// How the model is spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Degrees {
    pub(super) tp: u32,
    pub(super) pp: u32,
    pub(super) ep: u32,
    pub(super) dp: u32,
    pub(super) replicas: u32,
}

/// What is asked of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LoadQuery {
    pub(super) isl: u64,
    pub(super) osl: u64,
    pub(super) cached: u64,
    pub(super) concurrency: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Query<'a> {
    pub(super) system: SystemQuery<'a>,
    pub(super) load: LoadQuery,
}

impl<'a> Query<'a> {
    pub(super) fn of(args: &'a SolArgs) -> Self {
        Self {
            system: SystemQuery::of(&args.system, args.calibration.engine.as_deref()),
            load: LoadQuery::of(&args.load),
        }
    }
}

impl<'a> SystemQuery<'a> {
    pub(super) fn of(args: &'a SystemArgs, engine: Option<&'a str>) -> Self {
        let borrowed = |text: &'a Option<String>| text.as_deref().map(Cow::Borrowed);
        Self {
            model_config: borrowed(&args.model_config),
            hardware: borrowed(&args.hardware),
            degrees: Degrees {
                tp: args.tp,
                pp: args.pp,
                ep: args.ep,
                dp: args.dp,
                replicas: args.replicas,
            },
            weights: borrowed(&args.weights),
            kv: borrowed(&args.kv),
            memory_share: args.memory_share,
            max_num_seqs: args.max_num_seqs,
            choices: args.choices,
            engine: engine.map(Cow::Borrowed),
        }
    }
}

impl SystemQuery<'_> {
    /// How the model is spread, stored and served.
    pub(super) fn deployment(&self) -> DeploymentRecord {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let mut all = DeploymentRecord::default();
        let Degrees { tp, pp, ep, dp, replicas } = self.degrees;
        (all.tp, all.pp, all.ep, all.dp, all.replicas) = (tp, pp, ep, dp, replicas);
        (all.weights, all.kv) = (owned(&self.weights), owned(&self.kv));
        (all.memory_share, all.max_num_seqs) = (self.memory_share, self.max_num_seqs);
        all.choices = self.choices.into();
        all
    }
}

impl LoadQuery {
    /// A context is that of the token which follows a prompt: of two tokens of output it is the second that a step makes.
    fn of(args: &SolLoadArgs) -> Self {
        let concurrency = args.batch.unwrap_or(args.concurrency);
        match args.context {
            Some(context) => {
                Self { isl: context.saturating_sub(1), osl: 2, cached: 0, concurrency }
            }
            None => Self { isl: args.isl, osl: args.osl, cached: args.cached, concurrency },
        }
    }

    /// What is wrong with the flags that stand for others of a load.
    pub(super) fn check(args: &SolLoadArgs) -> Result<(), String> {
        for (flag, given, least) in [("context", args.context, 2), ("batch", args.batch, 1)] {
            if let Some(count) = given.filter(|count| !(least..=MOST).contains(count)) {
                return Err(format!("--{flag} is {count}; it must be from {least} to {MOST}"));
            }
        }
        Ok(())
    }

    /// The load, or what is wrong with it.
    pub(super) fn load(&self) -> Result<Load, String> {
        let Self { isl, osl, cached, concurrency } = *self;
        for (name, count) in [("isl", isl), ("osl", osl), ("concurrency", concurrency)] {
            if !(1..=MOST).contains(&count) {
                return Err(format!("{name} is {count}; it must be from 1 to {MOST}"));
            }
        }
        if cached >= isl {
            return Err(format!(
                "cached is {cached}; it must be less than the prompt's {isl} tokens, the last of which is always computed"
            ));
        }
        let concurrency = NonZeroU64::new(concurrency).unwrap_or(NonZeroU64::MIN);
        let load = Load::new(Tokens::new(isl), Tokens::new(osl), concurrency);
        Ok(load.with_cached(Tokens::new(cached)))
    }
}

/// Far more tokens or requests than anything has; products of three such counts are still exact enough.
const MOST: u64 = 1_000_000_000;
