//! Mixtures of experts: how many, how wide, in which layers.

use serde_json::Value;

use super::super::fields::{EXPERTS, FEED_FORWARD, LAYERS, RANK};
use super::super::{Dense, ExpertGroups, Experts, ModelConfigError};
use super::layout::FeedKind;
use super::{Config, Formats};

/// Names of the number of experts. A model that has none writes 0, null or nothing.
const COUNT: [&str; 4] =
    ["num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"];

const PER_TOKEN: [&str; 8] = [
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "top_k_experts",
    "moe_topk",
    "moe_top_k",
    "moe_k",
    "moe_router_topk",
];

const WIDTH: [&str; 4] = [
    "moe_intermediate_size",
    "expert_intermediate_size",
    "expert_ffn_hidden_size",
    "intermediate_size",
];

/// Names of the width of all shared experts together.
const SHARED_WIDTH: [&str; 5] = [
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "shared_intermediate_size",
    "share_expert_dim",
    "share_expert_dims",
];

/// Names of the number of shared experts, each as wide as a routed one.
const SHARED_COUNT: [&str; 4] =
    ["n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts"];

impl Config<'_> {
    pub(super) fn experts(&self, formats: Formats) -> Result<Experts, ModelConfigError> {
        let missing = |field, expected| ModelConfigError::Missing { field, expected };
        let counted = self.fields.any_named(&COUNT, EXPERTS)?;
        let (other, count) = counted.ok_or_else(|| missing("num_experts", EXPERTS.expected))?;
        let used = self.fields.any_named(&PER_TOKEN, EXPERTS)?;
        let (field, per_token) =
            used.ok_or_else(|| missing("num_experts_per_tok", EXPERTS.expected))?;
        if per_token > count {
            return Err(ModelConfigError::Contradiction {
                field,
                value: per_token,
                other,
                other_value: count,
                rule: "a token cannot use more experts than there are",
            });
        }
        let width = self.fields.any(&WIDTH, FEED_FORWARD)?;
        let width = width.ok_or_else(|| missing("moe_intermediate_size", FEED_FORWARD.expected))?;
        let matrices = self.feed_forward_matrices();
        let vectors =
            if self.family.expert_bias { (matrices - 1) * width + self.hidden } else { 0 };
        Ok(Experts {
            count,
            per_token,
            groups: self.expert_groups()?,
            each: Dense { width, matrices, vectors, format: formats.experts },
            latent: self.fields.any(&["moe_latent_size", "routed_expert_hidden_size"], RANK)?,
            latent_format: formats.latent,
            shared: self.shared(width, formats)?,
            router_vectors: if self.router_is_biased()? { count } else { 0 },
            router_format: formats.router,
        })
    }

    fn expert_groups(&self) -> Result<Option<ExpertGroups>, ModelConfigError> {
        let count = self.fields.nonzero("n_group", EXPERTS)?;
        let per_token = self.fields.nonzero("topk_group", EXPERTS)?;
        let groups =
            count.zip(per_token).map(|(count, per_token)| ExpertGroups { count, per_token });
        Ok(groups.filter(|groups| groups.per_token < groups.count))
    }

    fn shared(&self, each: u64, formats: Formats) -> Result<Option<Dense>, ModelConfigError> {
        if self.family.dense_beside_experts {
            return self.dense(formats.shared).map(Some);
        }
        let width = match self.fields.any(&SHARED_WIDTH, FEED_FORWARD)? {
            Some(width) => width,
            None => each * self.fields.any(&SHARED_COUNT, EXPERTS)?.unwrap_or(0),
        };
        let shared = Dense {
            width,
            matrices: self.feed_forward_matrices(),
            vectors: if self.family.shared_gate { self.hidden } else { 0 },
            format: formats.shared,
        };
        Ok((width > 0).then_some(shared))
    }

    /// Whether the router adds something to each expert's score, which is how loads are balanced without a loss.
    fn router_is_biased(&self) -> Result<bool, ModelConfigError> {
        if self.family.router_bias || self.fields.text("topk_method") == Some("noaux_tc") {
            return Ok(true);
        }
        let names = [
            "use_routing_bias",
            "moe_router_enable_expert_bias",
            "moe_use_aux_free",
            "use_moe_router_bias",
            "use_expert_bias",
        ];
        for name in names {
            if self.fields.flag(name)? == Some(true) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The feed-forward block of each layer, in order.
pub(super) fn feeds(config: &Config<'_>) -> Result<Vec<FeedKind>, ModelConfigError> {
    let switched_off = config.fields.flag("enable_moe_block")? == Some(false);
    if switched_off || config.fields.any(&COUNT, EXPERTS)?.is_none() {
        return Ok((0..config.layers).map(|_| FeedKind::Dense).collect());
    }
    let kind = |sparse| if sparse { FeedKind::Experts } else { FeedKind::Dense };
    let kinds = match stated(config)? {
        Some(sparse) => sparse.into_iter().map(kind).collect(),
        None => {
            let pattern = ExpertPattern::read(config)?;
            (0..config.layers).map(|layer| kind(pattern.is_sparse(layer))).collect()
        }
    };
    Ok(kinds)
}

/// Which layers have experts, where the config lists it.
fn stated(config: &Config<'_>) -> Result<Option<Vec<bool>>, ModelConfigError> {
    let layers = config.layers as usize;
    if let Some(listed) = config.fields.list("moe_layers").filter(|list| !list.is_empty()) {
        let is_listed = |layer: u64| listed.iter().any(|index| index.as_u64() == Some(layer));
        return Ok(Some((0..config.layers).map(is_listed).collect()));
    }
    if let Some(listed) = config.fields.text("moe_layers_enum") {
        let listed: Vec<u64> =
            listed.split(',').filter_map(|index| index.trim().parse().ok()).collect();
        return Ok(Some((0..config.layers).map(|layer| listed.contains(&layer)).collect()));
    }
    for field in ["mlp_layer_types", "is_moe_layer", "moe_layer_freq"] {
        if let Some(each) = config.fields.list(field) {
            config.long_enough(field, each.len() as u64)?;
            let sparse = |value: &Value| {
                value.as_u64() == Some(1)
                    || value.as_str() == Some("sparse")
                    || value.as_bool() == Some(true)
            };
            return Ok(Some(each.iter().take(layers).map(sparse).collect()));
        }
    }
    Ok(None)
}

/// Which layers have experts, where it follows a rule.
struct ExpertPattern {
    /// Layers before this one are dense.
    first: u64,
    /// The last that may have experts.
    last: u64,
    /// Of the layers counted from 1, those that it divides have experts.
    step: u64,
    /// Of the layers counted from `offset`, those that it divides have experts.
    period: u64,
    offset: u64,
    dense: Vec<u64>,
}

impl ExpertPattern {
    fn read(config: &Config<'_>) -> Result<Self, ModelConfigError> {
        let fields = config.fields;
        let first = [
            "first_k_dense_replace",
            "num_dense_layers",
            "moe_layer_start_index",
            "moe_layer_num_skipped",
        ];
        let step = ["interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"];
        // -1 means the very last.
        let last = fields.get("moe_layer_end_index").and_then(Value::as_u64);
        let dense = fields.list("mlp_only_layers").unwrap_or_default();
        Ok(Self {
            first: fields.any(&first, LAYERS)?.unwrap_or(0),
            last: last.unwrap_or(u64::MAX),
            step: fields.any(&step, LAYERS)?.unwrap_or(1),
            period: fields.any(&["moe_layer_freq", "expert_layer_period"], LAYERS)?.unwrap_or(1),
            offset: fields.nonzero("expert_layer_offset", LAYERS)?.unwrap_or(0),
            dense: dense.iter().filter_map(Value::as_u64).collect(),
        })
    }

    fn is_sparse(&self, layer: u64) -> bool {
        (self.first..=self.last).contains(&layer)
            && (layer + 1).is_multiple_of(self.step)
            && layer % self.period == self.offset % self.period
            && !self.dense.contains(&layer)
    }
}
