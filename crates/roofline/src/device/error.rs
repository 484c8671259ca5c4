//! Why figures do not describe a device.

/// Why figures do not describe a device. Each message names the field at fault and what would be right.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// A figure makes no sense.
    #[error("the device's {figure} is {value}; it must be {wanted}")]
    Figure {
        /// Which figure.
        figure: &'static str,
        /// What it was.
        value: f64,
        /// What would be right.
        wanted: String,
    },
    /// The text is not TOML.
    #[error("line {line}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A field that is needed is not there.
    #[error("`{field}` is missing; it must be {wanted}")]
    Missing {
        /// The field, with the tables that it is in.
        field: String,
        /// What would be right.
        wanted: String,
    },
    /// A field that means nothing here.
    #[error("line {line}: `{field}` is not known; known here are {known}")]
    Unknown {
        /// The field, with the tables that it is in.
        field: String,
        /// The line, from 1.
        line: usize,
        /// The fields that there are.
        known: String,
    },
    /// A field's value makes no sense.
    #[error("line {line}: `{field}` is {found}; it must be {wanted}")]
    Wrong {
        /// The field, with the tables that it is in.
        field: String,
        /// The line, from 1.
        line: usize,
        /// What the file says, shortened where it is long.
        found: String,
        /// What would be right.
        wanted: String,
    },
}

/// The value, if it is a positive finite number.
pub(super) fn positive(value: f64, figure: &'static str) -> Result<f64, DeviceError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(DeviceError::Figure { figure, value, wanted: "a positive finite number".to_owned() })
}

/// The value, if it is no more than `limit`, which is called `of`.
pub(super) fn at_most(
    value: f64,
    limit: f64,
    figure: &'static str,
    of: &str,
) -> Result<f64, DeviceError> {
    if value <= limit {
        return Ok(value);
    }
    Err(DeviceError::Figure { figure, value, wanted: format!("at most {of}, {limit}") })
}
