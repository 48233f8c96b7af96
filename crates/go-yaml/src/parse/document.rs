//! Documents and directives.

use std::borrow::Cow;

use super::{Event, EventKind, Fault, Next, Parser, Position, Result, State, TokenKind, event};

impl<'a> Parser<'a> {
    pub(super) fn document_start(&mut self, implicit: bool) -> Result<Event<'a>> {
        let (mut next, mut at) = self.peek()?;
        if !implicit {
            while next == Next::DocumentEnd {
                self.skip()?;
                (next, at) = self.peek()?;
            }
        }
        match next {
            Next::StreamEnd => {
                self.state = State::End;
                Ok(event(EventKind::StreamEnd, at))
            }
            Next::Directive | Next::DocumentStart => self.explicit_document(at),
            _ if !implicit => self.explicit_document(at),
            _ => {
                self.process_directives()?;
                self.states.push(State::DocumentEnd);
                self.state = State::Node { block: true, indentless_sequence: false };
                let mut event = event(EventKind::DocumentStart, at);
                event.comments.set_head(self.split_document_head());
                Ok(event)
            }
        }
    }

    pub(super) fn explicit_document(&mut self, start: Position) -> Result<Event<'a>> {
        self.process_directives()?;
        let (next, at) = self.peek()?;
        if next != Next::DocumentStart {
            return Err(Fault::parser(None, "did not find expected <document start>", at.mark()));
        }
        self.states.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        self.skip()?;
        Ok(event(EventKind::DocumentStart, start))
    }

    /// Of the comment at the start of a document, what is above its last empty line belongs to the document.
    pub(super) fn split_document_head(&mut self) -> String {
        let head = &mut self.comments.head;
        let mut breaks = head.bytes().enumerate().skip(1).filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at);
        let bytes = head.as_bytes();
        let split = breaks.rfind(|at| at + 1 == bytes.len() || bytes.get(at - 1) == Some(&b'\n'));
        let Some(at) = split else { return String::new() };
        let end = if at + 1 == bytes.len() { at } else { at - 1 };
        let rest = head.split_off(at + 1);
        let mut document = std::mem::replace(head, rest);
        document.truncate(end);
        document
    }

    pub(super) fn document_content(&mut self) -> Result<Event<'a>> {
        let (next, at) = self.peek()?;
        match next {
            Next::Directive | Next::DocumentStart | Next::DocumentEnd | Next::StreamEnd => {
                self.pop_state();
                Ok(self.empty_scalar(at))
            }
            _ => self.node(true, false),
        }
    }

    pub(super) fn document_end(&mut self) -> Result<Event<'a>> {
        let (next, at) = self.peek()?;
        if next == Next::DocumentEnd {
            self.skip()?;
        }
        self.tag_directives.clear();
        self.state = State::DocumentStart { implicit: false };
        if self.comments.foot.is_empty() {
            self.comments.foot = std::mem::take(&mut self.comments.head);
        }
        let comments = self.take_comments();
        Ok(Event { comments, ..event(EventKind::DocumentEnd, at) })
    }

    pub(super) fn process_directives(&mut self) -> Result<()> {
        let mut version = false;
        while self.peek()?.0 == Next::Directive {
            let token = self.scanner.next()?;
            let fault = |message| Err(Fault::parser(None, message, token.start.mark()));
            match token.kind {
                TokenKind::VersionDirective { .. } if version => return fault("found duplicate %YAML directive"),
                TokenKind::VersionDirective { major: 1, minor: 1 } => version = true,
                TokenKind::VersionDirective { .. } => return fault("found incompatible YAML document"),
                TokenKind::TagDirective { handle, prefix } => {
                    if self.tag_directives.iter().any(|(known, _)| *known == handle) {
                        return fault("found duplicate %TAG directive");
                    }
                    self.tag_directives.push((Cow::Borrowed(handle), prefix));
                }
                _ => {}
            }
        }
        for (handle, prefix) in [("!", "!"), ("!!", "tag:yaml.org,2002:")] {
            if !self.tag_directives.iter().any(|(known, _)| known == handle) {
                self.tag_directives.push((Cow::Borrowed(handle), Cow::Borrowed(prefix)));
            }
        }
        Ok(())
    }
}
