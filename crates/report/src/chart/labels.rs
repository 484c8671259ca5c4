//! Where a point's label may stand without covering another.

use super::svg::{Anchor, Place};

/// Boxes already taken on a drawing.
#[derive(Debug, Default)]
pub(crate) struct Taken {
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

/// Height of a label's line, and how wide one character may be at most on average.
const LINE: f64 = 13.0;
const CHARACTER: f64 = 7.0;

impl Taken {
    /// Keeps labels off a dot.
    pub(crate) fn dot(&mut self, (x, y): Place, radius: f64) {
        self.boxes.push(Box {
            left: x - radius,
            top: y - radius,
            right: x + radius,
            bottom: y + radius,
        });
    }

    /// The first free place for `text` around a dot of `radius` at `place`, beginning with above, right and
    /// left; above if all are taken. The place is then taken too. Labels keep within `limits`, left and right.
    pub(crate) fn label(
        &mut self,
        (x, y): Place,
        radius: f64,
        text: &str,
        limits: Place,
    ) -> (Place, Anchor) {
        let width = text.chars().count() as f64 * CHARACTER;
        let away = radius + 4.0;
        let below = y + away + LINE - 4.0;
        let offers = [
            ((x, y - away), Anchor::Middle),
            ((x + away, y + 4.0), Anchor::Start),
            ((x - away, y + 4.0), Anchor::End),
            ((x, below), Anchor::Middle),
            ((x + away, y - away), Anchor::Start),
            ((x - away, y - away), Anchor::End),
            ((x + away, below), Anchor::Start),
            ((x - away, below), Anchor::End),
        ];
        let fits = |offer: &(Place, Anchor)| {
            let area = area(*offer, width);
            let inside = area.left >= limits.0 && area.right <= limits.1;
            inside && !self.boxes.iter().any(|taken| taken.overlaps(&area))
        };
        let first = offers[0];
        let chosen = offers.into_iter().find(fits).unwrap_or(first);
        self.boxes.push(area(chosen, width));
        chosen
    }
}

/// The box that a text of `width` covers.
fn area(((x, y), anchor): (Place, Anchor), width: f64) -> Box {
    let left = match anchor {
        Anchor::Start => x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Box { left, top: y - LINE + 3.0, right: left + width, bottom: y + 3.0 }
}

#[cfg(test)]
mod tests {
    use super::{Anchor, Taken};

    #[test]
    fn a_second_label_moves_aside() {
        let mut taken = Taken::default();
        let limits = (0.0, 1000.0);
        let places = [(500.0, 100.0), (500.0, 104.0), (500.0, 108.0)];
        let given = places.map(|place| taken.label(place, 4.0, "128", limits));
        assert_eq!(given.map(|(_, anchor)| anchor), [Anchor::Middle, Anchor::Start, Anchor::End]);
    }

    #[test]
    fn a_label_keeps_off_a_line_and_inside_the_plot() {
        let mut taken = Taken::default();
        (0..=25).for_each(|x| taken.dot((4.0 * f64::from(x), 40.0), 1.0));
        // Above is the line, and on the right the plot ends.
        let (_, anchor) = taken.label((95.0, 52.0), 4.0, "8", (0.0, 104.0));
        assert_eq!(anchor, Anchor::End);
    }
}
