//! The block types of llama.cpp.

/// A block type of ggml, the tensor library of llama.cpp. Sizes are those of the block structures in its
/// `ggml-common.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum GgmlType {
    /// `q4_0`: 18 bytes for 32 elements, 4.5 bits.
    Q4_0,
    /// `q4_1`: 20 bytes for 32 elements, 5 bits.
    Q4_1,
    /// `q5_0`: 22 bytes for 32 elements, 5.5 bits.
    Q5_0,
    /// `q5_1`: 24 bytes for 32 elements, 6 bits.
    Q5_1,
    /// `q8_0`: 34 bytes for 32 elements, 8.5 bits.
    Q8_0,
    /// `q2_k`: 84 bytes for 256 elements, 2.625 bits.
    Q2K,
    /// `q3_k`: 110 bytes for 256 elements, 3.4375 bits.
    Q3K,
    /// `q4_k`: 144 bytes for 256 elements, 4.5 bits.
    Q4K,
    /// `q5_k`: 176 bytes for 256 elements, 5.5 bits.
    Q5K,
    /// `q6_k`: 210 bytes for 256 elements, 6.5625 bits.
    Q6K,
    /// `iq1_s`: 50 bytes for 256 elements, 1.5625 bits.
    Iq1S,
    /// `iq1_m`: 56 bytes for 256 elements, 1.75 bits.
    Iq1M,
    /// `iq2_xxs`: 66 bytes for 256 elements, 2.0625 bits.
    Iq2Xxs,
    /// `iq2_xs`: 74 bytes for 256 elements, 2.3125 bits.
    Iq2Xs,
    /// `iq2_s`: 82 bytes for 256 elements, 2.5625 bits.
    Iq2S,
    /// `iq3_xxs`: 98 bytes for 256 elements, 3.0625 bits.
    Iq3Xxs,
    /// `iq3_s`: 110 bytes for 256 elements, 3.4375 bits.
    Iq3S,
    /// `iq4_nl`: 18 bytes for 32 elements, 4.5 bits.
    Iq4Nl,
    /// `iq4_xs`: 136 bytes for 256 elements, 4.25 bits.
    Iq4Xs,
    /// `tq1_0`: 54 bytes for 256 elements, 1.6875 bits.
    Tq1_0,
    /// `tq2_0`: 66 bytes for 256 elements, 2.0625 bits.
    Tq2_0,
}

struct GgmlRow {
    kind: GgmlType,
    name: &'static str,
    /// Elements of a block.
    elements: u32,
    /// Bytes of a block.
    bytes: u32,
}

const fn row(kind: GgmlType, name: &'static str, elements: u32, bytes: u32) -> GgmlRow {
    GgmlRow { kind, name, elements, bytes }
}

/// In the order of the variants.
const ROWS: [GgmlRow; 21] = [
    row(GgmlType::Q4_0, "q4_0", 32, 18),
    row(GgmlType::Q4_1, "q4_1", 32, 20),
    row(GgmlType::Q5_0, "q5_0", 32, 22),
    row(GgmlType::Q5_1, "q5_1", 32, 24),
    row(GgmlType::Q8_0, "q8_0", 32, 34),
    row(GgmlType::Q2K, "q2_k", 256, 84),
    row(GgmlType::Q3K, "q3_k", 256, 110),
    row(GgmlType::Q4K, "q4_k", 256, 144),
    row(GgmlType::Q5K, "q5_k", 256, 176),
    row(GgmlType::Q6K, "q6_k", 256, 210),
    row(GgmlType::Iq1S, "iq1_s", 256, 50),
    row(GgmlType::Iq1M, "iq1_m", 256, 56),
    row(GgmlType::Iq2Xxs, "iq2_xxs", 256, 66),
    row(GgmlType::Iq2Xs, "iq2_xs", 256, 74),
    row(GgmlType::Iq2S, "iq2_s", 256, 82),
    row(GgmlType::Iq3Xxs, "iq3_xxs", 256, 98),
    row(GgmlType::Iq3S, "iq3_s", 256, 110),
    row(GgmlType::Iq4Nl, "iq4_nl", 32, 18),
    row(GgmlType::Iq4Xs, "iq4_xs", 256, 136),
    row(GgmlType::Tq1_0, "tq1_0", 256, 54),
    row(GgmlType::Tq2_0, "tq2_0", 256, 66),
];

impl GgmlType {
    /// Every type, in the order of its variants.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.kind)
    }

    /// The size of one element in bits, its share of the block's scales included: 4.5 for `q4_k`.
    pub(crate) const fn bits_per_element(self) -> f64 {
        let row = self.row();
        (8 * row.bytes) as f64 / row.elements as f64
    }

    /// The name used in files and on the command line, as ggml has it: `q4_k`, `iq4_xs`.
    pub(crate) const fn as_str(self) -> &'static str {
        self.row().name
    }

    const fn row(self) -> &'static GgmlRow {
        // One row a variant, in their order: a test holds that.
        &ROWS[self as usize]
    }
}
