//! What devices have to tell each other in a pass.

use fizeau_core::Seconds;

use crate::pass::{Pass, PassTime};
use crate::{Deployment, Device, Model};

/// The collectives of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Exchanges {
    /// All-reduces of a pass: after each mixer and each feed-forward block.
    all_reduces: f64,
    /// Bytes of a token in each.
    token: f64,
    /// Tensor-parallel ranks.
    ranks: f64,
    /// Seconds a byte, and seconds a hop.
    link: (f64, f64),
}

impl Exchanges {
    pub(crate) fn new(model: &Model, _device: &Device, deployment: &Deployment) -> Self {
        let layers: u64 = model.layers().iter().map(|layers| layers.count).sum();
        Self {
            all_reduces: 2.0 * layers as f64,
            token: 2.0 * model.hidden() as f64,
            ranks: f64::from(deployment.tensor()),
            link: (1.0 / 450e9, 2e-6),
        }
    }

    pub(crate) fn add_to(&self, sum: &mut PassTime, pass: &Pass) {
        if self.ranks <= 1.0 {
            return;
        }
        let size = self.token * pass.tokens();
        let (byte, hop) = self.link;
        let ring = 2.0 * (self.ranks - 1.0) / self.ranks * size * byte;
        sum.link = sum.link + Seconds::new(ring * self.all_reduces);
        sum.hops = sum.hops + Seconds::new(2.0 * hop * self.all_reduces);
        sum.collectives += self.all_reduces;
        sum.total = sum.total + Seconds::new((ring + 2.0 * hop) * self.all_reduces);
    }
}
