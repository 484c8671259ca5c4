//! Which instructions there are, found out where the program runs.

/// A set of vector instructions. One program has code for all of its architecture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Isa {
    /// None in particular: what the compiler makes of plain code.
    Portable,
    /// x86-64 without more.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// x86-64 with vectors of 256 bits and multiply-adds.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with vectors of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// aarch64.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Isa {
    /// Those that are there, the widest first.
    pub(super) fn found() -> Vec<Self> {
        let mut found = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2") {
                found.push(Self::Avx512);
            }
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                found.push(Self::Avx2);
            }
            found.push(Self::Sse2);
        }
        #[cfg(target_arch = "aarch64")]
        found.push(Self::Neon);
        found.push(Self::Portable);
        found
    }

    /// The widest.
    pub(super) fn widest() -> Self {
        Self::found().first().copied().unwrap_or(Self::Portable)
    }

    /// The name in files.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => "sse2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => "avx512",
            #[cfg(target_arch = "aarch64")]
            Self::Neon => "neon",
        }
    }

    /// Bytes of a vector.
    pub(super) const fn width_bytes(self) -> u32 {
        match self {
            Self::Portable => 8,
            #[cfg(target_arch = "x86_64")]
            Self::Sse2 => 16,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => 32,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => 64,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => 16,
        }
    }
}
