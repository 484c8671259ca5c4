//! How far the contexts of a batch may differ of which only sums are known.

use fizeau_core::Tokens;

use crate::reach::LayerReach;
use crate::span::ContextSpan;

/// How far the contexts of a batch may differ of which only sums are known. It matters to layers that see a part of a context: of
/// contexts on both sides of a window less is read than of as many that are alike.
///
/// ```
/// use fizeau_roofline::{ContextSpread, Deployment, Device, KnownModel, PassSums, System};
/// let model = KnownModel::named("gpt-oss-120b")?.model()?;
/// let spread = ContextSpread { variance: Some(3_800.0 * 3_800.0), ..ContextSpread::up_to(model.max_context) };
/// let system = System::new(model, Device::named("h200-sxm")?.clone(), Deployment::SINGLE)?;
/// // 64 sequences with a mean of 4,000 tokens: all alike, or half of them of 200 and half of 7,800.
/// let alike = PassSums { decoding: 64.0, context: 64.0 * 4_000.0, ..PassSums::default() };
/// let least = PassSums { spread: Some(spread), ..alike };
/// assert!(system.bound_sums(&least).total <= system.bound_sums(&alike).total);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextSpread {
    /// The longest that any of them may be, in tokens; infinite where nothing says.
    pub longest: f64,
    /// The variance of those that decode, in tokens squared; none where nothing says.
    pub variance: Option<f64>,
}

impl ContextSpread {
    /// Of contexts of which no more is known than the most that a model or an engine takes.
    #[must_use]
    pub fn up_to(longest: Option<Tokens>) -> Self {
        let longest = longest.map_or(f64::INFINITY, |tokens| tokens.get() as f64);
        Self { longest, variance: None }
    }

    /// The least that sequences which decode see of contexts with that mean, each.
    pub(crate) fn least_seen(&self, reach: &LayerReach, mean: f64) -> f64 {
        let longest = if self.variance == Some(0.0) { mean } else { self.longest.max(mean) };
        if longest <= reach.seen {
            return mean;
        }
        if longest <= mean {
            return reach.mean_seen(ContextSpan::at(mean));
        }
        if reach.chunked {
            // Each may just have begun a chunk.
            return mean.min(1.0);
        }
        // What is seen of a context is concave in its length, and so never below the straight line from one token to the longest.
        let by_longest = (mean - 1.0).mul_add((reach.seen - 1.0) / (longest - 1.0), 1.0);
        let by_variance = self.variance.map_or(0.0, |variance| seen_of(reach.seen, mean, variance));
        by_longest.max(by_variance).min(mean)
    }

    /// The least that prompts read and write of the cache, each, which end at that mean context and of which so many tokens are
    /// computed.
    pub(crate) fn least_filled(&self, reach: &LayerReach, end: f64, computed: f64) -> f64 {
        if reach.kept.is_finite() {
            return Self { variance: None, ..*self }.least_seen(reach, end);
        }
        // An indexer's choice is read, of tokens that are all kept.
        let read = (end - computed).max(0.0) * (reach.seen / self.longest.max(end)).min(1.0);
        read + computed
    }
}

/// The least that windows leave on average of contexts with a mean and a variance, none of which is below one token: the mean of a
/// parabola that is never above `min(context, window)` (as H. Scarf, 1958). It begins at one token where it may, and else touches both
/// straight lines.
fn seen_of(window: f64, mean: f64, variance: f64) -> f64 {
    let (more, room) = (mean - 1.0, window - 1.0);
    let far = more + variance / more;
    if more > 0.0 && far >= 2.0 * room {
        return (room / far).mul_add(more, 1.0);
    }
    let beyond = window - mean;
    (mean + window - beyond.mul_add(beyond, variance).sqrt()) / 2.0
}
