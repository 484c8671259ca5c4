//! Single figures as text.

use fizeau_record::text::five_digits;

/// What stands for the difference of figures that are the same.
pub(super) const SAME: &str = "=";

/// Five digits; counts whole.
pub(super) fn shown(value: f64, is_count: bool) -> String {
    match is_count && value.fract() == 0.0 {
        true => format!("{value:.0}"),
        false => five_digits(value),
    }
}

/// By how much theirs is above ours: `=`, `+2.3 %`; the difference itself where ours is zero.
pub(super) fn difference(theirs: f64, ours: f64) -> String {
    let (apart, size) = (theirs - ours, ours.abs());
    let largest = size.max(theirs.abs());
    if apart.abs() <= 1e-9 * largest || largest < ROUNDING {
        return SAME.to_owned();
    }
    if size == 0.0 {
        return format!("{}{}", sign(apart), shown(apart.abs(), false));
    }
    let percent = apart / size * 100.0;
    match percent.abs() {
        p if p < 0.005 => "< 0.01 %".to_owned(),
        p if p < 0.995 => format!("{percent:+.2} %"),
        p if p < 9.95 => format!("{percent:+.1} %"),
        p if p < 1e5 => format!("{percent:+.0} %"),
        _ => format!("{}{:.1e} %", sign(percent), percent.abs()),
    }
}

/// What is less is rounding: of milliseconds a nanosecond.
const ROUNDING: f64 = 1e-6;

const fn sign(value: f64) -> &'static str {
    if value < 0.0 { "-" } else { "+" }
}

#[cfg(test)]
mod tests {
    use super::{difference, shown};

    #[test]
    fn five_digits_and_whole_counts() {
        let ms = |value| shown(value, false);
        assert_eq!(
            [ms(20.150_36), ms(0.0), ms(1235.991), ms(20_150_364.9)],
            ["20.150", "0.0000", "1236.0", "20150365"]
        );
        assert_eq!(ms(0.001_234_56), "0.001235");
        assert_eq!([shown(40.0, true), shown(4.5, true)], ["40", "4.5000"]);
    }

    #[test]
    fn a_difference_is_of_ours() {
        assert_eq!(difference(20.0, 20.0), "=");
        assert_eq!([difference(40.0, 4.0), difference(0.5, 1.0)], ["+900 %", "-50 %"]);
        assert_eq!([difference(1.023, 1.0), difference(1.00001, 1.0)], ["+2.3 %", "< 0.01 %"]);
        assert_eq!([difference(3.0, 0.0), difference(0.0, 0.0)], ["+3.0000", "="]);
        assert_eq!(difference(1e12, 1.0), "+1.0e14 %");
        assert_eq!(difference(3e-13, 2e-13), "=");
    }
}
