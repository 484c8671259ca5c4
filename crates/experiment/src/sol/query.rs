//! One query: a system, and what is asked of it.

use std::borrow::Cow;
use std::num::NonZeroU64;

use fizeau_core::Tokens;
use fizeau_record::DeploymentRecord;
use fizeau_roofline::UniformLoad;

use super::SolQueryError;

/// Which system: a model on devices, and how it lies on them.
///
/// ```
/// use fizeau_experiment::{LoadQuery, SolSystems, SystemQuery};
///
/// let query = SystemQuery::new("llama-3.1-8b", "h100-sxm");
/// let mut systems = SolSystems::default();
/// let load = LoadQuery { isl: 2048, osl: 256, cached: 0, concurrency: 32 }.load()?;
/// let answer = systems.get(&query)?.answer(&load)?;
/// assert_eq!(answer.running_batch, 32.0);
/// # Ok::<(), fizeau_experiment::SolQueryError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct SystemQuery<'a> {
    /// The path of a config.json or of its folder, or the name of a model that is built in.
    pub model_config: Option<Cow<'a, str>>,
    /// The name of a device of the table, or the path of a TOML file.
    pub hardware: Option<Cow<'a, str>>,
    /// How weights are stored, where it is not as the config says.
    pub weights: Option<Cow<'a, str>>,
    /// How the cache is stored, where it is not as the config says.
    pub kv: Option<Cow<'a, str>>,
    /// How the model is spread and served; the formats above come before its own.
    pub deployment: DeploymentRecord,
    /// The engine, as a calibration calls it.
    pub engine: Option<Cow<'a, str>>,
}

impl<'a> SystemQuery<'a> {
    /// That model on one such device.
    pub fn new(model_config: impl Into<Cow<'a, str>>, hardware: impl Into<Cow<'a, str>>) -> Self {
        let (model_config, hardware) = (Some(model_config.into()), Some(hardware.into()));
        Self { model_config, hardware, ..Self::default() }
    }

    /// How the model is spread, stored and served.
    pub(super) fn deployment(&self) -> DeploymentRecord {
        let owned = |text: &Option<Cow<'_, str>>| text.as_deref().map(str::to_owned);
        let mut all = self.deployment.clone();
        all.weights = owned(&self.weights).or(all.weights);
        all.kv = owned(&self.kv).or(all.kv);
        all
    }
}

/// What is asked of a system: requests all alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadQuery {
    /// Tokens of a prompt.
    pub isl: u64,
    /// Tokens of a reply.
    pub osl: u64,
    /// Tokens of each prompt that are cached already.
    pub cached: u64,
    /// Requests under way at once.
    pub concurrency: u64,
}

impl LoadQuery {
    /// Far more tokens or requests than anything has; products of three such counts are still exact enough.
    pub const MOST: u64 = 1_000_000_000;

    /// The load.
    ///
    /// # Errors
    /// If there is none of something, more than [`MOST`](Self::MOST), or nothing of a prompt to compute.
    pub fn load(&self) -> Result<UniformLoad, SolQueryError> {
        let Self { isl, osl, cached, concurrency } = *self;
        for (name, count) in [("isl", isl), ("osl", osl), ("concurrency", concurrency)] {
            if !(1..=Self::MOST).contains(&count) {
                let most = Self::MOST;
                let wrong = format!("{name} is {count}; it must be from 1 to {most}");
                return Err(SolQueryError(wrong));
            }
        }
        if cached >= isl {
            return Err(SolQueryError(format!(
                "cached is {cached}; it must be less than the prompt's {isl} tokens, the last of which is always computed"
            )));
        }
        let concurrency = NonZeroU64::new(concurrency).unwrap_or(NonZeroU64::MIN);
        let load = UniformLoad::new(Tokens::new(isl), Tokens::new(osl), concurrency);
        Ok(load.with_cached(Tokens::new(cached)))
    }
}

/// A system, and what is asked of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SolQuery<'a> {
    /// The system.
    pub system: SystemQuery<'a>,
    /// What is asked of it.
    pub load: LoadQuery,
}
