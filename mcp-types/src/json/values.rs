//! What members are made of.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;

use super::piece::WriteList;
use super::slot::ReadList;
use super::{FromText, Piece, Read, ReadEntries, Slot, Via, Write, WriteEntries};
use crate::{JsonObject, RequestId, Settings, number};

/// Values that are one piece, and have one kind of place.
macro_rules! plain {
    ($($type:ty: $value:ident => $piece:expr, $blank:expr, $slot:ident;)*) => {
        $(
            impl Write for $type {
                fn piece(&self) -> Piece<'_> {
                    let $value = self;
                    $piece
                }
            }

            impl Read for $type {
                fn blank() -> Self {
                    $blank
                }

                fn slot(&mut self) -> Slot<'_> {
                    Slot::$slot(self)
                }
            }
        )*
    };
}

plain! {
    i64: number => Piece::Whole(*number), 0, Whole;
    u64: number => Piece::Natural(*number), 0, Natural;
    f64: number => number::piece(*number), 0.0, Fraction;
    String: text => Piece::Text(text), Self::new(), Text;
    Value: value => Piece::Value(value), Self::Null, Value;
    RequestId: id => id.to_piece(), Self::Number(0), Id;
    Box<RawValue>: raw => Piece::Raw(raw), RawValue::NULL.to_owned(), Raw;
}

impl Write for bool {
    fn piece(&self) -> Piece<'_> {
        Piece::Flag(*self)
    }

    fn is_absent(&self) -> bool {
        !self
    }
}

impl Read for bool {
    fn blank() -> Self {
        false
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Flag(self)
    }
}

impl Write for &str {
    fn piece(&self) -> Piece<'_> {
        Piece::Text(self)
    }
}

impl FromText for String {
    fn set(&mut self, text: Cow<'_, str>) -> Result<(), String> {
        *self = text.into_owned();
        Ok(())
    }
}

impl Write for JsonObject {
    fn piece(&self) -> Piece<'_> {
        Piece::Object(self)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Read for JsonObject {
    fn blank() -> Self {
        Self::new()
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Object(self)
    }
}

impl Write for Settings {
    fn piece(&self) -> Piece<'_> {
        Piece::Object(self.as_object())
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl Read for Settings {
    fn blank() -> Self {
        Self::default()
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Via(self)
    }
}

impl Via for Settings {
    fn read(&mut self, read: &mut dyn FnMut(Slot<'_>) -> bool) -> Result<(), String> {
        let mut members = JsonObject::new();
        if read(Slot::Object(&mut members)) {
            *self = members.into();
        }
        Ok(())
    }
}

impl<T: Write> Write for Option<T> {
    fn piece(&self) -> Piece<'_> {
        self.as_ref().map_or(Piece::Null, T::piece)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

/// Whether it is there has been decided before.
impl<T: Read> Read for Option<T> {
    fn blank() -> Self {
        None
    }

    fn slot(&mut self) -> Slot<'_> {
        self.insert(T::blank()).slot()
    }
}

impl<T: Write> Write for Box<T> {
    fn piece(&self) -> Piece<'_> {
        (**self).piece()
    }
}

impl<T: Read> Read for Box<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn slot(&mut self) -> Slot<'_> {
        (**self).slot()
    }
}

impl<T: Write> Write for Arc<T> {
    fn piece(&self) -> Piece<'_> {
        (**self).piece()
    }
}

impl<T: Read> Read for Arc<T> {
    fn blank() -> Self {
        Self::new(T::blank())
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Via(self)
    }
}

impl<T: Read> Via for Arc<T> {
    fn read(&mut self, read: &mut dyn FnMut(Slot<'_>) -> bool) -> Result<(), String> {
        let mut found = T::blank();
        if read(found.slot()) {
            *self = Self::new(found);
        }
        Ok(())
    }
}

impl<T: Write> Write for Vec<T> {
    fn piece(&self) -> Piece<'_> {
        Piece::List(self)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Write> WriteList for Vec<T> {
    fn give(&self, take: &mut dyn FnMut(Piece<'_>)) {
        for element in self {
            take(element.piece());
        }
    }
}

impl<T: Read> Read for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::List(self)
    }
}

impl<T: Read> ReadList for Vec<T> {
    fn grow(&mut self) -> Slot<'_> {
        let at = self.len();
        self.push(T::blank());
        self[at].slot()
    }
}

impl<K: AsRef<str>, T: Write> Write for BTreeMap<K, T> {
    fn piece(&self) -> Piece<'_> {
        Piece::Entries(self)
    }
}

impl<K: AsRef<str>, T: Write> WriteEntries for BTreeMap<K, T> {
    fn give(&self, take: &mut dyn FnMut(&str, Piece<'_>)) {
        for (key, value) in self {
            take(key.as_ref(), value.piece());
        }
    }
}

impl<T: Read> Read for BTreeMap<String, T> {
    fn blank() -> Self {
        Self::new()
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Entries(self)
    }
}

impl<T: Read> ReadEntries for BTreeMap<String, T> {
    fn what(&self) -> &'static str {
        "a map"
    }

    fn at(&mut self, key: String) -> Result<Slot<'_>, &'static str> {
        let place = self.entry(key).or_insert_with(T::blank);
        *place = T::blank();
        Ok(place.slot())
    }
}

/// A pair is an array of two.
impl<T: Write> Write for (T, T) {
    fn piece(&self) -> Piece<'_> {
        Piece::List(self)
    }
}

impl<T: Write> WriteList for (T, T) {
    fn give(&self, take: &mut dyn FnMut(Piece<'_>)) {
        take(self.0.piece());
        take(self.1.piece());
    }
}

impl<T: Read> Read for (T, T) {
    fn blank() -> Self {
        (T::blank(), T::blank())
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Via(self)
    }
}

impl<T: Read> Via for (T, T) {
    fn read(&mut self, read: &mut dyn FnMut(Slot<'_>) -> bool) -> Result<(), String> {
        let mut found = Vec::new();
        if read(Slot::List(&mut found)) {
            let [first, second] = <[T; 2]>::try_from(found)
                .map_err(|found| format!("{} elements instead of two", found.len()))?;
            *self = (first, second);
        }
        Ok(())
    }
}

impl Write for BTreeSet<String> {
    fn piece(&self) -> Piece<'_> {
        Piece::List(self)
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl WriteList for BTreeSet<String> {
    fn give(&self, take: &mut dyn FnMut(Piece<'_>)) {
        for text in self {
            take(text.piece());
        }
    }
}

impl Read for BTreeSet<String> {
    fn blank() -> Self {
        Self::new()
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Via(self)
    }
}

impl Via for BTreeSet<String> {
    fn read(&mut self, read: &mut dyn FnMut(Slot<'_>) -> bool) -> Result<(), String> {
        let mut found = Vec::<String>::new();
        if read(Slot::List(&mut found)) {
            self.extend(found);
        }
        Ok(())
    }
}
