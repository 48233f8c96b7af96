//! Calls: arguments are counted, evaluated and checked, then the function runs.

use super::super::call::{Call, Runtime};
use super::super::error::Failure;
use super::super::expense::Expense;
use super::super::function::{Form, Function, Type};
use super::super::node::Term;
use super::super::operand::Operand;
use super::super::source::Spot;
use super::super::value::Value;
use super::Frame;

impl<'f> Frame<'f> {
    /// Calls a function or, with a receiver, a method. `last` is what the pipeline hands over.
    #[expect(clippy::too_many_arguments, reason = "those of Go's `evalCall`")]
    pub(super) fn eval_call(
        &mut self,
        dot: &Operand,
        function: &'f Function,
        node: &'f dyn Spot,
        name: &str,
        receiver: Option<Value>,
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        let fixed = function.params().get(usize::from(receiver.is_some())..).unwrap_or_default();
        let count = args.len() + usize::from(last.is_some());
        if function.variadic().is_some() {
            if count < fixed.len() {
                let (want, got) = (fixed.len(), args.len());
                return self.error(format!("wrong number of args for {name}: want at least {want} got {got}"));
            }
        } else if count != fixed.len() {
            return self.error(format!("wrong number of args for {name}: want {} got {count}", fixed.len()));
        }
        if let Form::Uncallable(why) = function.form() {
            return self.error(why);
        }
        let type_of = |index: usize| fixed.get(index).copied().or(function.variadic()).unwrap_or(Type::Any);
        self.sink()?;
        if let Form::And | Form::Or = function.form() {
            let value = self.eval_logic(dot, function.form() == Form::Or, args, last)?;
            self.rise();
            return Ok(value);
        }
        let mut values = Vec::with_capacity(count + 1);
        values.extend(receiver.map(Operand::from));
        for (index, arg) in args.iter().enumerate() {
            values.push(self.eval_arg(dot, Some(type_of(index)), arg)?);
        }
        if let Some(last) = last {
            values.push(self.validate(last, Some(type_of(count - 1)))?);
        }
        if function.form() == Form::Call {
            let failure = not_callable(&values, args);
            self.at = node;
            return Err(self.leave(failure, Some(name)));
        }
        let look = self.runtime.effects.look(function.name(), &values);
        let mut call = Call {
            runtime: self.runtime,
            set: self.set,
            name: function.name(),
            source: &self.tree.source,
            template: &self.tree.name,
            at: node,
        };
        let result = charge_arguments(&mut call, function, &values).and_then(|()| function.run(&mut call, values));
        let result = result.and_then(|value| {
            call.charge_bytes(size(&value))?;
            Ok(value)
        });
        let value = result.map_err(|failure| {
            self.at = node;
            self.leave(failure, Some(name))
        })?;
        if let Some(look) = look {
            let Runtime { effects, trail, .. } = &mut *self.runtime;
            effects.saw(&look, function.name(), || trail.site(&self.tree.source, node.at()), &value);
        }
        self.rise();
        Ok(value)
    }

    /// `and` and `or` go no further than they must and give back the operand that decided.
    fn eval_logic(
        &mut self,
        dot: &Operand,
        is_or: bool,
        args: &'f [Term],
        last: Option<Operand>,
    ) -> Result<Operand, Failure> {
        let mut value = Operand::Invalid;
        for arg in args {
            value = self.eval_arg(dot, Some(Type::Reflect), arg)?;
            self.saw_test((arg as &dyn Spot).at(), &value);
            if value.is_true() == is_or {
                return Ok(value);
            }
        }
        Ok(last.unwrap_or(value))
    }
}

/// No value of a template is a function, so `call` always fails.
fn not_callable(values: &[Operand], args: &[Term]) -> Failure {
    let Some(value) = values.first().and_then(Operand::value) else { return Failure::message("call of nil") };
    let name = match (args.first(), value) {
        (Some(term), _) => (term as &dyn Spot).to_string(),
        (None, Value::String(text)) => text.to_str().into_owned(),
        (None, value) => format!("<{} Value>", value.type_name()),
    };
    Failure::message(format!("non-function {name} of type {}", value.type_name()))
}

/// Takes what a function costs that looks at all of its arguments once, before it runs. Lists count by their length, and what
/// is inside of lists and maps not at all: functions that look there take steps for it themselves.
fn charge_arguments(call: &mut Call<'_>, function: &Function, values: &[Operand]) -> Result<(), Failure> {
    let Some(Expense { bytes_per_step, growth }) = function.expense() else { return Ok(()) };
    let bytes = values.iter().map(length).fold(0, usize::saturating_add);
    if bytes < FREE_BYTES {
        return Ok(());
    }
    call.charge(bytes / bytes_per_step)?;
    call.reserve(bytes.saturating_mul(growth))
}

fn length(value: &Operand) -> usize {
    match value.value() {
        Some(Value::String(text)) => text.len(),
        Some(Value::Bytes(bytes)) => bytes.len(),
        Some(Value::List(list)) => list.len(),
        _ => 0,
    }
}

/// Arguments up to here cost no more than the call itself.
const FREE_BYTES: usize = 64;

/// What a result takes from the budget. Maps are charged where they are built: most functions return one of their arguments.
fn size(value: &Operand) -> usize {
    match value.value() {
        Some(Value::String(text)) => text.len(),
        Some(Value::Bytes(bytes)) => bytes.len(),
        Some(Value::List(list)) => list.len() * size_of::<Value>(),
        _ => 0,
    }
}
