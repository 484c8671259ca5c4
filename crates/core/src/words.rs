//! Words for the variants of an enum, a table each.

/// Gives the variants of an enum their words: a function by which each says its own, with `all` a list of them, and with
/// `shown` its `Display`. `shown` alone, as in `words! { Side, shown { ... } }`, gives no function.
///
/// ```
/// #[derive(Clone, Copy, PartialEq, Debug)]
/// enum Side {
///     Left,
///     Right,
/// }
///
/// fizeau_core::words! {
///     /// The name in files.
///     Side::as_str, all, shown {
///         Left = "left", Right = "right",
///     }
/// }
/// assert_eq!((Side::Left.as_str(), Side::Right.to_string()), ("left", "right".to_owned()));
/// assert_eq!(Side::ALL, [Side::Left, Side::Right]);
/// ```
#[macro_export]
macro_rules! words {
    ($(#[$about:meta])* $vis:vis $type:ident :: $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $type {
            $(#[$about])*
            #[must_use]
            $vis const fn $name(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }
        }
    };
    ($(#[$about:meta])* $vis:vis $type:ident :: $name:ident, all $(, $shown:ident)? {
        $($variant:ident = $word:literal),+ $(,)?
    }) => {
        $crate::words! { $(#[$about])* $vis $type::$name $(, $shown)? { $($variant = $word),+ } }

        impl $type {
            /// All of them, in their order.
            $vis const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];
        }
    };
    ($(#[$about:meta])* $vis:vis $type:ident :: $name:ident, shown { $($variant:ident = $word:literal),+ $(,)? }) => {
        $crate::words! { $(#[$about])* $vis $type::$name { $($variant = $word),+ } }
        $crate::words! { $type, shown { $($variant = $word),+ } }
    };
    ($type:ident, shown { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $word,)+
                })
            }
        }
    };
}
