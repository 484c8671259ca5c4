//! Documents whose fields say beside their type what they are made of.

/// A document, and how it is made of what it shows: of each field on one line what it is called, what type it has, and where it comes
/// from. Fields stand in the order in which they are written, and are made in that order after what stands in the first braces; each may
/// use those before it.
///
/// - `name: Type = value`: always written, as null where `Type` is an option of nothing.
/// - `name?: Type = value`: an `Option<Type>`, left out where there is none.
/// - `name, name_reason: Type = result`: null with the reason where the result is an error.
/// - `name as "key"` is called otherwise where it is written. Without ` = value` a field is made elsewhere, and so are all of its struct.
///
/// `struct` is written and read, and has a schema with the feature `schema`; `view` is only written. `as "Name"` is what its type is called
/// in the schema. `of SCHEMA`: it is a file of its own and begins with that schema and the version of its crate; one of an earlier schema is
/// read as one of this. It is made by `From`, or by a function of the name given.
#[doc(hidden)]
#[macro_export]
macro_rules! document {
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? { $($row:tt)* }) => {
        $crate::document! { @rows { struct [$(#[$meta])*] [$vis] $name [] [$($title)?] } { by nobody } {} {} {} $($row)* }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? $(of $schema:ident)?,
     from |$from:ident: $source:ty| { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document! {
            @head [$($schema)?] { struct [$(#[$meta])*] [$vis] $name [] [$($title)?] }
            { from |$from: $source| } { $($first)* } { $($row)* }
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident $(as $title:literal)? $(of $schema:ident)?,
     $(#[$fn_meta:meta])* $fn_vis:vis fn $make:ident($($arg:ident: $type:ty),*) { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document! {
            @head [$($schema)?] { struct [$(#[$meta])*] [$vis] $name [] [$($title)?] }
            { $(#[$fn_meta])* $fn_vis fn $make($($arg: $type),*) } { $($first)* } { $($row)* }
        }
    };
    ($(#[$meta:meta])* $vis:vis view $name:ident $(<$life:lifetime>)?,
     from |$from:ident: $source:ty| { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document! {
            @rows { view [$(#[$meta])*] [$vis] $name [$($life)?] [] } { from |$from: $source| } { $($first)* } {} {} $($row)*
        }
    };
    ($(#[$meta:meta])* $vis:vis view $name:ident $(<$life:lifetime>)?,
     $(#[$fn_meta:meta])* $fn_vis:vis fn $make:ident($($arg:ident: $type:ty),*) { $($first:tt)* } { $($row:tt)* }) => {
        $crate::document! {
            @rows { view [$(#[$meta])*] [$vis] $name [$($life)?] [] }
            { $(#[$fn_meta])* $fn_vis fn $make($($arg: $type),*) } { $($first)* } {} {} $($row)*
        }
    };

    (@head [] $head:tt $make:tt $first:tt { $($row:tt)* }) => {
        $crate::document! { @rows $head $make $first {} {} $($row)* }
    };
    (@head [$schema:ident] $head:tt $make:tt $first:tt { $($row:tt)* }) => {
        $crate::document! {
            @rows $head $make $first {} {}
            #[cfg_attr(feature = "schema", schemars(extend("const" = $schema)))]
            #[serde(deserialize_with = "present_schema")]
            schema: String = $schema.to_owned(),
            pub(crate) version: String = env!("CARGO_PKG_VERSION").to_owned(),
            $($row)*
        }

        /// A document of an earlier schema is read as one of the present.
        fn present_schema<'de, D: serde::Deserializer<'de>>(schema: D) -> Result<String, D::Error> {
            <serde::de::IgnoredAny as serde::Deserialize>::deserialize(schema).map(|_| $schema.to_owned())
        }
    };

    (@rows $head:tt $make:tt { $($let:tt)* } { $($field:tt)* } { $($name:ident)* }
     $(#[$meta:meta])* $vis:vis $new:ident $(as $key:literal)? ?: $type:ty $(= $value:expr)?, $($row:tt)*) => {
        $crate::document! {
            @rows $head $make { $($let)* $(let $new: Option<$type> = $value;)? }
            {
                $($field)*
                #[serde($(rename = $key,)? skip_serializing_if = "Option::is_none")] $(#[$meta])* $vis $new: Option<$type>,
            }
            { $($name)* $new } $($row)*
        }
    };
    (@rows $head:tt $make:tt { $($let:tt)* } { $($field:tt)* } { $($name:ident)* }
     $(#[$meta:meta])* $vis:vis $new:ident,
     $(#[$why_meta:meta])* $why_vis:vis $why:ident: $type:ty = $value:expr, $($row:tt)*) => {
        $crate::document! {
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
     $(#[$meta:meta])* $vis:vis $new:ident $(as $key:literal)?: $type:ty $(= $value:expr)?, $($row:tt)*) => {
        $crate::document! {
            @rows $head $make { $($let)* $(let $new: $type = $value;)? }
            { $($field)* $(#[serde(rename = $key)])? $(#[$meta])* $vis $new: $type, } { $($name)* $new } $($row)*
        }
    };

    (@rows { $($head:tt)* } { by nobody } {} $fields:tt { $($field:ident)* }) => {
        $crate::document! { @$($head)* $fields }
    };
    (@rows { $kind:ident $meta:tt $vis:tt $name:ident [$($life:lifetime)?] $title:tt }
     { from |$from:ident: $source:ty| } { $($let:tt)* } $fields:tt { $($field:ident)* }) => {
        $crate::document! { @$kind $meta $vis $name [$($life)?] $title $fields }

        impl $(<$life>)? From<$source> for $name $(<$life>)? {
            fn from($from: $source) -> Self {
                $($let)*
                Self { $($field),* }
            }
        }
    };
    (@rows { $kind:ident $meta:tt $vis:tt $name:ident [$($life:lifetime)?] $title:tt }
     { $(#[$fn_meta:meta])* $fn_vis:vis fn $make:ident($($arg:ident: $type:ty),*) } { $($let:tt)* } $fields:tt { $($field:ident)* }) => {
        $crate::document! { @$kind $meta $vis $name [$($life)?] $title $fields }

        impl $(<$life>)? $name $(<$life>)? {
            $(#[$fn_meta])*
            $fn_vis fn $make($($arg: $type),*) -> Self {
                $($let)*
                Self { $($field),* }
            }
        }
    };

    (@struct [$(#[$meta:meta])*] [$vis:vis] $name:ident [] [$($title:literal)?] { $($fields:tt)* }) => {
        #[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema) $(, schemars(rename = $title))?)]
        $(#[$meta])*
        $vis struct $name { $($fields)* }
    };
    (@view [$(#[$meta:meta])*] [$vis:vis] $name:ident [$($life:lifetime)?] [] { $($fields:tt)* }) => {
        #[derive(serde::Serialize)]
        $(#[$meta])*
        $vis struct $name $(<$life>)? { $($fields)* }
    };
}
