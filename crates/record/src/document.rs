//! Documents whose fields say beside their type what they are made of.

/// A document, and how it is made of what it shows: of each field on one line what it is called, what type it has, and where it comes
/// from. Fields stand in the order in which they are written, and are made in that order after what stands in the first braces; each may
/// use those before it.
///
/// - `name: Type = value`: always written, as null where `Type` is an option of nothing.
/// - `name?: Type = value`: an `Option<Type>`, left out where there is none.
/// - `name, name_reason: Type = result`: null with the reason where the result is an error.
///
/// `as "Name"` is what its type is called in the schema. `of SCHEMA`: it is a file of its own and begins with that schema and the version
/// of this crate; one of an earlier schema is read as one of this. It is made by `From`, or by a function of the name given.
macro_rules! document {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? $(of $schema:ident)?,
     from |$from:ident: $source:ty| { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document::document! {
            @rows { $(#[$meta])* $vis struct $name $(as $title)? } { from |$from: $source| } { $($first)* } {} {}
            $(
                #[cfg_attr(feature = "schema", schemars(extend("const" = $schema)))]
                #[serde(deserialize_with = "present_schema")]
                schema: String = $schema.to_owned(),
                pub(crate) version: String = env!("CARGO_PKG_VERSION").to_owned(),
            )?
            $($row)*
        }
        $($crate::document::document!(@present $schema);)?
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? $(of $schema:ident)?,
     $(#[$fn_meta:meta])* $fn_vis:vis fn $make:ident($($arg:ident: $type:ty),*) { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document::document! {
            @rows { $(#[$meta])* $vis struct $name $(as $title)? } { $(#[$fn_meta])* $fn_vis fn $make($($arg: $type),*) } { $($first)* } {} {}
            $(
                #[cfg_attr(feature = "schema", schemars(extend("const" = $schema)))]
                #[serde(deserialize_with = "present_schema")]
                schema: String = $schema.to_owned(),
                pub(crate) version: String = env!("CARGO_PKG_VERSION").to_owned(),
            )?
            $($row)*
        }
        $($crate::document::document!(@present $schema);)?
    };

    (@rows $head:tt $make:tt { $($let:tt)* } { $($field:tt)* } { $($name:ident)* }
     $(#[$meta:meta])* $vis:vis $new:ident?: $type:ty = $value:expr, $($row:tt)*) => {
        $crate::document::document! {
            @rows $head $make { $($let)* let $new: Option<$type> = $value; }
            { $($field)* #[serde(skip_serializing_if = "Option::is_none")] $(#[$meta])* $vis $new: Option<$type>, }
            { $($name)* $new } $($row)*
        }
    };
    (@rows $head:tt $make:tt { $($let:tt)* } { $($field:tt)* } { $($name:ident)* }
     $(#[$meta:meta])* $vis:vis $new:ident,
     $(#[$why_meta:meta])* $why_vis:vis $why:ident: $type:ty = $value:expr, $($row:tt)*) => {
        $crate::document::document! {
            @rows $head $make
            { $($let)* let ($new, $why) = match $value {
                Ok(known) => (Some(known), None),
                Err(reason) => (None, Some(String::from(reason))),
            }; }
            {
                $($field)* $(#[$meta])* $vis $new: Option<$type>,
                #[serde(skip_serializing_if = "Option::is_none")] $(#[$why_meta])* $why_vis $why: Option<String>,
            }
            { $($name)* $new $why } $($row)*
        }
    };
    (@rows $head:tt $make:tt { $($let:tt)* } { $($field:tt)* } { $($name:ident)* }
     $(#[$meta:meta])* $vis:vis $new:ident: $type:ty = $value:expr, $($row:tt)*) => {
        $crate::document::document! {
            @rows $head $make { $($let)* let $new: $type = $value; }
            { $($field)* $(#[$meta])* $vis $new: $type, } { $($name)* $new } $($row)*
        }
    };

    (@rows { $(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? }
     { from |$from:ident: $source:ty| } { $($let:tt)* } $fields:tt { $($field:ident)* }) => {
        $crate::document::document!(@struct { $(#[$meta])* } { $vis struct $name } { $($title)? } $fields);

        impl From<$source> for $name {
            fn from($from: $source) -> Self {
                $($let)*
                Self { $($field),* }
            }
        }
    };
    (@rows { $(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? }
     { $(#[$fn_meta:meta])* $fn_vis:vis fn $make:ident($($arg:ident: $type:ty),*) } { $($let:tt)* } $fields:tt { $($field:ident)* }) => {
        $crate::document::document!(@struct { $(#[$meta])* } { $vis struct $name } { $($title)? } $fields);

        impl $name {
            $(#[$fn_meta])*
            $fn_vis fn $make($($arg: $type),*) -> Self {
                $($let)*
                Self { $($field),* }
            }
        }
    };
    (@present $schema:ident) => {
        /// A document of an earlier schema is read as one of the present.
        fn present_schema<'de, D: serde::Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
            <serde::de::IgnoredAny as serde::Deserialize>::deserialize(schema).map(|_| $schema.to_owned())
        }
    };
    (@struct { $(#[$meta:meta])* } { $vis:vis struct $name:ident } { $($title:literal)? } { $($fields:tt)* }) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema) $(, schemars(rename = $title))?)]
        $(#[$meta])*
        $vis struct $name { $($fields)* }
    };
}

pub(crate) use document;
