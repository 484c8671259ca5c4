//! What a step owes to each constant.

use super::account::{AccountedTime, DeviceWork, PassScope, PromptWork, TimeAccount};
use super::constants::Constant;

/// The values of [`Constant::STEP`], in its order.
pub(super) type StepValues = [f64; Constant::STEP.len()];

const WEIGHTS: usize = Constant::WeightBandwidth as usize;
const EXPERTS: usize = Constant::ExpertBandwidth as usize;
const CACHE: usize = Constant::CacheBandwidth as usize;
const ARITHMETIC: usize = Constant::Arithmetic as usize;
const OF_EXPERTS: usize = Constant::ExpertArithmetic as usize;
const KERNEL: usize = Constant::PerKernel as usize;
const WIDENING: usize = Constant::PerWidening as usize;
const COLLECTIVE: usize = Constant::PerCollective as usize;
const LINK: usize = Constant::LinkBandwidth as usize;
const STEP: usize = Constant::PerStep as usize;
const SEQUENCE: usize = Constant::PerSequence as usize;
const CROWDING: usize = Constant::PromptCrowding as usize;

/// Time per output token: the decode step, and of the prompts that come in meanwhile the step's part.
///
/// Where prompts take long against decoding they queue among themselves, and a request waits for others' prompts before its
/// first token instead of between its tokens: from all of them that come in between its tokens when prompts are rare, down to
/// half of them when there is hardly anything else (of prompts that start together each waits for half of the others first).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TokenShares {
    decoding: ConstantShares,
    prompts: ConstantShares,
    /// Prompts' time by that of decoding, times [`Constant::PromptCrowding`].
    crowding: f64,
}

impl TokenShares {
    pub(super) fn new(account: &TimeAccount, values: &StepValues) -> Self {
        if account.of != AccountedTime::Token {
            let decoding = ConstantShares::of_pass(account, values);
            return Self { decoding, prompts: ConstantShares::NONE, crowding: 0.0 };
        }
        let mut decoding = ConstantShares::of_step(account, values);
        // Prompts are read outside of captured graphs: once for all that a step reads.
        let groups = account.prompt.abreast.max(1.0);
        let reading = -(-account.prompts_per_step / groups).exp_m1();
        decoding.seconds[KERNEL] += reading * account.prompt.kernels * values[KERNEL];
        let mut prompts = ConstantShares::NONE;
        prompts.add_prompt(&account.prompt, account.prompts_per_step, values);
        let crowding = values[CROWDING] * prompts.total() / decoding.total();
        Self { decoding, prompts, crowding }
    }

    /// Of the prompts' time, the share that falls between tokens.
    fn between(&self) -> f64 {
        (1.0 + self.crowding / 2.0) / (1.0 + self.crowding)
    }

    pub(super) fn total(&self) -> f64 {
        self.decoding.total() + self.between() * self.prompts.total()
    }

    /// Seconds by the constant that they are owed to; they add up to the total.
    pub(super) fn seconds(&self) -> StepValues {
        let between = self.between();
        let each = self.decoding.seconds.iter().zip(self.prompts.seconds);
        let mut each = each.map(|(decoding, prompts)| decoding + between * prompts);
        std::array::from_fn(|_| each.next().unwrap_or_default())
    }

    /// The derivatives of the total by the logarithms of the constants.
    pub(super) fn slopes(&self) -> StepValues {
        // d between / d crowding, times crowding.
        let bend = -0.5 * self.crowding / (1.0 + self.crowding).powi(2);
        let prompts = self.prompts.total();
        let of_decoding = 1.0 - bend * prompts / self.decoding.total();
        let of_prompts = self.between() + bend;
        let (decoding, reading) = (self.decoding.slopes(), self.prompts.slopes());
        std::array::from_fn(|at| match at {
            CROWDING => bend * prompts,
            _ => of_decoding * decoding[at] + of_prompts * reading[at],
        })
    }
}

/// Seconds, by the constant that they are owed to. They add up to a time, and since each constant scales or divides its
/// own, they are the time's derivatives by the constants' logarithms too, but for the sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConstantShares {
    pub(super) seconds: StepValues,
}

impl ConstantShares {
    const NONE: Self = Self { seconds: [0.0; Constant::STEP.len()] };

    /// A step that decodes and reads no prompts.
    pub(super) fn of_step(account: &TimeAccount, values: &StepValues) -> Self {
        let mut shares = Self::NONE;
        shares.add_work(&account.mixers, WEIGHTS, ARITHMETIC, values);
        shares.add_work(&account.dense, WEIGHTS, ARITHMETIC, values);
        shares.add_work(&account.experts, EXPERTS, OF_EXPERTS, values);
        shares.add_work(&account.head, WEIGHTS, ARITHMETIC, values);
        shares.add_work(&account.core, CACHE, ARITHMETIC, values);
        shares.add_collectives(account, values);
        shares.add_overheads(account, account.sequences, values);
        shares
    }

    /// A pass with the prompts that it reads.
    pub(super) fn of_pass(account: &TimeAccount, values: &StepValues) -> Self {
        let mut shares = Self::of_step(account, values);
        let prompts = Self::of_prompt(&account.prompt, values);
        for (share, prompts) in shares.seconds.iter_mut().zip(prompts.seconds) {
            *share += prompts;
        }
        if account.of == AccountedTime::Pass(PassScope::Model) {
            (shares.seconds[STEP], shares.seconds[SEQUENCE]) = (0.0, 0.0);
        }
        shares
    }

    /// Caches and states, and the arithmetic of attention, of which the longer counts.
    pub(super) fn of_core(core: &DeviceWork, values: &StepValues) -> (f64, f64) {
        (core.memory / values[CACHE], core.arithmetic / values[ARITHMETIC])
    }

    /// A prompt, when all devices of a replica work on prompts: its work, and the launches of its kernels.
    pub(super) fn of_prompt(prompt: &PromptWork, values: &StepValues) -> Self {
        let mut shares = Self::NONE;
        shares.add_prompt(prompt, 1.0, values);
        shares.seconds[KERNEL] += prompt.kernels * values[KERNEL];
        shares.seconds[OF_EXPERTS] += prompt.padding / values[OF_EXPERTS];
        shares
    }

    /// A prompt in a pass of its own: the step's overheads, and the prompt.
    pub(super) fn of_lone_prompt(account: &TimeAccount, values: &StepValues) -> Self {
        let mut shares = Self::of_prompt(&account.prompt, values);
        shares.add_overheads(account, 1.0, values);
        shares
    }

    fn add_overheads(&mut self, account: &TimeAccount, sequences: f64, values: &StepValues) {
        self.seconds[KERNEL] += account.kernels * values[KERNEL];
        self.seconds[WIDENING] += account.widenings * values[WIDENING];
        self.seconds[STEP] += values[STEP];
        self.seconds[SEQUENCE] += sequences * values[SEQUENCE];
    }

    /// All of it.
    pub(super) fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// The derivatives of the total by the logarithms of the constants: more bandwidth takes less time, more overhead
    /// more.
    pub(super) fn slopes(&self) -> StepValues {
        let mut slopes = self.seconds;
        for share in [WEIGHTS, EXPERTS, CACHE, ARITHMETIC, OF_EXPERTS, LINK] {
            slopes[share] = -slopes[share];
        }
        slopes
    }

    /// The longer of memory and arithmetic, owed to the one that it is.
    fn add_work(&mut self, work: &DeviceWork, bandwidth: usize, rate: usize, values: &StepValues) {
        let memory = work.memory / values[bandwidth];
        let arithmetic = work.arithmetic / values[rate];
        if memory >= arithmetic {
            self.seconds[bandwidth] += memory;
        } else {
            self.seconds[rate] += arithmetic;
        }
    }

    /// Each collective in one hop or in two, whichever is faster: two move fewer bytes.
    fn add_collectives(&mut self, account: &TimeAccount, values: &StepValues) {
        let (once, link) = (values[COLLECTIVE], values[LINK]);
        let one = once + account.one_shot / link;
        let two = 2.0 * once + account.two_shot / link;
        let (hops, bytes) = if one <= two {
            (once, account.one_shot / link)
        } else {
            (2.0 * once, account.two_shot / link)
        };
        self.seconds[COLLECTIVE] += account.collectives * hops + account.small_collectives * once;
        self.seconds[LINK] += account.collectives * bytes;
    }

    fn add_prompt(&mut self, prompt: &PromptWork, times: f64, values: &StepValues) {
        self.seconds[ARITHMETIC] += times * prompt.arithmetic / values[ARITHMETIC];
        self.seconds[OF_EXPERTS] += times * prompt.experts / values[OF_EXPERTS];
        self.seconds[LINK] += times * prompt.link / values[LINK];
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::account::{DeviceWork, PromptWork, TimeAccount};
    use super::{Constant, StepValues, TokenShares};

    fn work() -> impl Strategy<Value = DeviceWork> {
        (1e-6..1e-2, 1e-6..1e-2).prop_map(|(memory, arithmetic)| DeviceWork { memory, arithmetic })
    }

    fn account() -> impl Strategy<Value = TimeAccount> {
        let works = (work(), work(), work(), work(), work());
        let counts = (1.0..2e3, 0.0..100.0, 0.0..200.0, 1.0..512.0, 0.0..0.5);
        (works, counts, 1e-8..1e-4, 1e-4..1.0).prop_map(|(works, counts, link, prompt)| {
            let (mixers, dense, experts, head, core) = works;
            let (kernels, widenings, collectives, sequences, prompts_per_step) = counts;
            let prompt = PromptWork {
                arithmetic: prompt,
                experts: prompt / 2.0,
                link,
                kernels,
                ..PromptWork::default()
            };
            let (one_shot, two_shot) = (4.0 * link, link);
            TimeAccount {
                mixers,
                dense,
                experts,
                head,
                core,
                kernels,
                widenings,
                collectives,
                one_shot,
                two_shot,
                sequences,
                prompt,
                prompts_per_step,
                small_collectives: 1.0,
                ..TimeAccount::default()
            }
        })
    }

    /// Each constant somewhere in its range.
    fn values() -> impl Strategy<Value = StepValues> {
        proptest::array::uniform12(0.01..0.99).prop_map(|shares| {
            std::array::from_fn(|at| {
                let (low, high) = Constant::STEP[at].range();
                low * (high / low).powf(shares[at])
            })
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1676),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn slopes_are_the_derivatives(account in account(), values in values()) {
            let shares = TokenShares::new(&account, &values);
            let slopes = shares.slopes();
            for (at, slope) in slopes.into_iter().enumerate() {
                let moved = |factor: f64| {
                    let mut values = values;
                    values[at] *= factor;
                    TokenShares::new(&account, &values).total()
                };
                let difference = (moved(1.0 + 1e-6) - moved(1.0 - 1e-6)) / 2e-6;
                // Where two branches cross, the slope is that of either.
                let error = (difference - slope).abs() / shares.total();
                prop_assert!(error < 1e-4, "{}: {difference} {slope}", Constant::STEP[at]);
            }
            let sum: f64 = shares.seconds().iter().sum();
            prop_assert!((sum / shares.total() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn better_hardware_is_never_slower(account in account(), values in values()) {
            let best: StepValues = std::array::from_fn(|at| {
                let (low, high) = Constant::STEP[at].range();
                match Constant::STEP[at].unit() {
                    "share" => high,
                    "s" => low,
                    // The more prompts wait for one another, the less they interrupt.
                    _ => values[at],
                }
            });
            prop_assert!(
                TokenShares::new(&account, &best).total() <= TokenShares::new(&account, &values).total()
            );
        }
    }
}
