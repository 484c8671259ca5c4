//! Modules that predict further tokens (MTP).

use super::super::fields::LAYERS;
use super::super::{Layers, ModelConfigError};
use super::Config;
use super::layout::{LayerPlace, MixerKind};

/// The names that families have for how many there are.
pub(super) const COUNT: [&str; 3] =
    ["num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"];

/// Families whose code builds the module as DeepSeek-V3 does: a projection of two hidden states that each have a norm, a layer, a
/// last norm (vLLM's model files of the same names with `_mtp`).
const LIKE_DEEPSEEK: [&str; 8] = [
    "deepseekv3",
    "glm4moe",
    "glmmoedsa",
    "glm4moelite",
    "ernie45moe",
    "mimo",
    "mimov2flash",
    "qwen3next",
];

impl Config<'_> {
    /// Whether how the family builds its modules is known here.
    pub(super) fn knows_drafts(&self) -> bool {
        self.family.names.iter().any(|name| LIKE_DEEPSEEK.contains(name))
    }

    /// The modules: each is a layer like the last that attends, with a projection and three norms more.
    pub(super) fn draft(&self, layout: &[LayerPlace]) -> Result<Option<Layers>, ModelConfigError> {
        if self.fields.flag("use_mtp")? == Some(false) {
            return Ok(None);
        }
        let Some(modules) = self.fields.any(&COUNT, LAYERS)? else {
            return Ok(None);
        };
        let count = modules * self.fields.nonzero("mtp_transformer_layers", LAYERS)?.unwrap_or(1);
        let attends =
            |place: &&LayerPlace| matches!(place.mixer, MixerKind::Full | MixerKind::Latent);
        let Some(last) = layout.iter().rev().find(attends).or_else(|| layout.last()) else {
            return Ok(None);
        };
        let feed = layout.last().map_or(last.feed, |last| last.feed);
        // Of a module that runs several times the indexer chooses once (`index_share_for_mtp_iteration`); it has one of its own.
        let place = LayerPlace { shares_keys: false, feed, shares_choice: false, ..*last };
        let layer = self.layer(place, self.formats(self.layers), count)?;
        Ok(Some(Layers { norms: layer.norms + self.norms(3), ..layer }))
    }
}
