//! Parses items into trees: one for the text itself and one for each definition in it.

mod control;
mod expression;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;

use go_std::strconv::unquote;

use super::error::ParseError;
use super::function::Functions;
use super::lex::{Item, Keyword, Kind, Lexer};
use super::node::{Block, Node, Tree};
use super::source::Source;
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

/// Where a pipeline is, which decides how it may end.
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
            let name = go_yaml::quote(&name);
            return self.error(format!("template: multiple definition of template {name}"));
        }
        let tree = Tree { name: Arc::clone(&name), source: Arc::clone(&self.shared.source), root };
        self.shared.trees.insert(name, Arc::new(tree));
        Ok(())
    }

    /// The whole text, in which alone definitions may be.
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
}
