//! Peak arithmetic: loops that stay in registers, a file an architecture.

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod amx;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::measurement::Dtype;

/// A loop that stays in registers.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeakLoop {
    /// The type of its operands.
    pub(super) dtype: Dtype,
    /// By which instructions: `avx2`, `avx512_bf16`.
    pub(super) instructions: &'static str,
    /// Operations of one turn, a multiply-add counted as two.
    pub(super) flops: f64,
    /// Bytes of one register.
    pub(super) width_bytes: u32,
    /// Instructions that do not wait for one another.
    pub(super) unroll: u32,
    /// Takes as many turns, and gives how far the result is from what it must be, relative to it.
    pub(super) run: fn(u64) -> f64,
}

/// The loops that this processor can run.
pub(super) fn loops() -> Vec<PeakLoop> {
    #[cfg(target_arch = "x86_64")]
    return [x86::loops(), amx::loops()].concat();
    #[cfg(target_arch = "aarch64")]
    return aarch64::loops();
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    return Vec::new();
}

/// The types of operands for which there are instructions on some processors of this architecture, but not on this one; or for
/// which this program has no loop.
pub(super) fn missing() -> Vec<String> {
    let has = |wanted: &str| loops().iter().any(|found| found.instructions == wanted);
    let known: &[(&str, &str)] = if cfg!(target_arch = "x86_64") {
        &[
            ("avx512", "f32 and f64 by AVX-512"),
            ("avx512_bf16", "bf16 by AVX-512-BF16"),
            ("avx512_vnni", "int8 by AVX-512-VNNI"),
            ("amx_bf16", "bf16 and int8 by AMX"),
        ]
    } else {
        &[("sve", "SVE"), ("bf16", "bf16 by BFMMLA"), ("i8mm", "int8 by SMMLA")]
    };
    let missing = known.iter().filter(|(name, _)| !has(name));
    missing.map(|(name, what)| format!("{what}: {}", why_missing(name))).collect()
}

/// Why there is no loop by `instructions`.
fn why_missing(instructions: &str) -> &'static str {
    #[cfg(target_arch = "x86_64")]
    if instructions.starts_with("amx")
        && let Some(why) = amx::not_permitted()
    {
        return why;
    }
    let _ = instructions;
    match cfg!(target_arch = "x86_64") {
        true => "this processor, or its hypervisor, does not offer it",
        false => "this program has no loop of it",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loop_computes_what_it_says() {
        for found in loops() {
            for turns in [1, 7, 1000] {
                let error = (found.run)(turns);
                assert!(error < 1e-5, "{} {}: {error}", found.instructions, found.dtype);
            }
        }
    }
}
