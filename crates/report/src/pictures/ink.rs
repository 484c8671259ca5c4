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
    /// Goals, and the level to run at.
    Goal,
    /// A run or a series, by its index; after eight they begin again.
    Series(usize),
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
const GOAL: Pair = ((0xb4, 0x50, 0x0c), (0xff, 0xa2, 0x5d));
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

impl Ink {
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
            Self::Series(index) => SERIES.get(index % SERIES.len()).copied().unwrap_or(TEXT),
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
    let roles = [PAPER, TEXT, SOFT, RULE, SHADE, GREY, LIGHT, GOAL];
    for (light, dark) in roles.into_iter().chain(SERIES) {
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
    use super::{GOAL, GREY, LIGHT, PAPER, Pair, RULE, SERIES, SHADE, SOFT, TEXT};

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
        let read: Vec<Pair> = [TEXT, SOFT, LIGHT, GOAL].into_iter().chain(SERIES).collect();
        for (light, dark) in read {
            assert!(contrast(light, PAPER.0) >= 4.5, "{light:?}");
            assert!(contrast(dark, PAPER.1) >= 4.5, "{dark:?}");
        }
    }

    #[test]
    fn no_two_roles_share_a_light_colour() {
        let all = [PAPER, TEXT, SOFT, RULE, SHADE, GREY, LIGHT, GOAL].into_iter().chain(SERIES);
        let mut light: Vec<_> = all.map(|pair| pair.0).collect();
        let before = light.len();
        light.sort_unstable();
        light.dedup();
        assert_eq!(light.len(), before);
    }
}
