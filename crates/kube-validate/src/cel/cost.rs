//! What an expression takes at most, for the value that it is evaluated with: the crate `cel` counts nothing while it evaluates.
//!
//! The tree is walked once. Of what is a part of `self` its values are known, so that a loop over a list takes as often what its
//! largest item takes; of what is made from them, how large it is at most. A loop in a loop, or one that doubles what it gets,
//! is what it would be.
//!
//! Reference: apiserver 0.36 pkg/cel/library/cost.go, by which a server estimates them.

use cel::Value;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, operators};
use cel::objects::Key;

use crate::effort::of_text;

/// What estimating may take itself.
const VISITS_MAX: u64 = 200_000;
/// What it takes to compile a byte of a pattern.
const COMPILE: u64 = 64;
/// More bytes and repetitions in a pattern than any that is meant.
const PATTERN_MAX: u64 = 20_000;

/// The steps that an expression takes at most with these values for its variables, `None` if that is not known; and those that it
/// took to find that.
pub(super) fn steps<'v>(expression: &'v IdedExpr, variables: &[(&'static str, &'v Value)]) -> (Option<u64>, u64) {
    let scope = variables.iter().map(|(name, value)| (*name, Part::Known(vec![*value]))).collect();
    let mut estimate = Estimate { scope, visits: VISITS_MAX };
    let found = estimate.expression(expression).map(|(_, work)| work);
    (found, VISITS_MAX - estimate.visits)
}

/// What a part of an expression gives.
#[derive(Debug, Clone)]
enum Part<'v> {
    /// One of these parts of `self`.
    Known(Vec<&'v Value>),
    /// Something that is made.
    Made(Made),
}

/// What is known of something that is made, at most.
#[derive(Debug, Clone, Copy, Default)]
struct Made {
    size: u64,
    /// How many items it has, and how large each is.
    count: u64,
    item: u64,
}

impl Made {
    /// Of this size, whatever is in it.
    fn of_size(size: u64) -> Self {
        Self { size, count: size, item: size }
    }

    /// With the items of another one behind its own.
    fn and(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            count: self.count.saturating_add(other.count),
            item: self.item.max(other.item),
        }
    }

    fn times(self, count: u64) -> Self {
        Self { size: self.size.saturating_mul(count), count: self.count.saturating_mul(count), ..self }
    }
}

struct Estimate<'v> {
    /// The variables, the innermost last.
    scope: Vec<(&'v str, Part<'v>)>,
    visits: u64,
}

impl<'v> Estimate<'v> {
    fn visit(&mut self, count: u64) -> Option<()> {
        let left = self.visits.checked_sub(count);
        self.visits = left.unwrap_or(0);
        left.map(|_| ())
    }

    fn expression(&mut self, expression: &'v IdedExpr) -> Option<(Part<'v>, u64)> {
        self.visit(1)?;
        Some(match &expression.expr {
            Expr::Literal(literal) => (Part::Made(Made::of_size(of_literal(literal))), 1),
            Expr::Ident(name) => {
                let found = self.scope.iter().rev().find(|(known, _)| known == name);
                (found.map_or(Part::Made(Made::of_size(1)), |(_, part)| part.clone()), 1)
            }
            Expr::Select(select) => {
                let (operand, work) = self.expression(&select.operand)?;
                (self.field(operand, &select.field)?, work.saturating_add(1))
            }
            Expr::List(list) => self.list(list.elements.iter())?,
            Expr::Map(map) => {
                let entries = map.entries.iter().filter_map(|entry| match &entry.expr {
                    EntryExpr::MapEntry(entry) => Some([&entry.key, &entry.value]),
                    EntryExpr::StructField(_) => None,
                });
                self.list(entries.flatten())?
            }
            Expr::Call(call) => self.call(call)?,
            Expr::Comprehension(comprehension) => self.comprehension(comprehension)?,
            Expr::Struct(_) | Expr::Unspecified => return None,
        })
    }

    /// A list or a mapping of these.
    fn list(&mut self, parts: impl Iterator<Item = &'v IdedExpr>) -> Option<(Part<'v>, u64)> {
        let (mut made, mut work) = (Made { size: 1, ..Made::default() }, 1_u64);
        for part in parts {
            let (part, takes) = self.expression(part)?;
            let size = self.size(&part)?;
            made = made.and(Made { size, count: 1, item: size });
            work = work.saturating_add(takes);
        }
        Some((Part::Made(made), work.saturating_add(made.size)))
    }

    /// Looks at all that a function gets, and gives no more than that: of texts and lists that is what `+` makes of them.
    fn call(&mut self, call: &'v CallExpr) -> Option<(Part<'v>, u64)> {
        if call.func_name == operators::INDEX
            && let [list, index] = &call.args[..]
        {
            let ((list, work), (_, more)) = (self.expression(list)?, self.expression(index)?);
            return Some((self.children(&list)?, work.saturating_add(more).saturating_add(1)));
        }
        let (mut made, mut work) = (Made::of_size(1), 1_u64);
        for part in call.target.iter().map(|target| &**target).chain(&call.args) {
            let (part, takes) = self.expression(part)?;
            made = made.and(self.made(&part)?);
            work = work.saturating_add(takes);
        }
        work = work.saturating_add(made.size);
        if call.func_name != "matches" {
            return Some((Part::Made(made), work));
        }
        let Expr::Literal(LiteralValue::String(pattern)) = &call.args.last()?.expr else { return None };
        Some((Part::Made(Made::of_size(1)), work.saturating_add(of_pattern(pattern.inner())?)))
    }

    /// Runs its steps as often as there are items; one that adds to what it has adds as often what it adds once.
    fn comprehension(&mut self, all: &'v ComprehensionExpr) -> Option<(Part<'v>, u64)> {
        let (range, range_work) = self.expression(&all.iter_range)?;
        let (start, start_work) = self.expression(&all.accu_init)?;
        let (count, start) = (self.made(&range)?.count, self.made(&start)?);
        let item = self.children(&range)?;
        let copied = self.size(&item)?;
        self.scope.push((&all.iter_var, item.clone()));
        if let Some(second) = &all.iter_var2 {
            self.scope.push((second, item));
        }
        self.scope.push((&all.accu_var, Part::Made(Made::default())));
        let (_, cond_work) = self.expression(&all.loop_cond)?;
        let (step, step_work) = self.expression(&all.loop_step)?;
        let made = start.and(self.made(&step)?.times(count));
        self.scope.pop();
        self.scope.push((&all.accu_var, Part::Made(made)));
        let (result, result_work) = self.expression(&all.result)?;
        self.scope.truncate(self.scope.len() - 2 - usize::from(all.iter_var2.is_some()));
        let each = [cond_work, step_work, copied, 1].into_iter().fold(0, u64::saturating_add);
        let work = [range_work, start_work, result_work, made.size, count.saturating_mul(each)];
        Some((result, work.into_iter().fold(0, u64::saturating_add)))
    }

    fn field(&mut self, part: Part<'v>, name: &str) -> Option<Part<'v>> {
        let Part::Known(values) = part else { return Some(part) };
        self.visit(values.len() as u64)?;
        let field = |value: &'v Value| match value {
            Value::Map(map) => map.map.get(&Key::from(name.to_owned())),
            _ => None,
        };
        Some(Part::Known(values.into_iter().filter_map(field).collect()))
    }

    /// What is in a list; of a mapping its keys, as large as all of it.
    fn children(&mut self, part: &Part<'v>) -> Option<Part<'v>> {
        let values = match part {
            Part::Known(values) => values,
            Part::Made(made) => return Some(Part::Made(Made::of_size(made.item))),
        };
        if values.iter().any(|value| matches!(value, Value::Map(_))) {
            return Some(Part::Made(Made::of_size(self.size(part)?)));
        }
        let lists = values.iter().filter_map(|value| if let Value::List(items) = value { Some(items) } else { None });
        let children: Vec<&'v Value> = lists.flat_map(|items| items.iter()).collect();
        self.visit((values.len() + children.len()) as u64)?;
        Some(Part::Known(children))
    }

    fn made(&mut self, part: &Part<'v>) -> Option<Made> {
        let values = match part {
            Part::Known(values) => values,
            Part::Made(made) => return Some(*made),
        };
        self.visit(values.len() as u64)?;
        let count = |value: &&Value| match value {
            Value::List(items) => items.len(),
            Value::Map(map) => map.map.len(),
            _ => 0,
        };
        let (count, size) = (values.iter().map(count).max().unwrap_or(0) as u64, self.size(part)?);
        let item = self.children(part)?;
        Some(Made { size, count, item: self.size(&item)? })
    }

    fn size(&mut self, part: &Part<'v>) -> Option<u64> {
        match part {
            Part::Made(made) => Some(made.size),
            Part::Known(values) => values.iter().try_fold(0, |most: u64, value| Some(most.max(self.size_of(value)?))),
        }
    }

    fn size_of(&mut self, value: &Value) -> Option<u64> {
        self.visit(1)?;
        let mut size = 1;
        match value {
            Value::String(text) => size = of_text(text),
            Value::List(items) => {
                for item in items.iter() {
                    size += self.size_of(item)?;
                }
            }
            Value::Map(map) => {
                for (key, item) in map.map.iter() {
                    let key = if let Key::String(key) = key { of_text(key) } else { 1 };
                    size += key + self.size_of(item)?;
                }
            }
            _ => {}
        }
        Some(size)
    }
}

fn of_literal(literal: &LiteralValue) -> u64 {
    match literal {
        LiteralValue::String(text) => of_text(text.inner()),
        LiteralValue::Bytes(bytes) => 1 + bytes.inner().len() as u64 / 16,
        _ => 1,
    }
}

/// What it takes to compile a pattern: its bytes, as often as its repetitions say. `None` if that is too much.
fn of_pattern(pattern: &str) -> Option<u64> {
    let mut times = 1_u64;
    for part in pattern.split('{').skip(1) {
        let numbers = part.split_once('}').map_or("", |(numbers, _)| numbers).split(',');
        let most = numbers.filter_map(|number| number.trim().parse::<u64>().ok()).max().unwrap_or(1);
        times = times.saturating_mul(most.max(1));
    }
    let bytes = times.saturating_mul(pattern.len() as u64);
    (bytes <= PATTERN_MAX).then_some((1 + bytes) * COMPILE / 8)
}
