//! A closure of more than two lines is a function without a name.

use std::fs;
use std::path::Path;

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// How many lines the body of a closure may have, without the lines of its braces.
const LINES_MAX: usize = 2;

/// What threads are started in: a body that is indented since it must be, not a function without a name.
const SCOPE: &str = "scope";

/// The long closures of a file, by line.
#[derive(Default)]
struct Long {
    lines: Vec<usize>,
}

impl Visit<'_> for Long {
    fn visit_item_mod(&mut self, module: &syn::ItemMod) {
        if !is_for_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        let name = match &*call.func {
            syn::Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        self.visit_expr(&call.func);
        self.visit_arguments(name.as_deref(), call.args.iter());
    }

    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        self.visit_arguments(Some(&call.method.to_string()), call.args.iter());
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        let (start, end) = (closure.span().start().line, closure.span().end().line);
        let braces = match &*closure.body {
            syn::Expr::Block(_) if start != end => 2,
            _ => 0,
        };
        if (end - start + 1).saturating_sub(braces) > LINES_MAX {
            self.lines.push(start);
        }
        visit::visit_expr_closure(self, closure);
    }
}

impl Long {
    fn visit_arguments<'a>(&mut self, name: Option<&str>, arguments: impl Iterator<Item = &'a syn::Expr>) {
        for argument in arguments {
            match argument {
                syn::Expr::Closure(closure) if name == Some(SCOPE) => self.visit_expr(&closure.body),
                argument => self.visit_expr(argument),
            }
        }
    }
}

/// Whether a file is `tests.rs`, or below a folder `tests`.
fn is_of_tests(file: &Path) -> bool {
    file.components().any(|part| ["tests", "tests.rs"].iter().any(|name| part.as_os_str() == *name))
}

fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::List(list) => list.path.is_ident("cfg") && list.tokens.to_string().contains("test"),
        _ => false,
    })
}

fn long(text: &str) -> Vec<usize> {
    let mut long = Long::default();
    long.visit_file(&syn::parse_file(text).expect("Rust"));
    long.lines
}

#[test]
fn closures_of_more_than_two_lines_are_functions_with_a_name() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    super::sources(&src, &mut files);
    let mut found = Vec::new();
    for file in files.iter().filter(|file| !is_of_tests(file.strip_prefix(&src).expect("below src"))) {
        for line in long(&fs::read_to_string(file).expect("readable")) {
            found.push(format!("{}:{line}", file.strip_prefix(&src).expect("below src").display()));
        }
    }
    assert!(found.is_empty(), "{} long closures in src:\n{}", found.len(), found.join("\n"));
}

#[test]
fn long_closures_are_found() {
    let body = "\n        let a = x;\n        let b = a;\n        b\n    ";
    for (text, expected) in [
        (format!("fn f() {{\n    g(|x| {{{body}}})\n}}\n"), vec![2]),
        (format!("fn f() {{\n    let g = |x| {{{body}}};\n}}\n"), vec![2]),
        (format!("fn f() {{\n    s.spawn(move || {{{body}}})\n}}\n"), vec![2]),
        (format!("fn f() {{\n    thread::scope(|x| {{{body}}})\n}}\n"), vec![]),
        (format!("fn f() {{\n    scope(|x| {{\n    g(|x| {{{body}}})\n}})\n}}\n"), vec![3]),
        (format!("#[cfg(test)]\nmod tests {{ fn f() {{\n    g(|x| {{{body}}})\n}} }}\n"), vec![]),
        ("fn f() {\n    g(|x| {\n        a(x);\n        b(x)\n    })\n}\n".to_owned(), vec![]),
    ] {
        assert_eq!(long(&text), expected, "{text}");
    }
}
