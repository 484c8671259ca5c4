//! How the matrices are stored.

use serde_json::Value;

use super::super::fields::{Fields, shown};
use super::super::{ModelError, TensorClass};
use crate::Format;

pub(super) struct Quantization {
    format: Format,
    experts: Format,
}

impl Quantization {
    pub(super) fn format_of(&self, class: TensorClass, _layer: u64) -> Format {
        match class {
            TensorClass::Embedding | TensorClass::Head | TensorClass::Router => Format::Bf16,
            TensorClass::Experts => self.experts,
            _ => self.format,
        }
    }
}

pub(super) fn read(fields: Fields<'_>) -> Result<Quantization, ModelError> {
    let plain = Quantization { format: Format::Bf16, experts: Format::Bf16 };
    match fields.get("quantization_config") {
        None => Ok(plain),
        Some(Value::Object(quantization)) => {
            let fields = Fields(quantization);
            match fields.text("quant_method") {
                Some("fp8") => {
                    let format = match fields.list("weight_block_size") {
                        Some(_) => Format::Fp8Blocks { rows: 128, columns: 128 },
                        None => Format::Fp8,
                    };
                    Ok(Quantization { format, experts: format })
                }
                Some("mxfp4") => Ok(Quantization { experts: Format::Mxfp4, ..plain }),
                _ => Err(ModelError::Unsupported {
                    field: "quantization_config.quant_method",
                    found: fields.get("quant_method").map_or_else(String::new, shown),
                    reason: "this quantization is not covered",
                }),
            }
        }
        Some(other) => Err(ModelError::Invalid {
            field: "quantization_config",
            found: shown(other),
            expected: "an object with a `quant_method`, or absent",
        }),
    }
}
