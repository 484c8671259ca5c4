//! Kernels that stream over arrays, for each width of a load and each unrolling.

use super::writer::{Class, Passed, Register, Writer};
use crate::measurement::MemoryKernel;

/// What a write stores and a triad multiplies by: 3, which is exact in every type.
pub(in crate::cuda) const CONSTANT: f32 = 3.0;
const CONSTANT_BITS: &str = "0f40400000";

/// The kernels that are written for devices.
pub(super) const KERNELS: [MemoryKernel; 4] =
    [MemoryKernel::Read, MemoryKernel::Write, MemoryKernel::Copy, MemoryKernel::Triad];

/// How a kernel loads and stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda) struct LoadSetting {
    /// Bytes of one load: 4, 8 or 16.
    pub(in crate::cuda) width_bytes: u32,
    /// Loads of each array that are under way before the first is used.
    pub(in crate::cuda) unroll: u32,
}

impl LoadSetting {
    /// Every one, the most bytes under way first.
    pub(in crate::cuda) fn all() -> impl Iterator<Item = Self> {
        let unrolls = |width_bytes| [4, 8, 2, 1].map(|unroll| Self { width_bytes, unroll });
        [16, 8, 4].into_iter().flat_map(unrolls)
    }

    /// 32-bit elements of one load.
    pub(in crate::cuda) const fn lanes(self) -> u32 {
        self.width_bytes / 4
    }

    /// The name of the kernel.
    pub(in crate::cuda) fn entry(self, kernel: MemoryKernel) -> String {
        format!("{kernel}_w{}_u{}", self.width_bytes, self.unroll)
    }

    fn suffix(self) -> &'static str {
        match self.width_bytes {
            16 => ".v4.f32",
            8 => ".v2.f32",
            _ => ".f32",
        }
    }
}

/// The arrays of a kernel, as it goes over them.
struct Arrays {
    a: Register,
    b: Register,
    c: Register,
}

/// `kernel(a, b, c, vectors, passes)`: `a` is the target, `b` and `c` are read; a vector is one load. Threads take vectors in turns
/// of the whole grid, so that neighbours load what lies together. A read leaves the sum of each thread in `a`, one 32-bit element
/// each. Loads pass by the multiprocessor's own cache (`.cg`), so that a working set that fits into all of them together shows the
/// cache that they share.
pub(in crate::cuda) fn stream(kernel: MemoryKernel, setting: LoadSetting) -> String {
    let mut w = Writer::new(
        setting.entry(kernel),
        &[
            ("a", Passed::Long),
            ("b", Passed::Long),
            ("c", Passed::Long),
            ("vectors", Passed::Long),
            ("passes", Passed::Word),
        ],
    );
    let starts = Arrays { a: w.address("a"), b: w.address("b"), c: w.address("c") };
    let vectors = w.parameter("vectors");
    let passes = w.parameter("passes");
    let (thread, threads) = w.thread_of_grid();
    let [offset, step, stride, last, index] = w.registers(Class::Long);
    let width = setting.width_bytes;
    w.put(format_args!("mul.lo.s64 {offset}, {thread}, {width}"));
    w.put(format_args!("mul.lo.s64 {step}, {threads}, {width}"));
    w.put(format_args!("mul.lo.s64 {stride}, {threads}, {}", setting.unroll));
    // A whole turn of the unrolled loop starts below this one; it may be negative.
    w.put(format_args!("mul.lo.s64 {last}, {threads}, {}", setting.unroll - 1));
    w.put(format_args!("sub.s64 {last}, {vectors}, {last}"));
    let sums = match kernel {
        MemoryKernel::Read => w.many(Class::Float, setting.unroll * setting.lanes()),
        _ => Vec::new(),
    };
    for sum in &sums {
        w.put(format_args!("mov.f32 {sum}, 0f00000000"));
    }
    let [pa, pb, pc] = w.registers(Class::Long);
    let at = Arrays { a: pa, b: pb, c: pc };
    let done = w.register(Class::Predicate);
    let (pass, turn, rest, next) = (w.label(), w.label(), w.label(), w.label());
    w.place(pass);
    for (at, start) in [(at.a, starts.a), (at.b, starts.b), (at.c, starts.c)] {
        w.put(format_args!("add.s64 {at}, {start}, {offset}"));
    }
    w.put(format_args!("mov.u64 {index}, {thread}"));
    w.place(turn);
    w.put(format_args!("setp.ge.s64 {done}, {index}, {last}"));
    w.put(format_args!("@{done} bra {rest}"));
    vectors_at(&mut w, kernel, setting, &at, step, &sums);
    w.put(format_args!("add.s64 {index}, {index}, {stride}"));
    w.put(format_args!("bra {turn}"));
    w.place(rest);
    w.put(format_args!("setp.ge.s64 {done}, {index}, {vectors}"));
    w.put(format_args!("@{done} bra {next}"));
    let one = LoadSetting { unroll: 1, ..setting };
    let first = &sums[..sums.len().min(setting.lanes() as usize)];
    vectors_at(&mut w, kernel, one, &at, step, first);
    w.put(format_args!("add.s64 {index}, {index}, {threads}"));
    w.put(format_args!("bra {rest}"));
    w.place(next);
    w.put(format_args!("sub.u32 {passes}, {passes}, 1"));
    w.put(format_args!("setp.ne.u32 {done}, {passes}, 0"));
    w.put(format_args!("@{done} bra {pass}"));
    store_sum(&mut w, &sums, starts.a, thread);
    w.finish()
}

/// The sum of a thread's `sums` goes to its place in the array that begins at `start`.
fn store_sum(w: &mut Writer, sums: &[Register], start: Register, thread: Register) {
    let [sum, others @ ..] = sums else { return };
    for other in others {
        w.put(format_args!("add.f32 {sum}, {sum}, {other}"));
    }
    let [place] = w.registers(Class::Long);
    w.put(format_args!("shl.b64 {place}, {thread}, 2"));
    w.put(format_args!("add.s64 {place}, {start}, {place}"));
    w.put(format_args!("st.global.f32 [{place}], {sum}"));
}

/// Loads all vectors of one turn, then computes and stores; leaves the pointers behind them.
fn vectors_at(
    w: &mut Writer,
    kernel: MemoryKernel,
    setting: LoadSetting,
    at: &Arrays,
    step: Register,
    sums: &[Register],
) {
    let (lanes, suffix) = (setting.lanes(), setting.suffix());
    let loaded = |w: &mut Writer, pointer: Register| -> Vec<Vec<Register>> {
        let turn = |_| {
            let vector = w.many(Class::Float, lanes);
            w.put(format_args!("ld.global.cg{suffix} {}, [{pointer}]", braced(&vector)));
            w.put(format_args!("add.s64 {pointer}, {pointer}, {step}"));
            vector
        };
        (0..setting.unroll).map(turn).collect()
    };
    let mut values = match kernel {
        MemoryKernel::Write => Vec::new(),
        _ => loaded(w, at.b),
    };
    match kernel {
        MemoryKernel::Read => {
            for (sum, value) in sums.iter().zip(values.iter().flatten()) {
                w.put(format_args!("add.f32 {sum}, {sum}, {value}"));
            }
            return;
        }
        MemoryKernel::Write => {
            let vector = w.many(Class::Float, lanes);
            for value in &vector {
                w.put(format_args!("mov.f32 {value}, {CONSTANT_BITS}"));
            }
            values = vec![vector; setting.unroll as usize];
        }
        MemoryKernel::Triad => {
            let others = loaded(w, at.c);
            for (value, other) in values.iter().flatten().zip(others.iter().flatten()) {
                w.put(format_args!("fma.rn.f32 {value}, {other}, {CONSTANT_BITS}, {value}"));
            }
        }
        _ => {}
    }
    for vector in &values {
        w.put(format_args!("st.global{suffix} [{}], {}", at.a, braced(vector)));
        w.put(format_args!("add.s64 {}, {}, {step}", at.a, at.a));
    }
}

/// `{%f0, %f1}`, and of one alone its name.
pub(super) fn braced(registers: &[Register]) -> String {
    match registers {
        [one] => one.to_string(),
        many => {
            let names: Vec<String> = many.iter().map(Register::to_string).collect();
            format!("{{{}}}", names.join(", "))
        }
    }
}

/// With what [`fill`] fills: which bits of each 32 are at random, and what the others are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda) struct Fill {
    pub(in crate::cuda) random: u32,
    pub(in crate::cuda) fixed: u32,
    pub(in crate::cuda) seed: u32,
}

impl Fill {
    /// Single precision, uniform from 1 up to 2.
    pub(in crate::cuda) const F32: Self = Self { random: 0x007f_ffff, fixed: 0x3f80_0000, seed: 1 };
    /// Two of bf16 in each word, uniform from 1 up to 2, of either sign.
    pub(in crate::cuda) const BF16: Self =
        Self { random: 0x807f_807f, fixed: 0x3f80_3f80, seed: 1 };

    /// Other numbers of the same kind.
    pub(in crate::cuda) const fn seeded(self, seed: u32) -> Self {
        Self { seed, ..self }
    }

    /// The word at `index`.
    pub(in crate::cuda) const fn word(self, index: u64) -> u32 {
        hashed(index as u32 ^ self.seed) & self.random | self.fixed
    }
}

/// A hash of 32 bits whose every bit depends on every bit (C. Wellons, "Prospecting for hash functions", lowbias32).
const fn hashed(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(0x7feb_352d);
    x ^= x >> 15;
    x = x.wrapping_mul(0x846c_a68b);
    x ^ (x >> 16)
}

/// `fill(a, words, random, fixed, seed)`: every word of `a` is [`Fill::word`] of its index.
pub(in crate::cuda) fn fill() -> String {
    let mut w = Writer::new(
        "fill",
        &[
            ("a", Passed::Long),
            ("words", Passed::Long),
            ("random", Passed::Word),
            ("fixed", Passed::Word),
            ("seed", Passed::Word),
        ],
    );
    let (start, words) = (w.address("a"), w.parameter("words"));
    let [random, fixed, seed] = ["random", "fixed", "seed"].map(|name| w.parameter(name));
    let (index, threads) = w.thread_of_grid();
    let [place] = w.registers(Class::Long);
    let [x, y] = w.registers(Class::Word);
    let done = w.register(Class::Predicate);
    let (turn, end) = (w.label(), w.label());
    w.place(turn);
    w.put(format_args!("setp.ge.u64 {done}, {index}, {words}"));
    w.put(format_args!("@{done} bra {end}"));
    w.put(format_args!("cvt.u32.u64 {x}, {index}"));
    w.put(format_args!("xor.b32 {x}, {x}, {seed}"));
    for (shift, factor) in [(16, Some(0x7feb_352d_u32)), (15, Some(0x846c_a68b)), (16, None)] {
        w.put(format_args!("shr.u32 {y}, {x}, {shift}"));
        w.put(format_args!("xor.b32 {x}, {x}, {y}"));
        if let Some(factor) = factor {
            w.put(format_args!("mul.lo.u32 {x}, {x}, {factor}"));
        }
    }
    w.put(format_args!("and.b32 {x}, {x}, {random}"));
    w.put(format_args!("or.b32 {x}, {x}, {fixed}"));
    w.put(format_args!("shl.b64 {place}, {index}, 2"));
    w.put(format_args!("add.s64 {place}, {start}, {place}"));
    w.put(format_args!("st.global.u32 [{place}], {x}"));
    w.put(format_args!("add.s64 {index}, {index}, {threads}"));
    w.put(format_args!("bra {turn}"));
    w.place(end);
    w.finish()
}
