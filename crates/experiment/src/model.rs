//! Which model is meant: a file's, or one that is built in.

use std::path::{Path, PathBuf};

use fizeau_record::text::unreadable;
use fizeau_roofline::{KnownModel, Model};
use thiserror::Error;

use crate::hint::InputHint;
use crate::input::{Blame, InputError, InputField};

/// A model and the text that it was read from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadedModel {
    /// The model.
    pub model: Model,
    /// The text of its config.json.
    pub text: String,
    /// That of the `hf_quant_config.json` beside it, where there is one.
    pub quantization: Option<String>,
    /// The built-in model, where it is one.
    pub known: Option<&'static KnownModel>,
}

/// Why there is no model of a name, in one line.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct LoadModelError(String);

impl LoadedModel {
    /// As [`named`](Self::named), as an input of whoever asks.
    pub(crate) fn input(name: &str) -> Result<Self, InputError> {
        let found = Self::named(name).blame_given(InputField::ModelConfig, name);
        found.map_err(|error| match Path::new(name).exists() {
            true => error,
            false => error.hint(InputHint::ListOfModels),
        })
    }

    /// The model of the config.json at `name` (or in the folder of that name); where there is no such file, the built-in one
    /// that is called so. A `hf_quant_config.json` beside a `config.json` says how that checkpoint is quantised; beside a file
    /// of another name it belongs to something else.
    ///
    /// # Errors
    /// If there is neither, or the config is not understood.
    pub fn named(name: &str) -> Result<Self, LoadModelError> {
        let given = Path::new(name);
        let wrong = |error: &dyn ToString| LoadModelError(error.to_string());
        let known = KnownModel::named(name);
        if let (false, Ok(known)) = (given.exists(), &known) {
            let model = known.model().map_err(|error| wrong(&error))?;
            let text = known.config.to_owned();
            return Ok(Self { model, text, quantization: None, known: Some(known) });
        }
        let nearest = known.err().map(|unknown| unknown.nearest).filter(|name| !name.is_empty());
        let nearest = nearest.map_or_else(
            || "; download".to_owned(),
            |name| format!("; did you mean {name}? Or download"),
        );
        let path = if given.is_dir() { given.join("config.json") } else { PathBuf::from(given) };
        let text = std::fs::read_to_string(&path).map_err(|error| match given.exists() {
            true if given.is_dir() => LoadModelError(
                "this folder has no config.json; give the folder of a model, or the path of its config.json"
                    .to_owned(),
            ),
            true => LoadModelError(unreadable(&error)),
            false => LoadModelError(format!(
                "this is neither a built-in model nor a file{nearest} the model's config.json and \
                 give its path"
            )),
        })?;
        let beside = path.with_file_name("hf_quant_config.json");
        let named_so = path.file_name().is_some_and(|name| name == "config.json");
        let quantization = std::fs::read_to_string(beside).ok().filter(|_| named_so);
        let model = match &quantization {
            Some(quantization) => Model::from_config_and_quantization(&text, quantization),
            None => Model::from_config_json(&text),
        };
        let model = model.map_err(|error| wrong(&error))?;
        Ok(Self { model, text, quantization, known: None })
    }
}
