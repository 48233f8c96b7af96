//! Parses items into trees: one for the text itself and one for each definition in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::ParseError;
use super::function::Functions;
use super::lex::{Item, Keyword, Kind, Lexer};
use super::node::{Block, Branch, Command, Node, Number, Pipe, Source, Spot, Term, Tree, Variable};
use super::number;
use super::quote::{quote, unquote};
use super::text::{Text, to_str};

/// How deep parentheses, and how deep control structures, may nest. Go allows 10,000 parentheses and has no limit for
/// the others; charts stay below 30.
const DEPTH_MAX: u32 = 200;

/// Parses a text; trees of blank definitions are kept only where no other has the name.
pub(super) fn parse(
    name: &str,
    text: Text,
    functions: &Functions,
) -> Result<BTreeMap<Arc<str>, Arc<Tree>>, ParseError> {
    let name: Arc<str> = name.into();
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError { template: name, line: 0, message: "a template may not be larger than 4 GiB".into() });
    }
    let source = Arc::new(Source { name: Arc::clone(&name), text });
    let mut shared = Shared {
        lexer: Lexer::new(&source.text),
        source: Arc::clone(&source),
        functions,
        trees: BTreeMap::new(),
        depth: 0,
    };
    let mut parser = Parser::new(&mut shared);
    let root = parser.top()?;
    parser.add(name, root)?;
    Ok(shared.trees)
}

/// What all trees of a text have in common.
struct Shared<'t> {
    lexer: Lexer<'t>,
    source: Arc<Source>,
    functions: &'t Functions,
    trees: BTreeMap<Arc<str>, Arc<Tree>>,
    depth: u32,
}

/// Parses one tree.
struct Parser<'s, 't> {
    shared: &'s mut Shared<'t>,
    /// The last item read, and items that were put back.
    items: [Item<'t>; 3],
    put_back: usize,
    variables: Vec<Arc<str>>,
    action_line: u32,
    ranges: u32,
    parens: u32,
}

/// What ended a list of nodes, with its position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    End,
    Else(u32),
}

impl Stop {
    fn text(self) -> &'static str {
        match self {
            Stop::End => "{{end}}",
            Stop::Else(_) => "{{else}}",
        }
    }
}

enum Parsed {
    Node(Node),
    Stop(Stop),
}

/// Where a pipeline stands, which decides how it may end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Command,
    If,
    With,
    Range,
    Template,
    Block,
    Parens,
}

impl Context {
    fn name(self) -> &'static str {
        match self {
            Context::Command => "command",
            Context::If => "if",
            Context::With => "with",
            Context::Range => "range",
            Context::Template => "template clause",
            Context::Block => "block clause",
            Context::Parens => "parenthesized pipeline",
        }
    }
}

impl<'s, 't> Parser<'s, 't> {
    fn new(shared: &'s mut Shared<'t>) -> Self {
        Parser {
            shared,
            items: [Item::none(), Item::none(), Item::none()],
            put_back: 0,
            variables: vec!["$".into()],
            action_line: 0,
            ranges: 0,
            parens: 0,
        }
    }

    fn next(&mut self) -> Item<'t> {
        match self.put_back.checked_sub(1) {
            Some(left) => self.put_back = left,
            None => self.items[0] = self.shared.lexer.item(),
        }
        self.items.get(self.put_back).cloned().unwrap_or_else(Item::none)
    }

    fn backup(&mut self) {
        self.put_back += 1;
    }

    fn peek(&mut self) -> Item<'t> {
        let item = self.next();
        self.backup();
        item
    }

    fn peek_kind(&mut self) -> Kind {
        self.peek().kind
    }

    fn next_non_space(&mut self) -> Item<'t> {
        loop {
            let item = self.next();
            if item.kind != Kind::Space {
                return item;
            }
        }
    }

    fn peek_non_space(&mut self) -> Item<'t> {
        let item = self.next_non_space();
        self.backup();
        item
    }

    fn error<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        let template = Arc::clone(&self.shared.source.name);
        Err(ParseError { template, line: self.items[0].line, message: message.into() })
    }

    fn unexpected<T>(&self, item: &Item<'_>, context: &str) -> Result<T, ParseError> {
        if item.kind != Kind::Error {
            return self.error(format!("unexpected {} in {context}", item.describe()));
        }
        let mut extra = String::new();
        if self.action_line != 0 && self.action_line != item.line {
            let started = format!(" started at {}:{}", self.shared.source.name, self.action_line);
            extra = if item.error.ends_with(" action") { started } else { format!(" in action{started}") };
        }
        self.error(format!("{}{extra}", item.error))
    }

    fn expect(&mut self, kind: Kind, context: &str) -> Result<Item<'t>, ParseError> {
        let item = self.next_non_space();
        if item.kind == kind { Ok(item) } else { self.unexpected(&item, context) }
    }

    fn deeper(&mut self) -> Result<(), ParseError> {
        self.shared.depth += 1;
        if self.shared.depth > DEPTH_MAX {
            return self.error(format!("control structures nest deeper than {DEPTH_MAX} levels"));
        }
        Ok(())
    }

    /// Puts the tree beside the others of the text.
    fn add(&mut self, name: Arc<str>, root: Block) -> Result<(), ParseError> {
        let is_free = self.shared.trees.get(&name).is_none_or(|tree| tree.root.is_blank());
        if !is_free {
            if root.is_blank() {
                return Ok(());
            }
            let name = crate::yaml::quote(&name);
            return self.error(format!("template: multiple definition of template {name}"));
        }
        let tree = Tree { name: Arc::clone(&name), source: Arc::clone(&self.shared.source), root };
        self.shared.trees.insert(name, Arc::new(tree));
        Ok(())
    }

    /// The whole text, in which alone definitions may stand.
    fn top(&mut self) -> Result<Block, ParseError> {
        let mut block = Block { at: self.peek().at, nodes: Vec::new() };
        loop {
            match self.peek_kind() {
                Kind::End => return Ok(block),
                Kind::LeftDelim => {
                    let delim = self.next();
                    if self.next_non_space().kind == Kind::Keyword(Keyword::Define) {
                        self.definition()?;
                        continue;
                    }
                    self.items[1] = delim;
                    self.put_back = 2;
                }
                _ => {}
            }
            match self.text_or_action()? {
                Parsed::Node(node) => block.nodes.push(node),
                Parsed::Stop(stop) => return self.error(format!("unexpected {}", stop.text())),
            }
        }
    }

    fn definition(&mut self) -> Result<(), ParseError> {
        const CONTEXT: &str = "define clause";
        let mut inner = Parser::new(self.shared);
        let item = inner.next_non_space();
        if !matches!(item.kind, Kind::String | Kind::RawString) {
            return inner.unexpected(&item, CONTEXT);
        }
        let name = inner.name(&item)?;
        inner.expect(Kind::RightDelim, CONTEXT)?;
        inner.body(name, CONTEXT)
    }

    /// The nodes of a definition up to its `end`.
    fn body(&mut self, name: Arc<str>, context: &str) -> Result<(), ParseError> {
        self.deeper()?;
        let (block, stop) = self.block()?;
        self.shared.depth -= 1;
        if stop != Stop::End {
            return self.error(format!("unexpected {} in {context}", stop.text()));
        }
        self.add(name, block)
    }

    fn name(&mut self, item: &Item<'_>) -> Result<Arc<str>, ParseError> {
        match unquote(item.text) {
            Some(name) => Ok(to_str(&name).into()),
            None => self.error("invalid syntax"),
        }
    }

    fn block(&mut self) -> Result<(Block, Stop), ParseError> {
        let mut block = Block { at: self.peek_non_space().at, nodes: Vec::new() };
        while self.peek_non_space().kind != Kind::End {
            match self.text_or_action()? {
                Parsed::Node(node) => block.nodes.push(node),
                Parsed::Stop(stop) => return Ok((block, stop)),
            }
        }
        self.error("unexpected EOF")
    }

    fn text_or_action(&mut self) -> Result<Parsed, ParseError> {
        let item = self.next_non_space();
        match item.kind {
            Kind::Text => Ok(Parsed::Node(Node::Text { at: item.at, text: Text::from(item.text) })),
            Kind::LeftDelim => {
                self.action_line = item.line;
                let parsed = self.action()?;
                self.action_line = 0;
                Ok(parsed)
            }
            _ => self.unexpected(&item, "input"),
        }
    }

    fn action(&mut self) -> Result<Parsed, ParseError> {
        let item = self.next_non_space();
        let Kind::Keyword(keyword) = item.kind else {
            self.backup();
            return self.plain_action();
        };
        let node = match keyword {
            Keyword::Block => self.block_control()?,
            Keyword::Break => self.loop_control("{{break}}", Node::Break { at: item.at })?,
            Keyword::Continue => self.loop_control("{{continue}}", Node::Continue { at: item.at })?,
            Keyword::Else => return Ok(Parsed::Stop(self.else_control()?)),
            Keyword::End => {
                self.expect(Kind::RightDelim, "end")?;
                return Ok(Parsed::Stop(Stop::End));
            }
            Keyword::If => Node::If(self.branch(Context::If)?),
            Keyword::With => Node::With(self.branch(Context::With)?),
            Keyword::Range => Node::Range(self.branch(Context::Range)?),
            Keyword::Template => self.template_control()?,
            Keyword::Dot | Keyword::Define | Keyword::Nil => {
                self.backup();
                return self.plain_action();
            }
        };
        Ok(Parsed::Node(node))
    }

    fn plain_action(&mut self) -> Result<Parsed, ParseError> {
        let at = self.peek().at;
        let pipe = self.pipeline(Context::Command)?;
        Ok(Parsed::Node(Node::Action { at, pipe }))
    }

    fn loop_control(&mut self, text: &str, node: Node) -> Result<Node, ParseError> {
        self.expect(Kind::RightDelim, text)?;
        if self.ranges == 0 {
            return self.error(format!("{text} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    fn else_control(&mut self) -> Result<Stop, ParseError> {
        let item = self.peek_non_space();
        if matches!(item.kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            return Ok(Stop::Else(item.at));
        }
        Ok(Stop::Else(self.expect(Kind::RightDelim, "else")?.at))
    }

    fn branch(&mut self, context: Context) -> Result<Branch, ParseError> {
        self.deeper()?;
        let visible = self.variables.len();
        let pipe = self.pipeline(context)?;
        self.ranges += u32::from(context == Context::Range);
        let (block, stop) = self.block()?;
        self.ranges -= u32::from(context == Context::Range);
        let otherwise = match stop {
            Stop::End => None,
            Stop::Else(at) => Some(match (context, self.peek_kind()) {
                (Context::If, Kind::Keyword(Keyword::If)) => {
                    self.next();
                    Block { at, nodes: vec![Node::If(self.branch(Context::If)?)] }
                }
                (Context::With, Kind::Keyword(Keyword::With)) => {
                    self.next();
                    Block { at, nodes: vec![Node::With(self.branch(Context::With)?)] }
                }
                _ => {
                    let (block, stop) = self.block()?;
                    if stop != Stop::End {
                        return self.error(format!("expected end; found {}", stop.text()));
                    }
                    block
                }
            }),
        };
        self.variables.truncate(visible);
        self.shared.depth -= 1;
        Ok(Branch { at: pipe.at, pipe, block, otherwise })
    }

    fn block_control(&mut self) -> Result<Node, ParseError> {
        let item = self.next_non_space();
        let name = self.template_name(&item, Context::Block)?;
        let pipe = self.pipeline(Context::Block)?;
        Parser::new(self.shared).body(Arc::clone(&name), Context::Block.name())?;
        Ok(Node::Template { at: item.at, name, pipe: Some(pipe) })
    }

    fn template_control(&mut self) -> Result<Node, ParseError> {
        let item = self.next_non_space();
        let name = self.template_name(&item, Context::Template)?;
        let mut pipe = None;
        if self.next_non_space().kind != Kind::RightDelim {
            self.backup();
            pipe = Some(self.pipeline(Context::Template)?);
        }
        Ok(Node::Template { at: item.at, name, pipe })
    }

    fn template_name(&mut self, item: &Item<'_>, context: Context) -> Result<Arc<str>, ParseError> {
        match item.kind {
            Kind::String | Kind::RawString => self.name(item),
            _ => self.unexpected(item, context.name()),
        }
    }

    fn pipeline(&mut self, context: Context) -> Result<Pipe, ParseError> {
        let at = self.peek_non_space().at;
        let mut pipe = Pipe { at, is_assignment: false, variables: Vec::new(), commands: Vec::new() };
        self.declarations(context, &mut pipe)?;
        let end = if context == Context::Parens { Kind::RightParen } else { Kind::RightDelim };
        loop {
            let item = self.next_non_space();
            match item.kind {
                kind if kind == end => break,
                Kind::Bool
                | Kind::CharConstant
                | Kind::Complex
                | Kind::Field
                | Kind::Identifier
                | Kind::Number
                | Kind::RawString
                | Kind::String
                | Kind::Variable
                | Kind::LeftParen
                | Kind::Keyword(Keyword::Dot | Keyword::Nil) => {
                    self.backup();
                    let command = self.command()?;
                    pipe.commands.push(command);
                }
                _ => return self.unexpected(&item, context.name()),
            }
        }
        if pipe.commands.is_empty() {
            return self.error(format!("missing value for {}", context.name()));
        }
        for (index, command) in pipe.commands.iter().enumerate().skip(1) {
            let is_constant = matches!(
                command.head,
                Term::Bool { .. } | Term::Dot { .. } | Term::Nil { .. } | Term::Number(_) | Term::String { .. }
            );
            if is_constant {
                return self.error(format!("non executable command in pipeline stage {}", index + 1));
            }
        }
        Ok(pipe)
    }

    /// `$x :=`, `$x =`, or for `range` also `$i, $x :=`. A variable that is none of these is put back.
    fn declarations(&mut self, context: Context, pipe: &mut Pipe) -> Result<(), ParseError> {
        loop {
            let variable = self.peek_non_space();
            if variable.kind != Kind::Variable {
                return Ok(());
            }
            self.next();
            // The blank behind the variable must survive when it is put back: it separates arguments.
            let behind = self.peek();
            let next = self.peek_non_space();
            let is_comma = next.kind == Kind::Char && next.text == b",";
            if !matches!(next.kind, Kind::Assign | Kind::Declare) && !is_comma {
                if behind.kind == Kind::Space {
                    self.items[1] = behind;
                    self.items[2] = variable;
                    self.put_back = 3;
                } else {
                    self.items[1] = variable;
                    self.put_back = 2;
                }
                return Ok(());
            }
            self.next_non_space();
            let declared = self.variable(variable.at, variable.text);
            self.variables.push(to_str(variable.text).into());
            pipe.variables.push(declared);
            if !is_comma {
                pipe.is_assignment = next.kind == Kind::Assign;
                return Ok(());
            }
            if context != Context::Range || pipe.variables.len() >= 2 {
                return self.error(format!("too many declarations in {}", context.name()));
            }
            if !matches!(self.peek_non_space().kind, Kind::Variable | Kind::RightDelim | Kind::RightParen) {
                return self.error("range can only initialize variables");
            }
        }
    }

    fn command(&mut self) -> Result<Command, ParseError> {
        let at = self.peek_non_space().at;
        let mut terms = Vec::new();
        loop {
            self.peek_non_space();
            if let Some(term) = self.operand()? {
                terms.push(term);
            }
            let item = self.next();
            match item.kind {
                Kind::Space => continue,
                Kind::RightDelim | Kind::RightParen => self.backup(),
                Kind::Pipe => {}
                _ => return self.unexpected(&item, "operand"),
            }
            break;
        }
        let mut terms = terms.into_iter();
        match terms.next() {
            Some(head) => Ok(Command { at, head, args: terms.collect() }),
            None => self.error("empty command"),
        }
    }

    /// A term with the fields that follow it.
    fn operand(&mut self) -> Result<Option<Term>, ParseError> {
        let Some(term) = self.term()? else { return Ok(None) };
        let first = self.peek();
        if first.kind != Kind::Field {
            return Ok(Some(term));
        }
        let at = first.at;
        let mut fields = Vec::new();
        while self.peek_kind() == Kind::Field {
            fields.push(field_name(self.next().text));
        }
        match term {
            Term::Field { fields: before, .. } => {
                Ok(Some(Term::Field { at, fields: before.into_iter().chain(fields).collect() }))
            }
            Term::Variable(mut variable) => {
                variable.at = at;
                variable.fields.extend(fields);
                Ok(Some(Term::Variable(variable)))
            }
            Term::Bool { .. } | Term::String { .. } | Term::Number(_) | Term::Nil { .. } | Term::Dot { .. } => {
                let term = (&term as &dyn Spot).to_string();
                self.error(format!("unexpected . after term {}", crate::yaml::quote(&term)))
            }
            Term::Function { .. } | Term::Chain { .. } | Term::Pipe(_) => {
                Ok(Some(Term::Chain { at, term: Box::new(term), fields }))
            }
        }
    }

    fn term(&mut self) -> Result<Option<Term>, ParseError> {
        let item = self.next_non_space();
        let at = item.at;
        Ok(Some(match item.kind {
            Kind::Identifier => match self.shared.functions.get(&to_str(item.text)) {
                Some(function) => Term::Function { at, function: Arc::clone(function) },
                None => {
                    let name = to_str(&quote(item.text)).into_owned();
                    return self.error(format!("function {name} not defined"));
                }
            },
            Kind::Keyword(Keyword::Dot) => Term::Dot { at },
            Kind::Keyword(Keyword::Nil) => Term::Nil { at },
            Kind::Variable => {
                let variable = self.variable(at, item.text);
                if !self.variables.contains(&variable.name) {
                    let name = crate::yaml::quote(&variable.name);
                    return self.error(format!("undefined variable {name}"));
                }
                Term::Variable(variable)
            }
            Kind::Field => Term::Field { at, fields: vec![field_name(item.text)] },
            Kind::Bool => Term::Bool { at, value: item.text == b"true" },
            Kind::CharConstant | Kind::Complex | Kind::Number => match number::constant(item.kind, item.text) {
                Ok(number) => Term::Number(Number { at, text: to_str(item.text).into(), ..number }),
                Err(message) => return self.error(message),
            },
            Kind::LeftParen => {
                if self.parens >= DEPTH_MAX {
                    return self.error("max expression depth exceeded");
                }
                self.parens += 1;
                let pipe = self.pipeline(Context::Parens)?;
                self.parens -= 1;
                Term::Pipe(Box::new(pipe))
            }
            Kind::String | Kind::RawString => match unquote(item.text) {
                Some(text) => Term::String { at, quoted: Text::from(item.text), text: Text::from(text) },
                None => return self.error("invalid syntax"),
            },
            _ => {
                self.backup();
                return Ok(None);
            }
        }))
    }

    fn variable(&self, at: u32, name: &[u8]) -> Variable {
        Variable { at, name: to_str(name).into(), fields: Vec::new() }
    }
}

fn field_name(text: &[u8]) -> Arc<str> {
    to_str(text.strip_prefix(b".").unwrap_or(text)).into()
}
