//! From a Hugging Face `config.json` to a checked [`Model`].
//!
//! The text becomes one flat set of fields (`wrapper`), whose family is looked up (`families`). `layout` says what
//! stands at each layer, the other files read one kind of block each, and layers that come out alike are counted
//! together. What was not understood is named (`unknown`).

mod attention;
mod drafts;
mod experts;
mod families;
mod latent;
mod layout;
mod quantization;
mod recurrent;
mod refused;
mod remarks;
mod text;
mod unknown;
mod wrapper;

use fizeau_core::Tokens;
use serde_json::{Map, Value};

use self::families::{Family, Flag};
use self::layout::{FeedKind, LayerPlace, MixerKind};
use self::quantization::Quantization;
use self::remarks::Remarks;
use self::wrapper::LanguagePart;
use super::fields::{CONTEXT, ConfigFields, FEED_FORWARD, HIDDEN, LAYERS, RANK, VOCABULARY, shown};
use super::{
    CacheFormats, Dense, FeedForward, Layers, Mixer, Model, ModelConfigError, PromptEnd, Tables,
    TensorClass,
};
use crate::Format;

pub(super) fn parse(text: &str) -> Result<Model, ModelConfigError> {
    model(object(text)?, None)
}

/// A config, and the file beside it that says how the checkpoint is quantised.
pub(super) fn parse_both(config: &str, quantization: &str) -> Result<Model, ModelConfigError> {
    let mut config = object(config)?;
    let quantization = object(quantization)?;
    let quantization = Value::Object(quantization);
    if ConfigFields(&config).get(quantization::FIELD).is_some() {
        return model(config, Some(quantization));
    }
    config.insert(quantization::FIELD.to_owned(), quantization);
    model(config, None)
}

fn object(text: &str) -> Result<Map<String, Value>, ModelConfigError> {
    let value: Value = serde_json::from_str(&text::plain(text))
        .map_err(|error| ModelConfigError::NotAnObject(error.to_string()))?;
    match value {
        Value::Object(object) => Ok(object),
        other => Err(ModelConfigError::NotAnObject(shown(&other))),
    }
}

/// `overruled` is what a file beside the config says of quantisation, where the config says it itself.
fn model(object: Map<String, Value>, overruled: Option<Value>) -> Result<Model, ModelConfigError> {
    let mut remarks = Remarks::default();
    let LanguagePart { fields: object, name, quantization } =
        wrapper::language_part(object, &mut remarks);
    let said_again =
        [("within its own part of the config", quantization), ("in the file beside it", overruled)];
    let model = language_model(object, remarks, said_again);
    model.map_err(|error| error.within(name))
}

/// What else is said of how a checkpoint is quantised, and where.
type SaidAgain = [(&'static str, Option<Value>); 2];

fn language_model(
    mut object: Map<String, Value>,
    mut remarks: Remarks,
    said_again: SaidAgain,
) -> Result<Model, ModelConfigError> {
    let (family, architecture) = Family::of(ConfigFields(&object), &mut remarks)?;
    let architecture = architecture.to_owned();
    wrapper::rename(&mut object);
    family.complete(&mut object, &mut remarks);
    let fields = ConfigFields(&object);
    refused::check(fields)?;
    unknown::warn(fields, &mut remarks);
    if family.is_unknown() && fields.get("tie_word_embeddings").is_none() {
        remarks.say(
            "the config has no `tie_word_embeddings`: the LM head is counted as a matrix of its own".to_owned(),
        );
    }
    let config = Config::read(fields, family)?;
    remarks.append(config.quantization.remarks());
    if quantization::block(fields).is_some() && config.layer_input()?.is_some() {
        remarks.doubt(
            "`hidden_size_per_layer_input`".to_owned(),
            "how what `hidden_size_per_layer_input` adds is quantised is not read: it is counted in 16 bits".to_owned(),
        );
    }
    for (place, block) in said_again.into_iter().filter_map(|(place, block)| Some((place, block?)))
    {
        if !config.quantization.is_said_by(&object, block) {
            let text = format!(
                "the config says how the checkpoint is quantised, and what is said of that {place} differs and is not taken"
            );
            remarks.doubt("`quantization_config`".to_owned(), text);
        }
    }
    let mut model = config.model(architecture)?;
    unknown::warn_of_absent(fields, family, &model, &mut remarks);
    Remarks { warnings: model.warnings, unread: model.unread } = remarks;
    match model.is_countable() {
        Ok(()) => Ok(model),
        Err(parameters) => Err(ModelConfigError::TooLarge(parameters)),
    }
}

/// What the parts of a layer are read from.
struct Config<'a> {
    fields: ConfigFields<'a>,
    family: &'static Family,
    quantization: Quantization,
    hidden: u64,
    layers: u64,
}

impl PromptEnd {
    const fn add(&mut self, more: Self) {
        self.last += more.last;
        self.behind += more.behind;
    }
}

impl Layers {
    fn is_like(&self, other: &Self) -> bool {
        let Self { mixer, feed_forward, norms, .. } = self;
        (mixer, feed_forward, norms) == (&other.mixer, &other.feed_forward, &other.norms)
    }
}

/// How the matrices of one layer are stored.
#[derive(Clone, Copy, PartialEq)]
struct Formats {
    attention: Format,
    recurrent: Format,
    dense: Format,
    experts: Format,
    shared: Format,
    router: Format,
    latent: Format,
}

impl<'a> Config<'a> {
    fn read(fields: ConfigFields<'a>, family: &'static Family) -> Result<Self, ModelConfigError> {
        Ok(Self {
            fields,
            family,
            hidden: fields.count("hidden_size", HIDDEN)?,
            layers: fields.count("num_hidden_layers", LAYERS)?,
            quantization: quantization::read(fields)?,
        })
    }

    fn model(&self, architecture: String) -> Result<Model, ModelConfigError> {
        let layout = self.layout()?;
        let (layers, order) = self.layers(&layout)?;
        let vocabulary = self.fields.count("vocab_size", VOCABULARY)?;
        let biased = self.fields.flag("lm_head_bias")? == Some(true);
        let head_bias = if biased { vocabulary } else { 0 };
        let tied = self.fields.flag("tie_word_embeddings")?.unwrap_or(self.family.tied);
        let of = |class| self.quantization.format_of(class, 0);
        // A tied head is the embedding, whatever is said of heads.
        let table = if tied { TensorClass::Embedding } else { TensorClass::Head };
        Ok(Model {
            architecture,
            hidden: self.hidden,
            vocabulary,
            layers,
            order,
            final_vectors: self.norms(1)
                + head_bias
                + self.positions()?
                + self.inputs_of_layers()?,
            tables: Tables { tied, embedding: of(TensorClass::Embedding), head: of(table) },
            cache: CacheFormats {
                kv: self.quantization.kv_cache(),
                state: self.quantization.state_cache(),
            },
            draft: self.draft(&layout)?,
            knows_draft: self.knows_drafts(),
            max_context: self.max_context()?,
            warnings: Vec::new(),
            unread: Vec::new(),
        })
    }

    /// Elements of a second embedding, of which a token reads one row for all layers, and of its norm (Gemma 3n and 4).
    fn inputs_of_layers(&self) -> Result<u64, ModelConfigError> {
        let Some(width) = self.layer_input()? else {
            return Ok(0);
        };
        let rows = self.fields.any(&["vocab_size_per_layer_input", "vocab_size"], VOCABULARY)?;
        Ok(rows.unwrap_or(0) * self.layers * width + width)
    }

    /// How wide what each layer is given of the token besides is; none where there is no such thing.
    fn layer_input(&self) -> Result<Option<u64>, ModelConfigError> {
        self.fields.nonzero("hidden_size_per_layer_input", RANK)
    }

    /// Elements of a table of positions, of which a token reads one row.
    fn positions(&self) -> Result<u64, ModelConfigError> {
        let Some(more) = self.family.learned_positions else {
            return Ok(0);
        };
        let rows = self.max_context()?.map_or(0, Tokens::get).min(VOCABULARY.limit) + more;
        Ok(rows * self.hidden)
    }

    /// One entry for all layers that are alike in kind and format, and which of them each layer is one of.
    fn layers(&self, layout: &[LayerPlace]) -> Result<(Vec<Layers>, Vec<u32>), ModelConfigError> {
        let last = layout.iter().rposition(|place| place.writes());
        let mut kinds: Vec<(LayerPlace, Formats, u64, PromptEnd)> = Vec::new();
        let mut order: Vec<usize> = Vec::with_capacity(layout.len());
        for (at, (place, index)) in layout.iter().zip(0..).enumerate() {
            let formats = self.formats(index);
            let end = PromptEnd {
                last: u64::from(Some(at) == last),
                behind: u64::from(last.is_some_and(|last| at > last)),
            };
            let known = kinds.iter().position(|(known, its, ..)| known == place && *its == formats);
            order.push(known.unwrap_or(kinds.len()));
            match known.and_then(|known| kinds.get_mut(known)) {
                Some((_, _, count, known)) => {
                    *count += 1;
                    known.add(end);
                }
                None => kinds.push((*place, formats, 1, end)),
            }
        }
        let mut layers: Vec<Layers> = Vec::new();
        // Where each kind came to lie.
        let mut places: Vec<u32> = Vec::with_capacity(kinds.len());
        for (place, formats, count, end) in kinds {
            let more = Layers { end, ..self.layer(place, formats, count)? };
            // Kinds may come out the same: a window that is longer than any context is none.
            let known = layers.iter().position(|known| known.is_like(&more));
            places.push(known.unwrap_or(layers.len()) as u32);
            match known.and_then(|known| layers.get_mut(known)) {
                Some(known) => {
                    known.count += more.count;
                    known.end.add(more.end);
                }
                None => layers.push(more),
            }
        }
        let order = order.into_iter().filter_map(|kind| places.get(kind).copied()).collect();
        Ok((layers, order))
    }

    fn layer(
        &self,
        place: LayerPlace,
        formats: Formats,
        count: u64,
    ) -> Result<Layers, ModelConfigError> {
        let mixer = match place.mixer {
            MixerKind::Full | MixerKind::Window => {
                Mixer::Attention(self.attention(place, formats.attention)?)
            }
            MixerKind::Latent => Mixer::Latent(self.latent(place, formats.attention)?),
            MixerKind::DeltaNet => Mixer::DeltaNet(self.delta_net(formats.recurrent)?),
            MixerKind::Mamba => Mixer::Mamba2(self.mamba(formats.recurrent)?),
            MixerKind::None => Mixer::None,
        };
        let feed_forward = match place.feed {
            FeedKind::Dense => FeedForward::Dense(self.dense_at(place, formats.dense)?),
            FeedKind::Experts => FeedForward::Experts(self.experts(formats)?),
            FeedKind::None => FeedForward::None,
        };
        let norms = self.norms(self.norms_of_layer()?);
        let parallel = self.flag(self.family.parallel)?;
        Ok(Layers { count, mixer, feed_forward, norms, parallel, end: PromptEnd::default() })
    }

    /// Falcon's first decoder has one norm in front of both blocks, which work side by side.
    fn norms_of_layer(&self) -> Result<u64, ModelConfigError> {
        let parallel = self.fields.flag("parallel_attn")? == Some(true);
        let two = self.fields.flag("new_decoder_architecture")? == Some(true);
        Ok(if parallel && !two { 1 } else { self.family.norms })
    }

    fn formats(&self, layer: u64) -> Formats {
        let of = |class| self.quantization.format_of(class, layer);
        Formats {
            attention: of(TensorClass::Attention),
            recurrent: of(TensorClass::Recurrent),
            dense: of(TensorClass::Dense),
            experts: of(TensorClass::Experts),
            shared: of(TensorClass::SharedExperts),
            router: of(TensorClass::Router),
            latent: self.quantization.latent_projections(layer),
        }
    }

    /// Gemma 4's layers that share keys may be twice as wide, and layers with an input of their own project to it and back: beside
    /// those two there is each layer's part of one matrix that makes all the inputs (`Gemma4TextDecoderLayer` of Hugging Face).
    fn dense_at(&self, place: LayerPlace, format: Format) -> Result<Dense, ModelConfigError> {
        let dense = self.dense(format)?;
        let wide = place.shares_keys && self.fields.flag("use_double_wide_mlp")? == Some(true);
        let projections =
            self.layer_input()?.map_or(0, |width| 3 * self.hidden * width + self.hidden);
        Ok(Dense {
            width: if wide { 2 * dense.width } else { dense.width },
            vectors: dense.vectors + projections,
            ..dense
        })
    }

    fn dense(&self, format: Format) -> Result<Dense, ModelConfigError> {
        let width = match self.fields.any(&self.family.dense_width, FEED_FORWARD)? {
            Some(width) => width,
            None => self.default_width()?,
        };
        let matrices = self.feed_forward_matrices();
        let biases = self.flag(self.family.feed_forward_bias)?;
        let vectors = if biases { (matrices - 1) * width + self.hidden } else { 0 };
        Ok(Dense { width, matrices, vectors, format })
    }

    fn default_width(&self) -> Result<u64, ModelConfigError> {
        match self.family.dense_width_in_hidden {
            Some(times) => Ok(times * self.hidden),
            None => self.fields.count("intermediate_size", FEED_FORWARD),
        }
    }

    /// Three where the block is gated, two where not.
    fn feed_forward_matrices(&self) -> u64 {
        let names = ["hidden_act", "mlp_hidden_act", "hidden_activation", "activation_function"];
        let activation = names.iter().find_map(|name| self.fields.text(name));
        // Activations that came up with blocks that have no gate.
        let plain = matches!(activation, Some("relu2" | "relu" | "gelu_new" | "xielu"));
        if self.family.gated.unwrap_or(!plain) { 3 } else { 2 }
    }

    /// Elements of so many norms over the hidden size.
    const fn norms(&self, norms: u64) -> u64 {
        norms * self.family.norm_vectors * self.hidden
    }

    fn flag(&self, flag: Flag) -> Result<bool, ModelConfigError> {
        flag.read(self.fields)
    }

    fn max_context(&self) -> Result<Option<Tokens>, ModelConfigError> {
        let names = ["max_position_embeddings", "max_sequence_length", "seq_length", "n_positions"];
        Ok(self.fields.any(&names, CONTEXT)?.map(Tokens::new))
    }
}
