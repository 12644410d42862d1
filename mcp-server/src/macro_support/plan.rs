//! The arguments of a call, split once, each decoded by its own type.

use mcp_types::RawJson;
use serde::de::DeserializeOwned;

use super::absent;
use crate::context::CallContext;
use crate::rejection::{ArgumentError, Rejection};

/// What calls need to know of the parameters of a function.
#[derive(Debug, Default)]
pub struct Plan {
    /// One per parameter; `None` for an extractor.
    params: Vec<Option<Known>>,
}

/// An argument that the function knows.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) name: &'static str,
    pub(super) required: bool,
}

/// A call whose parameters are being taken.
#[derive(Debug)]
pub struct Input<'a> {
    plan: &'a Plan,
    call: &'a mut CallContext,
    values: &'a [Option<RawJson<'a>>],
}

impl Plan {
    pub(super) fn push(&mut self, param: Option<Known>) {
        self.params.push(param);
    }

    pub(super) fn has_arguments(&self) -> bool {
        self.arguments().next().is_some()
    }

    fn arguments(&self) -> impl Iterator<Item = &Known> {
        self.params.iter().flatten()
    }

    /// Takes the `N` parameters of the function. Nothing of the call stays borrowed.
    ///
    /// # Errors
    ///
    /// The first rejection.
    pub fn take<const N: usize, R>(
        &self,
        mut call: CallContext,
        take: impl FnOnce(&mut Input<'_>) -> Result<R, Rejection>,
    ) -> Result<R, Rejection> {
        // A function without arguments looks at none: some clients always send one.
        if !self.has_arguments() {
            return take(&mut self.input(&mut call, &[]));
        }
        let arguments = call.take_arguments();
        let mut values = [None; N];
        self.split(arguments.as_raw(), &mut values)?;
        take(&mut self.input(&mut call, &values))
    }

    fn input<'a>(
        &'a self,
        call: &'a mut CallContext,
        values: &'a [Option<RawJson<'a>>],
    ) -> Input<'a> {
        Input {
            plan: self,
            call,
            values,
        }
    }

    /// Finds each argument's value.
    // spec: TOOL-20
    fn split<'a>(
        &self,
        arguments: RawJson<'a>,
        values: &mut [Option<RawJson<'a>>],
    ) -> Result<(), ArgumentError> {
        let mut strays = Strays::default();
        for (name, value) in arguments.members() {
            let index = self.index_of(&name);
            let slot = index.and_then(|index| values.get_mut(index));
            match slot {
                None => strays.unknown(&name),
                Some(slot) if slot.is_some() => strays.repeated = index,
                Some(slot) => *slot = Some(value),
            }
        }
        let missing = self.params.iter().zip(values).filter_map(|(param, value)| {
            let known = param.as_ref()?;
            (known.required && value.is_none()).then_some(known.name)
        });
        let missing: Vec<_> = missing.collect();
        strays.report(&missing, self)
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        let is = |param: &Option<Known>| param.as_ref().is_some_and(|known| known.name == name);
        self.params.iter().position(is)
    }
}

impl Input<'_> {
    pub(super) fn call(&mut self) -> &mut CallContext {
        self.call
    }

    pub(super) fn decode<T: DeserializeOwned>(
        &self,
        index: usize,
        default: Option<fn() -> T>,
    ) -> Result<T, ArgumentError> {
        let name = self.known(index).map_or("", |known| known.name);
        match self.values.get(index).copied().flatten() {
            Some(value) => self.call.parse_member(name, value),
            None => match default {
                Some(default) => Ok(default()),
                // Checked when the arguments were split.
                None => absent::value().ok_or_else(|| ArgumentError::new(name, "missing")),
            },
        }
    }

    fn known(&self, index: usize) -> Option<&Known> {
        self.plan.params.get(index)?.as_ref()
    }
}

/// What does not fit among the names.
#[derive(Default)]
struct Strays {
    unknown: Vec<String>,
    repeated: Option<usize>,
}

impl Strays {
    /// So many unknown names are told: the rest says nothing new.
    const TOLD: usize = 4;
    /// So much of an unknown name is told.
    const LENGTH: usize = 64;

    fn unknown(&mut self, name: &str) {
        if self.unknown.len() < Self::TOLD {
            self.unknown.push(name.chars().take(Self::LENGTH).collect());
        }
    }

    /// Everything at once, so that one more call can get it right.
    fn report(self, missing: &[&str], plan: &Plan) -> Result<(), ArgumentError> {
        let mut reasons = Vec::new();
        if let Some(known) = self
            .repeated
            .and_then(|index| plan.params.get(index)?.as_ref())
        {
            reasons.push(format!("`{}` is given more than once", known.name));
        }
        if !missing.is_empty() {
            reasons.push(format!("missing {}", list(missing)));
        }
        if !self.unknown.is_empty() {
            let known: Vec<_> = plan.arguments().map(|known| known.name).collect();
            let unknown = list(&self.unknown);
            reasons.push(format!("unknown {unknown}, expected {}", list(&known)));
        }
        match reasons.is_empty() {
            true => Ok(()),
            false => Err(ArgumentError::new("", reasons.join("; "))),
        }
    }
}

fn list<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<_> = names
        .iter()
        .map(|name| format!("`{}`", name.as_ref()))
        .collect();
    names.join(", ")
}
