//! Field types that read foreign JSON without an allocation on the common path.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// A string, borrowed from the input unless it holds an escape; null is empty.
///
/// serde borrows a field of type `Cow<str>` but not an `Option<Cow<str>>`, hence a type of our own.
#[derive(Debug, Default)]
pub(super) struct TextField<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for TextField<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct TextVisitor;

        impl<'de> Visitor<'de> for TextVisitor {
            type Value = TextField<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or null")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Borrowed(text)))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(TextField(Cow::Owned(text.to_owned())))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(TextField::default())
            }
        }

        from.deserialize_any(TextVisitor)
    }
}

/// A string; anything else is empty. For fields that hold text in some events and something else in others.
#[derive(Debug, Default)]
pub(super) struct Loose<'a>(pub(super) Cow<'a, str>);

impl<'a> Lenient<'a> for Loose<'a> {
    fn of_text(text: Cow<'a, str>) -> Self {
        Self(text)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Loose<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

/// Arguments of a tool call: the text of a string, the JSON of an object.
#[derive(Debug, Default)]
pub(super) struct CallArguments<'a>(pub(super) Cow<'a, str>);

impl<'a> Lenient<'a> for CallArguments<'a> {
    fn of_text(text: Cow<'a, str>) -> Self {
        Self(text)
    }

    fn of_map<A: MapAccess<'a>>(map: A) -> Result<Self, A::Error> {
        let value = Value::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Self(Cow::Owned(value.to_string())))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CallArguments<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from)
    }
}

/// What is made of any JSON value: the default of all that the type makes nothing of.
pub(super) trait Lenient<'a>: Default {
    fn of_text(_: Cow<'a, str>) -> Self {
        Self::default()
    }

    fn of_count(_: u64) -> Self {
        Self::default()
    }

    fn of_fraction(_: f64) -> Self {
        Self::default()
    }

    fn of_map<A: MapAccess<'a>>(mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

/// Reads any value.
pub(super) fn lenient<'de, T: Lenient<'de>, D: Deserializer<'de>>(from: D) -> Result<T, D::Error> {
    struct AnyVisitor<T>(PhantomData<T>);

    impl<'de, T: Lenient<'de>> Visitor<'de> for AnyVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("anything")
        }

        fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<T, E> {
            Ok(T::of_text(Cow::Borrowed(text)))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
            Ok(T::of_text(Cow::Owned(text.to_owned())))
        }

        fn visit_u64<E: Error>(self, count: u64) -> Result<T, E> {
            Ok(T::of_count(count))
        }

        fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
            Ok(T::of_fraction(number))
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_unit<E: Error>(self) -> Result<T, E> {
            Ok(T::default())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<T, A::Error> {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
            Ok(T::default())
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::of_map(map)
        }
    }

    from.deserialize_any(AnyVisitor(PhantomData))
}

/// How many items a JSON array has; null has none.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ItemCount(pub(super) u32);

impl<'de> Deserialize<'de> for ItemCount {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl<'de> Visitor<'de> for CountVisitor {
            type Value = ItemCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array or null")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut count = 0u32;
                while seq.next_element::<IgnoredAny>()?.is_some() {
                    count = count.saturating_add(1);
                }
                Ok(ItemCount(count))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(ItemCount::default())
            }
        }

        from.deserialize_any(CountVisitor)
    }
}

/// The items of a JSON array, the first in place: nearly every list of a chunk has one item. Null has none; an object is one (TGI before
/// 3.1 sends its tool call so).
#[derive(Debug)]
pub(super) struct FewItems<T> {
    first: Option<T>,
    rest: Vec<T>,
}

impl<T> Default for FewItems<T> {
    fn default() -> Self {
        Self { first: None, rest: Vec::new() }
    }
}

impl<T> IntoIterator for FewItems<T> {
    type Item = T;
    type IntoIter = std::iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.first.into_iter().chain(self.rest)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for FewItems<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FewVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for FewVisitor<T> {
            type Value = FewItems<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array, an object or null")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let one = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(FewItems { first: Some(one), rest: Vec::new() })
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let first = seq.next_element()?;
                let mut rest = Vec::new();
                while let Some(item) = seq.next_element()? {
                    rest.push(item);
                }
                Ok(FewItems { first, rest })
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(FewItems::default())
            }
        }

        from.deserialize_any(FewVisitor(PhantomData))
    }
}

/// A delta's content: a string, null, or (Mistral) a list of parts, of which some are thoughts.
#[derive(Debug, Default)]
pub(super) struct DeltaContent<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) thinking: Cow<'a, str>,
}

#[derive(Debug, Default, serde::Deserialize)]
#[serde(default)]
struct ContentItem<'a> {
    #[serde(borrow)]
    text: TextField<'a>,
    thinking: Option<Box<DeltaContent<'a>>>,
}

impl<'de: 'a, 'a> Deserialize<'de> for DeltaContent<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = DeltaContent<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a list of parts, or null")
            }

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(DeltaContent { text: Cow::Borrowed(text), ..DeltaContent::default() })
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(DeltaContent { text: Cow::Owned(text.to_owned()), ..DeltaContent::default() })
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(DeltaContent::default())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut content = DeltaContent::default();
                while let Some(part) = seq.next_element::<ContentItem<'de>>()? {
                    content.text.to_mut().push_str(&part.text.0);
                    if let Some(thinking) = part.thinking {
                        content.thinking.to_mut().push_str(&thinking.text);
                    }
                }
                Ok(content)
            }
        }

        from.deserialize_any(ContentVisitor)
    }
}
