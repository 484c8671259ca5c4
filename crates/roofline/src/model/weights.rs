//! The same model with its weights stored in another way.

mod gguf;

use std::fmt;
use std::str::FromStr;

use super::{FeedForward, Mixer, Model, Tables, TensorClass};
use crate::{FileType, Format, UnknownFormat};

/// How weights are to be stored, as the command line says it: a word for all of them, a format for a class, or both.
///
/// - A plain word such as `fp8` means what published checkpoints of that name do: the matrices of the layers are
///   quantised; embedding, LM head, routers, norms and biases stay in 16 bits (vLLM's and llm-compressor's documentation,
///   NVIDIA's `*-FP8` and `*-NVFP4` repositories).
/// - If the checkpoint is quantised, what its publisher left in 16 bits stays so: `nvfp4` on an fp8 checkpoint takes
///   what was fp8. If it is quantised to as few bits or fewer, it keeps its own formats, and a warning says so: the
///   4-bit gpt-oss is the published MXFP4 one, whatever it is called.
/// - `bf16` widens everything again.
/// - A file type of llama.cpp, such as `q4_k_m`, decides on every matrix, the tables included, whatever the checkpoint.
/// - A class by name holds as it is said: `experts=nvfp4,attention=bf16`, or after a word: `fp8,head=fp8`.
///
/// ```
/// use fizeau_roofline::{Format, WeightChoice};
///
/// let choice: WeightChoice = "nvfp4,attention=fp8".parse()?;
/// assert_eq!(choice.to_string(), "nvfp4,attention=fp8");
/// assert_eq!("nvfp4".parse::<WeightChoice>()?, WeightChoice::all(Format::Nvfp4));
/// # Ok::<(), fizeau_roofline::WeightChoiceError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct WeightChoice {
    all: Option<WeightWord>,
    classes: Vec<(TensorClass, Format)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WeightWord {
    Format(Format),
    File(FileType),
}

/// Classes that can be named. An indexer goes with its attention; norms and biases stay as they are.
const NAMED: [TensorClass; 8] = [
    TensorClass::Attention,
    TensorClass::Dense,
    TensorClass::Embedding,
    TensorClass::Experts,
    TensorClass::Head,
    TensorClass::Recurrent,
    TensorClass::Router,
    TensorClass::SharedExperts,
];

/// Why a choice of weights was not understood. The message names the word at fault.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct WeightChoiceError(String);

impl From<UnknownFormat> for WeightChoiceError {
    fn from(unknown: UnknownFormat) -> Self {
        Self(unknown.to_string())
    }
}

impl WeightChoice {
    /// All matrices of the layers in one format.
    #[must_use]
    pub const fn all(format: Format) -> Self {
        Self { all: Some(WeightWord::Format(format)), classes: Vec::new() }
    }

    /// All weights as in a GGUF file of this type.
    #[must_use]
    pub const fn file(kind: FileType) -> Self {
        Self { all: Some(WeightWord::File(kind)), classes: Vec::new() }
    }

    /// Whether `model` has all that it names.
    ///
    /// # Errors
    /// If it has no weights of a class, by its name.
    pub fn check(&self, model: &Model) -> Result<(), WeightChoiceError> {
        let mut there = Vec::new();
        model.clone().each_format(|class, _| there.push(class));
        match self.classes.iter().find(|(class, _)| !there.contains(class)) {
            None => Ok(()),
            Some((class, _)) => {
                let class = class.as_str();
                Err(WeightChoiceError(format!("the model has no weights of the class {class}")))
            }
        }
    }

    /// The same choice with one class in a format of its own. [`TensorClass::Indexer`] goes with
    /// [`TensorClass::Attention`]; it and [`TensorClass::Vectors`] are left as they are.
    pub(crate) fn with(mut self, class: TensorClass, format: Format) -> Self {
        self.classes.retain(|known| known.0 != class);
        self.classes.push((class, format));
        self
    }
}

impl FromStr for WeightChoice {
    type Err = WeightChoiceError;

    fn from_str(text: &str) -> Result<Self, WeightChoiceError> {
        let mut choice = Self::default();
        for item in text.split(',').map(str::trim) {
            let twice = || {
                let second: String = item.chars().take(48).collect();
                let message =
                    format!("\"{second}\" is a second format for the same weights; give one");
                Err(WeightChoiceError(message))
            };
            if let Some((name, format)) = item.split_once('=') {
                let class = class_named(name)?;
                if choice.classes.iter().any(|known| known.0 == class) {
                    return twice();
                }
                choice.classes.push((class, format.parse()?));
            } else if choice.all.is_some() {
                return twice();
            } else {
                // Where a file type and a block type share a name, as `q6_k`, the file is meant.
                choice.all = Some(match item.parse() {
                    Ok(kind) => WeightWord::File(kind),
                    Err(_) => WeightWord::Format(item.parse()?),
                });
            }
        }
        Ok(choice)
    }
}

fn class_named(name: &str) -> Result<TensorClass, WeightChoiceError> {
    let wanted = name.trim().to_lowercase().replace(['-', ' '], "_");
    let found = NAMED.into_iter().find(|class| class.as_str() == wanted);
    found.ok_or_else(|| {
        let (name, known) =
            (name.chars().take(48).collect::<String>(), NAMED.map(TensorClass::as_str));
        let (last, known) = (known[7], known[..7].join(", "));
        WeightChoiceError(format!("no weights are called \"{name}\"; known are {known} and {last}"))
    })
}

impl fmt::Display for WeightChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.all.map(|word| match word {
            WeightWord::Format(format) => format.to_string(),
            WeightWord::File(kind) => kind.to_string(),
        });
        let classes =
            self.classes.iter().map(|(class, format)| format!("{}={format}", class.as_str()));
        f.pad(&word.into_iter().chain(classes).collect::<Vec<_>>().join(","))
    }
}

impl Model {
    /// The same model with its weights stored as `choice` says. Where the checkpoint is narrower already, it keeps its
    /// own formats and [`Model::warnings`] says so.
    #[must_use]
    pub fn with_weights(mut self, choice: &WeightChoice) -> Self {
        match choice.all {
            None => {}
            Some(WeightWord::Format(format)) => self.set_all(format),
            Some(WeightWord::File(kind)) => self.set_file(kind),
        }
        for &(class, format) in &choice.classes {
            self.each_format(|of, stored| {
                if of == class {
                    *stored = format;
                }
            });
        }
        if self.tables.tied {
            // One table, used twice: the head's format is what is read.
            let tables = &mut self.tables;
            let head = choice.classes.iter().any(|known| known.0 == TensorClass::Head);
            let table = if head { tables.head } else { tables.embedding };
            *tables = Tables { embedding: table, head: table, ..*tables };
        }
        self
    }

    fn set_all(&mut self, format: Format) {
        if format.value_bits() >= 16 {
            self.each_format(|_, stored| *stored = format);
            return;
        }
        let mut narrowest: Option<Format> = None;
        self.each_format(|_, stored| {
            let bits = |format: Format| format.value_bits();
            if bits(*stored) < narrowest.map_or(16, bits) {
                narrowest = Some(*stored);
            }
        });
        match narrowest {
            Some(own) if own.value_bits() <= format.value_bits() => {
                if own != format && !(own == Format::FP8_BLOCK && format == Format::Fp8) {
                    self.warnings.push(format!(
                        "weights were asked for in {format}, but the checkpoint has its own in {own}: its formats are \
                         kept; name a class to change one, as in `experts={format}`"
                    ));
                }
            }
            Some(_) => self.each_format(|_, stored| {
                if stored.value_bits() < 16 {
                    *stored = format;
                }
            }),
            None => self.each_format(|class, stored| {
                if is_linear(class) {
                    *stored = format;
                }
            }),
        }
    }

    /// Hands each format of the model to `change`, with the class that it is for.
    fn each_format(&mut self, mut change: impl FnMut(TensorClass, &mut Format)) {
        change(TensorClass::Embedding, &mut self.tables.embedding);
        change(TensorClass::Head, &mut self.tables.head);
        for layers in self.layers.iter_mut().chain(&mut self.draft) {
            match &mut layers.mixer {
                Mixer::Attention(layer) => change(TensorClass::Attention, &mut layer.format),
                Mixer::Latent(layer) => change(TensorClass::Attention, &mut layer.format),
                Mixer::DeltaNet(layer) => change(TensorClass::Recurrent, &mut layer.format),
                Mixer::Mamba2(layer) => change(TensorClass::Recurrent, &mut layer.format),
                Mixer::None => {}
            }
            match &mut layers.feed_forward {
                FeedForward::Dense(dense) => change(TensorClass::Dense, &mut dense.format),
                FeedForward::Experts(experts) => {
                    change(TensorClass::Experts, &mut experts.each.format);
                    if experts.latent.is_some() {
                        change(TensorClass::Dense, &mut experts.latent_format);
                    }
                    change(TensorClass::Router, &mut experts.router_format);
                    if let Some(shared) = &mut experts.shared {
                        change(TensorClass::SharedExperts, &mut shared.format);
                    }
                }
                FeedForward::None => {}
            }
        }
    }
}

/// Whether a class is of the matrices of layers that quantisers take.
const fn is_linear(class: TensorClass) -> bool {
    matches!(
        class,
        TensorClass::Attention
            | TensorClass::Recurrent
            | TensorClass::Dense
            | TensorClass::Experts
            | TensorClass::SharedExperts
    )
}
