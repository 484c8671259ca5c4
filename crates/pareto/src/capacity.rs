//! How many alike carry a demand, when it is known what one of them carries.

use crate::FigureEstimate;

/// The rate that replicas must carry, in any unit, with headroom and spare replicas.
///
/// ```
/// use fizeau_pareto::{Demand, FigureEstimate};
/// // 100 requests a second, a fifth of each replica kept free, and one replica that may fail.
/// let demand = Demand::new(100.0, 0.2, 1)?;
/// let fleet = demand.fleet(14.2)?;
/// assert_eq!((fleet.needed, fleet.installed()), (9, 10)); // 100 / (14.2 x 0.8) = 8.8
/// assert_eq!(format!("{:.2}", fleet.utilisation), "0.70"); // 100 / 142
///
/// // Of one replica it is known only that it carries from 12 to 15.
/// let fleets = demand.fleets(&FigureEstimate::new(14.2, 12.0, 15.0)?)?;
/// assert_eq!((fleets.hopeful.needed, fleets.likely.needed), (9, 9));
/// assert_eq!(fleets.cautious.map(|fleet| fleet.needed), Some(11));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Demand {
    rate: f64,
    headroom: f64,
    spare: u32,
}

/// A number of equal replicas, and how busy they are.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fleet {
    /// How many carry the demand, each with its headroom free.
    pub needed: u64,
    /// How many there are besides: so many may fail, and the rest still carry the demand with its headroom.
    pub spare: u64,
    /// The demand over all that the installed could carry, from 0 to 1.
    pub utilisation: f64,
}

/// The fleet at the figure itself, and at both ends of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Fleets {
    /// By the figure.
    pub likely: Fleet,
    /// By the lower end, where one carries least; none where that is nothing, or too little to count.
    pub cautious: Option<Fleet>,
    /// By the upper end, where one carries most.
    pub hopeful: Fleet,
}

/// Why no number of replicas can be said.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CapacityError {
    /// The demand is no rate.
    #[error("the rate is {0} requests/s, and must be above 0")]
    Rate(f64),
    /// The demand is more than anybody could serve.
    #[error("the rate is {0:e} requests/s; no more than {MOST_RATE:e} can be planned for")]
    RateTooHigh(f64),
    /// The headroom leaves nothing, or is no share.
    #[error("the headroom is {0}; give a share from 0 to below 1, such as 0.2")]
    Headroom(f64),
    /// One carries nothing.
    #[error("one replica carries {0}, so no number of replicas carries the demand")]
    Nothing(f64),
    /// More than can be counted.
    #[error("the demand takes {0:e} replicas, which is more than can be counted")]
    Countless(f64),
}

/// A number of replicas that is beyond a whole one by less than this share is that whole one: 0.1 and 0.9 are not exact, and
/// what is asked is. A few roundings, of 1.1e-16 each.
const ROUNDING: f64 = 1e-12;

/// And never by more than this, of however many: that much of one replica is carried by all of them together.
const MOST_ROUNDING: f64 = 1e-6;

/// More requests per second than every processor there is could count.
const MOST_RATE: f64 = 1e15;

/// Beyond it not every whole number can be told from the next.
const MOST: f64 = 9_007_199_254_740_992.0;

impl Demand {
    /// A `rate` to be carried, with a share `headroom` of each replica kept free, and `spare` replicas besides.
    ///
    /// # Errors
    /// If the rate is not above 0 and at most 1e15, or the headroom is not from 0 to below 1.
    pub fn new(rate: f64, headroom: f64, spare: u32) -> Result<Self, CapacityError> {
        if !(rate.is_finite() && rate > 0.0) {
            return Err(CapacityError::Rate(rate));
        }
        if rate > MOST_RATE {
            return Err(CapacityError::RateTooHigh(rate));
        }
        if !(0.0..1.0).contains(&headroom) {
            return Err(CapacityError::Headroom(headroom));
        }
        Ok(Self { rate, headroom, spare })
    }

    /// What is to be carried.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// The share of each replica that is kept free, from 0 to below 1.
    #[must_use]
    pub const fn headroom(&self) -> f64 {
        self.headroom
    }

    /// How many may fail.
    #[must_use]
    pub const fn spare(&self) -> u32 {
        self.spare
    }

    /// The fewest that carry it, when each carries `one` at most: `ceil(rate / (one (1 - headroom)))`, and the spare ones.
    ///
    /// # Errors
    /// If one carries nothing, or so little that nobody could count them.
    pub fn fleet(&self, one: f64) -> Result<Fleet, CapacityError> {
        if one.is_nan() || one <= 0.0 {
            return Err(CapacityError::Nothing(one));
        }
        let exact = self.rate / (one * (1.0 - self.headroom));
        let needed = (exact - (exact * ROUNDING).min(MOST_ROUNDING)).ceil().max(1.0);
        if needed > MOST {
            return Err(CapacityError::Countless(needed));
        }
        let installed = needed + f64::from(self.spare);
        Ok(Fleet {
            needed: needed as u64,
            spare: self.spare.into(),
            // What was rounded away is no overload.
            utilisation: (self.rate / (installed * one)).min(1.0),
        })
    }

    /// The fleets for what one is thought to carry, and for the least and the most that it may.
    ///
    /// # Errors
    /// If one is thought to carry nothing, or so little that nobody could count them.
    pub fn fleets(&self, one: &FigureEstimate) -> Result<Fleets, CapacityError> {
        Ok(Fleets {
            likely: self.fleet(one.value())?,
            cautious: self.fleet(one.low()).ok(),
            hopeful: self.fleet(one.high())?,
        })
    }
}

impl Fleet {
    /// All that there are: those needed and the spare ones.
    #[must_use]
    pub const fn installed(&self) -> u64 {
        self.needed.saturating_add(self.spare)
    }
}
