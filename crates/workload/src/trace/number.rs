//! Numbers as traces write them.

use fizeau_core::Nanos;

/// The whole number that `text` is, digits only.
pub(super) fn whole(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    text.iter().try_fold(0_u64, |number, byte| {
        let digit = digit(*byte)?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

/// The whole number that `text` is, also where a program that has missing values wrote `472.0`.
pub(super) fn count(text: &[u8]) -> Option<u64> {
    let point = text.iter().position(|byte| *byte == b'.');
    match point.and_then(|point| text.split_at_checked(point)) {
        Some((number, [_, zeros @ ..])) if !zeros.is_empty() => {
            zeros.iter().all(|zero| *zero == b'0').then(|| whole(number)).flatten()
        }
        _ => whole(text),
    }
}

/// The length of time that `text` is, a number of `unit`s with or without decimals and exponent. What is below
/// a nanosecond is cut.
pub(super) fn time(text: &[u8], unit: Nanos) -> Option<Nanos> {
    let unit = unit.as_nanos();
    if let Some(mark) = text.iter().position(|byte| matches!(byte, b'e' | b'E')) {
        let (number, [_, exponent @ ..]) = text.split_at_checked(mark)? else { return None };
        return scaled(number, exponent, unit);
    }
    let point = text.iter().position(|byte| *byte == b'.').unwrap_or(text.len());
    let (number, decimals) = text.split_at_checked(point)?;
    let mut nanos = whole(number)?.checked_mul(unit)?;
    if let [_, decimals @ ..] = decimals {
        nanos = nanos.checked_add(fraction(decimals, unit)?)?;
    }
    Some(Nanos::from_nanos(nanos))
}

/// `number` times ten to the `exponent`, as programs write what they hold as a floating-point number.
fn scaled(number: &[u8], exponent: &[u8], unit: u64) -> Option<Nanos> {
    let (is_small, power) = match exponent {
        [b'-', power @ ..] => (true, whole(power)?),
        [b'+', power @ ..] | power => (false, whole(power)?),
    };
    let point = number.iter().position(|byte| *byte == b'.').unwrap_or(number.len());
    let (digits, decimals) = number.split_at_checked(point)?;
    let decimals = match decimals {
        [] => decimals,
        [_, decimals @ ..] if !decimals.is_empty() => decimals,
        _ => return None,
    };
    whole(digits)?;
    // Below 2^64 with all decimals, or not worth an exponent.
    let all = u128::from(whole(&[digits, decimals].concat())?) * u128::from(unit);
    let power = i64::try_from(power).ok().filter(|power| *power <= 400)?;
    let power = if is_small { -power } else { power } - i64::try_from(decimals.len()).ok()?;
    let ten = 10_u128.checked_pow(u32::try_from(power.unsigned_abs()).ok()?);
    let nanos = match (all, ten) {
        (0, _) => 0,
        (_, None) if power < 0 => 0,
        (_, None) => return None,
        (all, Some(ten)) if power < 0 => all / ten,
        (all, Some(ten)) => all.checked_mul(ten)?,
    };
    u64::try_from(nanos).ok().map(Nanos::from_nanos)
}

/// The part of `unit` that the digits after a decimal point stand for.
pub(super) fn fraction(decimals: &[u8], unit: u64) -> Option<u64> {
    if decimals.is_empty() {
        return None;
    }
    let mut place = unit;
    decimals.iter().try_fold(0, |sum, byte| {
        place /= 10;
        Some(sum + place * digit(*byte)?)
    })
}

fn digit(byte: u8) -> Option<u64> {
    byte.is_ascii_digit().then(|| u64::from(byte - b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_digits_and_nothing_else() {
        assert_eq!(whole(b"18446744073709551615"), Some(u64::MAX));
        for wrong in [&b""[..], b"-1", b"1e3", b" 1", b"18446744073709551616"] {
            assert_eq!((whole(wrong), count(wrong)), (None, None), "{wrong:?}");
        }
        assert_eq!((count(b"472.0"), count(b"472.5"), count(b"472.")), (Some(472), None, None));
    }

    #[test]
    fn times_keep_every_digit_down_to_the_nanosecond() {
        let millis = |text: &[u8]| time(text, Nanos::from_millis(1)).map(Nanos::as_nanos);
        assert_eq!(millis(b"27482"), Some(27_482_000_000));
        assert_eq!(millis(b"0.5"), Some(500_000));
        assert_eq!(millis(b"0.0000019"), Some(1));
        for (text, nanos) in [
            (&b"1e3"[..], 1_000_000_000),
            (b"1.5E+3", 1_500_000_000),
            (b"2.5e-3", 2_500),
            (b"1.697e12", 1_697_000_000_000_000_000),
            (b"1e-99", 0),
        ] {
            assert_eq!(millis(text), Some(nanos), "{text:?}");
        }
        for wrong in
            [&b"e3"[..], b"1e", b"1e+", b"1.e3", b"1e400", b"1e99", b".5e1", b"1e2e3", b"-1e2"]
        {
            assert_eq!(millis(wrong), None, "{wrong:?}");
        }
        assert_eq!(
            time(b"1.000000001", Nanos::from_secs(1)),
            Some(Nanos::from_nanos(1_000_000_001))
        );
        for wrong in [&b"."[..], b"1.", b".5", b"1.x", b"99999999999999999999"] {
            assert_eq!(millis(wrong), None, "{wrong:?}");
        }
    }
}
