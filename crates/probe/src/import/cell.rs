//! Words of other tools as values.

use crate::measurement::Dtype;

/// A finite number; none of `N/A`, `nan` and all else.
pub(super) fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// A whole number that is not negative, with an exponent too.
pub(super) fn count(text: &str) -> Option<u64> {
    whole(number(text)?)
}

/// A whole number that is not negative.
pub(super) fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
}

/// A number of ranks, of nodes or of threads: at least one.
pub(super) fn several(count: u64) -> Option<u32> {
    u32::try_from(count).ok().filter(|count| *count > 0)
}

/// The number after `key` in `text`: of `iters: 20` that of `iters:`.
pub(super) fn number_after(text: &str, key: &str) -> Option<f64> {
    let (_, rest) = text.split_once(key)?;
    let word = rest.split_whitespace().next()?;
    number(word.trim_end_matches([',', ';', ')']))
}

/// `true`, as tools write it.
pub(super) fn is_true(text: &str) -> bool {
    matches!(text.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes")
}

/// The type of an element by the words of all tools: `bfloat16`, `bf16_r`, `torch.float8_e4m3fn`, `s8`.
pub(super) fn dtype(word: &str) -> Option<Dtype> {
    let word = word.trim().to_ascii_lowercase();
    let word = word.strip_prefix("torch.").unwrap_or(&word);
    let word = word.strip_suffix("_r").unwrap_or(word);
    Some(match word {
        "f64" | "float64" | "double" | "fp64" => Dtype::F64,
        "f32" | "float32" | "float" | "fp32" | "single" => Dtype::F32,
        "tf32" | "xf32" => Dtype::Tf32,
        "bf16" | "bfloat16" => Dtype::Bf16,
        "f16" | "float16" | "half" | "fp16" => Dtype::F16,
        "e4m3" | "f8e4m3" | "fp8e4m3" | "fp8_e4m3" | "fp8_e4m3fn" | "float8_e4m3fn"
        | "float8_e4m3" | "float8e4m3" | "fe4m3" | "f8" => Dtype::Fp8E4m3,
        "e5m2" | "f8e5m2" | "fp8e5m2" | "fp8_e5m2" | "float8_e5m2" | "float8e5m2" | "fe5m2"
        | "bf8" => Dtype::Fp8E5m2,
        "mxfp8" => Dtype::Mxfp8,
        "mxfp4" => Dtype::Mxfp4,
        "nvfp4" => Dtype::Nvfp4,
        "int8" | "s8" | "i8" => Dtype::Int8,
        "int32" | "s32" | "i32" | "int" => Dtype::Int32,
        "int64" | "s64" | "i64" => Dtype::Int64,
        _ => return None,
    })
}

/// How many bytes per second one of a unit is: `MB/s`, `GiB/s`, `MBytes/sec`, `max_mibytes_per_sec`.
pub(super) fn bandwidth_unit(word: &str) -> Option<f64> {
    let word = word.trim().to_ascii_lowercase().replace("_per_", "/");
    let word = word.strip_prefix("max_").unwrap_or(&word);
    let unit = word.strip_suffix("/sec").or_else(|| word.strip_suffix("/s"))?;
    let unit = unit.strip_suffix("bytes").or_else(|| unit.strip_suffix('b'))?;
    let (prefix, base) = match unit.strip_suffix('i') {
        Some(prefix) => (prefix, 1024_f64),
        None => (unit, 1000_f64),
    };
    let power = ["", "k", "m", "g", "t"].iter().position(|known| *known == prefix)?;
    Some(base.powi(i32::try_from(power).ok()?))
}

/// How many milliseconds one of a unit is.
pub(super) fn time_unit(word: &str) -> Option<f64> {
    Some(match word {
        "ns" => 1e-6,
        "us" | "µs" => 1e-3,
        "ms" => 1.0,
        "s" | "sec" => 1e3,
        _ => return None,
    })
}

/// How many operations per second one of a unit is.
pub(super) fn arithmetic_unit(word: &str) -> Option<f64> {
    Some(match word.to_ascii_lowercase().as_str() {
        "mflops" | "mflop/s" | "mflops/s" => 1e6,
        "gflops" | "gflop/s" | "gflops/s" | "giops" => 1e9,
        "tflops" | "tflop/s" | "tflops/s" | "tflops/sec" => 1e12,
        _ => return None,
    })
}

/// A number with its unit, within a line of words.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    Millis(f64),
    BytesPerSec(f64),
    FlopsPerSec(f64),
}

/// Each number of `text` that a unit follows, in order.
pub(super) fn quantities(text: &str) -> Vec<Quantity> {
    let words: Vec<&str> =
        text.split([' ', '\t', ',', '|', ';', '(', ')']).filter(|word| !word.is_empty()).collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let number = number(pair[0].rsplit('=').next()?)?;
        let millis = time_unit(pair[1]).map(|unit| Quantity::Millis(number * unit));
        millis
            .or_else(|| bandwidth_unit(pair[1]).map(|unit| Quantity::BytesPerSec(number * unit)))
            .or_else(|| arithmetic_unit(pair[1]).map(|unit| Quantity::FlopsPerSec(number * unit)))
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_decimal_unless_they_say_binary() {
        assert_eq!(bandwidth_unit("GB/s"), Some(1e9));
        assert_eq!(bandwidth_unit("max_mibytes_per_sec"), Some(1_048_576.0));
        assert_eq!(bandwidth_unit("max_GiB_per_sec"), Some(1_073_741_824.0));
        assert_eq!(bandwidth_unit("MBytes/sec"), Some(1e6));
        assert_eq!(bandwidth_unit("B/s"), Some(1.0));
        assert_eq!(bandwidth_unit("furlongs/s"), None);
    }

    #[test]
    fn quantities_are_numbers_with_units() {
        let found =
            quantities("0.125 ms, 660 TFLOPS, 3000 GB/s (twice), avg_t=7.5 us, nan us, 3 apples");
        let expected = [
            Quantity::Millis(0.125),
            Quantity::FlopsPerSec(6.6e14),
            Quantity::BytesPerSec(3e12),
            Quantity::Millis(0.0075),
        ];
        assert_eq!(found, expected);
    }
}
