//! Loops on the tile registers of AMX. The compiler has no stable functions for them, so that they are written as instructions.
//!
//! Intel, "Architecture Instruction Set Extensions Programming Reference", chapter 3, for the layout of the configuration;
//! `Documentation/arch/x86/xstate.rst` in the Linux sources for the permission.

#![allow(unsafe_code, reason = "tile registers have no functions on the stable compiler")]
#![deny(clippy::undocumented_unsafe_blocks)]

use super::PeakLoop;
#[cfg(target_os = "linux")]
use crate::measurement::Dtype;

/// Tiles that accumulate; two more hold each operand.
#[cfg(target_os = "linux")]
const TILES: f64 = 4.0;
/// Rows of a tile.
#[cfg(target_os = "linux")]
const ROWS: usize = 16;
/// Bytes of a row.
#[cfg(target_os = "linux")]
const ROW_BYTES: u16 = 64;

/// Those that the processor has and the system permits.
#[cfg(target_os = "linux")]
pub(super) fn loops() -> Vec<PeakLoop> {
    let of = |dtype, instructions, per_row: f64, run| PeakLoop {
        dtype,
        instructions,
        flops: TILES * 2.0 * (ROWS * ROWS) as f64 * per_row,
        width_bytes: u32::from(ROW_BYTES),
        unroll: TILES as u32,
        run,
    };
    let [bf16, int8] = offered();
    if !(bf16 || int8) || !is_permitted() {
        return Vec::new();
    }
    let found = [
        bf16.then(|| of(Dtype::Bf16, "amx_bf16", 32.0, bf16_loop as fn(u64) -> f64)),
        int8.then(|| of(Dtype::Int8, "amx_int8", 64.0, int8_loop as fn(u64) -> f64)),
    ];
    found.into_iter().flatten().collect()
}

/// Why this program may not use tiles that the processor has; none where it has none, or where the system permits them.
#[cfg(target_os = "linux")]
pub(super) fn not_permitted() -> Option<&'static str> {
    why_not(offered(), is_permitted())
}

#[cfg(target_os = "linux")]
fn why_not([bf16, int8]: [bool; 2], is_permitted: bool) -> Option<&'static str> {
    ((bf16 || int8) && !is_permitted).then_some(
        "the processor has it, but the system refuses its use to this program (`arch_prctl`); Linux permits it from 5.16 on, where no \
         container forbids the call",
    )
}

/// Elsewhere this program does not ask.
#[cfg(not(target_os = "linux"))]
pub(super) fn not_permitted() -> Option<&'static str> {
    Some("this program asks for the permission on Linux alone")
}

/// Elsewhere nobody knows how to ask for the permission.
#[cfg(not(target_os = "linux"))]
pub(super) fn loops() -> Vec<PeakLoop> {
    Vec::new()
}

#[cfg(target_os = "linux")]
use linux::{bf16_loop, int8_loop, is_permitted, offered};

#[cfg(target_os = "linux")]
mod linux {
    use std::arch::asm;
    use std::arch::x86_64::__cpuid_count;

    use super::{ROW_BYTES, ROWS};
    use crate::measurement::worse;

    /// `arch_prctl`: asks for the use of a large part of the state.
    const ARCH_REQ_XCOMP_PERM: libc::c_int = 0x1023;
    /// The data of tiles.
    const XFEATURE_XTILEDATA: libc::c_ulong = 18;

    /// Whether the processor has AMX-BF16 and AMX-INT8: leaf 7, bits 22, 25 and 24 (tiles).
    pub(super) fn offered() -> [bool; 2] {
        if std::arch::x86_64::__cpuid(0).eax < 7 {
            return [false; 2];
        }
        let edx = __cpuid_count(7, 0).edx;
        let tiles = edx & (1 << 24) != 0;
        [tiles && edx & (1 << 22) != 0, tiles && edx & (1 << 25) != 0]
    }

    /// Whether the system lets this program use tiles.
    pub(super) fn is_permitted() -> bool {
        // SAFETY: the call takes two numbers and changes what this program may use, nothing else.
        unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
    }

    /// Palette 1, eight tiles of 16 rows of 64 bytes.
    #[repr(C, align(64))]
    struct Configuration {
        palette: u8,
        start_row: u8,
        reserved: [u8; 14],
        row_bytes: [u16; 16],
        rows: [u8; 16],
    }

    /// 16 rows of 64 bytes.
    #[repr(C, align(64))]
    struct Tile<T>([T; 256]);

    fn configuration() -> Configuration {
        let (mut row_bytes, mut rows) = ([0; 16], [0; 16]);
        row_bytes[..8].fill(ROW_BYTES);
        rows[..8].fill(ROWS as u8);
        Configuration { palette: 1, start_row: 0, reserved: [0; 14], row_bytes, rows }
    }

    /// Four tiles accumulate the product of two others by `$instruction`, `$turns` times; the first is stored.
    macro_rules! tile_loop {
        ($instruction:literal, $turns:ident, $left:ident, $right:ident, $sums:ident) => {
            let configuration = configuration();
            // SAFETY: `loops` hands this out only where the processor has the instructions and the system permits tiles. What is
            // loaded and stored is 16 rows of 64 bytes that outlive the block; tiles are released at its end. Vector registers
            // are named as changed by the convention of calls.
            unsafe {
                asm!(
                    "ldtilecfg [{configuration}]",
                    "tilezero tmm0", "tilezero tmm1", "tilezero tmm2", "tilezero tmm3",
                    "tileloadd tmm4, [{left} + {stride}]", "tileloadd tmm5, [{left} + {stride}]",
                    "tileloadd tmm6, [{right} + {stride}]", "tileloadd tmm7, [{right} + {stride}]",
                    "2:",
                    concat!($instruction, " tmm0, tmm4, tmm6"),
                    concat!($instruction, " tmm1, tmm4, tmm7"),
                    concat!($instruction, " tmm2, tmm5, tmm6"),
                    concat!($instruction, " tmm3, tmm5, tmm7"),
                    "dec {turns}", "jnz 2b",
                    "tilestored [{sums} + {stride}], tmm0",
                    "tilerelease",
                    configuration = in(reg) &raw const configuration,
                    left = in(reg) &raw const $left,
                    right = in(reg) &raw const $right,
                    sums = in(reg) &raw mut $sums,
                    stride = in(reg) u64::from(ROW_BYTES),
                    turns = inout(reg) $turns.max(1) => _,
                    options(nostack),
                );
            }
        };
    }

    pub(super) fn bf16_loop(turns: u64) -> f64 {
        // Pairs 1 x 1 + 1 x -1 add nothing; the sum stays zero, though no operand is.
        let (left, right) = (Tile([0x3f80_3f80_u32; 256]), Tile([0xbf80_3f80_u32; 256]));
        let mut sums = Tile([1.0_f32; 256]);
        tile_loop!("tdpbf16ps", turns, left, right, sums);
        sums.0.iter().map(|sum| f64::from(sum.abs())).fold(0.0, worse)
    }

    pub(super) fn int8_loop(turns: u64) -> f64 {
        let (left, right) = (Tile([0x0303_0303_u32; 256]), Tile([0x0505_0505_u32; 256]));
        let mut sums = Tile([0_i32; 256]);
        tile_loop!("tdpbssd", turns, left, right, sums);
        // 64 products of 15 a turn, around as whole numbers go.
        let expected = (turns.max(1) as i32).wrapping_mul(960);
        if sums.0.iter().all(|sum| *sum == expected) { 0.0 } else { f64::INFINITY }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_refused_permission_is_a_reason_of_its_own() {
        assert!(why_not([true, false], false).is_some_and(|why| why.contains("refuses")));
        assert_eq!(why_not([true; 2], true), None);
        assert_eq!(why_not([false; 2], false), None, "what is not there cannot be refused");
    }
}
