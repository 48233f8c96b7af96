//! The functions that templates of ApplicationSets have beside Sprig's.

use std::sync::LazyLock;

use go_template::{Call, Failure, Functions, Rest, Text, Value};

/// How long a name may be that Kubernetes takes.
const NAME_BYTES_MAX: usize = 253;
/// How long a slug is by default.
const SLUG_BYTES_MAX: i64 = 50;

/// All functions that Go templates of sets may call.
///
/// Reference: argo-cd `37ee0097` applicationset/utils/utils.go.
pub(super) fn functions() -> &'static Functions {
    static FUNCTIONS: LazyLock<Functions> = LazyLock::new(with_argo_cds);
    &FUNCTIONS
}

fn with_argo_cds() -> Functions {
    let mut functions = Functions::sprig();
    functions.add("normalize", charged_normalize).add("slugify", slugify);
    functions
}

/// Makes a name that Kubernetes takes: lower case, `-` for every character other than letters, digits, `-` and `.`, cut,
/// and without `-` and `.` at its ends.
///
/// Reference: argo-cd `37ee0097` applicationset/utils/template_functions.go `SanitizeName`.
pub(super) fn normalize(name: &str) -> String {
    // Of characters that become several in lower case, Go knows the first one only.
    let lower = name.chars().filter_map(|c| c.to_lowercase().next());
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let plain = lower.map(|c| if is_plain(c) { c } else { '-' }).take(NAME_BYTES_MAX);
    plain.collect::<String>().trim_matches(['-', '.']).to_owned()
}

/// `normalize name`
fn charged_normalize(call: &mut Call<'_>, name: Text) -> Result<String, Failure> {
    call.charge_bytes(name.len())?;
    Ok(normalize(&name.to_str()))
}

/// `slugify [max [smart]] name`
fn slugify(call: &mut Call<'_>, args: Rest<Value>) -> Result<Text, Failure> {
    let (mut max, mut is_smart, mut name) = (SLUG_BYTES_MAX, true, String::new());
    let last = args.0.len().saturating_sub(1);
    for (index, arg) in args.0.iter().enumerate() {
        match (index, arg) {
            (index, Value::String(text)) if index == last => name = text.to_str().into_owned(),
            (index, other) if index == last => return Err(not_converted(other, "string")),
            (0, Value::Int(go_template::IntType::Int, value)) => max = *value,
            (0, other) => return Err(not_converted(other, "int")),
            (1, Value::Bool(value)) => is_smart = *value,
            (1, other) => return Err(not_converted(other, "bool")),
            _ => {}
        }
    }
    call.charge_bytes(name.len())?;
    slug(&normalize(&name), max, is_smart).map(Text::from)
}

fn not_converted(value: &Value, wanted: &str) -> Failure {
    let found = if matches!(value, Value::Nil) { "nil" } else { value.type_name() };
    Failure::message(format!("interface conversion: interface {{}} is {found}, not {wanted}"))
}

/// Makes a slug of a name that is [normal](normalize), so of ASCII alone. Smart: cut at a dash, if there is one.
///
/// Reference: gosimple/slug 1.15.0 `Make`.
fn slug(name: &str, max: i64, is_smart: bool) -> Result<String, Failure> {
    let mut name = name;
    if !is_smart && i64::try_from(name.len()).is_ok_and(|len| len >= max) {
        let max = usize::try_from(max)
            .map_err(|_| Failure::message(format!("runtime error: slice bounds out of range [:{max}]")))?;
        name = name.get(..max).unwrap_or(name);
    }
    let mut slug = String::with_capacity(name.len());
    for c in name.chars().map(|c| if c == '.' { '-' } else { c }) {
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug = slug.trim_matches(['-', '_']);
    match usize::try_from(max) {
        Ok(max) if is_smart && max > 0 && slug.len() > max => {
            let end = slug.get(..=max).and_then(|text| text.rfind('-')).unwrap_or(max);
            Ok(slug.get(..end).unwrap_or(slug).to_owned())
        }
        _ => Ok(slug.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As those of charts are, in the same table.
    #[test]
    fn every_function_is_charged_for_the_time_that_it_takes() {
        let of_charts = Functions::standard();
        let is_own = |name: &str| of_charts.get(name).is_none() || name.ends_with("Yaml") || name == "fromYamlArray";
        assert!(functions().names().filter(|name| is_own(name)).count() >= 5);
        go_template::cost::check(functions(), is_own);
    }

    #[test]
    fn normal_names() {
        let rows = [
            ("app_3", "app-3"),
            ("production_01/west", "production-01-west"),
            ("file_name.yaml", "file-name.yaml"),
            ("Änne", "nne"),
            ("-.a.-", "a"),
            ("", ""),
        ];
        for (name, expected) in rows {
            assert_eq!(normalize(name), expected, "{name:?}");
        }
        assert_eq!(normalize(&format!("{}-b", "a".repeat(252))).len(), 252);
    }

    /// From upstream's own tests.
    #[test]
    fn slugs() {
        let long = "feat/a_really+long_pull_request_name_to_test_argo_slugification_and_branch_name_shortening_feature";
        let word = "feat/areallylongpullrequestnametotestargoslugificationandbranchnameshorteningfeature";
        let rows = [
            (long, 50, false, "feat-a-really-long-pull-request-name-to-test-argo"),
            (long, 53, true, "feat-a-really-long-pull-request-name-to-test-argo"),
            (word, 50, true, "feat"),
            (word, 50, false, "feat-areallylongpullrequestnametotestargoslugifica"),
            ("abcdef", 3, true, "abc"),
            ("a..b", 50, true, "a-b"),
            ("", 50, true, ""),
        ];
        for (name, max, is_smart, expected) in rows {
            assert_eq!(slug(&normalize(name), max, is_smart).as_deref(), Ok(expected), "{name:?}");
        }
        assert!(slug("abc", -1, false).is_err());
    }
}
