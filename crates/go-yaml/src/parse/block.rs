//! Block sequences and mappings.

use super::{Event, EventKind, Fault, Next, Parser, Position, Result, State, event};

impl<'a> Parser<'a> {
    /// Takes the token that opens a collection and keeps its place.
    pub(super) fn open(&mut self) -> Result<()> {
        let (_, at) = self.peek()?;
        self.starts.push(at);
        self.skip()?;
        Ok(())
    }

    pub(super) fn unclosed(&mut self, message: &'static str, at: Position) -> Box<Fault> {
        Fault::parser(self.starts.pop().map(Position::mark), message, at.mark())
    }

    pub(super) fn block_sequence_entry(&mut self, first: bool) -> Result<Event<'a>> {
        if first {
            self.open()?;
        }
        let (next, at) = self.peek()?;
        match next {
            Next::BlockEntry => {
                let end = self.skip_entry()?;
                match self.peek()?.0 {
                    Next::BlockEntry | Next::BlockEnd => {
                        self.state = State::BlockSequenceEntry { first: false };
                        Ok(self.empty_scalar(end))
                    }
                    _ => {
                        self.states.push(State::BlockSequenceEntry { first: false });
                        self.node(true, false)
                    }
                }
            }
            Next::BlockEnd => {
                self.pop_state();
                self.starts.pop();
                self.skip()?;
                Ok(event(EventKind::SequenceEnd, at))
            }
            _ => Err(self.unclosed("did not find expected '-' indicator", at)),
        }
    }

    /// Takes a `-`. The head above it belongs to the collection behind it, if there is one, not to its first entry.
    pub(super) fn skip_entry(&mut self) -> Result<Position> {
        let head = self.comments.head.len();
        let end = self.skip()?;
        if head > 0 && matches!(self.peek()?.0, Next::BlockSequenceStart | Next::BlockMappingStart) {
            // A line break is between the head above and what was found since.
            let rest = self.comments.head.get(head + 1..).unwrap_or_default().to_owned();
            let mut stem = std::mem::replace(&mut self.comments.head, rest);
            stem.truncate(head);
            self.stem = Some(stem);
        }
        Ok(end)
    }

    pub(super) fn indentless_sequence_entry(&mut self) -> Result<Event<'a>> {
        let (next, at) = self.peek()?;
        if next != Next::BlockEntry {
            self.pop_state();
            return Ok(event(EventKind::SequenceEnd, at));
        }
        let end = self.skip_entry()?;
        match self.peek()?.0 {
            Next::BlockEntry | Next::Key | Next::Value | Next::BlockEnd => {
                self.state = State::IndentlessSequenceEntry;
                Ok(self.empty_scalar(end))
            }
            _ => {
                self.states.push(State::IndentlessSequenceEntry);
                self.node(true, false)
            }
        }
    }

    pub(super) fn block_mapping_key(&mut self, first: bool) -> Result<Event<'a>> {
        if first {
            self.open()?;
        }
        let (next, at) = self.peek()?;
        match next {
            Next::Key => {
                let end = self.skip()?;
                match self.peek()?.0 {
                    Next::Key | Next::Value | Next::BlockEnd => {
                        self.state = State::BlockMappingValue;
                        Ok(self.empty_scalar(end))
                    }
                    _ => {
                        self.states.push(State::BlockMappingValue);
                        self.node(true, true)
                    }
                }
            }
            Next::BlockEnd => {
                self.pop_state();
                self.starts.pop();
                let comments = self.take_comments();
                self.skip()?;
                Ok(Event { comments, ..event(EventKind::MappingEnd, at) })
            }
            _ => Err(self.unclosed("did not find expected key", at)),
        }
    }

    pub(super) fn block_mapping_value(&mut self) -> Result<Event<'a>> {
        let (next, at) = self.peek()?;
        if next != Next::Value {
            self.state = State::BlockMappingKey { first: false };
            return Ok(self.empty_scalar(at));
        }
        let end = self.skip()?;
        match self.peek()?.0 {
            Next::Key | Next::Value | Next::BlockEnd => {
                self.state = State::BlockMappingKey { first: false };
                Ok(self.empty_scalar(end))
            }
            _ => {
                self.states.push(State::BlockMappingKey { first: false });
                self.node(true, true)
            }
        }
    }
}
