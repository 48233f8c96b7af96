//! Paths into a resource, and what they lead to.

use super::error::{Error, Result};
use super::pattern::Pattern;
use super::text;
use super::tree::{Kind, Node, NodeId, SetOptions, Tree};
use super::version::Difference;

/// Cuts a path at a delimiter; `\` before a delimiter keeps it (kyaml `PathSplitter`).
pub(crate) fn split(path: &str, delimiter: char) -> Vec<String> {
    let mut pieces = path.split(delimiter).peekable();
    if path.starts_with(delimiter) {
        pieces.next();
    }
    let mut segments: Vec<String> = Vec::new();
    for piece in pieces {
        match segments.last_mut() {
            Some(last) if last.ends_with('\\') => {
                last.pop();
                last.push(delimiter);
                last.push_str(piece);
            }
            _ => segments.push(piece.to_owned()),
        }
    }
    segments
}

/// Cuts a path at its dots; a dot after `\` or inside of `[…]` is kept (kyaml `SmarterPathSplitter`).
pub(crate) fn split_dots(path: &str) -> Vec<String> {
    let mut pieces = split(path, '.').into_iter();
    let mut segments = Vec::new();
    while let Some(mut segment) = pieces.next() {
        if segment.starts_with('[') && !segment.ends_with(']') {
            for piece in pieces.by_ref() {
                segment.push('.');
                segment.push_str(&piece);
                if segment.ends_with(']') {
                    break;
                }
            }
            if !segment.contains('=') {
                segment = segment.trim_matches(['[', ']']).to_owned();
            }
        }
        segments.push(segment);
    }
    segments
}

/// A number as Go's `strconv.Atoi` reads it.
pub(crate) fn atoi(text: &str) -> Option<i64> {
    go_std::strconv::atoi(text.as_bytes()).ok()
}

/// Whether a part of a path means the field that is called so, and nothing else.
pub(crate) fn is_field_name(part: &str) -> bool {
    !part.is_empty()
        && part.trim() == part
        && atoi(part).is_none()
        && !["-", "*"].contains(&part)
        && !is_list_index(part)
}

fn is_list_index(segment: &str) -> bool {
    segment.starts_with('[') && segment.ends_with(']')
}

fn index_name_value(segment: &str) -> Result<(&str, &str)> {
    let inner = segment.strip_suffix(']').unwrap_or(segment);
    let inner = inner.strip_prefix('[').unwrap_or(inner);
    inner
        .split_once('=')
        .ok_or_else(|| Error::new("list path element must contain fieldName=fieldValue for element to match"))
}

/// What a missing node has to be so that the rest of a path fits (kyaml `getPathPartKind`).
fn kind_before(next: Option<&str>, last: Kind) -> Kind {
    match next {
        None | Some("") => last,
        Some(next) if is_list_index(next) || atoi(next).is_some_and(|index| index >= 0) => Kind::Sequence,
        Some(_) => Kind::Mapping,
    }
}

impl Tree {
    /// The node at a path: field names, `[name=value]`, an index, or `-` for the last item (kyaml `Lookup`).
    pub(crate) fn lookup(&mut self, id: NodeId, path: &[impl AsRef<str>]) -> Result<Option<NodeId>> {
        self.walk(id, path, None)
    }

    /// The node at a path, made when it is missing; the last node of a path gets this kind (kyaml `LookupCreate`).
    ///
    /// None when the way leads through null, which is never descended into.
    pub(crate) fn lookup_create(&mut self, id: NodeId, kind: Kind, path: &[impl AsRef<str>]) -> Result<Option<NodeId>> {
        self.walk(id, path, Some(kind))
    }

    fn walk(&mut self, id: NodeId, path: &[impl AsRef<str>], create: Option<Kind>) -> Result<Option<NodeId>> {
        let mut parts = path.iter().map(|part| part.as_ref().trim()).filter(|part| !part.is_empty()).peekable();
        let mut here = id;
        while let Some(part) = parts.next() {
            let next = match (atoi(part), part) {
                (Some(number), _) if number < 0 => {
                    return Err(Error::new(format!("array index {number} cannot be negative")));
                }
                (Some(number), _) => self.items(here)?.get(usize::try_from(number).unwrap_or(usize::MAX)).copied(),
                (None, "-") => self.items(here)?.last().copied(),
                (None, "*") => return Err(Error::new("wildcard is not supported in PathGetter")),
                (None, part) if is_list_index(part) => self.element(here, part, create.is_some())?,
                (None, name) => match create {
                    Some(last) => self.get_or_create(here, name, kind_before(parts.peek().copied(), last))?,
                    None => self.get(here, name)?,
                },
            };
            let Some(next) = next else { return Ok(None) };
            here = next;
        }
        Ok(Some(here))
    }

    fn get_or_create(&mut self, id: NodeId, name: &str, kind: Kind) -> Result<Option<NodeId>> {
        if self.node(id).is_null() {
            return Ok(None);
        }
        if let Some(field) = self.get(id, name)? {
            return Ok(Some(field));
        }
        let node = self.add(Node::new(kind));
        self.set_field(id, name, Some(node), SetOptions::default())
    }

    /// The first item for `[name=value]` or `[=value]`, which is added when `create` asks for it.
    fn element(&mut self, id: NodeId, segment: &str, create: bool) -> Result<Option<NodeId>> {
        let (name, value) = index_name_value(segment)?;
        if let Some(found) = self.find_element(id, &[name], &[value])? {
            return Ok(Some(found));
        }
        if !create {
            return Ok(None);
        }
        let item = self.new_element(name, value);
        self.append(id, item)?;
        Ok(Some(item))
    }

    fn new_element(&mut self, name: &str, value: &str) -> NodeId {
        let value = self.add(Node::scalar(value));
        if name.is_empty() {
            return value;
        }
        let key = self.add(Node::scalar(name));
        self.add(Node { content: vec![key, value], ..Node::new(Kind::Mapping) })
    }

    /// The first item whose fields have these texts; an empty first key compares the items themselves
    /// (kyaml `MatchElementList`).
    pub(crate) fn find_element<S: AsRef<str>>(&self, id: NodeId, keys: &[S], values: &[S]) -> Result<Option<NodeId>> {
        self.expect(id, Kind::Sequence)?;
        self.work(self.content(id).len())?;
        let first = keys.first().map_or("", AsRef::as_ref);
        if first.is_empty() {
            let value = values.first().map_or("", AsRef::as_ref);
            return Ok(self.content(id).iter().copied().find(|item| self.text(*item) == value));
        }
        Ok(self.content(id).iter().copied().find(|item| self.has_texts(*item, keys, values)))
    }

    /// Whether it is a mapping whose fields have these texts.
    fn has_texts<S: AsRef<str>>(&self, item: NodeId, keys: &[S], values: &[S]) -> bool {
        let has = |(key, value): (&S, &S)| self.has_text(item, key.as_ref(), value.as_ref());
        self.kind(item) == Kind::Mapping && !self.node(item).is_null() && keys.iter().zip(values).all(has)
    }

    fn has_text(&self, mapping: NodeId, key: &str, text: &str) -> bool {
        self.value_of(mapping, key).is_some_and(|field| self.text(field) == text)
    }

    /// Every node that a replacement's path leads to, in document order (kyaml `PathMatcher`).
    ///
    /// Like [`Tree::lookup`], but `*` takes every item, and `[name=value]` takes a regular expression and every item
    /// that it matches anywhere. With `create`, what is missing is made.
    pub(crate) fn matching(&mut self, id: NodeId, path: &[String], create: Option<Kind>) -> Result<Vec<NodeId>> {
        let Some((part, rest)) = path.split_first() else { return Ok(vec![id]) };
        if let Some(index) = atoi(part).and_then(|index| usize::try_from(index).ok()) {
            return self.matching_index(id, index, rest, create);
        }
        if is_list_index(part) {
            return self.matching_elements(id, part, rest, create);
        }
        if part == "*" {
            let mut found = Vec::new();
            for item in self.items(id)? {
                found.extend(self.matching(item, rest, create)?);
            }
            return Ok(found);
        }
        let field = match (self.get(id, part)?, create) {
            (Some(field), _) => field,
            (None, None) => return Ok(Vec::new()),
            (None, Some(last)) => {
                let field = self.add(Node::new(kind_before(rest.first().map(String::as_str), last)));
                self.set_field(id, part, Some(field), SetOptions::default())?;
                field
            }
        };
        let reaches_in = self.switches.has(Difference::StructuredText);
        if reaches_in && self.kind(field) == Kind::Scalar && !rest.is_empty() {
            let source = self.text(field).to_owned();
            let document = text::parse_into(self, &source)?;
            return self.matching(document, rest, create);
        }
        self.matching(field, rest, create)
    }

    fn matching_index(
        &mut self,
        id: NodeId,
        index: usize,
        rest: &[String],
        create: Option<Kind>,
    ) -> Result<Vec<NodeId>> {
        let mut items = self.items(id)?;
        if let Some(last) = create.filter(|_| items.len() == index) {
            let item = self.add(Node::new(kind_before(rest.first().map(String::as_str), last)));
            self.append(id, item).map_err(|error| error.prefix(format!("failed to append element for \"{index}\"")))?;
            items.push(item);
        }
        let Some(item) = items.get(index) else {
            return Err(Error::new(format!("index {index} specified but only {} elements found", items.len())));
        };
        self.matching(*item, rest, create)
    }

    fn matching_elements(
        &mut self,
        id: NodeId,
        segment: &str,
        rest: &[String],
        create: Option<Kind>,
    ) -> Result<Vec<NodeId>> {
        let (name, value) = index_name_value(segment)?;
        let (name, value) = (name.to_owned(), value.to_owned());
        let found = self.elements_like(id, &name, &value, rest, create)?;
        if create.is_none() || !found.is_empty() {
            return Ok(found);
        }
        let item = self.new_element(&name, &value);
        self.append(id, item).map_err(|error| error.prefix(format!("failed to create element for {segment:?}")))?;
        let found = self.elements_like(id, &name, &value, rest, create)?;
        if found.is_empty() {
            // Kustomize would search and append for ever: the value does not match itself as a regular expression.
            return Err(Error::new(format!("failed to create element for {segment:?}: it does not match itself")));
        }
        Ok(found)
    }

    fn elements_like(
        &mut self,
        id: NodeId,
        name: &str,
        value: &str,
        rest: &[String],
        create: Option<Kind>,
    ) -> Result<Vec<NodeId>> {
        let items = self.items(id)?;
        if items.is_empty() {
            return Ok(Vec::new());
        }
        let pattern = Pattern::search(value)?;
        self.work(pattern.cost())?;
        let mut found = Vec::new();
        for item in items {
            let compared = if name.is_empty() { Some(item) } else { self.value_of(item, name) };
            let Some(compared) = compared else { continue };
            let text = text::of(self, compared)?;
            self.work(1)?;
            if !pattern.is_match(text.trim(), |work| self.work(work))? {
                continue;
            }
            if name.is_empty() {
                found.push(item);
            } else {
                found.extend(self.matching(item, rest, create)?);
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::{split, split_dots};

    #[test]
    fn slash_paths() {
        let rows: &[(&str, &[&str])] = &[
            ("a/b/c", &["a", "b", "c"]),
            ("/a/b", &["a", "b"]),
            ("a", &["a"]),
            ("", &[""]),
            ("a\\/b/c", &["a/b", "c"]),
            ("a\\/b\\/c", &["a/b/c"]),
            ("a//b", &["a", "", "b"]),
        ];
        for (path, expected) in rows {
            assert_eq!(split(path, '/'), *expected, "{path:?}");
        }
    }

    #[test]
    fn dot_paths() {
        let rows: &[(&str, &[&str])] = &[
            ("a.b", &["a", "b"]),
            ("a.[name=x.y].b", &["a", "[name=x.y]", "b"]),
            ("a.[b.c].d", &["a", "b.c", "d"]),
            ("a.b\\.c", &["a", "b.c"]),
            ("a.0.b", &["a", "0", "b"]),
            ("a.[name=x].b", &["a", "[name=x]", "b"]),
            ("a.[x", &["a", "x"]),
        ];
        for (path, expected) in rows {
            assert_eq!(split_dots(path), *expected, "{path:?}");
        }
    }
}
