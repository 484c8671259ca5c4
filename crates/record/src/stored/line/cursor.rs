//! A place in compact JSON.

/// What is still to be read of a line. Each method moves on, or gives none where something else stands there.
#[derive(Debug)]
pub(super) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self(text)
    }

    pub(super) const fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// Passes `expected`.
    pub(super) fn eat(&mut self, expected: &[u8]) -> Option<()> {
        self.0 = self.0.strip_prefix(expected)?;
        Some(())
    }

    /// Passes what stands after an item of a list: whether another one follows.
    #[inline]
    pub(super) fn goes_on(&mut self) -> Option<bool> {
        let (next, rest) = self.0.split_first()?;
        self.0 = rest;
        match next {
            b',' => Some(true),
            b']' => Some(false),
            _ => None,
        }
    }

    /// Passes a list of whole numbers, each of which `take` is given.
    #[inline]
    pub(super) fn list(&mut self, mut take: impl FnMut(u64) -> Option<()>) -> Option<()> {
        self.eat(b"[")?;
        if self.eat(b"]").is_some() {
            return Some(());
        }
        // A copy, which stays in registers: this runs for each token of a run, and more than once.
        let mut here = Self(self.0);
        let mut digits = 1;
        loop {
            // A number mostly has as many digits as the one before it. Where it does, this is foreseen, and the next number
            // need not wait until the end of this one is found.
            match digits {
                1 => here.alike::<1>(&mut take)?,
                2 => here.alike::<2>(&mut take)?,
                3 => here.alike::<3>(&mut take)?,
                4 => here.alike::<4>(&mut take)?,
                5 => here.alike::<5>(&mut take)?,
                6 => here.alike::<6>(&mut take)?,
                7 => here.alike::<7>(&mut take)?,
                8 => here.alike::<8>(&mut take)?,
                _ => {}
            }
            let before = here.0.len();
            take(here.number()?)?;
            digits = before - here.0.len();
            if !here.goes_on()? {
                self.0 = here.0;
                return Some(());
            }
        }
    }

    /// Passes numbers of `DIGITS` digits (1 to 8), each with the comma after it, as long as there are such.
    #[inline]
    fn alike<const DIGITS: usize>(
        &mut self,
        take: &mut impl FnMut(u64) -> Option<()>,
    ) -> Option<()> {
        while let Some(text) = self.0.first_chunk::<9>() {
            let [word @ .., _] = *text;
            let word = less_zeros(word);
            let are_digits = others(word) << (64 - 8 * DIGITS) == 0;
            if !are_digits || text[DIGITS] != b',' || (DIGITS > 1 && text[0] == b'0') {
                break;
            }
            let value =
                if DIGITS == 1 { word & 0xFF } else { put_together(word << (64 - 8 * DIGITS)) };
            take(value)?;
            self.0 = self.0.get(DIGITS + 1..)?;
        }
        Some(())
    }

    /// Passes a text, its quotes included; none if it has a backslash.
    pub(super) fn quoted(&mut self) -> Option<&'a [u8]> {
        let inner = self.0.strip_prefix(b"\"")?;
        let end = inner.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        let (text, rest) = self.0.split_at_checked(end + 2)?;
        self.0 = rest;
        text.ends_with(b"\"").then_some(text)
    }

    pub(super) fn number_32(&mut self) -> Option<u32> {
        u32::try_from(self.number()?).ok()
    }

    /// Passes a whole number without a sign. What follows it is for the next call to judge.
    #[inline]
    pub(super) fn number(&mut self) -> Option<u64> {
        let Some(eight) = self.0.first_chunk() else {
            return self.number_from(0, 0);
        };
        let (value, digits) = leading_digits(*eight);
        match digits {
            0 => None,
            8 => self.number_from(value, 8),
            _ if digits > 1 && self.0.first() == Some(&b'0') => None,
            _ => {
                self.0 = self.0.get(digits..)?;
                Some(value)
            }
        }
    }

    /// Goes on digit by digit after the first `passed`, whose value is known.
    #[cold]
    fn number_from(&mut self, mut value: u64, passed: usize) -> Option<u64> {
        let digits = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (text, rest) = self.0.split_at_checked(digits)?;
        if digits == 0 || (digits > 1 && text.starts_with(b"0")) {
            return None;
        }
        for digit in text.get(passed..)? {
            value = value.checked_mul(10)?.checked_add((digit - b'0').into())?;
        }
        self.0 = rest;
        Some(value)
    }
}

/// The value of the digits that `text` begins with, and how many there are: eight bytes at a time, without a loop. Stamps
/// are most of a tape, and each has six to eight digits.
#[inline]
const fn leading_digits(text: [u8; 8]) -> (u64, usize) {
    let word = less_zeros(text);
    let digits = (others(word).trailing_zeros() / 8) as usize;
    if digits == 0 {
        return (0, 0);
    }
    (put_together(word << (64 - 8 * digits)), digits)
}

/// Digits as their values, the first one in the lowest byte.
#[inline]
const fn less_zeros(text: [u8; 8]) -> u64 {
    u64::from_le_bytes(text) ^ 0x3030_3030_3030_3030
}

/// The high bit of each byte that is no digit. A carry spoils only bytes after the first of these.
#[inline]
const fn others(word: u64) -> u64 {
    (word.wrapping_add(0x7676_7676_7676_7676) | word) & 0x8080_8080_8080_8080
}

/// The number of eight digits, of which the first are zeros where there are fewer: pairs, and pairs of pairs, at once.
#[inline]
const fn put_together(word: u64) -> u64 {
    /// The two places of each four bytes that hold a number below 100 after the first step.
    const PAIRS: u64 = 0x0000_00FF_0000_00FF;
    let word = word.wrapping_mul(10).wrapping_add(word >> 8);
    let low = (word & PAIRS).wrapping_mul(100 + (1_000_000 << 32));
    let high = ((word >> 16) & PAIRS).wrapping_mul(1 + (10_000 << 32));
    low.wrapping_add(high) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_length_are_read_and_what_follows_is_left() {
        let numbers = [0, 7, 10, 99, 12_345, 9_999_999, 10_000_000, 99_999_999, 100_000_000]
            .into_iter()
            .chain([u64::MAX, u64::MAX / 10]);
        for number in numbers {
            for after in ["", ",", "]", ",0000000000", "],\"bytes\":[1", "\u{ff}\u{ff}"] {
                let text = format!("{number}{after}");
                let mut cursor = Cursor::new(text.as_bytes());
                assert_eq!((cursor.number(), cursor.rest()), (Some(number), after.as_bytes()));
            }
        }
    }

    #[test]
    fn lists_are_read_whatever_the_lengths_of_their_numbers() {
        let list = |text: &str| {
            let mut found = Vec::new();
            let mut cursor = Cursor::new(text.as_bytes());
            cursor.list(|number| {
                found.push(number);
                Some(())
            })?;
            Some((found, cursor.rest().len()))
        };
        let lengths = (0..20).map(|digits| 10_u64.pow(digits) + u64::from(digits));
        for times in 1..4 {
            for turn in 0..20 {
                let numbers = lengths.clone().cycle().skip(turn).take(20);
                let numbers: Vec<u64> = numbers.flat_map(|n| [n, n - 1].repeat(times)).collect();
                let text = format!("{numbers:?},\"x\"").replace(' ', "");
                assert_eq!(list(&text), Some((numbers, 4)), "{text}");
            }
        }
        for odd in [
            "[12,34,05,12,1]",
            "[12,34,05,12,34,56,78]",
            "[12,34,5x,12,1]",
            "[1,2,,3,4,5,6]",
            "[12,34",
            "[12,34,",
            "[1,2,-3,4]",
        ] {
            assert_eq!(list(odd), None, "{odd}");
        }
    }

    #[test]
    fn what_json_does_not_take_for_a_whole_number_is_none() {
        for text in ["", "-1", "x", "00", "01", "00000001,", "000000001", "18446744073709551616"] {
            assert_eq!(Cursor::new(text.as_bytes()).number(), None, "{text}");
        }
    }
}
