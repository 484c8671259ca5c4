//! How wide a text is, by a font that has the widths of Arial, which nearly every system has or stands in for.

use std::sync::LazyLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};

/// As an SVG names it: all of these are as wide as the one that it is measured by, but for the last.
pub(super) const FAMILY: &str = "Arial, Arimo, Liberation Sans, Helvetica, sans-serif";

/// The font, and how large its em is at a scale of one; none if the file beside it is no font.
static FONT: LazyLock<Option<FontRef<'static>>> = LazyLock::new(|| {
    FontRef::try_from_slice(include_bytes!("../../assets/font/arimo-latin.ttf")).ok()
});

/// The font that texts are measured by.
pub(super) fn font() -> Option<&'static FontRef<'static>> {
    FONT.as_ref()
}

/// The scale at which the font's em is `size`.
pub(super) fn scale(font: &impl Font, size: f64) -> PxScale {
    let per_em = font.units_per_em().map_or(1.0, |units| font.height_unscaled() / units);
    PxScale::from(size as f32 * per_em)
}

/// The width of `text` where the em is `size`, in the unit of `size`. What the font has no glyph for takes an em.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let Some(font) = font() else { return size * 0.6 * text.chars().count() as f64 };
    let scaled = font.as_scaled(scale(font, size));
    let advance = |c: char| match font.glyph_id(c) {
        glyph if glyph.0 == 0 => size,
        glyph => f64::from(scaled.h_advance(glyph)),
    };
    text.chars().map(advance).sum()
}

/// A system without such a font takes a wider one for it: of DejaVu Sans, which is that of most Linux systems, lines of words and
/// digits are up to a sixth wider.
const SLACK: f64 = 1.17;

/// The room that `text` may take, whichever font a reader's system has.
pub(super) fn span(text: &str, size: f64) -> f64 {
    width(text, size) * SLACK
}

/// What XML forbids is replaced, and a line stays one.
pub(super) const fn clean(c: char) -> char {
    match c {
        '\n' | '\t' => ' ',
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    }
}

/// `text` in a line, without what XML forbids; as much of it as fits into `room`, with three dots where it is cut.
pub(super) fn fitted(text: &str, size: f64, room: f64) -> String {
    // No picture shows more than this; a name of megabytes is cut before it is measured.
    let mut kept: String = text.chars().take(400).map(clean).collect();
    if span(&kept, size) <= room {
        return kept;
    }
    while !kept.is_empty() && span(&kept, size) + span("...", size) > room {
        kept.pop();
    }
    kept.truncate(kept.trim_end().len());
    kept.push_str("...");
    kept
}

/// `text` in lines of at most `room`, broken at spaces.
pub(super) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if span(line, size) + span(" ", size) + span(word, size) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fitted(line, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::{fitted, font, span, width, wrapped};

    /// Widths of Arial: 0.556 em for a digit, 0.278 for a space (Monotype's Arial and Google's Arimo, `hmtx`).
    #[test]
    fn the_font_is_there_and_has_the_widths_of_arial() {
        assert!(font().is_some());
        assert!((width("0", 1000.0) - 556.0).abs() < 1.0, "{}", width("0", 1000.0));
        assert!((width(" ", 1000.0) - 278.0).abs() < 1.0, "{}", width(" ", 1000.0));
        assert!((width("\u{4e00}", 10.0) - 10.0).abs() < 1e-9);
    }

    /// Widths of DejaVu Sans 2.37 in thousandths of an em (sums over its `hmtx`).
    #[test]
    fn a_wider_font_has_room() {
        let widths = [
            ("speed of light (nothing beats it)", 15_834.0),
            ("requests waiting for their first token", 18_072.0),
            ("operating point: 32", 9_620.0),
            ("128", 1_909.0),
        ];
        for (text, wide) in widths {
            assert!((wide..wide * 1.05).contains(&span(text, 1000.0)), "{text}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_control_characters_go() {
        assert_eq!(fitted("short", 14.0, 100.0), "short");
        let cut = fitted(&"long ".repeat(1000), 14.0, 100.0);
        assert!(cut.ends_with("...") && span(&cut, 14.0) <= 100.0, "{cut}");
        assert_eq!(fitted("a\u{1b}[31m\nb", 14.0, 100.0), "a\u{fffd}[31m b");
    }

    #[test]
    fn lines_break_at_spaces() {
        let lines = wrapped("one two three four", 10.0, 45.0);
        assert_eq!(lines, ["one two", "three", "four"]);
    }
}
