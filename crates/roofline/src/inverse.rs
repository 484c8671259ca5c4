//! Inverse queries: what it takes to meet a goal.

mod largest;
mod search;
mod text;

pub use largest::{LargestBatch, LargestContext};
pub use search::{
    DeploymentChoice, DeploymentObjective, DeploymentQuery, DeploymentRanking,
    DeploymentSearchError,
};
pub use text::ServingGoalError;

use std::fmt;
use std::num::NonZeroU64;

use fizeau_core::number::{duration, is_long};
use fizeau_core::{PerSec, Seconds, Tokens};

use crate::curve::largest_whole;
use crate::estimate_kind::EstimateKind;
use crate::system::System;
use crate::{Figures, UniformLoad};

/// The goal that a deployment must meet; what it has no need of does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ServingGoal {
    ttft: Option<Seconds>,
    tpot: Option<Seconds>,
    tokens_per_s_per_user: Option<PerSec>,
    requests_per_s: Option<PerSec>,
    concurrency: Option<NonZeroU64>,
    context: Option<Tokens>,
}

/// A need of a [`ServingGoal`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ServingNeed {
    /// Time to first token at most: a prompt's own, and the wait for a place where fewer run than are in flight.
    Ttft(Seconds),
    /// Time per output token at most.
    Tpot(Seconds),
    /// Generated tokens per second of each user at least.
    TokensPerSPerUser(PerSec),
    /// Requests per second of all replicas at least.
    RequestsPerS(PerSec),
    /// Requests that run at once at least.
    Concurrency(NonZeroU64),
    /// The context that one sequence must have room for.
    Context(Tokens),
}

/// The part of a goal that is not met, or would be the first to be missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnmetNeed {
    /// Room for the weights and one request.
    Memory,
    /// Room for the longest context.
    Context,
    /// Room for so many requests at once.
    Concurrency,
    /// Time to first token.
    Ttft,
    /// Time per output token, or tokens per second of a user.
    Tpot,
    /// Requests per second.
    RequestsPerS,
}

/// The part of a goal that is not met, and by how much.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Shortfall {
    /// What.
    pub need: UnmetNeed,
    /// What the goal has: seconds, requests per second, or a number of requests or tokens.
    pub wanted: f64,
    /// What there is, alike.
    pub reached: f64,
}

impl Shortfall {
    /// How far off: 1 is just met, above it is missed.
    #[must_use]
    pub fn factor(&self) -> f64 {
        match self.need {
            UnmetNeed::Ttft | UnmetNeed::Tpot => self.reached / self.wanted,
            _ if self.reached > 0.0 => self.wanted / self.reached,
            _ => f64::MAX,
        }
    }

    const fn new(need: UnmetNeed, wanted: f64, reached: f64) -> Self {
        Self { need, wanted, reached }
    }
}

impl fmt::Display for Shortfall {
    /// Such as `31.2 ms per token, 20.0 ms asked`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { need, wanted, reached } = self;
        match need {
            UnmetNeed::Memory => f.write_str("the weights and one request do not fit"),
            UnmetNeed::Context => write!(f, "room for {reached:.0} tokens, {wanted:.0} requested"),
            UnmetNeed::Concurrency => {
                write!(f, "{reached:.1} requests at once, {wanted:.0} requested")
            }
            UnmetNeed::Ttft => {
                let [reached, wanted] = [*reached, *wanted].map(|seconds| time(seconds, 1));
                write!(f, "{reached} to the first token, {wanted} requested")
            }
            UnmetNeed::Tpot => {
                let [reached, wanted] = [*reached, *wanted].map(|seconds| time(seconds, 2));
                write!(f, "{reached} per token, {wanted} requested")
            }
            UnmetNeed::RequestsPerS => {
                let [reached, wanted] = [*reached, *wanted].map(|rate| decimals(rate, 2));
                write!(f, "{reached} requests/s, {wanted} requested")
            }
        }
    }
}

/// In milliseconds with so many decimals, or more of a small value; a long time in seconds.
fn time(seconds: f64, least: usize) -> String {
    let time = Seconds::new(seconds);
    match is_long(time) {
        true => duration(time),
        false => format!("{} ms", decimals(seconds * 1e3, least)),
    }
}

/// With so many decimals, or as many more as leave two digits of a small value.
fn decimals(value: f64, least: usize) -> String {
    let needed = (1.0 - value.log10().floor()).clamp(0.0, 12.0) as usize;
    if value < 0.1 { format!("{value:.0$}", needed.max(least)) } else { format!("{value:.least$}") }
}

impl ServingGoal {
    /// All of these; of one kind the last.
    ///
    /// # Errors
    /// If a time or a rate is no number, or nothing is so fast or so slow.
    ///
    /// ```
    /// use fizeau_core::Seconds;
    /// use fizeau_roofline::{ServingGoal, ServingNeed};
    /// assert_eq!(ServingGoal::new([ServingNeed::Tpot(Seconds::new(0.05))])?, "tpot:50".parse()?);
    /// assert!(ServingGoal::new([ServingNeed::Tpot(Seconds::new(-1.0))]).is_err());
    /// assert!(ServingGoal::new([ServingNeed::Ttft(Seconds::new(f64::NAN))]).is_err());
    /// # Ok::<(), fizeau_roofline::ServingGoalError>(())
    /// ```
    pub fn new(needs: impl IntoIterator<Item = ServingNeed>) -> Result<Self, ServingGoalError> {
        needs.into_iter().try_fold(Self::default(), Self::and)
    }

    /// Time to first token at most, where that is a need.
    #[must_use]
    pub const fn ttft(&self) -> Option<Seconds> {
        self.ttft
    }

    /// The context that one sequence must have room for, where that is a need.
    #[must_use]
    pub const fn context(&self) -> Option<Tokens> {
        self.context
    }

    /// How many requests are in flight at once where `asked` has it or nobody has: at least as many as the goal wants to run. Where
    /// nobody has said it, and a rate is wanted, `NonZeroU64::MAX`: as many as run ([`System::meet`]).
    #[must_use]
    pub fn in_flight(&self, asked: Option<NonZeroU64>) -> NonZeroU64 {
        let free = match self.requests_per_s {
            Some(_) if self.concurrency.is_none() => NonZeroU64::MAX,
            _ => NonZeroU64::MIN,
        };
        asked.unwrap_or(free).max(self.concurrency.unwrap_or(NonZeroU64::MIN))
    }

    /// Time per output token at most, where that or a rate of each user is a need: the tightest of both.
    #[must_use]
    pub fn tpot(&self) -> Option<Seconds> {
        let of_user = self.tokens_per_s_per_user.map(|rate| Seconds::new(1.0 / rate.get()));
        match (self.tpot, of_user) {
            (Some(one), Some(other)) => Some(if other < one { other } else { one }),
            (one, other) => one.or(other),
        }
    }
}

impl System {
    /// The figures at the largest batch of `load`, up to its concurrency, that meets `goal`'s time per token. Where fewer run than are
    /// in flight, the others wait for a place: `(N - B) / RPS` by Little's law, before their time to first token is over. With a
    /// concurrency of `NonZeroU64::MAX` as many are in flight as run.
    ///
    /// # Errors
    /// What is missed by most.
    pub fn meet(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        goal: &ServingGoal,
    ) -> Result<Figures, Shortfall> {
        let (batch, fitting) = self.operating_batch(by, load, goal)?;
        let figures = self.figures_at(by, load, batch);
        let room = goal.context.map(|context| {
            let fits = |tokens| self.max_batch_at(Tokens::new(tokens)) >= 1.0;
            let most = if fits(context.get()) {
                context.get()
            } else {
                largest_whole(1, context.get(), fits).unwrap_or(0)
            };
            Shortfall::new(UnmetNeed::Context, context.get() as f64, most as f64)
        });
        // Requests that end with their first token miss no time per token.
        let tpot = figures.tpot.and_then(|_| goal.tpot());
        // Fewer at once than memory holds is the time per token's doing.
        let concurrency = goal.concurrency.map(|count| match tpot {
            Some(tpot) if fitting >= count.get() as f64 && batch < count.get() as f64 => {
                let reached = self.figures_at(by, load, count.get() as f64).step;
                Shortfall::new(UnmetNeed::Tpot, tpot.get(), reached.get())
            }
            _ => Shortfall::new(UnmetNeed::Concurrency, count.get() as f64, batch),
        });
        let waiting = match load.concurrency {
            NonZeroU64::MAX => 0.0,
            requests => (requests.get() as f64 - batch).max(0.0),
        };
        let ttft = figures.ttft + Seconds::new(waiting / figures.requests_per_s.get());
        let times = [(UnmetNeed::Ttft, goal.ttft, ttft), (UnmetNeed::Tpot, tpot, figures.step)];
        let times = times.into_iter().filter_map(|(need, wanted, reached)| {
            Some(Shortfall::new(need, wanted?.get(), reached.get()))
        });
        let rate = goal.requests_per_s.map(|wanted| {
            Shortfall::new(UnmetNeed::RequestsPerS, wanted.get(), figures.requests_per_s.get())
        });
        let all = times.chain(room).chain(concurrency).chain(rate);
        // A search by halves may end a rounding past a goal.
        let missed = all.filter(|one| one.factor() > 1.0 + 1e-9);
        match missed.max_by(|one, other| one.factor().total_cmp(&other.factor())) {
            Some(worst) => Err(worst),
            None => Ok(figures),
        }
    }

    /// The largest whole batch that meets the time per token, or 1; and how many fit.
    fn operating_batch(
        &self,
        by: EstimateKind,
        load: &UniformLoad,
        goal: &ServingGoal,
    ) -> Result<(f64, f64), Shortfall> {
        let fitting = self.max_batch(load);
        if fitting < 1.0 {
            return Err(Shortfall::new(UnmetNeed::Memory, 1.0, fitting));
        }
        let most = (load.concurrency.get() as f64).min(fitting) as u64;
        let batch = match goal.tpot() {
            Some(target) => {
                largest_whole(1, most, |batch| self.keeps_tpot(by, load, batch, target))
                    .unwrap_or(1)
            }
            None => most,
        };
        Ok((batch as f64, fitting))
    }
}
