//! Call arguments, split once and decoded by each parameter.

use mcp_types::RawJson;
use serde::de::DeserializeOwned;

use super::optional::absent_value;
use crate::call::CallContext;
use crate::rejection::{ArgumentError, Rejection};
use crate::schema::explain;

/// The parameters of a function, as calls need them.
#[derive(Debug, Default)]
pub struct ParameterPlan {
    /// One entry per parameter; `None` for extractors.
    parameters: Vec<Option<NamedArgument>>,
}

/// A parameter that is an argument.
#[derive(Debug)]
pub(super) struct NamedArgument {
    pub(super) name: &'static str,
    pub(super) is_required: bool,
}

/// A call whose parameters are being read.
#[derive(Debug)]
pub struct ParameterReader<'a> {
    plan: &'a ParameterPlan,
    call: &'a mut CallContext,
    /// The value of each parameter; `None` for extractors and absent arguments.
    values: &'a [Option<RawJson<'a>>],
}

impl ParameterPlan {
    pub(super) fn push(&mut self, parameter: Option<NamedArgument>) {
        self.parameters.push(parameter);
    }

    pub(super) fn has_arguments(&self) -> bool {
        self.parameters.iter().any(Option::is_some)
    }

    fn argument(&self, index: usize) -> Option<&NamedArgument> {
        self.parameters.get(index)?.as_ref()
    }

    /// Reads the function's `N` parameters. The result borrows nothing from the call.
    ///
    /// # Errors
    ///
    /// Returns the first rejection. A rejection of arguments lists the mistakes of all arguments.
    pub fn read<const N: usize, R>(
        &self,
        mut call: CallContext,
        read: impl FnOnce(&mut ParameterReader<'_>) -> Result<R, Rejection>,
    ) -> Result<R, Rejection> {
        // The route of a tool without arguments has rejected unknown ones.
        if !self.has_arguments() {
            return read(&mut self.reader(&mut call, &[]));
        }
        let arguments = call.take_arguments();
        let mut values = [None; N];
        let split = self.split(arguments.as_raw(), &mut values);
        let result = match split {
            Ok(()) => read(&mut self.reader(&mut call, &values)),
            Err(error) => Err(error.into()),
        };
        result.map_err(|rejection| match (rejection, call.input_schema()) {
            (Rejection::Arguments(error), Some(schema)) => {
                let format = call.argument_format();
                Rejection::Arguments(explain(error, schema, &arguments, format))
            }
            (rejection, _) => rejection,
        })
    }

    fn reader<'a>(
        &'a self,
        call: &'a mut CallContext,
        values: &'a [Option<RawJson<'a>>],
    ) -> ParameterReader<'a> {
        ParameterReader {
            plan: self,
            call,
            values,
        }
    }

    /// Finds the value of each argument. The schema [explains](explain) missing and unknown names.
    // spec: TOOL-20
    fn split<'a>(
        &self,
        arguments: RawJson<'a>,
        values: &mut [Option<RawJson<'a>>],
    ) -> Result<(), ArgumentError> {
        let mut is_complete = true;
        for (name, value) in arguments.members() {
            let index = self.index_of(&name);
            match index.and_then(|index| values.get_mut(index)) {
                None => is_complete = false,
                Some(slot) if slot.is_some() => {
                    let name = name.into_owned();
                    return Err(ArgumentError::new(name, "given more than once"));
                }
                Some(slot) => *slot = Some(value),
            }
        }
        for (parameter, value) in self.parameters.iter().zip(values) {
            let is_required = parameter
                .as_ref()
                .is_some_and(|argument| argument.is_required);
            is_complete &= value.is_some() || !is_required;
        }
        if is_complete {
            return Ok(());
        }
        Err(ArgumentError::new("", "a name is missing or unknown"))
    }

    fn index_of(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| {
            parameter
                .as_ref()
                .is_some_and(|argument| argument.name == name)
        })
    }
}

impl ParameterReader<'_> {
    pub(super) fn call(&mut self) -> &mut CallContext {
        self.call
    }

    pub(super) fn decode<T: DeserializeOwned>(
        &self,
        index: usize,
        default: Option<fn() -> T>,
    ) -> Result<T, ArgumentError> {
        let name = self
            .plan
            .argument(index)
            .map_or("", |argument| argument.name);
        let value = self.values.get(index).copied().flatten();
        let value = value.filter(|value| !self.is_blank_in_form(index, *value));
        let decode = |value| self.call.parse_argument(name, value);
        match (value.map(decode).transpose()?.flatten(), default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default()),
            // `split` has already rejected absent arguments that are required.
            (None, None) => {
                absent_value().ok_or_else(|| ArgumentError::new("", format!("missing `{name}`")))
            }
        }
    }

    /// Returns whether the value is an optional field of a prompt's form that the user left empty.
    fn is_blank_in_form(&self, index: usize, value: RawJson<'_>) -> bool {
        let argument = self.plan.argument(index);
        self.call.is_form()
            && argument.is_some_and(|argument| !argument.is_required)
            && value.text().is_some_and(|text| text.trim().is_empty())
    }
}
