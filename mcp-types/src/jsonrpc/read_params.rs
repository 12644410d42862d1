//! Deserialization of `params` with its `_meta`.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::Params;
use super::params::Refusal;
use super::problem::Problem;
use crate::de::{Str, without_position};
use crate::raw::RawJson;

/// Reads the value of `params`. A value that is not an object or `null` is a problem.
// spec: BASE-13
pub(super) struct ReadParams<'p>(pub(super) &'p mut Problem);

impl ReadParams<'_> {
    fn not_an_object<'a, E>(self) -> Result<Params<'a>, E> {
        self.0.note("`params` must be an object");
        Ok(Params::default())
    }
}

impl<'de> DeserializeSeed<'de> for ReadParams<'_> {
    type Value = Params<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Params<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ReadParams<'_> {
    type Value = Params<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params<'de>, A::Error> {
        let mut params = Params::with_usual_capacity();
        while let Some(Str(key)) = map.next_key()? {
            let value = RawJson::new(map.next_value()?);
            if key == "_meta" && value.is_object() {
                let mut json = serde_json::Deserializer::from_str(value.as_str());
                let read = json.deserialize_map(ReadMeta(&mut params, &mut *self.0));
                read.map_err(|error| A::Error::custom(without_position(&error)))?;
            }
            let start = params.meta_count();
            add(&mut params, start, (key, value), "params", self.0);
        }
        Ok(params)
    }

    fn visit_unit<E>(self) -> Result<Params<'de>, E> {
        Ok(Params::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Params<'de>, A::Error> {
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        self.not_an_object()
    }

    fn visit_bool<E>(self, _: bool) -> Result<Params<'de>, E> {
        self.not_an_object()
    }

    fn visit_i64<E>(self, _: i64) -> Result<Params<'de>, E> {
        self.not_an_object()
    }

    fn visit_u64<E>(self, _: u64) -> Result<Params<'de>, E> {
        self.not_an_object()
    }

    fn visit_f64<E>(self, _: f64) -> Result<Params<'de>, E> {
        self.not_an_object()
    }

    fn visit_str<E>(self, _: &str) -> Result<Params<'de>, E> {
        self.not_an_object()
    }
}

/// Adds a member to the object at `path`, whose members begin at the index `start`.
fn add<'a>(
    params: &mut Params<'a>,
    start: usize,
    (name, value): (Cow<'a, str>, RawJson<'a>),
    path: &str,
    problem: &mut Problem,
) {
    match params.refusal(start, &name) {
        None => params.push(name, value),
        Some(Refusal::TooMany) => problem.note(format!("`{path}` has too many members")),
        Some(Refusal::Repeated) => problem.note(format!("`{path}.{name}` comes twice")),
    }
}

/// Reads the members of `_meta` into the parameters.
struct ReadMeta<'p, 'de>(&'p mut Params<'de>, &'p mut Problem);

impl<'de> Visitor<'de> for ReadMeta<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(params, problem) = self;
        let start = params.total();
        while let Some((Str(key), value)) = map.next_entry::<_, &RawValue>()? {
            add(
                params,
                start,
                (key, RawJson::new(value)),
                "params._meta",
                problem,
            );
        }
        params.set_meta(start);
        Ok(())
    }
}
