//! JSON without numbers that it cannot contain.

use std::fmt;

use serde::Serialize;
use serde::ser::{
    SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::value::{RawValue, to_raw_value};

/// Serializes a value. `serde_json` writes `null` in place of NaN and infinity, which the value's schema
/// does not accept.
///
/// # Errors
///
/// Returns the error of `serde_json`, or one with the path of a number that is not finite.
pub(crate) fn to_finite_json(
    value: &(impl Serialize + ?Sized),
) -> serde_json::Result<Box<RawValue>> {
    let raw = to_raw_value(value)?;
    // The second pass costs as much as the first.
    if raw.get().contains("null") {
        let checked = value.serialize(Finite);
        checked.map_err(<serde_json::Error as serde::ser::Error>::custom)?;
    }
    Ok(raw)
}

/// A serializer that writes nothing and refuses numbers that are not finite.
struct Finite;

/// A number that is not finite, or the error of a `Serialize` implementation.
#[derive(Debug)]
struct NotFinite {
    path: String,
    reason: String,
}

impl NotFinite {
    /// Adds the member or the element that contains the value.
    fn inside(mut self, part: &str) -> Self {
        let is_followed = !self.path.is_empty() && !self.path.starts_with('[');
        let separator = if is_followed { "." } else { "" };
        self.path = format!("{part}{separator}{}", self.path);
        self
    }
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.path {
            "" => f.write_str(&self.reason),
            path => write!(f, "`{path}`: {}", self.reason),
        }
    }
}

impl std::error::Error for NotFinite {}

impl serde::ser::Error for NotFinite {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self {
            path: String::new(),
            reason: message.to_string(),
        }
    }
}

/// The values inside another one.
struct Inner {
    /// The enum variant, which is a member in JSON.
    variant: Option<&'static str>,
    index: usize,
    key: String,
}

impl Inner {
    fn new(variant: Option<&'static str>) -> Result<Self, NotFinite> {
        Ok(Self {
            variant,
            index: 0,
            key: String::new(),
        })
    }

    fn member<T: Serialize + ?Sized>(&self, name: &str, value: &T) -> Result<(), NotFinite> {
        value.serialize(Finite).map_err(|error| {
            let error = error.inside(name);
            match self.variant {
                Some(variant) => error.inside(variant),
                None => error,
            }
        })
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        let name = format!("[{}]", self.index);
        self.index += 1;
        self.member(&name, value)
    }
}

macro_rules! ignored {
    ($($method:ident($($value:ty)?)),*) => {
        $(fn $method(self $(, _: $value)?) -> Result<(), NotFinite> {
            Ok(())
        })*
    };
}

macro_rules! opened {
    ($($method:ident($($value:ty),*) $(, $variant:ident)?;)*) => {
        $(fn $method(self, $(_: $value,)* $($variant: &'static str,)? _: usize) -> Result<Inner, NotFinite> {
            Inner::new(None$(.or(Some($variant)))?)
        })*
    };
}

impl Serializer for Finite {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Inner;
    type SerializeTuple = Inner;
    type SerializeTupleStruct = Inner;
    type SerializeTupleVariant = Inner;
    type SerializeMap = Inner;
    type SerializeStruct = Inner;
    type SerializeStructVariant = Inner;

    ignored!(
        serialize_bool(bool),
        serialize_char(char),
        serialize_str(&str),
        serialize_bytes(&[u8]),
        serialize_i8(i8),
        serialize_i16(i16),
        serialize_i32(i32),
        serialize_i64(i64),
        serialize_i128(i128),
        serialize_u8(u8),
        serialize_u16(u16),
        serialize_u32(u32),
        serialize_u64(u64),
        serialize_u128(u128),
        serialize_none(),
        serialize_unit(),
        serialize_unit_struct(&'static str)
    );

    opened! {
        serialize_tuple();
        serialize_tuple_struct(&'static str);
        serialize_struct(&'static str);
        serialize_tuple_variant(&'static str, u32), variant;
        serialize_struct_variant(&'static str, u32), variant;
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inner, NotFinite> {
        Inner::new(None)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inner, NotFinite> {
        Inner::new(None)
    }

    fn serialize_f32(self, number: f32) -> Result<(), NotFinite> {
        self.serialize_f64(number.into())
    }

    fn serialize_f64(self, number: f64) -> Result<(), NotFinite> {
        if number.is_finite() {
            return Ok(());
        }
        let text = format_args!("expected a finite number, got {number}");
        Err(serde::ser::Error::custom(text))
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        let checked = value.serialize(self);
        checked.map_err(|error| error.inside(variant))
    }
}

macro_rules! parts {
    ($($part:ident: $method:ident $(, $key:ident)?;)*) => {
        $(impl $part for Inner {
            type Ok = ();
            type Error = NotFinite;

            fn $method<T: Serialize + ?Sized>(&mut self, $($key: &'static str,)? value: &T) -> Result<(), NotFinite> {
                parts!(@ self, value $(, $key)?)
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        })*
    };
    (@ $inner:ident, $value:ident) => { $inner.element($value) };
    (@ $inner:ident, $value:ident, $key:ident) => { $inner.member($key, $value) };
}

parts! {
    SerializeSeq: serialize_element;
    SerializeTuple: serialize_element;
    SerializeTupleStruct: serialize_field;
    SerializeTupleVariant: serialize_field;
    SerializeStruct: serialize_field, key;
    SerializeStructVariant: serialize_field, key;
}

impl SerializeMap for Inner {
    type Ok = ();
    type Error = NotFinite;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotFinite> {
        let key = serde_json::to_value(key).unwrap_or_default();
        self.key = key.as_str().map_or_else(|| key.to_string(), str::to_owned);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        self.member(&self.key, value)
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;

    use super::to_finite_json;

    #[derive(Default, Serialize)]
    struct Reading {
        celsius: f64,
        low: Option<f32>,
        places: BTreeMap<String, Vec<f64>>,
        shape: Option<Shape>,
    }

    #[derive(Serialize)]
    enum Shape {
        Circle { radius: f64 },
        Line(f64, f64),
        Dot(f32),
    }

    #[derive(Serialize)]
    #[serde(tag = "kind")]
    enum Tagged {
        Level { value: f64 },
    }

    #[derive(Serialize)]
    struct Flat {
        #[serde(flatten)]
        reading: Reading,
    }

    fn shape(shape: Shape) -> Reading {
        Reading {
            shape: Some(shape),
            ..Reading::default()
        }
    }

    fn error(value: &impl Serialize) -> String {
        to_finite_json(value).unwrap_err().to_string()
    }

    #[test]
    fn number_that_is_not_finite_is_named_by_its_path() {
        let nan = f64::NAN;
        let celsius = |celsius| Reading {
            celsius,
            ..Reading::default()
        };
        let low = Some(f32::NEG_INFINITY);
        let places = BTreeMap::from([("a".to_owned(), vec![0.0, nan])]);
        for (actual, expected) in [
            (error(&nan), "expected a finite number, got NaN"),
            (
                error(&celsius(nan)),
                "`celsius`: expected a finite number, got NaN",
            ),
            (
                error(&Reading {
                    low,
                    ..Reading::default()
                }),
                "`low`: expected a finite number, got -inf",
            ),
            (
                error(&[Reading {
                    places,
                    ..Reading::default()
                }]),
                "`[0].places.a[1]`: expected a finite number, got NaN",
            ),
            (
                error(&shape(Shape::Circle { radius: nan })),
                "`shape.Circle.radius`: expected a finite number, got NaN",
            ),
            (
                error(&shape(Shape::Line(0.0, f64::INFINITY))),
                "`shape.Line[1]`: expected a finite number, got inf",
            ),
            (
                error(&shape(Shape::Dot(f32::NAN))),
                "`shape.Dot`: expected a finite number, got NaN",
            ),
            (
                error(&Tagged::Level { value: nan }),
                "`value`: expected a finite number, got NaN",
            ),
            (
                error(&Flat {
                    reading: celsius(nan),
                }),
                "`celsius`: expected a finite number, got NaN",
            ),
        ] {
            assert_eq!(actual, expected);
        }
    }

    #[test]
    fn null_and_the_word_are_no_such_numbers() {
        let value = json!({"null": null, "a": ["null", 1.5, {}]});
        assert_eq!(to_finite_json(&value).unwrap().get(), value.to_string());
        let reading = to_finite_json(&Reading::default()).unwrap();
        assert_eq!(
            reading.get(),
            r#"{"celsius":0.0,"low":null,"places":{},"shape":null}"#
        );
    }
}
