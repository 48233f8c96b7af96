//! `.Files`: what a chart has beside its templates and values.

use std::rc::Rc;
use std::sync::LazyLock;

use go_std::glob::{BadGlob, Glob};
use go_template::{Call, Element, Entries, Failure, Functions, List, Map, MapType, Methods, Text, Value};
use go_yaml::{Value as Data, sigs};

use super::chart::File;
use crate::version::differences::EmptyFiles;

/// The type of `.Files` and of what `.Files.Glob` gives: bytes by path.
///
/// Reference: helm 4.2.3 pkg/engine/files.go. Case `files-api`.
static FILES: MapType = MapType { name: "engine.files", element: Element::Bytes, methods: Methods::of(|| &METHODS) };

static METHODS: LazyLock<Functions> = LazyLock::new(methods);

fn methods() -> Functions {
    let mut methods = Functions::new();
    methods.add("Get", get).add("GetBytes", get_bytes).add("Glob", glob).add("Lines", lines);
    methods.add("AsConfig", as_config).add("AsSecrets", as_secrets);
    methods
}

/// How long a pattern may be: what it becomes takes much more memory.
const PATTERN_BYTES_MAX: usize = 64 << 10;

/// The object for the files of a chart. An unreadable one is there, but reading its content fails.
pub(super) fn files<'a>(files: impl IntoIterator<Item = &'a File>) -> Value {
    let entry = |file: &File| (Text::from(&file.name), Value::Bytes(file.data.clone()));
    Map::of(&FILES, files.into_iter().map(entry).collect()).into()
}

fn entries(files: &Value) -> Rc<Entries> {
    files.as_map().map(Map::entries).unwrap_or_default()
}

fn content(files: &Value, path: &Text) -> Option<Text> {
    match entries(files).get(path) {
        Some(Value::Bytes(bytes)) => Some(Text::from(bytes.clone())),
        _ => None,
    }
}

/// Fails for a file without content.
fn check(call: &mut Call<'_>, path: &Text) -> Result<(), Failure> {
    let unreadable = call.host::<super::engine::host::Host>()?.unreadable.clone();
    match unreadable.0.get(path) {
        Some(reason) => Err(Failure::message(reason.clone())),
        None => Ok(()),
    }
}

fn get(call: &mut Call<'_>, files: Value, path: Text) -> Result<Text, Failure> {
    check(call, &path)?;
    Ok(content(&files, &path).unwrap_or_default())
}

fn get_bytes(call: &mut Call<'_>, files: Value, path: Text) -> Result<Value, Failure> {
    check(call, &path)?;
    Ok(Value::Bytes(content(&files, &path).unwrap_or_default().into()))
}

/// What a line takes beside its text.
const LINE_BYTES: usize = 64;

fn lines(call: &mut Call<'_>, files: Value, path: Text) -> Result<List, Failure> {
    check(call, &path)?;
    let Some(text) = content(&files, &path) else { return Ok(List::strings::<Text>([])) };
    if text.is_empty() {
        if call.host::<super::engine::host::Host>()?.helm.switches().empty_files == EmptyFiles::NoLines {
            return Ok(List::strings::<Text>([]));
        }
        // An empty file makes Helm index before its start. Case `files-lines-empty-error`.
        return Err(Failure::message("runtime error: index out of range [-1]"));
    }
    let text = text.strip_suffix(b"\n").unwrap_or(&text);
    call.charge_bytes((memchr::memchr_iter(b'\n', text).count() + 1).saturating_mul(LINE_BYTES))?;
    Ok(List::strings(text.split(|byte| *byte == b'\n').map(Text::from)))
}

/// What it takes at most, more or less, to match a name or pattern that is not ASCII.
const STEPS_PER_WIDE_NAME: usize = 1024;

fn glob(call: &mut Call<'_>, files: Value, pattern: Text) -> Result<Map, Failure> {
    let files = entries(&files);
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(Failure::message(format!("a pattern of more than {PATTERN_BYTES_MAX} bytes")));
    }
    // Matching takes time in proportion to pattern and name.
    let names: usize = files.keys().map(|name| name.len()).sum();
    call.charge(names.saturating_mul(pattern.len()) / 16)?;
    let wide = files.keys().filter(|name| !name.is_ascii() || !pattern.is_ascii()).count();
    call.charge(wide.saturating_mul(STEPS_PER_WIDE_NAME))?;
    let matching = match Glob::new(&pattern.to_str()) {
        Ok(glob) => {
            let matches = |(name, _): &(&Text, &Value)| glob.matches(&name.to_str());
            files.iter().filter(matches).map(|(name, data)| (name.clone(), data.clone())).collect()
        }
        // Helm takes every file when the pattern does not compile.
        Err(BadGlob::Syntax) => (*files).clone(),
        Err(error @ BadGlob::TooDeep) => return Err(Failure::message(error.to_string())),
    };
    for path in matching.keys() {
        check(call, path)?;
    }
    Ok(Map::of(&FILES, matching))
}

fn as_config(call: &mut Call<'_>, files: Value) -> Result<Text, Failure> {
    by_base_name(call, &files, |bytes| Text::from(bytes).to_str().into_owned())
}

fn as_secrets(call: &mut Call<'_>, files: Value) -> Result<Text, Failure> {
    by_base_name(call, &files, |bytes| data_encoding::BASE64.encode(bytes))
}

/// YAML of the contents by base name; the last of equal names wins, where Helm picks any.
fn by_base_name(call: &mut Call<'_>, files: &Value, encode: impl Fn(&[u8]) -> String) -> Result<Text, Failure> {
    let mut config = go_yaml::Mapping::new();
    for (path, data) in entries(files).iter() {
        check(call, path)?;
        let Value::Bytes(bytes) = data else { continue };
        call.charge_bytes(bytes.len().saturating_mul(2))?;
        let path = path.to_str();
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        config.insert(name, Data::String(encode(bytes)));
    }
    let text = sigs::marshal(&Data::Mapping(config)).unwrap_or_default();
    Ok(text.strip_suffix('\n').unwrap_or(&text).into())
}
