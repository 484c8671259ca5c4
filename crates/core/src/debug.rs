//! `Debug` of what is shown in part.

/// Gives a type a `Debug` of these fields and no others: the rest would fill pages, or has nothing to show.
///
/// ```
/// struct Table {
///     name: &'static str,
///     cells: Vec<f64>,
/// }
///
/// fizeau_core::debug_in_part!(Table { name });
/// let table = Table { name: "a", cells: vec![1.0; 1000] };
/// assert_eq!((format!("{table:?}"), table.cells.len()), ("Table { name: \"a\", .. }".to_owned(), 1000));
/// ```
#[macro_export]
macro_rules! debug_in_part {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let mut shown = f.debug_struct(stringify!($type));
                $(shown.field(stringify!($field), &self.$field);)*
                shown.finish_non_exhaustive()
            }
        }
    };
}
