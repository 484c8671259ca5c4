//! Speculative decoding: a draft is guessed cheaply and verified in one pass.

mod acceptance;
mod drafter;

pub use acceptance::{Acceptance, AcceptanceError};
pub use drafter::Drafter;

use std::num::NonZeroU32;

use fizeau_core::Seconds;

use crate::cost::CostShares;
use crate::estimate_kind::EstimateKind;
use crate::figures::{PhaseCosts, mixed_pass};
use crate::pass::PassTime;
use crate::system::System;
use crate::{Cost, Figures, HourlyRate, Pass, UniformLoad};

/// A way of speculating: who drafts, and how much of it is accepted.
///
/// In a cycle each sequence drafts `s` tokens, then one pass over `s + 1` tokens of each verifies them and yields `E`
/// on average: `TPOT = (t_verify + t_draft) / E` beside the prefills, which are as they were. The pass reads its
/// weights and caches once; its arithmetic and activations are those of `s + 1` tokens, and more of them reach more
/// experts. So a gain vanishes where arithmetic binds, and is small where few tokens share many experts.
///
/// ```
/// use std::num::NonZeroU64;
/// use fizeau_core::Tokens;
/// use fizeau_roofline::{
///     Acceptance, Deployment, Device, Drafter, UniformLoad, KnownModel, EstimateKind, Speculation, System,
/// };
/// let model = KnownModel::named("llama-3.1-8b")?.model()?;
/// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
/// let load = UniformLoad::new(Tokens::new(2048), Tokens::new(256), NonZeroU64::MIN);
/// let lookup = Speculation::new(Acceptance::uniform(0.6)?, Drafter::Lookup);
///
/// // Alone, three drafted tokens cost nearly nothing: the weights are read once.
/// let alone = lookup.chain(&system, EstimateKind::Expected, &load, 1.0, 3);
/// assert_eq!(format!("{:.2}", alone.tokens_per_cycle), "2.18");
/// assert!(alone.gain > 1.9);
///
/// // Past the ridge each of them takes its time.
/// let short = UniformLoad::new(Tokens::new(128), Tokens::new(128), NonZeroU64::MIN);
/// let many = lookup.chain(&system, EstimateKind::Expected, &short, 512.0, 3);
/// assert!(many.gain < 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Speculation {
    /// How likely drafted tokens are accepted.
    pub acceptance: Acceptance,
    /// The drafter of speculative decoding.
    pub drafter: Drafter,
}

/// The figures of a load with speculative decoding.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Speculated {
    /// Tokens that are drafted for each sequence in a cycle.
    pub drafted: u32,
    /// Tokens that a cycle yields for each sequence on average, `E`: those accepted, and the verifying pass's own, and no more than the
    /// reply has after its first.
    pub tokens_per_cycle: f64,
    /// Drafting, in each cycle.
    pub draft: Seconds,
    /// The verifying pass.
    pub verify: Seconds,
    /// The load's figures.
    pub figures: Figures,
    /// Generated tokens per second of them over those without speculation: above 1 it helps.
    pub gain: f64,
}

/// What drafts make of a load beside the same without any, by each of [`EstimateKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SpeculatedAnswer {
    /// The sequences that run: as many as without drafts, unless fewer fit beside the drafter.
    pub batch: f64,
    /// With drafts.
    pub speculated: [Speculated; 2],
    /// Speed of a user relative to no drafts.
    pub user_gain: [f64; 2],
    /// Generated tokens per second relative to no drafts and as many sequences as then run.
    pub gain: [f64; 2],
}

impl Speculation {
    /// The longest draft that is tried where the best length is asked for.
    pub const LONGEST: u32 = 128;

    /// `system` under `load`, of which `without` sequences run where nobody drafts: with drafts of `length` tokens, or of the length up
    /// to [`Speculation::LONGEST`] that is expected to generate most.
    #[must_use]
    pub fn answer(
        &self,
        system: &System,
        load: &UniformLoad,
        without: f64,
        length: Option<NonZeroU32>,
    ) -> SpeculatedAnswer {
        // What a drafter keeps leaves less room for sequences, of which there are always some.
        let batch = without.min(self.max_batch(system, load).floor()).max(1.0);
        let length = length.map_or_else(
            || self.best_chain(system, EstimateKind::Expected, load, batch, Self::LONGEST).drafted,
            NonZeroU32::get,
        );
        let speculated = EstimateKind::ALL.map(|by| self.chain(system, by, load, batch, length));
        let [bound, expected] = &speculated;
        let before = [
            system.bound_running(load, without),
            system.figures_at(EstimateKind::Expected, load, without),
        ];
        let ratio = |of: fn(&Figures, &Figures) -> f64| {
            [of(&before[0], &bound.figures), of(&before[1], &expected.figures)]
        };
        SpeculatedAnswer {
            batch,
            speculated,
            user_gain: ratio(|before, after| before.step / after.step),
            gain: ratio(|before, after| {
                after.output_tokens_per_s.get() / before.output_tokens_per_s.get()
            }),
        }
    }

    /// What `drafter` drafts is accepted as `acceptance` has it.
    #[must_use]
    pub const fn new(acceptance: Acceptance, drafter: Drafter) -> Self {
        Self { acceptance, drafter }
    }

    /// `system` under `load` with `batch` sequences running, each with a draft of `length` tokens in a row. The bound's rates are
    /// those of as many sequences as memory could hold without a drafter ([`System::bound_running`]).
    #[must_use]
    pub fn chain(
        &self,
        system: &System,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        length: u32,
    ) -> Speculated {
        self.speculated(system, by, load, batch, self.row_of(length))
    }

    /// The length of draft, from 0 (none) to `most`, that generates most tokens per second; the shortest of equals.
    #[must_use]
    pub fn best_chain(
        &self,
        system: &System,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        most: u32,
    ) -> Speculated {
        let mut best = self.chain(system, by, load, batch, 0);
        for length in 1..=most {
            let longer = self.chain(system, by, load, batch, length);
            if longer.gain > best.gain {
                best = longer;
            }
        }
        best
    }

    /// How many sequences of `load` all replicas together can run at once beside what the drafter keeps: a drafting model's
    /// weights, and its cache of each sequence. As [`System::max_batch`] where the drafter keeps nothing.
    #[must_use]
    pub fn max_batch(&self, system: &System, load: &UniformLoad) -> f64 {
        match &self.drafter {
            Drafter::Model(drafter) => {
                system.max_batch_beside(load, drafter.kept_beside(system, load))
            }
            Drafter::Lookup | Drafter::Share(_) => system.max_batch(load),
        }
    }

    /// What tokens of `load` cost at `rate`, as many sequences running and tokens drafted as in `drafted`, which are those of a
    /// draft in a row by the same account: [`System::cost`] with drafts.
    #[must_use]
    pub fn cost(
        &self,
        system: &System,
        by: EstimateKind,
        load: &UniformLoad,
        drafted: &Speculated,
        rate: &HourlyRate,
    ) -> Cost {
        let figures = &drafted.figures;
        let batch = system.rate_batch(by, load, figures.batch);
        let cycle = self.row_of(drafted.drafted);
        let costs = self.phases(system, by, load, batch, cycle);
        let beside = || {
            let share = costs.beside.decoding.min(1.0);
            self.verified(system, by, &costs.beside, costs.plain.step, cycle).scaled(share)
        };
        let prompt_share = system.prompt_share(by, load, &costs.phases, beside);
        let seconds = system.deployment().devices() as f64 / figures.requests_per_s.get();
        let computed = system.computed_share(by, load, batch);
        CostShares { seconds, prompt_share, computed }.cost(load, rate)
    }

    /// A draft of so many tokens in a row.
    fn row_of(&self, length: u32) -> DraftCycle {
        DraftCycle { drafted: length, deep: length, yields: self.acceptance.tokens(length) }
    }

    fn speculated(
        &self,
        system: &System,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        cycle: DraftCycle,
    ) -> Speculated {
        let DraftedPhases { phases, plain, draft, verify, .. } =
            self.phases(system, by, load, batch, cycle);
        let own = system.figures_of(by, load, batch, &phases);
        let most = system.rate_batch(by, load, batch);
        let (figures, before) = if most > batch {
            let rates = self.phases(system, by, load, most, cycle);
            let [with, before] = [&rates.phases, &rates.plain]
                .map(|phases| system.figures_of(by, load, most, phases).requests_per_s);
            (Figures::new(load, batch, own.ttft, own.step, with), before)
        } else {
            (own, system.figures_of(by, load, batch, &plain).requests_per_s)
        };
        Speculated {
            drafted: cycle.drafted,
            tokens_per_cycle: phases.yields,
            draft: draft.total,
            verify: verify.total,
            gain: figures.requests_per_s.get() / before.get(),
            figures,
        }
    }

    /// The passes of a load with such drafts.
    fn phases(
        &self,
        system: &System,
        by: EstimateKind,
        load: &UniformLoad,
        batch: f64,
        cycle: DraftCycle,
    ) -> DraftedPhases {
        let (_, output, _) = load.lengths();
        // The first token is the prompt's; what a draft guesses beyond the last is thrown away.
        let yields = cycle.yields.min((output - 1.0).max(1.0));
        let plain = system.phases(by, load, batch);
        let pass = system.decode_pass(load, batch);
        let verify = system.pass_time(by, &cycle.verifying(pass));
        let draft = self.drafter.time(by, &pass, plain.step, cycle.deep);
        let step = verify.beside(by, draft);
        let one = system.prefill_pass(load);
        let reading = |pass: PassTime, prompts: f64| match &self.drafter {
            Drafter::Model(drafter) if cycle.drafted > 0 => {
                pass.beside(by, drafter.pass_time(by, &one).scaled(prompts))
            }
            _ => pass,
        };
        // Sequences that end sooner make room for more prompts.
        let steps = (output - 1.0) / yields;
        let prompts = system.prompts_together(batch, one.tokens(), 1.0 + steps);
        let mixed = mixed_pass(&Pass { prompts, ..one }, &pass, steps);
        // The first token does not wait for the drafter to read the prompt.
        let phases = PhaseCosts {
            step: step.scaled(1.0 / yields),
            yields,
            prefill: reading(plain.prefill, 1.0),
            prompts,
            mixed: reading(self.verified(system, by, &mixed, plain.step, cycle), prompts),
            ..plain
        };
        DraftedPhases { phases, plain, draft, verify, beside: Pass { prompts: 0.0, ..mixed } }
    }

    /// `pass`, with the drafts of those that decode in it.
    fn verified(
        &self,
        system: &System,
        by: EstimateKind,
        pass: &Pass,
        plain: PassTime,
        cycle: DraftCycle,
    ) -> PassTime {
        let draft = match pass.decoding > 0.0 {
            true => self.drafter.time(by, &Pass { prompts: 0.0, ..*pass }, plain, cycle.deep),
            false => PassTime::default(),
        };
        system.pass_time(by, &cycle.verifying(*pass)).beside(by, draft)
    }
}

/// The passes of a load with drafts, and without.
struct DraftedPhases {
    phases: PhaseCosts,
    plain: PhaseCosts,
    draft: PassTime,
    verify: PassTime,
    /// What decodes in a pass that reads prompts, without them.
    beside: Pass,
}

/// What is drafted in a cycle, in how many steps one after the other, and the tokens that come of it.
#[derive(Clone, Copy)]
struct DraftCycle {
    drafted: u32,
    deep: u32,
    yields: f64,
}

impl DraftCycle {
    /// The pass with so many more tokens of each sequence to verify.
    fn verifying(self, pass: Pass) -> Pass {
        Pass { tokens_each: 1.0 + f64::from(self.drafted), ..pass }
    }
}
