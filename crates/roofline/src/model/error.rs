//! Why a config was not understood.

/// Why a model's config was not understood. Each message names the field at fault and what it ought to be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelConfigError {
    /// Two fields cannot both be right.
    #[error(
        "the model's config contradicts itself: `{field}` is {value} and `{other}` is {other_value}, but {rule}"
    )]
    Contradiction {
        /// The field more likely at fault.
        field: &'static str,
        /// Its value.
        value: u64,
        /// The field that it disagrees with.
        other: &'static str,
        /// That field's value.
        other_value: u64,
        /// What must hold between them.
        rule: &'static str,
    },
    /// A field's value makes no sense.
    #[error("`{field}` is {found} in the model's config; it must be {expected}")]
    Invalid {
        /// The field.
        field: &'static str,
        /// What the config says, shortened where it is long.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// A field that is needed is not there.
    #[error("the model's config has no `{field}`; it must be {expected}")]
    Missing {
        /// The field.
        field: &'static str,
        /// What would be right.
        expected: &'static str,
    },
    /// A field is missing or senseless in a part of the config.
    #[error("{error} (in its `{part}`)")]
    Within {
        /// The part.
        part: &'static str,
        /// What is wrong in it.
        error: Box<Self>,
    },
    /// The text is not a JSON object at all.
    #[error(
        "the model's config is not a JSON object ({0}); give the text of a Hugging Face config.json"
    )]
    NotAnObject(String),
    /// Each field is in its range, but together they describe more than can be counted.
    #[error(
        "the model's config describes {0} parameters, which no model has; see the layers, experts and widths"
    )]
    TooLarge(u128),
    /// The config may be right, but describes a model whose formulas this crate does not have.
    #[error(
        "`{field}` is {found} in the model's config: {reason}, so its speed cannot be computed"
    )]
    Unsupported {
        /// The field that says so.
        field: &'static str,
        /// What the config says, shortened where it is long.
        found: String,
        /// Why that is not covered.
        reason: &'static str,
    },
}

impl ModelConfigError {
    /// The same error of a part of the config, where the model is described in one.
    pub(super) fn within(self, part: Option<&'static str>) -> Self {
        match (self, part) {
            (
                error @ (Self::Missing { .. } | Self::Invalid { .. } | Self::Contradiction { .. }),
                Some(part),
            ) => Self::Within { part, error: Box::new(error) },
            (error, _) => error,
        }
    }
}
