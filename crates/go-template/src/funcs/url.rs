//! `urlParse` and `urlJoin`: URLs as Go's `net/url` has them.

use go_std::url::Url;

use super::super::error::Failure;
use super::super::function::Functions;
use super::super::map::Map;
use super::super::text::Text;
use super::super::value::Value;

pub(super) fn add(table: &mut Functions) {
    table.add("urlParse", url_parse).add("urlJoin", url_join);
}

fn url_parse(text: Text) -> Result<Map, Failure> {
    let url = Url::parse(&text).map_err(|error| Failure::message(format!("unable to parse url: {error}")))?;
    let map = Map::new();
    map.set("hostname", Text::from(url.hostname()));
    map.set("userinfo", Text::from(url.user.as_ref().map(|user| user.text()).unwrap_or_default()));
    map.set("scheme", Text::from(url.scheme));
    map.set("host", Text::from(url.host));
    map.set("path", Text::from(url.path));
    map.set("query", Text::from(url.query));
    map.set("opaque", Text::from(url.opaque));
    map.set("fragment", Text::from(url.fragment));
    Ok(map)
}

fn url_join(parts: Map) -> Result<Text, Failure> {
    let mut url = Url {
        scheme: get_or_empty(&parts, "scheme")?,
        host: get_or_empty(&parts, "host")?,
        path: get_or_empty(&parts, "path")?,
        query: get_or_empty(&parts, "query")?,
        opaque: get_or_empty(&parts, "opaque")?,
        fragment: get_or_empty(&parts, "fragment")?,
        ..Url::default()
    };
    let userinfo = get_or_empty(&parts, "userinfo")?;
    if !userinfo.is_empty() {
        let whole = [b"proto://", userinfo.as_slice(), b"@host"].concat();
        let message = |error| Failure::message(format!("unable to parse userinfo in dict: {error}"));
        url.user = Url::parse(&whole).map_err(message)?.user;
    }
    Ok(url.text().into())
}

/// Sprig's `dictGetOrEmpty`.
fn get_or_empty(parts: &Map, key: &str) -> Result<Vec<u8>, Failure> {
    match parts.get(key.as_bytes()) {
        None => Ok(Vec::new()),
        Some(Value::String(text)) => Ok(text.to_vec()),
        Some(Value::Nil) => Err(Failure::message(super::common::NIL_DEREFERENCE)),
        Some(other) => {
            let kind = other.kind().name();
            let message = format!("unable to parse {key} key, must be of type string, but {kind} found");
            Err(Failure::message(message))
        }
    }
}
