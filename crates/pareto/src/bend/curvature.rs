//! The greatest curvature of a curve that is known as points.

use super::NoKnee;
use super::outline::FrontierOutline;

/// The sine of a turn that is rounding.
const STRAIGHT: f64 = 1e-9;

/// The place on the outline where it turns most sharply towards the worse end of the first axis, and one by the radius there.
pub(super) fn find(outline: &FrontierOutline) -> Result<(usize, f64), NoKnee> {
    let points: Vec<[f64; 2]> = outline.points().collect();
    let turns = points.windows(3).enumerate().filter_map(|(before, three)| match three {
        [a, b, c] => menger(*a, *b, *c).map(|curvature| (before + 1, curvature)),
        _ => None,
    });
    turns.reduce(|best, turn| if turn.1 > best.1 { turn } else { best }).ok_or(NoKnee::NoBend)
}

/// One by the radius of the circle through three different points, if the way through them turns left.
fn menger(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> Option<f64> {
    let side = |from: [f64; 2], to: [f64; 2]| [to[0] - from[0], to[1] - from[1]];
    let length = |side: [f64; 2]| side[0].hypot(side[1]);
    let (ab, bc, ca) = (side(a, b), side(b, c), side(c, a));
    // Twice the area of the triangle, above 0 for a turn to the left.
    let doubled = ab[0] * bc[1] - ab[1] * bc[0];
    let sine = doubled / (length(ab) * length(bc));
    (sine > STRAIGHT).then(|| 2.0 * sine / length(ca))
}
