//! Hypervolume in four dimensions.

use super::cover::Cover;
use super::order::{lowest_first, ranked};
use super::sum::CompensatedSum;

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
        self.x <= other.x && self.y <= other.y && self.z <= other.z
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
    let mut volume = CompensatedSum::default();
    for point in lowest_first(points, 3) {
        let [x, y, z, w] = points[point];
        let shadow = Shadow { x: ranks[point], y, z };
        volume.add(space.add(shadow, x) * (reference[3] - w));
    }
    volume.total()
}

/// What shadows cover of three dimensions.
struct Space {
    /// Those that no other covers, lowest x first.
    by_x: Vec<Shadow>,
    /// The same, lowest z first.
    by_z: Vec<Shadow>,
    cover: Cover,
    reference: [f64; 3],
}

impl Space {
    fn new(x: &[f64], reference: [f64; 3]) -> Self {
        let cover = Cover::new(x.iter().copied(), [reference[0], reference[1]]);
        Self { by_x: Vec::new(), by_z: Vec::new(), cover, reference }
    }

    /// Adds a shadow, whose first figure is `x`; gives the volume that only it covers.
    fn add(&mut self, shadow: Shadow, x: f64) -> f64 {
        let Some(rest) = self.cut_below(&shadow, x) else { return 0.0 };
        let volume = self.cut_above(&shadow, rest);
        // Nothing that comes later asks for what is covered.
        let (from_x, from_z) = (self.place_x(&shadow), self.place_z(&shadow, f64::lt));
        let covered = self.by_z.extract_if(from_z.., |other| shadow.covers(other)).count();
        if covered > 0 {
            self.by_x.extract_if(from_x.., |other| shadow.covers(other)).for_each(drop);
        }
        self.by_z.insert(from_z, shadow);
        self.by_x.insert(from_x, shadow);
        volume
    }

    /// How many have a lesser rank in x.
    fn place_x(&self, shadow: &Shadow) -> usize {
        self.by_x.partition_point(|other| other.x < shadow.x)
    }

    /// How many are less, or no higher, in z.
    fn place_z(&self, shadow: &Shadow, before: fn(&f64, &f64) -> bool) -> usize {
        self.by_z.partition_point(|other| before(&other.z, &shadow.z))
    }

    /// What those that are no higher in z leave of the shadow's rectangle; none if one of them covers it.
    fn cut_below(&mut self, shadow: &Shadow, x: f64) -> Option<Rest> {
        self.cover.clear();
        let whole = (self.reference[0] - x) * (self.reference[1] - shadow.y);
        let mut rest =
            Rest { area: CompensatedSum::new(whole), top: self.reference[1], right: usize::MAX };
        let mut height = self.reference[1];
        // From the left, only what is lower than all before it cuts more.
        for other in &self.by_x {
            if other.z > shadow.z || other.y >= height {
                continue;
            }
            let (x, y) = rest.beside(shadow, other);
            if rest.right <= shadow.x {
                return None;
            }
            rest.area.add(-self.cover.append(x, y, height));
            height = y;
            if height <= shadow.y {
                break;
            }
        }
        Some(rest)
    }

    /// The volume of what is left of the shadow as those above it in z cut more of its rectangle.
    fn cut_above(&mut self, shadow: &Shadow, mut rest: Rest) -> f64 {
        let (mut volume, mut level) = (CompensatedSum::default(), shadow.z);
        let above = self.place_z(shadow, f64::le);
        for other in &self.by_z[above..] {
            if other.y >= rest.top || other.x >= rest.right {
                continue;
            }
            let before = rest.area.total();
            if rest.cut(shadow, other, &mut self.cover) {
                volume.add(before * (other.z - level));
                level = other.z;
            }
            if rest.right <= shadow.x {
                return volume.total();
            }
        }
        volume.add(rest.area.total() * (self.reference[2] - level));
        volume.total()
    }
}

/// What is left of a shadow's rectangle.
struct Rest {
    area: CompensatedSum,
    /// It lies below this.
    top: f64,
    /// It lies left of this rank.
    right: usize,
}

impl Rest {
    /// Takes away what `other` covers; says whether that was anything.
    fn cut(&mut self, shadow: &Shadow, other: &Shadow, cover: &mut Cover) -> bool {
        let (x, y) = self.beside(shadow, other);
        let less = cover.add(x, y);
        self.area.add(-less);
        less != 0.0
    }

    /// The corner of what `other` covers of the rectangle, which bounds what is left.
    fn beside(&mut self, shadow: &Shadow, other: &Shadow) -> (usize, f64) {
        let (x, y) = (other.x.max(shadow.x), other.y.max(shadow.y));
        if x == shadow.x {
            self.top = self.top.min(y);
        }
        if y == shadow.y {
            self.right = self.right.min(x);
        }
        (x, y)
    }
}
