//! Flow sequences and mappings.

use super::{Context, Emitter, Event, Kind, State};

impl<'a> Emitter<'a> {
    pub(super) fn has_comment_behind(&self) -> bool {
        !(self.line.is_empty() && self.foot.is_empty() && self.tail.is_empty())
    }

    pub(super) fn flow_sequence_item(&mut self, event: &Event<'_, 'a>, first: bool, trail: bool) {
        if first {
            self.write_indicator("[", true, true, false);
            self.increase_indent(true, false, false);
            self.flow_level += 1;
        }
        if matches!(event.kind, Kind::SequenceEnd) {
            self.flow_level -= 1;
            self.decrease_indent();
            if self.column == 0 {
                self.write_indent();
            }
            self.write_indicator("]", false, false, false);
            self.write_line_comment();
            self.write_foot_comment();
            self.pop_state();
            return;
        }
        if !first && !trail {
            self.write_indicator(",", false, false, false);
        }
        self.write_head_comment();
        if self.column == 0 || self.column > self.width() {
            self.write_indent();
        }
        let trail = self.has_comment_behind();
        self.states.push(State::FlowSequenceItem { first: false, trail });
        self.node(event, Context::default());
        self.end_flow_entry();
    }

    /// A comma has to be before a comment, not behind it.
    pub(super) fn end_flow_entry(&mut self) {
        if self.has_comment_behind() {
            self.write_indicator(",", false, false, false);
        }
        self.write_line_comment();
        self.write_foot_comment();
    }

    pub(super) fn flow_mapping_key(&mut self, event: &Event<'_, 'a>, first: bool, trail: bool) {
        if first {
            self.write_indicator("{", true, true, false);
            self.increase_indent(true, false, false);
            self.flow_level += 1;
        }
        if matches!(event.kind, Kind::MappingEnd) {
            let comments = [self.head, self.foot, self.tail].iter().any(|comment| !comment.is_empty());
            if comments && !first && !trail {
                self.write_indicator(",", false, false, false);
            }
            self.write_head_comment();
            self.flow_level -= 1;
            self.decrease_indent();
            self.write_indicator("}", false, false, false);
            self.write_line_comment();
            self.write_foot_comment();
            self.pop_state();
            return;
        }
        if !first && !trail {
            self.write_indicator(",", false, false, false);
        }
        self.write_head_comment();
        if self.column == 0 || self.column > self.width() {
            self.write_indent();
        }
        let simple = self.is_simple_key(event);
        if !simple {
            self.write_indicator("?", true, false, false);
        }
        self.states.push(State::FlowMappingValue { simple });
        self.node(event, Context { mapping: true, simple_key: simple });
    }

    pub(super) fn flow_mapping_value(&mut self, event: &Event<'_, 'a>, simple: bool) {
        if simple {
            self.write_indicator(":", false, false, false);
        } else {
            if self.column > self.width() {
                self.write_indent();
            }
            self.write_indicator(":", true, false, false);
        }
        let trail = self.has_comment_behind();
        self.states.push(State::FlowMappingKey { first: false, trail });
        self.node(event, Context { mapping: true, simple_key: false });
        self.end_flow_entry();
    }
}
