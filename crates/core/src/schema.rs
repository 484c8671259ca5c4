//! The JSON Schemas of documents, and how a type that writes its own JSON says what it writes.
//!
//! Most types of a document derive both `Serialize` and `JsonSchema`. The figures of a level, which write absence as null with
//! the reason beside it, do neither: one list of their fields makes both, in the words of [`ObjectSchema`], and tests hold it
//! against real documents.

use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
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

/// The JSON Schema (draft 2020-12) of a document as it is written.
#[must_use]
pub fn document_schema<T: JsonSchema>() -> Schema {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    settings.with_transform(ClosedObjects).into_generator().into_root_schema_for::<T>()
}

/// Under which a schema has alternatives.
const COMBINED: [&str; 3] = ["oneOf", "anyOf", "allOf"];

/// Nothing but the listed fields, so that a field that is forgotten here or there shows; and no formats, which say again
/// what the types say.
#[derive(Debug, Clone)]
struct ClosedObjects;

impl Transform for ClosedObjects {
    fn transform(&mut self, schema: &mut Schema) {
        schema.remove("format");
        let is_listed = schema.get("properties").is_some();
        let is_open = schema.get("additionalProperties").is_none();
        if is_listed && is_open && schema.get("unevaluatedProperties").is_none() {
            let is_combined = COMBINED.iter().any(|key| schema.get(*key).is_some());
            let key = if is_combined { "unevaluatedProperties" } else { "additionalProperties" };
            schema.insert(key.to_owned(), false.into());
        }
        transform_subschemas(self, schema);
        // The fields of an alternative stand among those of the whole, which is closed by itself.
        for key in COMBINED.into_iter().filter(|_| is_listed) {
            let branches = schema.get_mut(key).and_then(|branches| branches.as_array_mut());
            for branch in branches.into_iter().flatten().filter_map(|branch| branch.as_object_mut())
            {
                branch.remove("additionalProperties");
            }
        }
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
