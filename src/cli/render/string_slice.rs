//! Lists in one argument, as Helm's flags take them: the fields of a line of CSV.

use super::super::WrongUse;

/// The items of all values of a flag, in order.
///
/// Commas separate; an item in double quotes may contain commas, and `""` in it is one quote. Only the first line
/// counts, and an empty value has no items. Reference: pflag 1.0 string_slice.go `readAsCSV`.
pub(super) fn split(flag: &str, values: &[String]) -> Result<Vec<String>, WrongUse> {
    let mut items = Vec::new();
    for value in values {
        let line = value.lines().next().unwrap_or_default();
        let fields = fields(line).map_err(|reason| WrongUse(format!("--{flag} {value}: {reason}")))?;
        items.extend(fields);
    }
    Ok(items)
}

fn fields(line: &str) -> Result<Vec<String>, &'static str> {
    let mut found = Vec::new();
    let mut rest = (!line.is_empty()).then_some(line);
    while let Some(text) = rest {
        let (field, behind) = match text.strip_prefix('"') {
            Some(quoted) => unquote(quoted)?,
            None => {
                let end = text.find(',').unwrap_or(text.len());
                let (field, behind) = text.split_at(end);
                if field.contains('"') {
                    return Err("a quote in an item that does not start with one");
                }
                (field.to_owned(), behind)
            }
        };
        found.push(field);
        rest = behind.strip_prefix(',');
    }
    Ok(found)
}

/// The item behind an opening quote, and what follows its closing one: a comma or nothing.
fn unquote(text: &str) -> Result<(String, &str), &'static str> {
    let mut field = String::new();
    let mut rest = text;
    loop {
        let (before, behind) = rest.split_once('"').ok_or("a quoted item has no closing quote")?;
        field.push_str(before);
        match behind.strip_prefix('"') {
            Some(more) => {
                field.push('"');
                rest = more;
            }
            None if behind.is_empty() || behind.starts_with(',') => return Ok((field, behind)),
            None => return Err("text after the closing quote of an item"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As `helm template -f` 4.2.3 takes them.
    #[test]
    fn items() {
        let rows: [(&str, Option<&[&str]>); 10] = [
            ("a.yaml", Some(&["a.yaml"])),
            ("a,b", Some(&["a", "b"])),
            ("\"a,b.yaml\"", Some(&["a,b.yaml"])),
            ("b,\"a,b\"", Some(&["b", "a,b"])),
            ("b,", Some(&["b", ""])),
            ("", Some(&[])),
            (" b\nc", Some(&[" b"])),
            ("\"a\"\"b\"", Some(&["a\"b"])),
            ("a\"b", None),
            ("\"a\"b", None),
        ];
        for (value, expected) in rows {
            let found = split("values", &[value.to_owned()]).ok();
            let expected = expected.map(|items| items.iter().map(|item| (*item).to_owned()).collect());
            assert_eq!(found, expected, "{value:?}");
        }
        assert!(split("values", &["\"a".to_owned()]).is_err());
    }
}
