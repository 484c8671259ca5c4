//! Where a label may stand without covering another.

use super::text;

/// A place on the picture in pixels, right of and below its upper left corner.
pub(super) type PixelPoint = (f64, f64);

/// On which side of its place a label stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The label begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// What is already taken of a panel. No label covers a dot or another label; over a line one may lie where there is no other room.
#[derive(Debug, Default)]
pub(super) struct OccupiedAreas {
    boxes: Vec<Box>,
    lines: Vec<Box>,
}

#[derive(Debug, Clone, Copy)]
struct Box {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Box {
    fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// What labels must keep within: left, top, right, bottom.
pub(super) type Limits = [f64; 4];

impl OccupiedAreas {
    /// Keeps labels off a dot.
    pub(super) fn dot(&mut self, at: PixelPoint, radius: f64) {
        self.boxes.push(around_dot(at, radius));
    }

    /// Keeps labels off a straight line.
    pub(super) fn line(&mut self, (x1, y1): PixelPoint, (x2, y2): PixelPoint) {
        let steps = ((x2 - x1).abs().max((y2 - y1).abs()) / 4.0).ceil().max(1.0);
        for step in 0..=steps as u32 {
            let part = f64::from(step) / steps;
            let spot = (x1 + (x2 - x1) * part, y1 + (y2 - y1) * part);
            self.lines.push(around_dot(spot, 1.5));
        }
    }

    /// The first of `texts` that has a place around a dot of `radius`, and that place. Above, right and left come first, then
    /// farther away. The last of the texts may lie on a line.
    pub(super) fn label<'a>(
        &mut self,
        at: PixelPoint,
        radius: f64,
        texts: &'a [String],
        size: f64,
        limits: Limits,
    ) -> Option<(&'a str, LabelPlace)> {
        let offers = [3.0, 16.0].into_iter().flat_map(|gap| around(at, radius + gap, size));
        let offers: Vec<(PixelPoint, Side)> = offers.collect();
        let off_lines = texts.iter().map(|text| (text.as_str(), Lines::Avoided));
        let on_lines = texts.last().map(|text| (text.as_str(), Lines::Covered));
        let mut tries = off_lines.chain(on_lines);
        tries
            .find_map(|(text, lines)| Some((text, self.first(&offers, text, size, limits, lines)?)))
    }

    /// A place for `text` along the level line at the height `y`: above it or below, from the left.
    pub(super) fn beside_line(
        &mut self,
        y: f64,
        text: &str,
        size: f64,
        limits: Limits,
    ) -> Option<LabelPlace> {
        let [left, _, right, _] = limits;
        let room = (right - left - 16.0 - text::span(text, size)).max(0.0);
        let along = [0.0, 0.25, 0.5, 0.75, 1.0].map(|part| left + 8.0 + room * part);
        let offers = along.map(|x| [y - 10.0, y + 11.0].map(|y| ((x, y), Side::Start)));
        let offers = offers.as_flattened();
        let place = |lines| self.first(offers, text, size, limits, lines);
        [Lines::Avoided, Lines::Covered].into_iter().find_map(place)
    }

    /// The first of the offers that is free, which it takes.
    fn first(
        &mut self,
        offers: &[(PixelPoint, Side)],
        text: &str,
        size: f64,
        [left, top, right, bottom]: Limits,
        lines: Lines,
    ) -> Option<LabelPlace> {
        let width = text::span(text, size);
        let is_free = |offer: &&(PixelPoint, Side)| {
            let area = area(**offer, width, size);
            let is_inside = area.left >= left
                && area.right <= right
                && area.top >= top
                && area.bottom <= bottom;
            let is_off = |taken: &[Box]| !taken.iter().any(|taken| taken.overlaps(&area));
            is_inside && is_off(&self.boxes) && (lines == Lines::Covered || is_off(&self.lines))
        };
        let (spot, side) = *offers.iter().find(is_free)?;
        self.boxes.push(area((spot, side), width, size));
        Some(LabelPlace { spot, side, lines })
    }
}

/// Where a label stands: its middle height is that of the spot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LabelPlace {
    pub(super) spot: PixelPoint,
    pub(super) side: Side,
    pub(super) lines: Lines,
}

/// Whether a label lies on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lines {
    Avoided,
    Covered,
}

fn around_dot((x, y): PixelPoint, radius: f64) -> Box {
    Box { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius }
}

/// Places around a dot, the better ones first.
fn around((x, y): PixelPoint, away: f64, size: f64) -> [(PixelPoint, Side); 8] {
    let (above, below) = (y - away - size / 2.0, y + away + size / 2.0);
    // At a corner of the dot there is more room than beside it.
    let corner = away * 0.75;
    [
        ((x, above), Side::Middle),
        ((x + away, y), Side::Start),
        ((x - away, y), Side::End),
        ((x, below), Side::Middle),
        ((x + corner, y - corner - size / 4.0), Side::Start),
        ((x - corner, y - corner - size / 4.0), Side::End),
        ((x + corner, y + corner + size / 4.0), Side::Start),
        ((x - corner, y + corner + size / 4.0), Side::End),
    ]
}

/// The box that a text of `width` covers.
fn area(((x, y), side): (PixelPoint, Side), width: f64, size: f64) -> Box {
    let left = match side {
        Side::Start => x,
        Side::Middle => x - width / 2.0,
        Side::End => x - width,
    };
    Box { left, top: y - size * 0.5, right: left + width, bottom: y + size * 0.5 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{LabelPlace, Lines, OccupiedAreas, PixelPoint, Side, area, around_dot, text};

    const LIMITS: [f64; 4] = [0.0, 0.0, 1000.0, 1000.0];

    fn place(
        taken: &mut OccupiedAreas,
        spot: PixelPoint,
        texts: &[&str],
    ) -> Option<(String, LabelPlace)> {
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let found = taken.label(spot, 4.0, &texts, 14.0, LIMITS);
        found.map(|(text, place)| (text.to_owned(), place))
    }

    #[test]
    fn a_second_label_moves_aside() {
        let mut taken = OccupiedAreas::default();
        let spots = [(500.0, 100.0), (500.0, 104.0), (500.0, 108.0)];
        let given = spots.map(|spot| place(&mut taken, spot, &["128"]).map(|found| found.1.side));
        assert_eq!(given, [Some(Side::Middle), Some(Side::Start), Some(Side::End)]);
    }

    #[test]
    fn a_label_keeps_off_a_line_and_inside_the_plot() {
        let mut taken = OccupiedAreas::default();
        taken.line((0.0, 40.0), (100.0, 40.0));
        // Above is the line, and on the right the plot ends.
        let limits = [0.0, 0.0, 104.0, 100.0];
        let texts = ["8".to_owned()];
        let found = taken.label((95.0, 52.0), 4.0, &texts, 14.0, limits);
        let found = found.map(|found| (found.1.side, found.1.lines));
        assert_eq!(found, Some((Side::End, Lines::Avoided)));
    }

    #[test]
    fn where_there_is_no_room_the_short_one_may_lie_on_a_line_and_then_there_is_none() {
        let mut taken = OccupiedAreas::default();
        for y in 0..60 {
            taken.line((0.0, f64::from(y) * 5.0), (1000.0, f64::from(y) * 5.0));
        }
        let found = place(&mut taken, (500.0, 150.0), &["operating point: 8", "8"]);
        let found = found.map(|(text, place)| (text, place.lines));
        assert_eq!(found, Some(("8".to_owned(), Lines::Covered)));
        for x in 0..200 {
            taken.dot((400.0 + f64::from(x), 150.0), 60.0);
        }
        assert_eq!(place(&mut taken, (500.0, 150.0), &["operating point: 8", "8"]), None);
    }

    proptest! {
        #![proptest_config(crate::testing::cases())]
        #[test]
        fn no_label_covers_a_dot_or_another_label(
            labels in prop::collection::vec((0.0..1000.0_f64, 0.0..120.0_f64, "[ -~]{0,24}"), 1..40),
        ) {
            let mut taken = OccupiedAreas::default();
            let dots: Vec<_> = labels.iter().map(|(x, y, _)| around_dot((*x, *y), 4.0)).collect();
            labels.iter().for_each(|(x, y, _)| taken.dot((*x, *y), 4.0));
            let mut given = Vec::new();
            for (x, y, words) in &labels {
                if let Some((words, at)) = place(&mut taken, (*x, *y), &[words.as_str()]) {
                    given.push(area((at.spot, at.side), text::span(&words, 14.0), 14.0));
                }
            }
            for (index, one) in given.iter().enumerate() {
                prop_assert!(!dots.iter().any(|dot| dot.overlaps(one)));
                prop_assert!(!given[index + 1..].iter().any(|other| other.overlaps(one)));
            }
        }
    }
}
