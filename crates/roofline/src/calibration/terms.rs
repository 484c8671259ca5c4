//! What a step owes to each constant.

use super::account::{DeviceWork, PromptWork, TimeAccount};
use super::constants::Constant;

/// The values of [`Constant::STEP`], in its order.
pub(super) type StepValues = [f64; Constant::STEP.len()];

const WEIGHTS: usize = 0;
const EXPERTS: usize = 1;
const CACHE: usize = 2;
const ARITHMETIC: usize = 3;
const KERNEL: usize = 4;
const WIDENING: usize = 5;
const COLLECTIVE: usize = 6;
const LINK: usize = 7;
const STEP: usize = 8;
const SEQUENCE: usize = 9;

/// Seconds, by the constant that they are owed to. They add up to a time, and since each constant scales or divides its
/// own, they are the time's derivatives by the constants' logarithms too, but for the sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ConstantShares {
    pub(super) seconds: StepValues,
}

impl ConstantShares {
    const NONE: Self = Self { seconds: [0.0; Constant::STEP.len()] };

    /// Time per output token: the decode step, and of the prompts that come in meanwhile the step's part.
    pub(super) fn of_token(account: &TimeAccount, values: &StepValues) -> Self {
        let mut shares = Self::NONE;
        shares.add_work(&account.mixers, WEIGHTS, values);
        shares.add_work(&account.dense, WEIGHTS, values);
        shares.add_work(&account.experts, EXPERTS, values);
        shares.add_work(&account.head, WEIGHTS, values);
        shares.add_work(&account.core, CACHE, values);
        shares.add_collectives(account, values);
        shares.seconds[KERNEL] += account.kernels * values[KERNEL];
        shares.seconds[WIDENING] += account.widenings * values[WIDENING];
        shares.seconds[STEP] += values[STEP];
        shares.seconds[SEQUENCE] += account.sequences * values[SEQUENCE];
        shares.add_prompt(&account.prompt, account.prompts_per_step, values);
        shares
    }

    /// Caches and states, and the arithmetic of attention, of which the longer counts.
    pub(super) fn of_core(core: &DeviceWork, values: &StepValues) -> (f64, f64) {
        (core.memory / values[CACHE], core.arithmetic / values[ARITHMETIC])
    }

    /// A prompt, when all devices of a replica work on prompts.
    pub(super) fn of_prompt(prompt: &PromptWork, values: &StepValues) -> Self {
        let mut shares = Self::NONE;
        shares.add_prompt(prompt, 1.0, values);
        shares
    }

    /// A prompt in a pass of its own: the step's overheads, and the prompt.
    pub(super) fn of_lone_prompt(account: &TimeAccount, values: &StepValues) -> Self {
        let mut shares = Self::of_prompt(&account.prompt, values);
        shares.seconds[KERNEL] += account.kernels * values[KERNEL];
        shares.seconds[WIDENING] += account.widenings * values[WIDENING];
        shares.seconds[STEP] += values[STEP];
        shares.seconds[SEQUENCE] += values[SEQUENCE];
        shares
    }

    /// All of it.
    pub(super) fn total(&self) -> f64 {
        self.seconds.iter().sum()
    }

    /// The derivatives of the total by the logarithms of the constants: more bandwidth takes less time, more overhead
    /// more.
    pub(super) fn slopes(&self) -> StepValues {
        let mut slopes = self.seconds;
        for share in [WEIGHTS, EXPERTS, CACHE, ARITHMETIC, LINK] {
            slopes[share] = -slopes[share];
        }
        slopes
    }

    /// The longer of memory and arithmetic, owed to the one that it is.
    fn add_work(&mut self, work: &DeviceWork, bandwidth: usize, values: &StepValues) {
        let memory = work.memory / values[bandwidth];
        let arithmetic = work.arithmetic / values[ARITHMETIC];
        if memory >= arithmetic {
            self.seconds[bandwidth] += memory;
        } else {
            self.seconds[ARITHMETIC] += arithmetic;
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
        self.seconds[LINK] += times * prompt.link / values[LINK];
        self.seconds[KERNEL] += times * prompt.kernels * values[KERNEL];
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "an unwrap that panics is a test that fails")]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::super::account::{DeviceWork, PromptWork, TimeAccount};
    use super::{Constant, ConstantShares, StepValues};

    fn work() -> impl Strategy<Value = DeviceWork> {
        (1e-6..1e-2, 1e-6..1e-2).prop_map(|(memory, arithmetic)| DeviceWork { memory, arithmetic })
    }

    fn account() -> impl Strategy<Value = TimeAccount> {
        let works = (work(), work(), work(), work(), work());
        let counts = (1.0..2e3, 0.0..100.0, 0.0..200.0, 1.0..512.0, 0.0..0.5);
        (works, counts, 1e-8..1e-4, 1e-4..1.0).prop_map(|(works, counts, link, prompt)| {
            let (mixers, dense, experts, head, core) = works;
            let (kernels, widenings, collectives, sequences, prompts_per_step) = counts;
            let prompt = PromptWork { arithmetic: prompt, link, kernels, ..PromptWork::default() };
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
        proptest::array::uniform10(0.01..0.99).prop_map(|shares| {
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
            let shares = ConstantShares::of_token(&account, &values);
            let slopes = shares.slopes();
            for (at, slope) in slopes.into_iter().enumerate() {
                let moved = |factor: f64| {
                    let mut values = values;
                    values[at] *= factor;
                    ConstantShares::of_token(&account, &values).total()
                };
                let difference = (moved(1.0 + 1e-6) - moved(1.0 - 1e-6)) / 2e-6;
                // Where two branches cross, the slope is that of either.
                let error = (difference - slope).abs() / shares.total();
                prop_assert!(error < 1e-4, "{}: {difference} {slope}", Constant::STEP[at]);
            }
        }

        #[test]
        fn better_hardware_is_never_slower(account in account(), values in values()) {
            let best: StepValues = std::array::from_fn(|at| {
                let (low, high) = Constant::STEP[at].range();
                if Constant::STEP[at].unit() == "share" { high } else { low }
            });
            prop_assert!(
                ConstantShares::of_token(&account, &best).total() <= ConstantShares::of_token(&account, &values).total()
            );
        }
    }
}
