//! Hypervolume in four dimensions.

use super::stairs::Stairs;
use super::{Sum, lowest_first, ranked};

/// A point without its last figure.
#[derive(Debug, Clone, Copy)]
struct Shadow {
    /// Its rank in the first dimension.
    x: usize,
    y: f64,
    z: f64,
}

impl Shadow {
    fn covers(&self, other: &Self) -> bool {
        self.z <= other.z && self.y <= other.y && self.x <= other.x
    }
}

/// The volume that points reach below the reference, all of them being below it.
///
/// In the order of the last axis, each point adds what its shadow in the other three covers alone, times the way
/// from it to the reference.
pub(crate) fn volume(points: &[[f64; 4]], reference: [f64; 4]) -> f64 {
    let by_x = lowest_first(points, 0);
    let x: Vec<f64> = by_x.iter().map(|&point| points[point][0]).collect();
    let ranks = ranked(&by_x);
    let mut space = Space::new(&x, [reference[0], reference[1], reference[2]]);
    let mut volume = Sum::default();
    for point in lowest_first(points, 3) {
        let [x, y, z, w] = points[point];
        let shadow = Shadow { x: ranks[point], y, z };
        volume.add(space.add(shadow, x) * (reference[3] - w));
    }
    volume.total()
}

/// What shadows cover of three dimensions.
struct Space {
    /// Those that no other covers, lowest z first.
    shadows: Vec<Shadow>,
    stairs: Stairs,
    reference: [f64; 3],
}

impl Space {
    fn new(x: &[f64], reference: [f64; 3]) -> Self {
        let stairs = Stairs::new(x.iter().copied(), [reference[0], reference[1]]);
        Self { shadows: Vec::new(), stairs, reference }
    }

    /// Adds a shadow, whose first figure is `x`; gives the volume that only it covers.
    fn add(&mut self, shadow: Shadow, x: f64) -> f64 {
        let place = self.shadows.partition_point(|other| other.z <= shadow.z);
        if self.shadows[..place].iter().any(|other| other.covers(&shadow)) {
            return 0.0;
        }
        let volume = self.alone(&shadow, x);
        // Those of the same z may stand before it.
        self.shadows.retain(|other| !shadow.covers(other));
        let place = self.shadows.partition_point(|other| other.z <= shadow.z);
        self.shadows.insert(place, shadow);
        volume
    }

    /// The volume that `shadow` alone covers: what others cover of its own box is taken from each slab.
    fn alone(&mut self, shadow: &Shadow, x: f64) -> f64 {
        self.stairs.clear();
        let mut area = Sum::new((self.reference[0] - x) * (self.reference[1] - shadow.y));
        let (mut volume, mut level) = (Sum::default(), shadow.z);
        for other in &self.shadows {
            let less = self.stairs.add(other.x.max(shadow.x), other.y.max(shadow.y));
            if less > 0.0 {
                if other.z > level {
                    volume.add(area.total() * (other.z - level));
                    level = other.z;
                }
                area.add(-less);
            }
            if other.x <= shadow.x && other.y <= shadow.y {
                return volume.total();
            }
        }
        volume.add(area.total() * (self.reference[2] - level));
        volume.total()
    }
}
