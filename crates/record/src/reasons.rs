//! Fields that are null where they are not known, each with the reason in a sibling `..._reason`.
//!
//! `serde`'s derive has no word for a field that is two fields of its object. So a type that has such fields derives anyway,
//! with `#[serde(remote = "Self")]`, and [`reasons!`] says why a field is null: the reasons are added as the fields are
//! written, and passed over as they are read.

use std::borrow::Cow;

use serde::ser::{Impossible, SerializeStruct};
use serde::{Serialize, Serializer};

/// What has fields that may be null.
pub(crate) trait Reasons {
    /// The names of these fields, each with that of its reason.
    const NAMES: &'static [[&'static str; 2]];

    /// Why the field of that name is null; none where it is not.
    fn reason(&self, name: &str) -> Option<Cow<'_, str>>;
}

/// Gives a type its `Serialize` and `Deserialize`, and says of each field that may be null why it is:
/// `reasons!(Host, |host| { cpu, cores => "the system does not report it"; ... })`. A field that is written under another name is `rate as "rate_per_s"`;
/// one of an enum is `"description" when CONDITION`.
macro_rules! reasons {
    ($type:ident, |$it:ident| {
        $($($field:tt $(as $key:literal)? $(when $is:expr)?),+ => $why:expr);* $(;)?
    }) => {
        impl $crate::reasons::Reasons for $type {
            const NAMES: &'static [[&'static str; 2]] =
                &[$($($crate::reasons::reasons!(@names $field $($key)?)),+),*];

            fn reason(&self, name: &str) -> Option<std::borrow::Cow<'_, str>> {
                let $it = self;
                $($(if name == $crate::reasons::reasons!(@names $field $($key)?)[0] {
                    let is_null = $crate::reasons::reasons!(@null $it $field $($is)?);
                    return is_null.then(|| $why.into());
                })+)*
                None
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                $type::serialize(self, $crate::reasons::WithReasons { to, of: self })
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                $type::deserialize(from)
            }
        }
    };
    (@names $key:literal) => { [$key, concat!($key, "_reason")] };
    (@names $field:ident) => { [stringify!($field), concat!(stringify!($field), "_reason")] };
    (@names $field:ident $key:literal) => { [$key, concat!($key, "_reason")] };
    (@null $it:ident $field:ident) => { $it.$field.is_none() };
    (@null $it:ident $field:tt $is:expr) => { $is };
}

pub(crate) use reasons;

/// Adds the reasons of `of` to the object that is written.
pub(crate) struct WithReasons<'a, S, T> {
    pub(crate) to: S,
    pub(crate) of: &'a T,
}

/// Nothing but an object has fields.
macro_rules! no_object {
    ($($name:ident($($arg:ident: $type:ty),*) -> $ok:ty;)*) => {$(
        fn $name(self, $($arg: $type),*) -> Result<$ok, S::Error> {
            $(let _ = $arg;)*
            Err(serde::ser::Error::custom("reasons are given in objects alone"))
        }
    )*};
}

impl<'a, S: Serializer, T: Reasons> Serializer for WithReasons<'a, S, T> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Impossible<S::Ok, S::Error>;
    type SerializeTuple = Impossible<S::Ok, S::Error>;
    type SerializeTupleStruct = Impossible<S::Ok, S::Error>;
    type SerializeTupleVariant = Impossible<S::Ok, S::Error>;
    type SerializeMap = Impossible<S::Ok, S::Error>;
    type SerializeStruct = WithReasons<'a, S::SerializeStruct, T>;
    type SerializeStructVariant = Impossible<S::Ok, S::Error>;

    fn serialize_struct(
        self,
        name: &'static str,
        len: usize,
    ) -> Result<Self::SerializeStruct, S::Error> {
        let reasons = T::NAMES.iter().filter(|[field, _]| self.of.reason(field).is_some()).count();
        Ok(WithReasons { to: self.to.serialize_struct(name, len + reasons)?, of: self.of })
    }

    fn serialize_some<V: Serialize + ?Sized>(self, value: &V) -> Result<S::Ok, S::Error> {
        self.to.serialize_some(value)
    }

    fn serialize_newtype_struct<V: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &V,
    ) -> Result<S::Ok, S::Error> {
        self.to.serialize_newtype_struct(name, value)
    }

    fn serialize_newtype_variant<V: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &V,
    ) -> Result<S::Ok, S::Error> {
        self.to.serialize_newtype_variant(name, index, variant, value)
    }

    no_object! {
        serialize_bool(v: bool) -> S::Ok;
        serialize_i8(v: i8) -> S::Ok;
        serialize_i16(v: i16) -> S::Ok;
        serialize_i32(v: i32) -> S::Ok;
        serialize_i64(v: i64) -> S::Ok;
        serialize_u8(v: u8) -> S::Ok;
        serialize_u16(v: u16) -> S::Ok;
        serialize_u32(v: u32) -> S::Ok;
        serialize_u64(v: u64) -> S::Ok;
        serialize_f32(v: f32) -> S::Ok;
        serialize_f64(v: f64) -> S::Ok;
        serialize_char(v: char) -> S::Ok;
        serialize_str(v: &str) -> S::Ok;
        serialize_bytes(v: &[u8]) -> S::Ok;
        serialize_none() -> S::Ok;
        serialize_unit() -> S::Ok;
        serialize_unit_struct(name: &'static str) -> S::Ok;
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str) -> S::Ok;
        serialize_seq(len: Option<usize>) -> Self::SerializeSeq;
        serialize_tuple(len: usize) -> Self::SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Self::SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(
            name: &'static str, index: u32, variant: &'static str, len: usize
        ) -> Self::SerializeStructVariant;
    }
}

impl<S: SerializeStruct, T: Reasons> SerializeStruct for WithReasons<'_, S, T> {
    type Ok = S::Ok;
    type Error = S::Error;

    fn serialize_field<V: Serialize + ?Sized>(
        &mut self,
        key: &'static str,
        value: &V,
    ) -> Result<(), S::Error> {
        self.to.serialize_field(key, value)?;
        let Some([_, reason]) = T::NAMES.iter().find(|[field, _]| *field == key) else {
            return Ok(());
        };
        match self.of.reason(key) {
            Some(why) => self.to.serialize_field(reason, &why),
            None => Ok(()),
        }
    }

    fn end(self) -> Result<S::Ok, S::Error> {
        self.to.end()
    }
}

/// Lists the reasons in the schema of `T`; of an enum in each variant whose field may be null.
#[cfg(feature = "schema")]
pub(crate) fn listed<T: Reasons>(schema: &mut schemars::Schema) {
    if let Some(variants) = schema.get_mut("oneOf").and_then(serde_json::Value::as_array_mut) {
        let of_variant = |one: &mut serde_json::Value| list::<T>(one.get_mut("properties"));
        return variants.iter_mut().for_each(of_variant);
    }
    list::<T>(schema.get_mut("properties"));
}

#[cfg(feature = "schema")]
fn list<T: Reasons>(properties: Option<&mut serde_json::Value>) {
    let Some(properties) = properties.and_then(serde_json::Value::as_object_mut) else { return };
    let is_null =
        |of: &serde_json::Value| of.as_array().is_some_and(|all| all.contains(&"null".into()));
    for [field, reason] in T::NAMES {
        if properties.get(*field).is_some_and(|of| of.get("type").is_none_or(is_null)) {
            properties.insert((*reason).to_owned(), serde_json::json!({ "type": "string" }));
        }
    }
}
