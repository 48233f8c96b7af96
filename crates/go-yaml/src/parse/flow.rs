//! Flow sequences and mappings.

use super::{Event, EventKind, Next, Parser, Position, Result, State, event};

impl<'a> Parser<'a> {
    pub(super) fn flow_sequence_entry(&mut self, first: bool) -> Result<Event<'a>> {
        if first {
            self.open()?;
        }
        let (mut next, mut at) = self.peek()?;
        if next != Next::FlowSequenceEnd {
            if !first {
                if next != Next::FlowEntry {
                    return Err(self.unclosed("did not find expected ',' or ']'", at));
                }
                self.skip()?;
                (next, at) = self.peek()?;
            }
            match next {
                Next::Key => {
                    self.state = State::FlowSequencePairKey;
                    self.skip()?;
                    return Ok(event(EventKind::MappingStart { flow: true }, at));
                }
                Next::FlowSequenceEnd => {}
                _ => {
                    self.states.push(State::FlowSequenceEntry { first: false });
                    return self.node(false, false);
                }
            }
        }
        self.close_flow(EventKind::SequenceEnd, at)
    }

    pub(super) fn close_flow(&mut self, kind: EventKind<'a>, at: Position) -> Result<Event<'a>> {
        self.pop_state();
        self.starts.pop();
        let comments = self.take_comments();
        self.skip()?;
        Ok(Event { comments, ..event(kind, at) })
    }

    pub(super) fn flow_sequence_pair_key(&mut self) -> Result<Event<'a>> {
        match self.peek()?.0 {
            Next::Value | Next::FlowEntry | Next::FlowSequenceEnd => {
                // The token is lost, as in libyaml: `[? : a]` can't be read.
                let end = self.skip()?;
                self.state = State::FlowSequencePairValue;
                Ok(self.empty_scalar(end))
            }
            _ => {
                self.states.push(State::FlowSequencePairValue);
                self.node(false, false)
            }
        }
    }

    pub(super) fn flow_sequence_pair_value(&mut self) -> Result<Event<'a>> {
        let (next, at) = self.peek()?;
        if next == Next::Value {
            self.skip()?;
            if !matches!(self.peek()?.0, Next::FlowEntry | Next::FlowSequenceEnd) {
                self.states.push(State::FlowSequencePairEnd);
                return self.node(false, false);
            }
        }
        self.state = State::FlowSequencePairEnd;
        Ok(self.empty_scalar(at))
    }

    pub(super) fn flow_sequence_pair_end(&mut self) -> Result<Event<'a>> {
        let (_, at) = self.peek()?;
        self.state = State::FlowSequenceEntry { first: false };
        Ok(event(EventKind::MappingEnd, at))
    }

    pub(super) fn flow_mapping_key(&mut self, first: bool) -> Result<Event<'a>> {
        if first {
            self.open()?;
        }
        let (mut next, mut at) = self.peek()?;
        if next != Next::FlowMappingEnd {
            if !first {
                if next != Next::FlowEntry {
                    return Err(self.unclosed("did not find expected ',' or '}'", at));
                }
                self.skip()?;
                (next, at) = self.peek()?;
            }
            match next {
                Next::Key => {
                    self.skip()?;
                    (next, at) = self.peek()?;
                    if !matches!(next, Next::Value | Next::FlowEntry | Next::FlowMappingEnd) {
                        self.states.push(State::FlowMappingValue { empty: false });
                        return self.node(false, false);
                    }
                    self.state = State::FlowMappingValue { empty: false };
                    return Ok(self.empty_scalar(at));
                }
                Next::FlowMappingEnd => {}
                _ => {
                    self.states.push(State::FlowMappingValue { empty: true });
                    return self.node(false, false);
                }
            }
        }
        self.close_flow(EventKind::MappingEnd, at)
    }

    pub(super) fn flow_mapping_value(&mut self, empty: bool) -> Result<Event<'a>> {
        let (mut next, mut at) = self.peek()?;
        if !empty && next == Next::Value {
            self.skip()?;
            (next, at) = self.peek()?;
            if next != Next::FlowEntry && next != Next::FlowMappingEnd {
                self.states.push(State::FlowMappingKey { first: false });
                return self.node(false, false);
            }
        }
        self.state = State::FlowMappingKey { first: false };
        Ok(self.empty_scalar(at))
    }
}
