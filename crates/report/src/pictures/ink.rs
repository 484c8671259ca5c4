//! The colours: a role each, light and dark.

use std::fmt::Write;

use plotters::style::RGBColor;

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// What everything lies on.
    Paper,
    /// Titles and labels.
    Text,
    /// Axes, ticks, what is said aside.
    Soft,
    /// Grid lines.
    Rule,
    /// What lies behind: a band of time, an area.
    Shade,
    /// What is beaten.
    Grey,
    /// What the hardware could do.
    Light,
    /// What a goal forbids begins there.
    Goal,
    /// The level to run at.
    Chosen,
    /// A run or a series, by its index; after eight they begin again.
    Series(usize),
    /// One of several that have an order, from the first step to the last, [`STEPS`] - 1.
    Step(usize),
}

/// Pairs of light and dark. All that a picture has is one of the first of a pair, so that a rule a colour turns it dark.
type Pair = ((u8, u8, u8), (u8, u8, u8));

const PAPER: Pair = ((0xff, 0xff, 0xff), (0x11, 0x16, 0x1b));
const TEXT: Pair = ((0x16, 0x20, 0x2a), (0xe6, 0xeb, 0xf0));
const SOFT: Pair = ((0x4f, 0x5b, 0x67), (0xa3, 0xb0, 0xbc));
const RULE: Pair = ((0xdd, 0xe3, 0xe8), (0x2b, 0x35, 0x40));
const SHADE: Pair = ((0xdf, 0xe8, 0xf3), (0x22, 0x30, 0x40));
const GREY: Pair = ((0x8b, 0x97, 0xa3), (0x6f, 0x7c, 0x89));
const LIGHT: Pair = ((0x7a, 0x3f, 0xc3), (0xc3, 0x9b, 0xfe));
const GOAL: Pair = ((0xb3, 0x26, 0x1d), (0xff, 0x8a, 0x81));
const CHOSEN: Pair = ((0x15, 0x6f, 0x3c), (0x6f, 0xd0, 0x90));
const SERIES: [Pair; 8] = [
    ((0x0b, 0x62, 0xc4), (0x6c, 0xb1, 0xff)),
    ((0xb4, 0x50, 0x0b), (0xff, 0xa2, 0x5c)),
    ((0x15, 0x6f, 0x3d), (0x6f, 0xd0, 0x8f)),
    ((0x7a, 0x3f, 0xc2), (0xc3, 0x9b, 0xff)),
    ((0xb3, 0x26, 0x1e), (0xff, 0x8a, 0x80)),
    ((0x00, 0x7a, 0x87), (0x5f, 0xd4, 0xe0)),
    ((0x8a, 0x5a, 0x00), (0xf0, 0xbd, 0x5b)),
    ((0xa1, 0x33, 0x7d), (0xf4, 0x9a, 0xd4)),
];

/// How many colours show an order.
pub(super) const STEPS: usize = 8;

/// The colours that show an order, from blue by violet and red to orange, as a page has them.
fn steps() -> [Pair; STEPS] {
    std::array::from_fn(|step| {
        let along = step as f64 / (STEPS - 1) as f64;
        let of = |lightness: f64| rgb_of((205.0 + 180.0 * along) % 360.0, lightness - 0.08 * along);
        (of(0.5), of(0.72))
    })
}

/// Red, green and blue of a hue in degrees and a lightness from 0 to 1, at a saturation of 68 % (CSS Color 4, section 7.1).
fn rgb_of(hue: f64, lightness: f64) -> (u8, u8, u8) {
    let part = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let reach = 0.68 * lightness.min(1.0 - lightness);
        let part = lightness - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (part * 255.0).round() as u8
    };
    (part(0.0), part(8.0), part(4.0))
}

/// All that a picture may have.
fn pairs() -> impl Iterator<Item = Pair> {
    let roles = [PAPER, TEXT, SOFT, RULE, SHADE, GREY, LIGHT, GOAL, CHOSEN];
    roles.into_iter().chain(SERIES).chain(steps())
}

impl Ink {
    /// That of the one at `index` of `count` that have an order: the first and the last are as far apart as can be.
    pub(super) const fn ordered(index: usize, count: usize) -> Self {
        match count {
            0 | 1 => Self::Step(0),
            _ => Self::Step((index * (STEPS - 1) + (count - 1) / 2) / (count - 1)),
        }
    }

    fn pair(self) -> Pair {
        match self {
            Self::Paper => PAPER,
            Self::Text => TEXT,
            Self::Soft => SOFT,
            Self::Rule => RULE,
            Self::Shade => SHADE,
            Self::Grey => GREY,
            Self::Light => LIGHT,
            Self::Goal => GOAL,
            Self::Chosen => CHOSEN,
            Self::Series(index) => SERIES.get(index % SERIES.len()).copied().unwrap_or(TEXT),
            Self::Step(step) => steps().get(step).copied().unwrap_or(TEXT),
        }
    }

    /// As it is drawn.
    pub(super) fn rgb(self) -> RGBColor {
        let (r, g, b) = self.pair().0;
        RGBColor(r, g, b)
    }
}

/// The rules that turn a picture of the class `fizeau-picture` dark where the reader's surroundings are.
pub(super) fn dark_rules() -> String {
    let mut out = "@media screen and (prefers-color-scheme: dark) {\n".to_owned();
    for (light, dark) in pairs() {
        let [light, dark] = [light, dark].map(|(r, g, b)| format!("#{r:02X}{g:02X}{b:02X}"));
        for what in ["fill", "stroke"] {
            // Writing to a `String` cannot fail.
            let _ = writeln!(out, ".fizeau-picture [{what}=\"{light}\"] {{ {what}: {dark} }}");
        }
    }
    out.push_str("}\n");
    out
}

#[cfg(test)]
mod tests {
    use super::{
        CHOSEN, GOAL, Ink, LIGHT, PAPER, Pair, SERIES, SOFT, STEPS, TEXT, pairs, rgb_of, steps,
    };

    /// By WCAG 2.1, relative luminance and contrast ratio.
    fn contrast(a: (u8, u8, u8), b: (u8, u8, u8)) -> f64 {
        let luminance = |(r, g, b): (u8, u8, u8)| {
            let part = |c: u8| match f64::from(c) / 255.0 {
                c if c <= 0.03928 => c / 12.92,
                c => ((c + 0.055) / 1.055).powf(2.4),
            };
            0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b)
        };
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_light_and_dark() {
        let read: Vec<Pair> = [TEXT, SOFT, LIGHT, GOAL, CHOSEN].into_iter().chain(SERIES).collect();
        for (light, dark) in read {
            assert!(contrast(light, PAPER.0) >= 4.5, "{light:?}");
            assert!(contrast(dark, PAPER.1) >= 4.5, "{dark:?}");
        }
    }

    /// A line can be told from what it lies on (WCAG 2.1, 1.4.11).
    #[test]
    fn what_shows_an_order_can_be_seen_light_and_dark() {
        for (light, dark) in steps() {
            assert!(contrast(light, PAPER.0) >= 3.0, "{light:?}");
            assert!(contrast(dark, PAPER.1) >= 3.0, "{dark:?}");
        }
    }

    #[test]
    fn hues_are_those_of_css() {
        // `hsl(0 68% 50%)`, `hsl(120 68% 50%)` and `hsl(205 68% 72%)` as browsers compute them.
        let found = [(0.0, 0.5), (120.0, 0.5), (205.0, 0.72)].map(|(hue, of)| rgb_of(hue, of));
        assert_eq!(found, [(214, 41, 41), (41, 214, 41), (135, 192, 232)]);
    }

    #[test]
    fn an_order_has_its_first_and_last_colour_and_no_colour_twice() {
        for count in 2..=STEPS {
            let inks: Vec<Ink> = (0..count).map(|index| Ink::ordered(index, count)).collect();
            assert_eq!(inks.first(), Some(&Ink::Step(0)));
            assert_eq!(inks.last(), Some(&Ink::Step(STEPS - 1)));
            assert!(inks.windows(2).all(|pair| pair[0] != pair[1]), "{inks:?}");
        }
        assert_eq!(Ink::ordered(0, 1), Ink::Step(0));
    }

    #[test]
    fn no_two_roles_share_a_light_colour() {
        let mut light: Vec<_> = pairs().map(|pair| pair.0).collect();
        let before = light.len();
        light.sort_unstable();
        light.dedup();
        assert_eq!(light.len(), before);
    }
}
