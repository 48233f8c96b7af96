//! The tables that keys lead to, and what may be defined twice.

use super::super::super::super::text::Text;
use super::super::super::super::value::Value;
use super::{Decoder, Node, Problem, Read, Table, joined};

impl Decoder<'_> {
    /// Puts a value of an inline table at its path.
    pub(super) fn put(&self, hash: &mut Table, path: &[Text], key: Text, value: Value) -> Read<()> {
        let mut table = hash;
        for part in path {
            match table.entry(part.clone()).or_insert_with(|| Node::Table(Table::new())) {
                Node::Table(inner) => table = inner,
                Node::Value(_) | Node::Tables(_) => {
                    return self.error_at_key(format!("{} is not a table", go_yaml::quote(&joined(&self.context))));
                }
            }
        }
        table.insert(key, Node::Value(value));
        Ok(())
    }

    /// Goes to the table at a path, making it and those above it where they are missing.
    pub(super) fn add_context(&mut self, path: &[Text], is_array: bool) -> Read<()> {
        let Some((last, parents)) = path.split_last() else { return Ok(()) };
        let mut table = &mut self.root;
        for (index, part) in parents.iter().enumerate() {
            let so_far = path.get(..=index).unwrap_or_default();
            if !table.contains_key(part) {
                self.implicit.insert(so_far.to_vec());
                table.insert(part.clone(), Node::Table(Table::new()));
            }
            match table.get_mut(part) {
                Some(Node::Table(inner)) => table = inner,
                Some(Node::Tables(list)) => match list.last_mut() {
                    Some(inner) => table = inner,
                    None => return Ok(()),
                },
                Some(Node::Value(_)) | None => {
                    let message = format!("Key '{}' was already created as a hash.", joined(so_far));
                    return Err(Problem { line: self.key_line, message });
                }
            }
        }
        if is_array {
            match table.entry(last.clone()).or_insert_with(|| Node::Tables(Vec::new())) {
                Node::Tables(list) => list.push(Table::new()),
                Node::Table(_) | Node::Value(_) => {
                    self.context = parents.to_vec();
                    let path = joined(path);
                    return self
                        .error_at_key(format!("Key '{path}' was already created and cannot be used as an array."));
                }
            }
            self.context = path.to_vec();
            return Ok(());
        }
        self.context = parents.to_vec();
        self.set_value(last, Node::Table(Table::new()))?;
        self.context.push(last.clone());
        Ok(())
    }

    /// Sets a key of the table at work, unless it is there already for more than a longer key's sake.
    pub(super) fn set_value(&mut self, key: &Text, node: Node) -> Read<()> {
        let mut path = self.context.clone();
        path.push(key.clone());
        let defined = |line: u32, path: &[Text]| {
            Err(Problem { line, message: format!("Key '{}' has already been defined.", joined(path)) })
        };
        let line = self.key_line;
        let mut table = &mut self.root;
        for (index, part) in self.context.iter().enumerate() {
            match table.get_mut(part) {
                Some(Node::Table(inner)) => table = inner,
                Some(Node::Tables(list)) => match list.last_mut() {
                    Some(inner) => table = inner,
                    None => return Ok(()),
                },
                Some(Node::Value(_)) | None => return defined(line, path.get(..=index).unwrap_or_default()),
            }
        }
        if table.contains_key(key) {
            let is_implicit = self.implicit.remove(&path);
            if !is_implicit {
                return defined(line, &path);
            }
            if self.arrays.contains(&path) {
                table.insert(key.clone(), node);
            }
            return Ok(());
        }
        table.insert(key.clone(), node);
        Ok(())
    }
}
