//! Feed-forward blocks: dense, experts, routers.

use super::{
    ACTIVATION, Operator, OperatorBuilder, OperatorCut, OperatorElements, OperatorKind,
    OperatorWidths, Routed,
};
use crate::model::{Dense, Experts, FeedForward, Layers};

impl OperatorBuilder<'_> {
    pub(super) fn feed_forward(&self, layers: &Layers, all: &mut Vec<Operator>) {
        let count = layers.count as f64;
        let mut put = |operator| all.push(self.ended(operator, layers, 0.0));
        match &layers.feed_forward {
            FeedForward::Dense(dense) => put(self.dense(OperatorKind::Dense, dense, count)),
            FeedForward::Experts(experts) => {
                put(self.experts(experts, count));
                if let Some(shared) = &experts.shared {
                    put(self.dense(OperatorKind::Shared, shared, count));
                }
                if let Some(latent) = experts.latent {
                    put(self.narrowing(experts, latent, count));
                }
                put(self.router(experts, count));
            }
            FeedForward::None => {}
        }
    }

    fn dense(&self, kind: OperatorKind, dense: &Dense, count: f64) -> Operator {
        let hidden = self.model.hidden;
        let parts =
            OperatorElements { cut: dense.matrix_elements(hidden), ..OperatorElements::default() };
        // In and out whole; between them one output for each matrix but the last, and its input.
        let widths = OperatorWidths { whole: 2 * hidden, cut: dense.matrices * dense.width };
        self.matrices(kind, dense.format, parts, widths, count)
    }

    /// The projections that narrow what experts work on, and widen what they give (LatentMoE).
    fn narrowing(&self, experts: &Experts, latent: u64, count: f64) -> Operator {
        let hidden = self.model.hidden;
        let parts = OperatorElements {
            cut: experts.latent_elements(hidden),
            ..OperatorElements::default()
        };
        let widths = OperatorWidths { whole: 2 * hidden, cut: 2 * latent };
        self.matrices(OperatorKind::Shared, experts.latent_format, parts, widths, count)
    }

    /// Engines keep routers whole on each device.
    fn router(&self, experts: &Experts, count: f64) -> Operator {
        let hidden = self.model.hidden;
        let parts =
            OperatorElements { whole: experts.count * hidden, ..OperatorElements::default() };
        let widths = OperatorWidths { whole: hidden + experts.count, cut: 0 };
        self.matrices(OperatorKind::Router, experts.router_format, parts, widths, count)
    }

    /// Every token of the replica reaches the experts, which all devices of a stage share.
    fn experts(&self, experts: &Experts, count: f64) -> Operator {
        let (format, hidden) = (experts.each.format, self.model.hidden);
        let elements = experts.each_elements(hidden) as f64 * count;
        let each = format.element_size().get() * elements / self.stage();
        let (total, per_token) = (experts.count as f64, experts.per_token as f64);
        // A token goes to `k / e` experts of a device's group, whose ranks all see it whole and a part of its width.
        let in_and_out = 2.0 * hidden as f64 / f64::from(self.deployment.expert_groups());
        let inner = (experts.each.matrices * experts.each.width) as f64 / self.stage();
        let activations = match self.cut {
            OperatorCut::Ideal => 0.0,
            OperatorCut::Real => ACTIVATION * per_token * (in_and_out + inner) * count,
        };
        let groups = f64::from(self.deployment.expert_groups());
        Operator {
            experts: Some(Routed { each, count: total, per_token, groups }),
            per_token: 2.0 * elements * per_token / self.stage(),
            activations,
            ..Operator::new(OperatorKind::Experts, format)
        }
    }
}
