//! Why figures do not describe a device.

/// Why figures do not describe a device. The message names the field at fault, with its line in a file, and what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DeviceError(pub(super) String);

impl DeviceError {
    /// A figure that makes no sense.
    pub(super) fn figure(figure: &str, value: f64, wanted: &str) -> Self {
        Self(format!("the device's {figure} is {value}; it must be {wanted}"))
    }
}

/// The value, if it is a positive finite number.
pub(super) fn positive(value: f64, figure: &str) -> Result<f64, DeviceError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(DeviceError::figure(figure, value, "a positive finite number"))
}

/// The value, if it is no more than `limit`, which is called `of`.
pub(super) fn at_most(value: f64, limit: f64, figure: &str, of: &str) -> Result<f64, DeviceError> {
    if value <= limit {
        return Ok(value);
    }
    Err(DeviceError::figure(figure, value, &format!("at most {of}, {limit}")))
}
