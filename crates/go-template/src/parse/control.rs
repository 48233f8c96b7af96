//! Control structures and the actions between them.

use std::sync::Arc;

use super::super::error::ParseError;
use super::super::lex::{Item, Keyword, Kind};
use super::super::node::{Block, Branch, Node};
use super::{Context, Parsed, Parser, Stop};

impl Parser<'_, '_> {
    pub(super) fn action(&mut self) -> Result<Parsed, ParseError> {
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

    pub(super) fn plain_action(&mut self) -> Result<Parsed, ParseError> {
        let at = self.peek().at;
        let pipe = self.pipeline(Context::Command)?;
        Ok(Parsed::Node(Node::Action { at, pipe }))
    }

    pub(super) fn loop_control(&mut self, text: &str, node: Node) -> Result<Node, ParseError> {
        self.expect(Kind::RightDelim, text)?;
        if self.ranges == 0 {
            return self.error(format!("{text} outside {{{{range}}}}"));
        }
        Ok(node)
    }

    pub(super) fn else_control(&mut self) -> Result<Stop, ParseError> {
        let item = self.peek_non_space();
        if matches!(item.kind, Kind::Keyword(Keyword::If | Keyword::With)) {
            return Ok(Stop::Else(item.at));
        }
        Ok(Stop::Else(self.expect(Kind::RightDelim, "else")?.at))
    }

    pub(super) fn branch(&mut self, context: Context) -> Result<Branch, ParseError> {
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

    pub(super) fn block_control(&mut self) -> Result<Node, ParseError> {
        let item = self.next_non_space();
        let name = self.template_name(&item, Context::Block)?;
        let pipe = self.pipeline(Context::Block)?;
        Parser::new(self.shared).body(Arc::clone(&name), Context::Block.name())?;
        Ok(Node::Template { at: item.at, name, pipe: Some(pipe) })
    }

    pub(super) fn template_control(&mut self) -> Result<Node, ParseError> {
        let item = self.next_non_space();
        let name = self.template_name(&item, Context::Template)?;
        let mut pipe = None;
        if self.next_non_space().kind != Kind::RightDelim {
            self.backup();
            pipe = Some(self.pipeline(Context::Template)?);
        }
        Ok(Node::Template { at: item.at, name, pipe })
    }

    pub(super) fn template_name(&mut self, item: &Item<'_>, context: Context) -> Result<Arc<str>, ParseError> {
        match item.kind {
            Kind::String | Kind::RawString => self.name(item),
            _ => self.unexpected(item, context.name()),
        }
    }
}
