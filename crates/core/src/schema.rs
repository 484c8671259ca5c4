//! How a type that writes its own JSON says what it writes, for JSON Schemas.
//!
//! Most types of a document derive both `Serialize` and `JsonSchema`. The figures of a level, which write absence as null with
//! the reason beside it, do neither: one list of their fields makes both, in the words of [`ObjectSchema`], and tests hold it
//! against real documents.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// The schema of an object, field by field.
#[derive(Debug)]
pub struct ObjectSchema<'g> {
    generator: &'g mut SchemaGenerator,
    schema: Schema,
}

impl<'g> ObjectSchema<'g> {
    /// An object without fields; `about` says what it is.
    pub fn new(generator: &'g mut SchemaGenerator, about: &str) -> Self {
        let schema = json_schema!({
            "description": about, "type": "object", "properties": {}, "required": [],
        });
        Self { generator, schema }
    }

    /// A field that is always there.
    #[must_use]
    pub fn field<T: JsonSchema>(self, name: &str) -> Self {
        self.may_have::<T>(name).require(name)
    }

    /// A field that is left out where it does not apply.
    #[must_use]
    pub fn may_have<T: JsonSchema>(self, name: &str) -> Self {
        let schema = self.generator.subschema_for::<T>();
        self.property(name, schema)
    }

    /// A field that is null where it is not known, with `NAME_reason` beside it then.
    #[must_use]
    pub fn or_reason<T: JsonSchema>(self, name: &str) -> Self {
        self.field::<Option<T>>(name).may_have::<String>(&format!("{name}_reason"))
    }

    /// The ends of the interval of `NAME`, as `NAME_ci`: left out where there is none to be had, null with the reason where the
    /// sample is too small.
    #[must_use]
    pub fn interval<T: JsonSchema>(self, name: &str) -> Self {
        let name = format!("{name}_ci");
        self.may_have::<Option<[T; 2]>>(&name).may_have::<String>(&format!("{name}_reason"))
    }

    /// The schema.
    #[must_use]
    pub fn end(self) -> Schema {
        self.schema
    }

    fn property(mut self, name: &str, schema: Schema) -> Self {
        let properties = self.schema.get_mut("properties").and_then(|all| all.as_object_mut());
        if let Some(properties) = properties {
            properties.insert(name.to_owned(), schema.to_value());
        }
        self
    }

    fn require(mut self, name: &str) -> Self {
        if let Some(required) = self.schema.get_mut("required").and_then(|all| all.as_array_mut()) {
            required.push(name.into());
        }
        self
    }
}

/// Gives a type the JSON Schema of another, as which it is written: `written_as!(Type, Other)`.
#[macro_export]
macro_rules! written_as {
    ($type:ty, $other:ty) => {
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                <$other as schemars::JsonSchema>::inline_schema()
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                <$other as schemars::JsonSchema>::schema_name()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                <$other as schemars::JsonSchema>::schema_id()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                <$other as schemars::JsonSchema>::json_schema(generator)
            }
        }
    };
}
