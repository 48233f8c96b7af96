//! What comes of a render, as bytes and back.

use std::collections::BTreeSet;

use dry_files::diag::Diagnostic;
use dry_files::path::RepoPath;
use dry_files::view::{Reads, Seen};
use go_yaml::Value;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::argo::{Variable, set};
use crate::known::{Decoder, Encoder};
use crate::manifest::Manifest;
use crate::render::Rendered;
use crate::render::failure::{Error, Failure, Unrendered};

/// What a process says of one Application.
#[derive(Debug)]
pub(super) enum Answer {
    Rendered(Rendered),
    Expanded(set::Answer),
    /// The objects of an Application, each with the file that it is made of.
    Traced(Vec<(Manifest, Option<RepoPath>)>),
    Unrendered(Unrendered),
    /// A bug of ours.
    Panic(String),
    /// The Application or set is not in its file: something else made it.
    NotFound,
}

impl Answer {
    pub(super) fn encode(&self, frame: &mut Encoder) {
        match self {
            Self::Rendered(rendered) => {
                let Rendered { manifests, commands, warnings, lost_keys, reads: seen, .. } = rendered;
                let Rendered { variables, is_unnamed_release, drawn, .. } = rendered;
                frame.number(0);
                frame.list(manifests.iter(), |frame, manifest| value(frame, manifest.object()));
                frame.list(commands.iter(), |frame, command| frame.text(command));
                diagnostics(frame, warnings);
                diagnostics(frame, lost_keys);
                reads(frame, seen);
                frame.list(variables.iter(), |frame, variable| frame.text(variable.name()));
                frame.number(u64::from(*is_unnamed_release));
                json(frame, drawn);
            }
            Self::Expanded(set::Answer { made, left, reads: seen, used_clusters }) => {
                frame.number(7);
                match made {
                    Ok(set::Expanded { applications, warnings }) => {
                        frame.number(1);
                        frame.list(applications.iter(), made_application);
                        diagnostics(frame, warnings);
                    }
                    Err(mistake) => {
                        frame.number(0);
                        diagnostics(frame, std::slice::from_ref(mistake));
                    }
                }
                json(frame, left);
                reads(frame, seen);
                frame.number(u64::from(*used_clusters));
            }
            Self::Unrendered(Unrendered { failure, reads: seen, repeats, follows }) => {
                match failure {
                    Failure::Mistakes(mistakes) => {
                        frame.number(1);
                        diagnostics(frame, mistakes);
                    }
                    Failure::World(Error::Cancelled) => frame.number(2),
                    Failure::World(Error::FileTooLarge { file, bytes, limit }) => {
                        frame.number(8);
                        frame.text(file.as_str());
                        frame.number(*bytes);
                        frame.number(*limit);
                    }
                    Failure::World(error) => {
                        frame.number(if error.is_limit() { 3 } else { 4 });
                        frame.text(&error.to_string());
                    }
                }
                reads(frame, seen);
                frame.number(u64::from(*repeats));
                frame.number(u64::from(*follows));
            }
            Self::Panic(text) => {
                frame.number(5);
                frame.text(text);
            }
            Self::NotFound => frame.number(6),
            Self::Traced(origins) => {
                frame.number(9);
                frame.list(origins.iter(), |frame, (manifest, file)| {
                    value(frame, manifest.object());
                    frame.optional(file.as_ref().map(RepoPath::as_str));
                });
            }
        }
    }

    pub(super) fn decode(frame: &mut Decoder<'_>) -> Option<Self> {
        let failure = match frame.number()? {
            0 => {
                let manifests = frame.list(|frame| Manifest::new(read_value(frame)?).ok())?;
                let commands = frame.list(Decoder::text)?;
                let (warnings, lost_keys) = (read_diagnostics(frame)?, read_diagnostics(frame)?);
                let reads = read_reads(frame)?;
                let variables = frame.list(|frame| Variable::of_name(&frame.text()?))?;
                let variables: BTreeSet<Variable> = variables.into_iter().collect();
                let is_unnamed_release = frame.number()? == 1;
                let drawn = read_json(frame)?;
                return Some(Self::Rendered(Rendered {
                    manifests,
                    commands,
                    warnings,
                    lost_keys,
                    reads,
                    variables,
                    is_unnamed_release,
                    drawn,
                }));
            }
            1 => Failure::Mistakes(read_diagnostics(frame)?),
            2 => Failure::World(Error::Cancelled),
            3 => Failure::World(Error::Limit(frame.text()?)),
            4 => Failure::World(Error::Apart(frame.text()?)),
            5 => return Some(Self::Panic(frame.text()?)),
            6 => return Some(Self::NotFound),
            7 => {
                let made = match frame.number()? {
                    1 => {
                        let applications = frame.list(read_made_application)?;
                        Ok(set::Expanded { applications, warnings: read_diagnostics(frame)? })
                    }
                    _ => Err(read_diagnostics(frame)?.pop()?),
                };
                let (left, reads) = (read_json(frame)?, read_reads(frame)?);
                return Some(Self::Expanded(set::Answer { made, left, reads, used_clusters: frame.number()? == 1 }));
            }
            8 => {
                let file = RepoPath::new(&frame.text()?).ok()?;
                Failure::World(Error::FileTooLarge { file, bytes: frame.number()?, limit: frame.number()? })
            }
            9 => {
                let origin = |frame: &mut Decoder<'_>| {
                    let manifest = Manifest::new(read_value(frame)?).ok()?;
                    let file = frame.optional()?.map(|file| RepoPath::new(&file)).transpose().ok()?;
                    Some((manifest, file))
                };
                return frame.list(origin).map(Self::Traced);
            }
            _ => return None,
        };
        let (reads, repeats, follows) = (read_reads(frame)?, frame.number()? == 1, frame.number()? == 1);
        Some(Self::Unrendered(Unrendered { failure, reads, repeats, follows }))
    }
}

fn json<T: Serialize + ?Sized>(frame: &mut Encoder, of: &T) {
    frame.bytes(&serde_json::to_vec(of).expect("texts and numbers are JSON"));
}

fn read_json<T: DeserializeOwned>(frame: &mut Decoder<'_>) -> Option<T> {
    serde_json::from_slice(frame.bytes()?).ok()
}

fn made_application(frame: &mut Encoder, made: &set::MadeApplication) {
    value(frame, &made.object);
    json(frame, &(&made.element, &made.generator));
}

fn read_made_application(frame: &mut Decoder<'_>) -> Option<set::MadeApplication> {
    let object = read_value(frame)?;
    let (element, generator) = read_json(frame)?;
    Some(set::MadeApplication { object, element, generator })
}

fn diagnostics(frame: &mut Encoder, diagnostics: &[Diagnostic]) {
    json(frame, diagnostics);
}

fn read_diagnostics(frame: &mut Decoder<'_>) -> Option<Vec<Diagnostic>> {
    read_json(frame)
}

pub(crate) fn reads(frame: &mut Encoder, reads: &Reads) {
    frame.list(reads.iter(), |frame, ((path, way), seen)| read(frame, path, *way, *seen));
}

fn read(frame: &mut Encoder, path: &RepoPath, way: u8, seen: Seen) {
    frame.text(path.as_str());
    frame.number(u64::from(way));
    frame.seen(seen);
}

pub(crate) fn read_reads(frame: &mut Decoder<'_>) -> Option<Reads> {
    let reads = frame.list(|frame| Some(((frame.path()?, u8::try_from(frame.number()?).ok()?), frame.seen()?)))?;
    Some(reads.into_iter().collect())
}

fn value(frame: &mut Encoder, of: &Value) {
    match of {
        Value::Null => frame.number(0),
        Value::Bool(value) => frame.number(1 + u64::from(*value)),
        Value::Int(number) => {
            frame.number(3);
            frame.number(number.cast_unsigned());
        }
        Value::Uint(number) => {
            frame.number(4);
            frame.number(*number);
        }
        Value::Float(number) => {
            frame.number(5);
            frame.number(number.to_bits());
        }
        Value::String(text) => {
            frame.number(6);
            frame.text(text);
        }
        Value::Sequence(items) => {
            frame.number(7);
            frame.list(items.iter(), value);
        }
        Value::Mapping(mapping) => {
            frame.number(8);
            frame.list(mapping.iter(), |frame, (key, of)| {
                frame.text(key);
                value(frame, of);
            });
        }
    }
}

fn read_value(frame: &mut Decoder<'_>) -> Option<Value> {
    Some(match frame.number()? {
        0 => Value::Null,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3 => Value::Int(frame.number()?.cast_signed()),
        4 => Value::Uint(frame.number()?),
        5 => Value::Float(f64::from_bits(frame.number()?)),
        6 => Value::String(frame.text()?),
        7 => Value::Sequence(frame.list(read_value)?),
        8 => Value::Mapping(frame.list(|frame| Some((frame.text()?, read_value(frame)?)))?.into_iter().collect()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argo::{Drawn, SeedIdentity};
    use crate::manifest::{self, Source};
    use dry_files::view::{MemoryFiles, View};

    #[test]
    fn what_is_rendered_comes_back_as_it_was() {
        let text = "kind: A\nn: [0, -1, 9223372036854775807, 18446744073709551615, 1.5, 1e300, -0.0]\nb: [true, false, null]\n\
                    t: ['', \"ä\\u0000\\n\"]\nm: {z: {}, a: []}\n---\nkind: B\n";
        let manifests = manifest::read(text.as_bytes(), Source::Output("a test")).expect("objects");
        let files = MemoryFiles::new().file("a/b.yaml", "x");
        let view = View::new(&files);
        let path = |text| dry_files::path::RepoPath::new(text).expect("a path");
        drop((view.read(&path("a/b.yaml")), view.read(&path("no")), view.list(&path("a")), view.kind(&path("a"))));
        let answer = Answer::Rendered(Rendered {
            manifests,
            commands: vec!["helm template".to_owned()],
            warnings: vec![Diagnostic::warning("odd").hint("do not")],
            lost_keys: vec![Diagnostic::warning("twice").hint("once")],
            reads: view.reads(),
            variables: [Variable::Revision, Variable::AppName].into(),
            is_unnamed_release: true,
            drawn: Some(Drawn {
                identity: SeedIdentity::read("argocd/web/dev").expect("an identity"),
                objects: vec!["Secret a/b".to_owned()],
            }),
        });
        let mut frame = Encoder::default();
        answer.encode(&mut frame);
        let back = Answer::decode(&mut Decoder(&frame.0)).expect("an answer");
        assert_eq!(format!("{back:?}"), format!("{answer:?}"));
        for end in 0..frame.0.len() {
            assert!(Answer::decode(&mut Decoder(&frame.0[..end])).is_none(), "cut off at {end}");
        }
    }
}
