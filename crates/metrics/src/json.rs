//! The JSON of figures: what is unknown is null, with the reason in a sibling `..._reason`.
//!
//! `serde`'s derive has no word for a field that is two fields of its object, so what has such fields lists them once more, in
//! the words of [`json_object!`]: from that one list come its `Serialize`, its `Deserialize` and its JSON Schema.

use std::fmt;

use fizeau_core::{Interval, Millis};
use serde::de::{Error, MapAccess};
use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize};

use crate::SampleSupport;
use crate::statistic::Quantile;

/// Something to write whose figures, where it has none, are absent for this reason.
pub(crate) struct OrReason<'a, T> {
    pub(crate) of: &'a T,
    pub(crate) empty: &'a str,
}

/// The reason where no better one is known.
pub(crate) const EMPTY: &str = "no values";

/// Writes `key` with `value`, or null and `key_reason` where there is none.
pub(crate) fn known_or_reason<M: SerializeMap, T: Serialize + Copy>(
    map: &mut M,
    key: &str,
    value: Option<T>,
    reason: &str,
) -> Result<(), M::Error> {
    map.serialize_entry(key, &value)?;
    if value.is_none() {
        map.serialize_entry(&format!("{key}_reason"), reason)?;
    }
    Ok(())
}

/// Writes `KEY_ci`: the ends of an interval, or null and a reason; nothing where its figure is not known.
pub(crate) fn interval_or_reason<M: SerializeMap, T: Serialize + Copy>(
    map: &mut M,
    key: &str,
    interval: Option<SampleSupport<Interval<T>>>,
) -> Result<(), M::Error> {
    let Some(interval) = interval else { return Ok(()) };
    let reason = interval.reason().unwrap_or_default();
    known_or_reason(map, &format!("{key}_ci"), interval.known().map(Interval::ends), &reason)
}

/// Writes a percentile of `n` values with its interval.
pub(crate) fn percentile_or_reason<M: SerializeMap>(
    map: &mut M,
    key: &str,
    quantile: Quantile,
    n: u64,
    empty: &str,
) -> Result<(), M::Error> {
    let reason = match quantile {
        Quantile::Withheld { needs } => format!("needs {needs} values, has {n}"),
        Quantile::Absent | Quantile::Known { .. } => empty.to_owned(),
    };
    known_or_reason(map, key, quantile.value(), &reason)?;
    match quantile {
        Quantile::Known { interval, .. } => interval_or_reason(map, key, interval),
        Quantile::Absent | Quantile::Withheld { .. } => Ok(()),
    }
}

/// What stands in the holes (`{}`) of `pattern` in `text`; none where it does not read like that.
pub(crate) fn scan<'t, const N: usize>(text: &'t str, pattern: &str) -> Option<[&'t str; N]> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let mut found = [""; N];
    for hole in &mut found {
        let part = parts.next()?;
        let end = if part.is_empty() { rest.len() } else { rest.find(part)? };
        (*hole, rest) = (rest.get(..end)?, rest.get(end + part.len()..)?);
    }
    (rest.is_empty() && parts.next().is_none()).then_some(found)
}

/// What is read of one field of an object, under its own name and those of its siblings.
pub(crate) trait Slot<'de>: Default {
    /// The result.
    type Value;

    /// Takes the next value, of the field's name with `suffix` behind it; false where that is no sibling of this field.
    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error>;

    /// What it came to, at the end of the object.
    fn finish<E: Error>(self, name: &'static str) -> Result<Self::Value, E>;
}

/// A field that is always there.
pub(crate) struct RequiredField<T>(Option<T>);

/// One that files of before do not have, which is nothing then.
#[derive(Default)]
pub(crate) struct AddedField<T>(T);

/// One that may be null, its reason being told by the other figures; or that may be left out.
pub(crate) struct NullableField<T>(Option<T>);

/// One that may be null, with its reason.
pub(crate) struct NullWithReason<T> {
    value: Option<T>,
    reason: Option<String>,
}

/// The interval of a figure.
pub(crate) struct IntervalField<T>(NullWithReason<[T; 2]>, bool);

/// A percentile with its interval.
#[derive(Default)]
pub(crate) struct PercentileField {
    value: NullWithReason<Millis>,
    ends: IntervalField<Millis>,
}

impl<T> Default for RequiredField<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for NullableField<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Default for NullWithReason<T> {
    fn default() -> Self {
        Self { value: None, reason: None }
    }
}

impl<T> Default for IntervalField<T> {
    fn default() -> Self {
        Self(NullWithReason::default(), false)
    }
}

impl<'de, T: Deserialize<'de>> Slot<'de> for RequiredField<T> {
    type Value = T;

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        if suffix.is_empty() {
            self.0 = Some(map.next_value()?);
        }
        Ok(suffix.is_empty())
    }

    fn finish<E: Error>(self, name: &'static str) -> Result<T, E> {
        self.0.ok_or_else(|| E::missing_field(name))
    }
}

impl<'de, T: Deserialize<'de> + Default> Slot<'de> for AddedField<T> {
    type Value = T;

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        if suffix.is_empty() {
            self.0 = map.next_value()?;
        }
        Ok(suffix.is_empty())
    }

    fn finish<E: Error>(self, _: &'static str) -> Result<T, E> {
        Ok(self.0)
    }
}

impl<'de, T: Deserialize<'de>> Slot<'de> for NullableField<T> {
    type Value = Option<T>;

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        if suffix.is_empty() {
            self.0 = map.next_value()?;
        }
        Ok(suffix.is_empty())
    }

    fn finish<E: Error>(self, _: &'static str) -> Result<Option<T>, E> {
        Ok(self.0)
    }
}

impl<'de, T: Deserialize<'de>> Slot<'de> for NullWithReason<T> {
    type Value = (Option<T>, String);

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        match suffix {
            "" => self.value = map.next_value()?,
            "_reason" => self.reason = map.next_value()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn finish<E: Error>(self, _: &'static str) -> Result<Self::Value, E> {
        Ok((self.value, self.reason.unwrap_or_default()))
    }
}

impl<'de, T: Deserialize<'de>> Slot<'de> for IntervalField<T> {
    type Value = Option<SampleSupport<Interval<T>>>;

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        let Some(suffix) = suffix.strip_prefix("_ci") else { return Ok(false) };
        self.1 = true;
        self.0.take(suffix, map)
    }

    fn finish<E: Error>(self, name: &'static str) -> Result<Self::Value, E> {
        let Self(NullWithReason { value, reason }, is_there) = self;
        if let Some([low, high]) = value {
            return Ok(Some(SampleSupport::Known(Interval::p95(low, high))));
        }
        if !is_there {
            return Ok(None);
        }
        if reason == SampleSupport::<u8>::CorrelationUnknown.reason() {
            return Ok(Some(SampleSupport::CorrelationUnknown));
        }
        let reason = reason.unwrap_or_default();
        let numbers = scan(&reason, "needs about {} values, has {}");
        let parsed =
            numbers.and_then(|[needs, has]| Some((needs.parse().ok()?, has.parse().ok()?)));
        let (needs, has) = parsed.ok_or_else(|| {
            E::custom(format!(
                "`{name}_ci` is null, and `{name}_ci_reason` does not say how many values it takes"
            ))
        })?;
        Ok(Some(SampleSupport::NotSupported { needs, has }))
    }
}

impl<'de> Slot<'de> for PercentileField {
    type Value = Quantile;

    fn take<A: MapAccess<'de>>(&mut self, suffix: &str, map: &mut A) -> Result<bool, A::Error> {
        Ok(self.value.take(suffix, map)? || self.ends.take(suffix, map)?)
    }

    fn finish<E: Error>(self, name: &'static str) -> Result<Quantile, E> {
        if let Some(value) = self.value.value {
            return Ok(Quantile::Known { value, interval: self.ends.finish(name)? });
        }
        let reason = self.value.reason.unwrap_or_default();
        let needs =
            scan(&reason, "needs {} values, has {}").and_then(|[needs, _]| needs.parse().ok());
        Ok(needs.map_or(Quantile::Absent, |needs| Quantile::Withheld { needs }))
    }
}

/// That a file's words for something are none that were ever written there.
pub(crate) fn strange(what: impl fmt::Display) -> String {
    format!("`{what}` is none of the values that a summary may have here")
}

/// Keys that were replaced, each with the one that is written now; no object has had both.
const EARLIER_KEYS: [(&str, &str); 3] =
    [("asked", "requested"), ("asked_mean", "requested_mean"), ("found", "kind")];

/// The key that is written now for what an earlier file calls `key`.
pub(crate) fn present_key(key: String) -> String {
    let earlier = EARLIER_KEYS.iter().find(|(earlier, _)| *earlier == key);
    earlier.map_or(key, |(_, present)| (*present).to_owned())
}

/// The JSON of a type, a line for each field in the order in which they are written: `"key": kind(...)`, and what makes a value
/// again of what was read.
///
/// - `is(field)`: always there. `maybe(field)`: left out where there is none.
/// - `or(field, reason)`: null with the reason where there is none; the reason follows from other figures and is not read.
/// - `ci(field)`, `ci(name = value)`: the interval of the figure `key`, as `key_ci`. `p(field)`: a percentile with its interval.
/// - `each(field, reason)`: figures that give that reason where they have no values. `later(field, reason)`: likewise, and there are
///   files that were written before there were such figures.
/// - `via(name: Type = value)`, `via_if(name: Type = value)`, `via_or(name: Type = value, reason)`: written in another form; read
///   as `name`, the last one with its reason.
/// - `told(Type, value)`, `told_or(Type, value, reason)`: follows from other figures, and is not read.
macro_rules! json_object {
    ($type:ident, $about:literal, |$this:ident| { $($key:literal : $kind:ident ($($args:tt)*)),* $(,)? } => $make:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let $this = self;
                let mut map = serde::Serializer::serialize_map(serializer, None)?;
                $(json_object!(@write map, $this, "no values", $key, $kind($($args)*));)*
                serde::ser::SerializeMap::end(map)
            }
        }
        json_object!(@rest $type, $about, { $($key : $kind($($args)*)),* } => $make);
    };
    ($type:ident, $about:literal, |$this:ident or $empty:ident| { $($key:literal : $kind:ident ($($args:tt)*)),* $(,)? } => $make:expr) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let empty = $crate::json::EMPTY;
                serde::Serialize::serialize(&$crate::json::OrReason { of: self, empty }, serializer)
            }
        }
        impl serde::Serialize for $crate::json::OrReason<'_, $type> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let ($this, $empty) = (self.of, self.empty);
                let mut map = serde::Serializer::serialize_map(serializer, None)?;
                $(json_object!(@write map, $this, $empty, $key, $kind($($args)*));)*
                serde::ser::SerializeMap::end(map)
            }
        }
        json_object!(@rest $type, $about, { $($key : $kind($($args)*)),* } => $make);
    };
    (@rest $type:ident, $about:literal, { $($key:literal : $kind:ident ($($args:tt)*)),* } => $make:expr) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct FieldReader;
                impl<'de> serde::de::Visitor<'de> for FieldReader {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str(concat!("the object of a ", stringify!($type)))
                    }

                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        mut map: A,
                    ) -> Result<$type, A::Error> {
                        #[allow(unused_imports, reason = "an object may have no field that is read")]
                        use $crate::json::Slot as _;
                        $(json_object!(@slot $kind($($args)*));)*
                        while let Some(key) = map.next_key::<String>()?.map($crate::json::present_key) {
                            $(json_object!(@take map, key, $key, $kind($($args)*));)*
                            map.next_value::<serde::de::IgnoredAny>()?;
                        }
                        $(json_object!(@finish A, $key, $kind($($args)*));)*
                        let make = || -> Result<$type, String> { $make };
                        make().map_err(serde::de::Error::custom)
                    }
                }
                deserializer.deserialize_map(FieldReader)
            }
        }
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let object = fizeau_core::schema::ObjectSchema::new(generator, $about);
                $(let object = json_object!(@schema object, $type, $key, $kind($($args)*));)*
                object.end()
            }
        }
    };

    (@write $map:ident, $this:ident, $empty:expr, $key:literal, is($field:ident)) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $key, &$this.$field)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, maybe($field:ident)) => {
        if let Some(value) = &$this.$field {
            serde::ser::SerializeMap::serialize_entry(&mut $map, $key, value)?;
        }
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, or($field:ident, $reason:expr)) => {
        $crate::json::known_or_reason(&mut $map, $key, $this.$field.as_ref(), $reason)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, ci($field:ident)) => {
        $crate::json::interval_or_reason(&mut $map, $key, $this.$field)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, ci($name:ident = $value:expr)) => {
        $crate::json::interval_or_reason(&mut $map, $key, $value)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, p($field:ident)) => {
        $crate::json::percentile_or_reason(&mut $map, $key, $this.$field, $this.n, $empty)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, each($field:ident, $reason:expr)) => {{
        let value = $crate::json::OrReason { of: &$this.$field, empty: $reason };
        serde::ser::SerializeMap::serialize_entry(&mut $map, $key, &value)?
    }};
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, later($field:ident, $reason:expr)) => {
        json_object!(@write $map, $this, $empty, $key, each($field, $reason))
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, via($name:ident : $type:ty = $value:expr)) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $key, &$value)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, via_if($name:ident : $type:ty = $value:expr)) => {
        if let Some(value) = $value {
            serde::ser::SerializeMap::serialize_entry(&mut $map, $key, &value)?;
        }
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, via_or($name:ident : $type:ty = $value:expr, $reason:expr)) => {
        $crate::json::known_or_reason(&mut $map, $key, $value, $reason)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, told($type:ty, $value:expr)) => {
        serde::ser::SerializeMap::serialize_entry(&mut $map, $key, &$value)?
    };
    (@write $map:ident, $this:ident, $empty:expr, $key:literal, told_or($type:ty, $value:expr, $reason:expr)) => {
        $crate::json::known_or_reason(&mut $map, $key, $value, $reason)?
    };

    (@slot is($field:ident)) => { let mut $field = $crate::json::RequiredField::default(); };
    (@slot each($field:ident, $reason:expr)) => { let mut $field = $crate::json::RequiredField::default(); };
    (@slot later($field:ident, $reason:expr)) => { let mut $field = $crate::json::AddedField::default(); };
    (@slot maybe($field:ident)) => { let mut $field = $crate::json::NullableField::default(); };
    (@slot or($field:ident, $reason:expr)) => { let mut $field = $crate::json::NullableField::default(); };
    (@slot ci($field:ident)) => { let mut $field = $crate::json::IntervalField::default(); };
    (@slot ci($name:ident = $value:expr)) => { let mut $name = $crate::json::IntervalField::default(); };
    (@slot p($field:ident)) => { let mut $field = $crate::json::PercentileField::default(); };
    (@slot via($name:ident : $type:ty = $value:expr)) => { let mut $name = $crate::json::RequiredField::<$type>::default(); };
    (@slot via_if($name:ident : $type:ty = $value:expr)) => { let mut $name = $crate::json::NullableField::<$type>::default(); };
    (@slot via_or($name:ident : $type:ty = $value:expr, $reason:expr)) => { let mut $name = $crate::json::NullWithReason::<$type>::default(); };
    (@slot told($($args:tt)*)) => {};
    (@slot told_or($($args:tt)*)) => {};

    (@take $map:ident, $found:ident, $key:literal, told($($args:tt)*)) => {};
    (@take $map:ident, $found:ident, $key:literal, told_or($($args:tt)*)) => {};
    (@take $map:ident, $found:ident, $key:literal, $kind:ident($field:ident $($args:tt)*)) => {
        if let Some(suffix) = $found.strip_prefix($key) && $field.take(suffix, &mut $map)? {
            continue;
        }
    };

    (@finish $error:ident, $key:literal, told($($args:tt)*)) => {};
    (@finish $error:ident, $key:literal, told_or($($args:tt)*)) => {};
    (@finish $error:ident, $key:literal, $kind:ident($field:ident $($args:tt)*)) => {
        let $field = $field.finish::<$error::Error>($key)?;
    };

    (@schema $object:ident, $type:ident, $key:literal, is($field:ident)) => {
        $crate::schema::field($object, $key, |it: &$type| &it.$field)
    };
    (@schema $object:ident, $type:ident, $key:literal, each($field:ident, $reason:expr)) => {
        $crate::schema::field($object, $key, |it: &$type| &it.$field)
    };
    (@schema $object:ident, $type:ident, $key:literal, later($field:ident, $reason:expr)) => {
        $crate::schema::added($object, $key, |it: &$type| &it.$field)
    };
    (@schema $object:ident, $type:ident, $key:literal, maybe($field:ident)) => {
        $crate::schema::may_have($object, $key, |it: &$type| &it.$field)
    };
    (@schema $object:ident, $type:ident, $key:literal, or($field:ident, $reason:expr)) => {
        $crate::schema::or_reason($object, $key, |it: &$type| &it.$field)
    };
    (@schema $object:ident, $type:ident, $key:literal, ci($($args:tt)*)) => { $object.interval::<f64>($key) };
    (@schema $object:ident, $type:ident, $key:literal, p($field:ident)) => {
        $object.or_reason::<f64>($key).interval::<f64>($key)
    };
    (@schema $object:ident, $type:ident, $key:literal, via($name:ident : $as:ty = $value:expr)) => { $object.field::<$as>($key) };
    (@schema $object:ident, $type:ident, $key:literal, via_if($name:ident : $as:ty = $value:expr)) => { $object.may_have::<$as>($key) };
    (@schema $object:ident, $type:ident, $key:literal, via_or($name:ident : $as:ty = $value:expr, $reason:expr)) => {
        $object.or_reason::<$as>($key)
    };
    (@schema $object:ident, $type:ident, $key:literal, told($as:ty, $value:expr)) => { $object.field::<$as>($key) };
    (@schema $object:ident, $type:ident, $key:literal, told_or($as:ty, $value:expr, $reason:expr)) => {
        $object.or_reason::<$as>($key)
    };
}
