//! Frontiers coarse enough to read: what is worse by less than epsilon counts as no worse.

use crate::Points;
use crate::frontier::{lexicographic, nondominated};

/// How much worse a figure may be and still count as equal. 0 is plain comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Epsilon {
    /// By this much, in the figure's own unit.
    Additive(f64),
    /// By this part of the figure that it is compared with: 0.05 is 5 %. For figures above 0 only.
    Relative(f64),
}

/// Why there is no epsilon-dominance.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EpsilonError {
    /// Not one for each axis.
    #[error("there are {given} epsilons for {axes} axes; give one for each axis")]
    WrongLength {
        /// How many there are.
        given: usize,
        /// How many axes there are.
        axes: usize,
    },
    /// An epsilon allows for nothing that can be meant.
    #[error("the epsilon of `{axis}` is {epsilon}; give a finite number from 0 up")]
    BadEpsilon {
        /// The axis.
        axis: String,
        /// Its epsilon.
        epsilon: f64,
    },
    /// A part of a figure means nothing at 0 and below.
    #[error(
        "`{axis}` has the figure {figure}; a relative epsilon needs figures above 0, give an additive one"
    )]
    NotPositive {
        /// The axis.
        axis: String,
        /// The figure.
        figure: f64,
    },
}

impl Epsilon {
    /// As text: `0.5` in the figure's own unit, `5%` of the figure; several with commas between, of which a single one is for all of so many
    /// `axes`. None if it is no such text.
    ///
    /// ```
    /// use fizeau_pareto::Epsilon::{self, Additive, Relative};
    /// assert_eq!(Epsilon::parse_list("0.5,5%", 2), Some(vec![Additive(0.5), Relative(0.05)]));
    /// assert_eq!(Epsilon::parse_list("1", 2), Some(vec![Additive(1.0); 2]));
    /// assert_eq!(Epsilon::parse_list("1,2", 3), None);
    /// ```
    #[must_use]
    pub fn parse_list(text: &str, axes: usize) -> Option<Vec<Self>> {
        let one = |part: &str| match part.trim().strip_suffix('%') {
            Some(percent) => Some(Self::Relative(percent.trim().parse::<f64>().ok()? / 100.0)),
            None => part.trim().parse().ok().map(Self::Additive),
        };
        let all: Vec<Self> = text.split(',').map(one).collect::<Option<_>>()?;
        match all.len() {
            1 => Some(all.repeat(axes)),
            given => (given == axes).then_some(all),
        }
    }

    const fn size(self) -> f64 {
        match self {
            Self::Additive(size) | Self::Relative(size) => size,
        }
    }

    /// On a grid of steps of epsilon: the number of the box of `figure`, less is better, and how far it lies from the good end
    /// of the box, from 0 to 1. An epsilon of 0 gives each figure a box of its own.
    fn place(self, figure: f64, sign: f64) -> (f64, f64) {
        let steps = match self {
            _ if self.size() == 0.0 => return (figure * sign, 0.0),
            Self::Additive(size) => figure * sign / size,
            Self::Relative(size) => figure.ln() * sign / size.ln_1p(),
        };
        let number = steps.floor();
        (number, if number.is_finite() { steps - number } else { 0.0 })
    }
}

impl Points {
    /// A few points that stand for the frontier, their indices rising: of every point given there is one among them that is no
    /// worse by more than epsilon in any figure, and all of them are on the frontier.
    ///
    /// This is an epsilon-approximate Pareto set (Laumanns, Thiele, Deb and Zitzler, "Combining convergence and diversity in
    /// evolutionary multiobjective optimization", 2002): `a` epsilon-dominates `b` if in each figure `a <= b + epsilon`, or
    /// `a <= (1 + epsilon) b`, or for figures of which more is better `a + epsilon >= b`, or `(1 + epsilon) a >= b`. Like
    /// theirs it lays a grid of steps of epsilon (of logarithms where it is relative) over the figures; of the boxes with
    /// points of the frontier it takes those that no other box dominates, and one point of each: the nearest to the box's best
    /// corner, measured in boxes; of equal distances the one with the better figure in the first axis that tells them
    /// apart; of equal points the first. So the order of the points decides nothing else.
    ///
    /// ```
    /// use fizeau_pareto::{Axis, Epsilon, Points};
    /// let mut points = Points::new(vec![Axis::maximize("rps"), Axis::minimize("p99_ms")])?;
    /// for point in [[7.0, 480.0], [7.1, 483.0], [7.2, 489.0], [9.0, 700.0]] {
    ///     points.push(&point)?;
    /// }
    /// let epsilons = [Epsilon::Additive(0.5), Epsilon::Relative(0.05)];
    /// assert_eq!(points.epsilon_frontier(&epsilons)?, [1, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is not one epsilon for each axis, one is not a finite number from 0 up, or one is relative and a figure of its
    /// axis is not above 0.
    pub fn epsilon_frontier(&self, epsilons: &[Epsilon]) -> Result<Vec<usize>, EpsilonError> {
        self.check(epsilons)?;
        let axes = epsilons.len();
        let frontier = self.frontier();
        let mut boxes = Vec::with_capacity(frontier.len() * axes);
        let mut placed = Vec::with_capacity(frontier.len());
        for index in frontier {
            let mut apart = 0.0;
            let point = self.point(index).unwrap_or_default();
            for ((epsilon, figure), sign) in epsilons.iter().zip(point).zip(self.signs()) {
                let (number, inside) = epsilon.place(*figure, sign);
                boxes.push(number);
                apart += inside * inside;
            }
            placed.push((index, apart));
        }
        let kept = nondominated(&boxes, &vec![1.0; axes]);
        let at = |i: usize| &boxes[i * axes..(i + 1) * axes];
        let costs = self.costs();
        let cost = |index: usize| &costs[index * axes..(index + 1) * axes];
        let mut order = kept;
        order.sort_unstable_by(|&a, &b| {
            let ((a_index, a_apart), (b_index, b_apart)) = (placed[a], placed[b]);
            lexicographic(at(a), at(b))
                .then(a_apart.total_cmp(&b_apart))
                .then(lexicographic(cost(a_index), cost(b_index)))
                .then(a_index.cmp(&b_index))
        });
        order.dedup_by(|a, b| at(*a) == at(*b));
        let mut chosen: Vec<usize> = order.into_iter().map(|i| placed[i].0).collect();
        chosen.sort_unstable();
        Ok(chosen)
    }

    fn check(&self, epsilons: &[Epsilon]) -> Result<(), EpsilonError> {
        let (given, axes) = (epsilons.len(), self.axes().len());
        if given != axes {
            return Err(EpsilonError::WrongLength { given, axes });
        }
        for (i, (epsilon, axis)) in epsilons.iter().zip(self.axes()).enumerate() {
            let (size, name) = (epsilon.size(), || axis.name().to_owned());
            if !(size.is_finite() && size >= 0.0) {
                return Err(EpsilonError::BadEpsilon { axis: name(), epsilon: size });
            }
            let mut of_axis = self.figures().iter().skip(i).step_by(axes);
            let too_low = of_axis.find(|figure| **figure <= 0.0);
            if let (Epsilon::Relative(_), Some(&figure)) = (epsilon, too_low) {
                return Err(EpsilonError::NotPositive { axis: name(), figure });
            }
        }
        Ok(())
    }
}
