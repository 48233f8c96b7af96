//! What functions read of their arguments, and what they give on.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::walk::Walk;
use super::{Part, Shape};

/// An argument, with its text where it is a constant.
type Argument = (Shape, Option<Arc<str>>);

impl Walk<'_> {
    /// The result of a function. One that is not listed reads its arguments as a whole, and gives none of them on.
    pub(super) fn call(&mut self, name: &str, args: Vec<Argument>) -> Shape {
        match name {
            "not" | "empty" | "len" | "kindIs" | "kindOf" | "typeOf" | "typeIs" | "typeIsLike" => Shape::new(),
            "and" | "or" | "default" | "coalesce" | "required" | "ternary" | "deepCopy" | "mustDeepCopy" | "merge"
            | "mustMerge" | "mergeOverwrite" | "mustMergeOverwrite" | "concat" | "compact" | "uniq" | "sortAlpha"
            | "reverse" | "rest" | "initial" | "mustCompact" | "mustUniq" | "mustReverse" | "mustRest"
            | "mustInitial" => self.all(&args),
            "hasKey" => {
                self.step_in(args.first(), args.get(1));
                Shape::new()
            }
            "get" => self.step_in(args.first(), args.get(1)),
            "index" => self.index(&args),
            "dig" => self.dig(&args),
            "pluck" => {
                let (key, maps) = (args.first(), args.get(1..).unwrap_or_default());
                let found = maps.iter().flat_map(|map| self.step_in(Some(map), key)).collect();
                [Part::List(Rc::new(found))].into()
            }
            "pick" => self.pick(&args),
            "first" | "last" | "mustFirst" | "mustLast" => {
                let all = self.all(&args);
                self.items(&all)
            }
            "values" => {
                let all = self.all(&args);
                let items = self.items(&all);
                [Part::List(Rc::new(items))].into()
            }
            "keys" => {
                let all = self.all(&args);
                self.items(&all);
                Shape::new()
            }
            "list" | "tuple" => {
                let items = self.all(&args);
                [Part::List(Rc::new(items))].into()
            }
            "append" | "prepend" | "push" | "mustAppend" | "mustPrepend" | "mustPush" => {
                let mut shape = args.first().map(|(list, _)| list.clone()).unwrap_or_default();
                let items = self.all(args.get(1..).unwrap_or_default());
                shape.insert(Part::List(Rc::new(items)));
                self.few(shape)
            }
            "omit" | "unset" | "without" | "slice" | "mustWithout" | "mustSlice" => {
                self.read(args.get(1..).unwrap_or_default());
                args.into_iter().next().map(|(shape, _)| shape).unwrap_or_default()
            }
            "set" => {
                // Where the map is known by another name, what is put into it is not followed.
                self.read(args.get(2..).unwrap_or_default());
                args.into_iter().next().map(|(shape, _)| shape).unwrap_or_default()
            }
            "dict" => self.dict(&args),
            "include" => {
                let dot = args.get(1).map(|(shape, _)| shape.clone()).unwrap_or_default();
                match args.first().and_then(|(_, text)| text.clone()) {
                    Some(name) => self.template(&name, &dot),
                    None => {
                        self.read(args.get(..1).unwrap_or_default());
                        self.any_template(&dot);
                    }
                }
                Shape::new()
            }
            "tpl" => {
                self.read(args.get(..1).unwrap_or_default());
                // What a text names of all the data is found where the text is.
                let is_data = |part: &Part| matches!(part, Part::Map(map) if map.contains_key("Values"));
                if let Some((dot, _)) = args.get(1).filter(|(dot, _)| !dot.iter().any(is_data)) {
                    self.whole(dot);
                }
                Shape::new()
            }
            _ => {
                self.read(&args);
                Shape::new()
            }
        }
    }

    fn all(&mut self, args: &[Argument]) -> Shape {
        let all = args.iter().flat_map(|(shape, _)| shape.iter().cloned()).collect();
        self.few(all)
    }

    fn read(&mut self, args: &[Argument]) {
        for (shape, _) in args {
            self.whole(shape);
        }
    }

    /// What is behind a key, which may be any.
    fn step_in(&mut self, map: Option<&Argument>, key: Option<&Argument>) -> Shape {
        let (Some((map, _)), Some((shape, key))) = (map, key) else { return Shape::new() };
        self.whole(shape);
        match key {
            Some(key) => self.field(map, key),
            None => self.items(map),
        }
    }

    fn index(&mut self, args: &[Argument]) -> Shape {
        let Some(((shape, _), keys)) = args.split_first() else { return Shape::new() };
        keys.iter().fold(shape.clone(), |shape, key| self.step_in(Some(&(shape, None)), Some(key)))
    }

    /// `dig "a" "b" DEFAULT MAP`
    fn dig(&mut self, args: &[Argument]) -> Shape {
        let [keys @ .., default, map] = args else { return Shape::new() };
        let mut found = keys.iter().fold(map.0.clone(), |shape, key| self.step_in(Some(&(shape, None)), Some(key)));
        found.extend(default.0.iter().cloned());
        self.few(found)
    }

    fn pick(&mut self, args: &[Argument]) -> Shape {
        let Some((map, keys)) = args.split_first() else { return Shape::new() };
        let mut picked = BTreeMap::new();
        for key in keys {
            let shape = self.step_in(Some(map), Some(key));
            match &key.1 {
                Some(key) => drop(picked.insert(Arc::clone(key), shape)),
                None => self.whole(&shape),
            }
        }
        [Part::Map(Rc::new(picked))].into()
    }

    fn dict(&mut self, args: &[Argument]) -> Shape {
        let mut map: BTreeMap<Arc<str>, Shape> = BTreeMap::new();
        for pair in args.chunks(2) {
            let [(shape, key), (value, _)] = pair else { continue };
            self.whole(shape);
            match key {
                Some(key) => map.entry(Arc::clone(key)).or_default().extend(value.iter().cloned()),
                None => self.whole(value),
            }
        }
        [Part::Map(Rc::new(map))].into()
    }
}
