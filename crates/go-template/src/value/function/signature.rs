//! How the signature of a Rust function becomes a Go signature.

use std::sync::Arc;
use std::vec::IntoIter;

use super::{Run, Type};
use crate::call::Call;
use crate::error::Failure;
use crate::list::{List, ListType};
use crate::map::{Map, MapType};
use crate::operand::Operand;
use crate::text::Text;
use crate::value::Value;

/// Go's `int`, as a parameter and as a result. A plain `i64` is Go's `int64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Int(pub i64);

impl From<Int> for Value {
    fn from(value: Int) -> Self {
        Value::int(value.0)
    }
}

/// Go's `uint32`, as a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Uint32(pub u32);

/// All arguments behind the fixed ones: Go's `...`.
#[derive(Debug)]
pub struct Rest<T>(pub Vec<T>);

/// A Rust type that represents a Go type in a signature.
pub trait Param: Sized {
    /// The Go type.
    const TYPE: Type;
    /// Whether it takes all that is left.
    const IS_VARIADIC: bool = false;
    /// The argument, which fits [`Param::TYPE`].
    fn take(args: &mut IntoIter<Operand>) -> Self;
}

macro_rules! params {
    ($($rust:ty, $ty:expr, $arg:ident => $($pattern:pat => $value:expr),+;)*) => {$(
        impl Param for $rust {
            const TYPE: Type = $ty;
            fn take(args: &mut IntoIter<Operand>) -> Self {
                let $arg = args.next().unwrap_or_default().into_value();
                match $arg {
                    $($pattern => $value,)+
                    #[allow(unreachable_patterns, reason = "a type of one variant has no other")]
                    other => unreachable!("{other:?} was checked against {:?}", Self::TYPE),
                }
            }
        }
    )*};
}

params! {
    Value, Type::Any, arg => value => value;
    bool, Type::Bool, arg => Value::Bool(value) => value;
    Int, Type::Int, arg => Value::Int(_, value) => Int(value);
    i64, Type::Int64, arg => Value::Int(_, value) => value;
    Uint32, Type::Uint32, arg => Value::Uint(_, value) => Uint32(value as u32);
    f64, Type::Float64, arg => Value::Float(value) => value;
    Text, Type::String, arg => Value::String(text) => text;
    Map, Type::Map, arg => Value::Map(map) => map.cast(&MapType::ANY), Value::Nil => Map::nil(&MapType::ANY);
    Option<Arc<[u8]>>, Type::Bytes, arg => Value::Bytes(bytes) => Some(bytes), Value::Nil => None;
    List, Type::List, arg => Value::List(list) => list.cast(&ListType::ANY), Value::Nil => List::nil(&ListType::ANY);
}

impl Param for Operand {
    const TYPE: Type = Type::Reflect;

    fn take(args: &mut IntoIter<Operand>) -> Self {
        args.next().unwrap_or_default()
    }
}

/// Go's `io.Writer`, as a parameter: always nil.
#[derive(Debug, Clone, Copy)]
pub struct NoWriter;

impl Param for NoWriter {
    const TYPE: Type = Type::Writer;

    fn take(args: &mut IntoIter<Operand>) -> Self {
        args.next();
        Self
    }
}

impl<T: Param> Param for Rest<T> {
    const TYPE: Type = T::TYPE;
    const IS_VARIADIC: bool = true;

    fn take(args: &mut IntoIter<Operand>) -> Self {
        let mut taken = Vec::with_capacity(args.len());
        while args.len() > 0 {
            taken.push(T::take(args));
        }
        Self(taken)
    }
}

/// What a function may return: a value, nothing, or a failure.
pub trait Return {
    /// As the engine takes it.
    fn into_result(self) -> Result<Operand, Failure>;
}

impl<T> Return for T
where
    Value: From<T>,
{
    fn into_result(self) -> Result<Operand, Failure> {
        Ok(Value::from(self).into())
    }
}

impl<T> Return for Result<T, Failure>
where
    Value: From<T>,
{
    fn into_result(self) -> Result<Operand, Failure> {
        Ok(Value::from(self?).into())
    }
}

impl Return for Operand {
    fn into_result(self) -> Result<Operand, Failure> {
        Ok(self)
    }
}

impl Return for Result<Operand, Failure> {
    fn into_result(self) -> Result<Operand, Failure> {
        self
    }
}

/// The parts of a `Function` that follow from a Rust function.
pub struct Signature {
    pub(super) params: Vec<Type>,
    pub(super) variadic: Option<Type>,
    pub(super) run: Arc<Run>,
}

impl Signature {
    fn new(params: &[(Type, bool)], run: Arc<Run>) -> Self {
        Self {
            params: params.iter().filter(|(_, is_variadic)| !is_variadic).map(|(ty, _)| *ty).collect(),
            variadic: params.iter().find(|(_, is_variadic)| *is_variadic).map(|(ty, _)| *ty),
            run,
        }
    }
}

/// A Rust function or closure that templates can call. `M` only distinguishes the implementations.
pub trait Handler<M> {
    /// Its signature, and itself made uniform.
    fn signature(self) -> Signature;
}

/// Marks functions that take the [`Call`] first.
pub struct WithCall;

macro_rules! handlers {
    ($($arg:ident)*) => {
        impl<F, R: Return, $($arg: Param),*> Handler<(R, $($arg,)*)> for F
        where
            F: Fn($($arg),*) -> R + Send + Sync + 'static,
        {
            fn signature(self) -> Signature {
                Signature::new(
                    &[$(($arg::TYPE, $arg::IS_VARIADIC)),*],
                    Arc::new(move |_: &mut Call<'_>, args| {
                        #[allow(unused_mut, unused_variables, reason = "a function without parameters takes none")]
                        let mut args = args;
                        (self)($($arg::take(&mut args)),*).into_result()
                    }),
                )
            }
        }

        impl<F, R: Return, $($arg: Param),*> Handler<(WithCall, R, $($arg,)*)> for F
        where
            F: Fn(&mut Call<'_>, $($arg),*) -> R + Send + Sync + 'static,
        {
            fn signature(self) -> Signature {
                Signature::new(
                    &[$(($arg::TYPE, $arg::IS_VARIADIC)),*],
                    Arc::new(move |call: &mut Call<'_>, args| {
                        #[allow(unused_mut, unused_variables, reason = "a function without parameters takes none")]
                        let mut args = args;
                        (self)(call, $($arg::take(&mut args)),*).into_result()
                    }),
                )
            }
        }
    };
}

handlers!();
handlers!(A);
handlers!(A B);
handlers!(A B C);
handlers!(A B C D);
handlers!(A B C D E);
handlers!(A B C D E G);
