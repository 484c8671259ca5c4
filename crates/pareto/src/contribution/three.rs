//! What each point alone adds in three dimensions.

use std::collections::VecDeque;

use crate::hypervolume::{Ranks, Sum, lowest_first, positive, ranked};

/// What each point alone covers below the reference, all of them being below it.
///
/// A plane goes up the last axis, as for the hypervolume. Each corner of the staircase keeps the part of the plane that
/// it alone covers, cut into strips, and a volume that grows with the plane. Every strip is made once and goes once.
pub(super) fn contributions(points: &[[f64; 3]], reference: [f64; 3]) -> Vec<f64> {
    let by_x = lowest_first(points, 0);
    let ranks = ranked(&by_x);
    let mut plane = Plane::new(by_x.iter().map(|&point| points[point]), reference);
    // A point comes after all that dominate it, and copies come one after the other.
    let mut last: Option<usize> = None;
    for point in lowest_first(points, 2) {
        match last {
            Some(last) if points[last] == points[point] => plane.void(ranks[last]),
            _ => plane.add(ranks[point], points[point][2]),
        }
        last = Some(point);
    }
    plane.finish(reference[2]);
    ranks.into_iter().map(|rank| plane.parts[rank].volume()).collect()
}

/// The staircase in the plane, by rank in x, with a wall before the first rank and one after the last.
struct Plane {
    parts: Vec<Part>,
    standing: Ranks,
}

/// What one corner alone covers of the plane: strips side by side from the corner on, falling to the right.
struct Part {
    x: f64,
    y: f64,
    strips: VecDeque<Strip>,
    area: Sum,
    /// What was covered up to `level`.
    volume: Sum,
    level: f64,
    /// Whether the point has a copy.
    is_void: bool,
}

/// From the right of the strip before it to `right`, and from the corner's height up to `top`.
struct Strip {
    right: f64,
    top: f64,
}

impl Plane {
    fn new(points: impl Iterator<Item = [f64; 3]>, reference: [f64; 3]) -> Self {
        let mut parts = vec![Part::at(f64::NEG_INFINITY, reference[1])];
        parts.extend(points.map(|[x, y, _]| Part::at(x, y)));
        parts.push(Part::at(reference[0], f64::NEG_INFINITY));
        let mut standing = Ranks::below(parts.len());
        standing.insert(0);
        standing.insert(parts.len() - 1);
        Self { parts, standing }
    }

    /// Adds the corner of `rank` when the plane is at `level`, if no other dominates it.
    fn add(&mut self, rank: usize, level: f64) {
        let wall = self.parts.len() - 1;
        let before = self.standing.at_most(rank).unwrap_or(0);
        let (x, y) = (self.parts[rank].x, self.parts[rank].y);
        let mut top = self.parts[before].y;
        if top <= y {
            return;
        }
        self.parts[rank].level = level;
        let after = loop {
            let next = self.standing.after(rank).unwrap_or(wall);
            let right = self.parts[next].x;
            self.parts[rank].push(Strip { right, top });
            if self.parts[next].y < y {
                break next;
            }
            top = self.parts[next].y;
            self.parts[next].end(level);
            self.standing.remove(next);
        };
        self.standing.insert(rank);
        // The walls cover nothing, so that cutting them is idle.
        self.parts[before].cut_right(x, level);
        self.parts[after].cut_top(y, level);
    }

    /// Says that the point of `rank` has a copy.
    fn void(&mut self, rank: usize) {
        self.parts[rank].is_void = true;
    }

    /// Takes the plane up to the reference.
    fn finish(&mut self, level: f64) {
        self.parts.iter_mut().for_each(|part| part.end(level));
    }
}

impl Part {
    fn at(x: f64, y: f64) -> Self {
        let (strips, area, volume) = (VecDeque::new(), Sum::default(), Sum::default());
        Self { x, y, strips, area, volume, level: f64::NEG_INFINITY, is_void: false }
    }

    fn volume(&self) -> f64 {
        if self.is_void { 0.0 } else { positive(self.volume.total()) }
    }

    /// Adds a strip on the right.
    fn push(&mut self, strip: Strip) {
        let left = self.strips.back().map_or(self.x, |last| last.right);
        self.area.add((strip.right - left) * (strip.top - self.y));
        self.strips.push_back(strip);
    }

    /// Takes the volume up to `level`.
    fn rise(&mut self, level: f64) {
        if !self.strips.is_empty() {
            self.volume.add(self.area.total() * (level - self.level));
        }
        self.level = level;
    }

    /// From `level` on it covers nothing alone.
    fn end(&mut self, level: f64) {
        self.rise(level);
        self.strips.clear();
    }

    /// From `level` on another covers what is right of `x`.
    fn cut_right(&mut self, x: f64, level: f64) {
        self.rise(level);
        while let Some(mut strip) = self.strips.pop_back() {
            let left = self.strips.back().map_or(self.x, |last| last.right);
            let kept = x.max(left).min(strip.right);
            self.area.add((kept - strip.right) * (strip.top - self.y));
            if kept > left {
                strip.right = kept;
                self.strips.push_back(strip);
                return;
            }
        }
    }

    /// From `level` on another covers what is above `y`.
    fn cut_top(&mut self, y: f64, level: f64) {
        self.rise(level);
        let (mut left, mut cut) = (self.x, None);
        while let Some(strip) = self.strips.pop_front_if(|strip| strip.top > y) {
            self.area.add((left - strip.right) * (strip.top - y));
            left = strip.right;
            cut = Some(Strip { right: left, top: y });
        }
        if let Some(cut) = cut {
            self.strips.push_front(cut);
        }
    }
}
