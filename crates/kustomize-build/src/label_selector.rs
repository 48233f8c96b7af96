//! Label selectors as Kubernetes writes them: `app=web,tier in (a, b),!canary`.
//!
//! Reference: kyaml 0.21.1 yaml/internal/k8sgen/pkg/labels/selector.go (a copy of apimachinery's).

use std::collections::BTreeMap;
use std::collections::BTreeSet;

/// A parsed selector. All requirements must be met; an empty one matches everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LabelSelector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    GreaterThan,
    LessThan,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A key or value; `in` and `notin` as well, which are keywords only where an operator is.
    Word(String),
    Symbol(&'static str),
    End,
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Token::Word(text) => text,
            Token::Symbol(text) => text,
            Token::End => "",
        }
    }
}

/// Longest first.
const SYMBOLS: [&str; 9] = ["==", "!=", "=", "!", "(", ")", ",", ">", "<"];

impl LabelSelector {
    /// The error is the reference's text.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut parser = Parser { tokens: lex(text), next: 0 };
        let mut requirements = Vec::new();
        loop {
            match parser.peek() {
                Token::Word(_) | Token::Symbol("!") => {
                    let requirement = parser.requirement();
                    requirements.push(requirement.map_err(|error| format!("unable to parse requirement: {error}"))?);
                    match parser.take() {
                        Token::End => return Ok(Self(requirements)),
                        Token::Symbol(",") => match parser.peek() {
                            Token::Word(_) | Token::Symbol("!") => {}
                            other => {
                                return Err(format!("found '{}', expected: identifier after ','", other.text()));
                            }
                        },
                        other => return Err(format!("found '{}', expected: ',' or 'end of string'", other.text())),
                    }
                }
                Token::End => return Ok(Self(requirements)),
                other => {
                    return Err(format!("found '{}', expected: !, identifier, or 'end of string'", other.text()));
                }
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels.get(&requirement.key)))
    }
}

impl Requirement {
    fn matches(&self, value: Option<&String>) -> bool {
        let number = |text: &String| text.parse::<i64>().ok();
        let limit = || self.values.first().and_then(number);
        match self.operator {
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::GreaterThan => value.and_then(number).zip(limit()).is_some_and(|(value, limit)| value > limit),
            Operator::LessThan => value.and_then(number).zip(limit()).is_some_and(|(value, limit)| value < limit),
        }
    }
}

fn lex(text: &str) -> Vec<Token> {
    let is_symbol = |character: char| "=!(),><".contains(character);
    let is_space = |character: char| matches!(character, ' ' | '\t' | '\r' | '\n');
    let mut tokens = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(is_space);
        if rest.is_empty() || rest.starts_with('\0') {
            tokens.push(Token::End);
            return tokens;
        }
        if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            rest = &rest[symbol.len()..];
            continue;
        }
        let end = rest.find(|character| is_symbol(character) || is_space(character) || character == '\0');
        let (word, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(Token::Word(word.to_owned()));
        rest = after;
    }
}

struct Parser {
    tokens: Vec<Token>,
    next: usize,
}

impl Parser {
    fn peek(&self) -> Token {
        self.tokens.get(self.next).cloned().unwrap_or(Token::End)
    }

    fn take(&mut self) -> Token {
        let token = self.peek();
        self.next += 1;
        token
    }

    fn requirement(&mut self) -> Result<Requirement, String> {
        let mut token = self.take();
        let negated = token == Token::Symbol("!");
        if negated {
            token = self.take();
        }
        let Token::Word(key) = token else { return Err(format!("found '{}', expected: identifier", token.text())) };
        check_key(&key)?;
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            let operator = if negated { Operator::DoesNotExist } else { Operator::Exists };
            return Ok(Requirement { key, operator, values: BTreeSet::new() });
        }
        if negated {
            return Ok(Requirement { key, operator: Operator::DoesNotExist, values: BTreeSet::new() });
        }
        let operator = self.take();
        let (operator, values) = match (&operator, operator.text()) {
            (Token::Word(_), "in") => (Operator::In, self.values()?),
            (Token::Word(_), "notin") => (Operator::NotIn, self.values()?),
            (_, "=" | "==") => (Operator::In, self.exact_value()?),
            (_, "!=") => (Operator::NotIn, self.exact_value()?),
            (_, ">") => (Operator::GreaterThan, self.exact_value()?),
            (_, "<") => (Operator::LessThan, self.exact_value()?),
            (_, other) => return Err(format!("found '{other}', expected: '=', '!=', '==', 'in', notin'")),
        };
        if matches!(operator, Operator::GreaterThan | Operator::LessThan)
            && values.iter().any(|value| value.parse::<i64>().is_err())
        {
            return Err("for 'Gt', 'Lt' operators, the value must be an integer".to_owned());
        }
        values.iter().try_for_each(|value| check_value(&key, value))?;
        Ok(Requirement { key, operator, values })
    }

    fn exact_value(&mut self) -> Result<BTreeSet<String>, String> {
        if matches!(self.peek(), Token::End | Token::Symbol(",")) {
            return Ok(BTreeSet::from([String::new()]));
        }
        match self.take() {
            Token::Word(value) => Ok(BTreeSet::from([value])),
            other => Err(format!("found '{}', expected: identifier", other.text())),
        }
    }

    fn values(&mut self) -> Result<BTreeSet<String>, String> {
        let open = self.take();
        if open != Token::Symbol("(") {
            return Err(format!("found '{}' expected: '('", open.text()));
        }
        match self.peek() {
            Token::Word(_) | Token::Symbol(",") => {}
            Token::Symbol(")") => {
                self.take();
                return Ok(BTreeSet::from([String::new()]));
            }
            other => return Err(format!("found '{}', expected: ',', ')' or identifier", other.text())),
        }
        let values = self.identifiers()?;
        match self.take() {
            Token::Symbol(")") => Ok(values),
            other => Err(format!("found '{}', expected: ')'", other.text())),
        }
    }

    /// Up to the closing parenthesis; between two commas, and beside one, is an empty value.
    fn identifiers(&mut self) -> Result<BTreeSet<String>, String> {
        let mut values = BTreeSet::new();
        loop {
            match self.take() {
                Token::Word(value) => {
                    values.insert(value);
                    match self.peek() {
                        Token::Symbol(",") => {}
                        Token::Symbol(")") => return Ok(values),
                        other => return Err(format!("found '{}', expected: ',' or ')'", other.text())),
                    }
                }
                Token::Symbol(",") => {
                    if values.is_empty() {
                        values.insert(String::new());
                    }
                    match self.peek() {
                        Token::Symbol(")") => {
                            values.insert(String::new());
                            return Ok(values);
                        }
                        Token::Symbol(",") => {
                            self.take();
                            values.insert(String::new());
                        }
                        _ => {}
                    }
                }
                other => return Err(format!("found '{}', expected: ',', or identifier", other.text())),
            }
        }
    }
}

fn is_name(text: &str) -> bool {
    let alphanumeric = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    alphanumeric(bytes.first())
        && alphanumeric(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

fn is_dns_subdomain(text: &str) -> bool {
    let part = |part: &str| is_name(part) && part.bytes().all(|byte| !byte.is_ascii_uppercase() && byte != b'_');
    text.len() <= 253 && text.split('.').all(part)
}

/// A qualified name: an optional DNS prefix, then a name of at most 63 characters.
fn check_key(key: &str) -> Result<(), String> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if name.len() <= 63 && is_name(name) && prefix.is_none_or(is_dns_subdomain) {
        return Ok(());
    }
    Err(format!(
        "invalid label key {key:?}: name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    ))
}

fn check_value(key: &str, value: &str) -> Result<(), String> {
    if value.is_empty() || (value.len() <= 63 && is_name(value)) {
        return Ok(());
    }
    Err(format!(
        "invalid label value: {value:?}: at key: {key:?}: a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors() {
        let labels: BTreeMap<String, String> =
            [("app", "web"), ("n", "5"), ("empty", "")].map(|(k, v)| (k.to_owned(), v.to_owned())).into();
        let rows = [
            ("", Some(true)),
            ("app", Some(true)),
            ("!app", Some(false)),
            ("app=web", Some(true)),
            ("app==web", Some(true)),
            ("app = web , n", Some(true)),
            ("app!=web", Some(false)),
            ("other!=web", Some(true)),
            ("app in (web, api)", Some(true)),
            ("app notin (web, api)", Some(false)),
            ("other notin (web)", Some(true)),
            ("n>4", Some(true)),
            ("n<4", Some(false)),
            ("n>x", None),
            ("empty=", Some(true)),
            ("empty in ()", Some(true)),
            ("empty in (,)", Some(true)),
            ("in in (a)", Some(false)),
            ("app=web,", None),
            ("app=web api", None),
            ("=", None),
            ("a/b/c", None),
            ("-a", None),
            ("app in web", None),
            ("app=we*b", None),
        ];
        for (text, expected) in rows {
            let selector = LabelSelector::parse(text);
            assert_eq!(selector.ok().map(|selector| selector.matches(&labels)), expected, "{text:?}");
        }
    }
}
