//! Lists the keys of a set that are near misses of the fields that its Go types have, for [`misspelt`](super::misspelt).

use dry_files::diag::Diagnostic;

use super::super::field::{Content, Field};
use super::super::misspelt::MARK;
use super::super::mistake::Mistake;
use super::super::near::near;
use super::super::object::UNKNOWN_MAX;
use super::shape::{Shape, Struct};
use super::types::APPLICATION;

/// The keys of an Application that are near misses of known ones; those in `sourceHydrator` are none of them.
pub(in crate::argo) fn misspelt_keys_of_application(application: &Field) -> Vec<Diagnostic> {
    misspelt_keys(application, &APPLICATION)
}

/// The keys of a value of any type that are near misses of known ones.
pub(super) fn misspelt_keys(field: &Field, shape: &Shape) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    look(field, shape, &mut String::new(), &mut found);
    found
}

/// Notes the near misses in a value of a type; `parent` is the way to it.
fn look(field: &Field, shape: &Shape, parent: &mut String, found: &mut Vec<Diagnostic>) {
    let len = parent.len();
    match (shape, &field.content) {
        // What those ask is not looked at.
        (Shape::Struct(Struct { name: "Generator", .. }), _) => {}
        (Shape::List(of), Content::List(items)) => {
            for (index, item) in items.iter().enumerate() {
                parent.push_str(&format!("[{index}]"));
                look(item, of, parent, found);
                parent.truncate(len);
            }
        }
        (Shape::Struct(of), Content::Mapping(entries)) => {
            let known: Vec<&str> = of.fields.iter().map(|field| field.name).collect();
            for entry in entries.iter().filter(|entry| !entry.field.is_null() && entry.key != MARK) {
                if let Some(of) = of.field(&entry.key) {
                    parent.push_str(if len == 0 { "" } else { "." });
                    parent.push_str(&entry.key);
                    look(&entry.field, &of.shape, parent, found);
                    parent.truncate(len);
                } else if let Some(near) = near(&entry.key, &known)
                    && found.len() < UNKNOWN_MAX
                {
                    let mistake = Mistake::Unknown {
                        key: entry.key.clone(),
                        parent: parent.clone(),
                        near: Some(near),
                        is_required: false,
                    };
                    found.push(mistake.at(entry.key_place.span()));
                }
            }
        }
        _ => {}
    }
}
