//! What one step of an actual batch takes by the constants of a calibration: for a simulated engine.

use fizeau_core::Seconds;

use crate::operator::Positions;
use crate::pass_demand::{PassDemand, PassSums};

use super::account::{
    AccountedTime, DeviceWork, LoadRegime, PassScope, PromptWork, TimeAccount, TimeAccounts,
};
use super::constant_shares::ConstantShares;
use super::predict::Predictor;

/// What a step takes by a calibration: [`CalibratedStepTime::total`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct CalibratedStepTime {
    /// Everything but what depends on the contexts of those who decode.
    pub beside: Seconds,
    /// Reading and writing caches and states of those who decode.
    pub cache: Seconds,
    /// The arithmetic of their attention, which overlaps with it.
    pub attention: Seconds,
}

impl CalibratedStepTime {
    /// All of it: everything else, and of caches and attention the longer.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.beside + self.cache.max(self.attention)
    }
}

impl Predictor {
    /// What a step with this batch takes by the constants: the terms of the time per output token ([`super::Calibration`]), with
    /// the prompts that the step reads in place of a step's part of a load's.
    ///
    /// As there, prompts come on top of decoding, by their arithmetic, what ranks exchange and what their kernels launch. A step
    /// that reads prompts and decodes nothing reads the weights for them. With pipeline stages the batch is one micro-batch and
    /// the time that of all stages. It may be below [`crate::System::bound_sums`]: whoever needs a sound time takes the longer.
    ///
    /// ```no_run
    /// use fizeau_roofline::{Calibration, Deployment, Device, KnownModel, PassSums, System};
    /// let model = KnownModel::named("llama-3.1-8b")?.model()?;
    /// let system = System::new(model, Device::named("h100-sxm")?.clone(), Deployment::SINGLE)?;
    /// let calibration = Calibration::from_json(&std::fs::read_to_string("calibration.json")?)?;
    /// let predictor = calibration.predictor(&system, Some("vllm"));
    /// let sums = PassSums { decoding: 8.0, context: 8.0 * 1024.0, ..PassSums::default() };
    /// println!("{:.2} ms", predictor.step(&sums).total().to_millis().get());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn step(&self, sums: &PassSums) -> CalibratedStepTime {
        let (accounts, values) = (self.accounts(), self.step_values());
        let mut account = accounts.of_pass(sums, PassScope::Step);
        let core = std::mem::take(&mut account.core);
        let (cache, attention) = ConstantShares::of_core(&core, values);
        let beside = ConstantShares::of_pass(&account, values).total();
        if sums.decoding > 0.0 {
            let (cache, attention) = (Seconds::new(cache), Seconds::new(attention));
            return CalibratedStepTime { beside: Seconds::new(beside), cache, attention };
        }
        let beside = Seconds::new(beside + cache.max(attention));
        CalibratedStepTime { beside, ..CalibratedStepTime::default() }
    }
}

impl TimeAccounts {
    /// A pass: what it decodes, and its prompts on top of that.
    pub(super) fn of_pass(&self, sums: &PassSums, scope: PassScope) -> TimeAccount {
        let prompt = self.prompt_of(sums);
        let prompt = if sums.decoding > 0.0 {
            prompt
        } else {
            // Its arithmetic is in the step's account, beside the memory.
            PromptWork { arithmetic: 0.0, experts: 0.0, padding: 0.0, ..prompt }
        };
        let of = AccountedTime::Pass(scope);
        let regime = self.regime_of(sums);
        TimeAccount { prompt, of, regime, ..self.of_step(sums) }
    }

    /// Where a pass is among those that were fitted: of what it has none of, the least there is.
    fn regime_of(&self, sums: &PassSums) -> LoadRegime {
        let each = |sum: f64, count: f64| if count > 0.0 { (sum / count).max(1.0) } else { 1.0 };
        let (sequences, contexts) = if sums.decoding > 0.0 {
            (sums.decoding, sums.context)
        } else {
            (sums.prompts, sums.prompt_context)
        };
        LoadRegime {
            batch: (sums.decoding + sums.prompts).max(1.0),
            context: each(contexts, sequences),
            prompt: each(sums.prompt_tokens, sums.prompts),
            devices: self.system().deployment().devices_per_replica() as f64,
            kernels: self.overheads().kernels,
        }
    }

    /// A step's work without the prompts where it decodes, else that of its prompts.
    fn of_step(&self, sums: &PassSums) -> TimeAccount {
        let decodes = sums.decoding > 0.0;
        let groups = f64::from(self.system().deployment().attention_groups());
        let mut account = self.overheads();
        account.sequences = (sums.decoding / groups).max(1.0);
        if decodes {
            self.exchange(&mut account, sums.decoded() / groups);
        } else {
            (account.collectives, account.small_collectives) = (0.0, 0.0);
        }
        let demand = if decodes { sums.decoding_only() } else { *sums };
        for (operator, timed) in self.operators() {
            let time = timed.time(&demand);
            let padding = if decodes { 1.0 } else { operator.tiles(demand.prompt_tokens) };
            let matrices = DeviceWork { memory: time.weights, arithmetic: time.matrices * padding };
            account.part(operator.kind).add(matrices);
            account.core.add(DeviceWork { memory: time.cache, arithmetic: time.attention });
        }
        account
    }

    /// What the prompts of a step take on top of decoding.
    fn prompt_of(&self, sums: &PassSums) -> PromptWork {
        if sums.prompts <= 0.0 {
            return PromptWork::default();
        }
        let prompts = sums.prompts_only();
        let groups = f64::from(self.system().deployment().attention_groups());
        let busiest = (sums.prompts / groups).max(sums.prompts.min(1.0));
        let mut work = PromptWork {
            link: self.prompt_link(sums.prompt_tokens * busiest / sums.prompts),
            kernels: self.prompt_kernels(),
            ..PromptWork::default()
        };
        for (operator, timed) in self.operators() {
            if operator.positions == Positions::All {
                let time = timed.time(&prompts);
                work.add(operator, sums.prompt_tokens, time.matrices, time.attention);
            }
        }
        // Tiles that prompts leave half empty are filled by those who decode.
        if sums.decoding > 0.0 {
            work.padding = 0.0;
        }
        work
    }
}

impl PassSums {
    const fn decoding_only(&self) -> Self {
        let (prompts, prompt_tokens) = (0.0, 0.0);
        Self { prompts, prompt_tokens, prompt_context: 0.0, prompt_pairs: 0.0, ..*self }
    }

    const fn prompts_only(&self) -> Self {
        Self { decoding: 0.0, drafted: 0.0, padding: 0.0, context: 0.0, ..*self }
    }
}
