//! Configurations side by side, as text, page and picture.

#[cfg(feature = "html")]
mod page;
#[cfg(feature = "pictures")]
mod picture;
mod text;
mod words;
