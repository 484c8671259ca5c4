//! Where a label may stand without covering another.

use super::text;

/// A place on the picture in pixels, right of and below its upper left corner.
pub(super) type Spot = (f64, f64);

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

/// Boxes already taken on a picture.
#[derive(Debug, Default)]
pub(super) struct Taken {
    boxes: Vec<Box>,
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

impl Taken {
    /// Keeps labels off a dot.
    pub(super) fn dot(&mut self, (x, y): Spot, radius: f64) {
        self.boxes.push(Box {
            left: x - radius,
            top: y - radius,
            right: x + radius,
            bottom: y + radius,
        });
    }

    /// Keeps labels off a straight line.
    pub(super) fn line(&mut self, (x1, y1): Spot, (x2, y2): Spot) {
        let steps = ((x2 - x1).abs().max((y2 - y1).abs()) / 4.0).ceil().max(1.0);
        for step in 0..=steps as u32 {
            let part = f64::from(step) / steps;
            self.dot((x1 + (x2 - x1) * part, y1 + (y2 - y1) * part), 1.5);
        }
    }

    /// Keeps labels off a text whose middle is as high as `place`.
    pub(super) fn text(&mut self, place: Spot, side: Side, text: &str, size: f64) {
        self.boxes.push(area((place, side), text::width(text, size), size));
    }

    /// The first free place for `text` around a dot of `radius` at a spot, beginning with above, right and left, then farther
    /// away; above if all are taken. The place is then taken too; it is that of the text's middle height.
    pub(super) fn label(
        &mut self,
        at: Spot,
        radius: f64,
        (text, size): (&str, f64),
        limits: Limits,
    ) -> (Spot, Side) {
        let width = text::width(text, size);
        let offers = [3.0, 16.0].into_iter().flat_map(|gap| around(at, radius + gap, size));
        let [left, top, right, bottom] = limits;
        let inside = |offer: &(Spot, Side)| {
            let area = area(*offer, width, size);
            area.left >= left && area.right <= right && area.top >= top && area.bottom <= bottom
        };
        let free = |offer: &(Spot, Side)| {
            let area = area(*offer, width, size);
            !self.boxes.iter().any(|taken| taken.overlaps(&area))
        };
        let offers: Vec<(Spot, Side)> = offers.collect();
        let free = offers.iter().find(|offer| inside(offer) && free(offer));
        let chosen = free.or_else(|| offers.iter().find(|offer| inside(offer)));
        let chosen = chosen.copied().unwrap_or((at, Side::Middle));
        self.boxes.push(area(chosen, width, size));
        chosen
    }
}

/// Places around a dot, the better ones first.
fn around((x, y): Spot, away: f64, size: f64) -> [(Spot, Side); 8] {
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
fn area(((x, y), side): (Spot, Side), width: f64, size: f64) -> Box {
    let left = match side {
        Side::Start => x,
        Side::Middle => x - width / 2.0,
        Side::End => x - width,
    };
    Box { left, top: y - size * 0.5, right: left + width, bottom: y + size * 0.5 }
}

#[cfg(test)]
mod tests {
    use super::{Side, Taken};

    const LIMITS: [f64; 4] = [0.0, 0.0, 1000.0, 1000.0];

    #[test]
    fn a_second_label_moves_aside() {
        let mut taken = Taken::default();
        let spots = [(500.0, 100.0), (500.0, 104.0), (500.0, 108.0)];
        let given = spots.map(|spot| taken.label(spot, 4.0, ("128", 14.0), LIMITS));
        assert_eq!(given.map(|(_, side)| side), [Side::Middle, Side::Start, Side::End]);
    }

    #[test]
    fn a_label_keeps_off_a_line_and_inside_the_plot() {
        let mut taken = Taken::default();
        taken.line((0.0, 40.0), (100.0, 40.0));
        // Above is the line, and on the right the plot ends.
        let (_, side) = taken.label((95.0, 52.0), 4.0, ("8", 14.0), [0.0, 0.0, 104.0, 100.0]);
        assert_eq!(side, Side::End);
    }
}
