//! Keywords about a value as a whole, strings and numbers.

use go_yaml::Value;

use super::super::compile::Keywords;
use super::super::decimal::Decimal;
use super::super::report::{Problem, count, display, number as show_number, quote};
use super::super::{decimal, format, number};
use super::Checking;
use super::equality::{equals, kind};

impl Checking<'_> {
    /// `type`, `const`, `enum` and `format`: the first that fails is all there is to say.
    pub(super) fn identity(&self) -> Result<(), Problem> {
        let Keywords { types, constant, one_of_values, format, .. } = self.keywords;
        let value = self.target.value;
        let kind = kind(value);
        let is_integer = || decimal(value).is_some_and(|number| number.is_integer());
        let fits = types.is_empty() || types.contains(&kind) || (types.contains(&"integer") && is_integer());
        if !fits {
            return Err(self.problem(format!("got {kind}, want {}", types.join(" or "))));
        }
        if let Some(wanted) = constant
            && !equals(value, wanted, self.run)
        {
            let is_scalar = !matches!(wanted, Value::Sequence(_) | Value::Mapping(_));
            let message =
                if is_scalar { format!("value must be {}", display(wanted)) } else { "'const' failed".to_owned() };
            return Err(self.problem(message));
        }
        if let Some(wanted) = one_of_values
            && !wanted.iter().any(|wanted| equals(value, wanted, self.run))
        {
            let all_scalar = wanted.iter().all(|value| !matches!(value, Value::Sequence(_) | Value::Mapping(_)));
            let all = || wanted.iter().map(display).collect::<Vec<_>>().join(", ");
            return Err(self.problem(match wanted.len() {
                _ if !all_scalar => "'enum' failed".to_owned(),
                1 => format!("value must be {}", all()),
                _ => format!("value must be one of {}", all()),
            }));
        }
        if let (Some(format), Value::String(text)) = (format, value)
            && let Err(reason) = format::check(format, text)
        {
            return Err(self.problem(format!("{} is not valid {format}: {reason}", quote(text))));
        }
        Ok(())
    }

    pub(super) fn string(&mut self, text: &str) {
        let keywords = self.keywords;
        if keywords.min_length.is_some() || keywords.max_length.is_some() {
            let length = text.chars().count();
            if let Some(min) = keywords.min_length.filter(|min| length < *min) {
                self.add(|| format!("minLength: got {}, want {}", count(length), count(min)));
            }
            if let Some(max) = keywords.max_length.filter(|max| length > *max) {
                self.add(|| format!("maxLength: got {}, want {}", count(length), count(max)));
            }
        }
        if let Some((regex, pattern)) = &keywords.pattern
            && self.run.matches(regex, text) == Some(false)
        {
            self.add(|| format!("{} does not match pattern {}", quote(text), quote(pattern)));
        }
    }

    pub(super) fn number(&mut self) {
        let keywords = self.keywords;
        let (Some(exact), Some(got)) = (decimal(self.target.value), number(self.target.value)) else { return };
        type IsMet = fn(&Decimal, &Decimal) -> bool;
        let limits: [(&str, Option<f64>, IsMet); 5] = [
            ("minimum", keywords.minimum, |number, limit| number >= limit),
            ("maximum", keywords.maximum, |number, limit| number <= limit),
            ("exclusiveMinimum", keywords.exclusive_minimum, |number, limit| number > limit),
            ("exclusiveMaximum", keywords.exclusive_maximum, |number, limit| number < limit),
            ("multipleOf", keywords.multiple_of, Decimal::is_multiple_of),
        ];
        for (keyword, limit, is_met) in limits {
            if let Some(limit) = limit
                && !is_met(&exact, &Decimal::float(limit))
            {
                self.add(|| format!("{keyword}: got {}, want {}", show_number(got), show_number(limit)));
            }
        }
    }
}
