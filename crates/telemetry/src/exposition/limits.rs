//! How large a page may be.

/// What a page may take. Servers of metrics are as foreign as any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimits {
    /// The bytes of a whole page; a longer one is refused.
    pub bytes: u64,
    /// The bytes of a line; a longer one is left out and counted.
    pub line: usize,
    /// The labels of a series; a line with more is left out and counted.
    pub labels: usize,
    /// The series of a page; those beyond are left out and counted.
    pub series: usize,
}

impl Default for PageLimits {
    /// 16 MiB, lines of 64 KiB, 64 labels, 100,000 series: ten times what the largest fleets' exporters give.
    fn default() -> Self {
        Self { bytes: 16 << 20, line: 64 << 10, labels: 64, series: 100_000 }
    }
}
