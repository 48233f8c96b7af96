//! Secrets in plain text and keys in other objects, with the place of the dry tree where they are.

use super::{Findings, Rule};
use crate::argo::Application;
use crate::manifest::{self, Exposed, Manifest};
use crate::owners::plain_secret;
use crate::render::{self, Rendered, Renderers};
use dry_files::diag::{Diagnostic, Span};
use dry_files::path::RepoPath;
use dry_files::view::{Reads, Seen, View};
use go_yaml::{self as yaml, Data, Limits, Node};

/// Takes down what is exposed by what renders.
pub(super) fn find(
    rendered: &[(&Application, Rendered)],
    (renderers, context): (&Renderers, &render::Context<'_>),
    found: &mut Findings,
) {
    let view = View::new(context.files);
    for (application, result) in rendered {
        let mut known = None;
        for manifest in &result.manifests {
            for exposed in manifest::exposed(manifest) {
                let span = place(manifest, &exposed, (&view, &result.reads)).or_else(|| {
                    let origins = || renderers.origins(application, context).unwrap_or_default();
                    origin(known.get_or_insert_with(origins), manifest)
                });
                let span = span.unwrap_or_else(|| application.places.name.clone());
                let warning = warning(manifest, &exposed).at(span);
                found.add(Rule::PlainSecret, warning, Some(application.name.as_str()));
            }
        }
    }
}

fn warning(manifest: &Manifest, exposed: &Exposed) -> Diagnostic {
    let slash = if manifest.namespace().is_empty() { "" } else { "/" };
    let name = format!("{}{slash}{}", manifest.namespace(), manifest.name());
    match exposed {
        Exposed::Secret => plain_secret::warning(&[name]),
        Exposed::Key { field, looks_like } => {
            let text = format!("`{field}` of {} {name} looks like {looks_like}", manifest.kind());
            Diagnostic::warning(text).hint(plain_secret::HINT)
        }
    }
}

/// The line of a file that was read where a Secret begins, is generated, or where a key is.
fn place(manifest: &Manifest, exposed: &Exposed, (view, reads): (&View<'_>, &Reads)) -> Option<Span> {
    let files = reads.iter().filter(|(_, seen)| matches!(seen, Seen::Content(_))).map(|((path, _), _)| path);
    for path in files {
        let Ok(content) = view.read(path) else { continue };
        let text = std::str::from_utf8(&content.data).ok();
        if let Some(line) = text.and_then(|text| line_in(text, manifest, exposed)) {
            // Without the text of the line: it may be the secret.
            return Some(Span { line, ..Span::file(path.clone()) });
        }
    }
    None
}

fn line_in(text: &str, manifest: &Manifest, exposed: &Exposed) -> Option<u32> {
    match exposed {
        Exposed::Secret => line_of_secret(text, manifest),
        Exposed::Key { looks_like, .. } => {
            let index = text.lines().position(|line| manifest::key_in(line) == Some(looks_like))?;
            Some(u32::try_from(index).ok()? + 1)
        }
    }
}

/// Where a file has a Secret that a manifest is made from, or what generates it. Kustomize may put something before its name
/// and after it.
fn line_of_secret(text: &str, manifest: &Manifest) -> Option<u32> {
    if !text.contains("Secret") && !text.contains("secretGenerator") {
        return None;
    }
    let documents = yaml::parse(text.as_bytes(), &Limits::default()).ok()?;
    let is_named = |name: &str| !name.is_empty() && manifest.name().contains(name);
    let named = |node: &Node| entry(node, "name").and_then(Node::as_str).is_some_and(is_named);
    documents.iter().find_map(|document| line_in_document(document, &named))
}

/// The line of a document that is such a Secret, or of a generator in it.
fn line_in_document(document: &Node, is_named: &dyn Fn(&Node) -> bool) -> Option<u32> {
    let is_secret = entry(document, "kind").and_then(Node::as_str) == Some("Secret");
    if is_secret && entry(document, "metadata").is_some_and(is_named) {
        return Some(document.mark.line);
    }
    let Data::Sequence(generators) = &entry(document, "secretGenerator")?.data else { return None };
    generators.iter().find(|generator| is_named(generator)).map(|generator| generator.mark.line)
}

fn entry<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let Data::Mapping(entries) = &node.data else { return None };
    entries.iter().find(|(name, _)| name.as_str() == Some(key)).map(|(_, value)| value)
}

/// The file that an object is made of, such as a template.
fn origin(origins: &[(Manifest, Option<RepoPath>)], manifest: &Manifest) -> Option<Span> {
    let key = manifest.key();
    origins.iter().find(|(made, _)| made.key() == key).and_then(|(_, file)| file.clone()).map(Span::file)
}
