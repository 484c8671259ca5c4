//! Fields of JSON Schemas, whose types are told by the field of the figure itself.

use fizeau_core::schema::ObjectSchema;
use schemars::JsonSchema;

/// A field that is always there.
pub(crate) fn field<'g, S, T: JsonSchema>(
    object: ObjectSchema<'g>,
    key: &str,
    _: fn(&S) -> &T,
) -> ObjectSchema<'g> {
    object.field::<T>(key)
}

/// A field that files of before do not have.
pub(crate) fn added<'g, S, T: JsonSchema>(
    object: ObjectSchema<'g>,
    key: &str,
    _: fn(&S) -> &T,
) -> ObjectSchema<'g> {
    object.may_have::<T>(key)
}

/// A field that is left out where there is none.
pub(crate) fn may_have<'g, S, T: JsonSchema>(
    object: ObjectSchema<'g>,
    key: &str,
    _: fn(&S) -> &Option<T>,
) -> ObjectSchema<'g> {
    object.may_have::<T>(key)
}

/// A field that is null where there is none, with the reason beside it.
pub(crate) fn or_reason<'g, S, T: JsonSchema>(
    object: ObjectSchema<'g>,
    key: &str,
    _: fn(&S) -> &Option<T>,
) -> ObjectSchema<'g> {
    object.or_reason::<T>(key)
}
