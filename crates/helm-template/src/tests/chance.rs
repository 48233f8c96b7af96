//! What counts as fixed although calls of clock and random functions are in it.

use super::*;

/// Whether a template renders, and if not, whether every call that it may depend on is named.
fn is_fixed(template: &str) -> bool {
    let files = MemoryFiles::new()
        .file("c0/Chart.yaml", "apiVersion: v2\nname: c0\nversion: 1.0.0\n")
        .file("c0/values.yaml", "given: word\nnumber: 7\nempty: \"\"\nlist: [a, b, c]\n")
        .file(
            "c0/templates/_named.tpl",
            "{{ define \"month\" }}{{ now | date \"Jan\" }}{{ end }}{{ define \"none\" }}{{ end }}",
        )
        .file("c0/templates/t.yaml", template);
    let (view, options) = (View::new(&files), Options::default());
    let rendered = render(&view, &root(), &options);
    let told = refusals(&view, &root(), &options).expect("nothing else is wrong");
    match rendered {
        Ok(_) => {
            assert!(told.is_empty(), "{template}: told although it renders");
            true
        }
        Err(error) => {
            assert!(error.is_refusal(), "{template}: {error}");
            assert!(!told.is_empty(), "{template}: no call is told");
            false
        }
    }
}

#[test]
fn what_drops_chance_for_good_is_fixed() {
    let rows = [
        "a: {{ .Values.given | default (randAlphaNum 8) }}",
        "a: {{ coalesce .Values.empty .Values.given (randAlphaNum 8) }}",
        "a: {{ ternary .Values.given (randAlphaNum 8) true }}",
        "a: {{ ternary .Values.given now (eq .Values.number 7.0) }}",
        "a: {{ or .Values.given (randAlphaNum 8) }}",
        "a: {{ randAlphaNum 8 | len }}",
        "a: {{ randAlphaNum 8 | b64enc | len }}",
        "a: {{ randAlphaNum 8 | sha256sum | upper | len }}",
        "a: {{ uuidv4 | len }}{{ randBytes 5 | len }}",
        "a: {{ kindOf now }}{{ typeOf (randInt 0 9) }}{{ kindIs \"string\" (randAlpha 3) }}",
        "a: {{ empty (randAlpha 3) }}{{ not (uuidv4) }}{{ empty now }}",
        "a: {{ if randAlphaNum 8 }}b{{ end }}{{ with now }}c{{ end }}",
        "a: {{ if eq (randInt 0 2) 1 }}b{{ else }}b{{ end }}",
        "{{ $unused := now }}{{ $_ := list (randAlpha 3) | join \"-\" }}a: b",
        "{{ $d := dict \"user\" .Values.given \"password\" (randAlphaNum 8) }}a: {{ get $d \"user\" }}{{ hasKey $d \"user\" }}{{ len $d }}",
        "{{ $d := dict \"user\" .Values.given \"password\" (randAlphaNum 8) }}a: {{ eq $d.user \"word\" }}{{ upper $d.user }}",
        "{{ $l := list .Values.given (randAlphaNum 8) }}a: {{ first $l }}{{ index $l 0 }}{{ len $l }}",
        "{{ $t := htpasswd \"user\" \"password\" }}a: {{ splitList \":\" $t | first }}",
        "{{ $ca := genCA \"ca\" 365 }}a: {{ if .Values.given }}{{ .Values.given }}{{ else }}{{ $ca.Cert }}{{ end }}",
        "{{ $_ := randAlpha 3 }}{{ range .Values.list }}{{ if eq . \"b\" }}b: {{ upper . }}{{ end }}{{ end }}",
        "a: {{ include \"none\" (randAlpha 3) }}",
        "a: {{ encryptAES \"key\" \"plain\" | decryptAES \"key\" }}",
        "a: {{ htpasswd \"u\" \"p\" | trunc 9 }}{{ bcrypt \"p\" | len }}{{ bcrypt \"p\" | hasPrefix \"$2a$\" }}",
        "a: {{ (genCA \"a\" 1).Cert | trunc 27 }}{{ genPrivateKey \"ecdsa\" | trunc 30 }}",
        "a: {{ randInt 3 4 }}",
    ];
    for row in rows {
        assert!(is_fixed(row), "refused: {row}");
    }
}

#[test]
fn what_may_be_another_on_another_day_is_refused() {
    let rows = [
        // The clock shows more than whole seconds.
        "a: {{ now.Nanosecond }}",
        "a: {{ mod now.UnixNano 1000000 }}",
        "a: {{ now | date \".000\" }}",
        "a: {{ now.Sub now }}",
        "a: {{ ago now }}",
        "a: {{ if now.Nanosecond }}b{{ end }}",
        "a: {{ and now.Nanosecond .Values.given }}",
        // The answer is the same for nearly all of what is asked.
        "a: {{ eq (now | date \"Jan\") \"Jul\" }}",
        "a: {{ if eq (now | date \"15:04\") \"12:34\" }}b{{ end }}",
        "a: {{ eq (include \"month\" .) \"Jul\" }}",
        "a: {{ $m := include \"month\" . }}{{ ternary \"b\" \"c\" (hasPrefix \"Ju\" $m) }}",
        "a: {{ gt now.Year 1900 }}",
        "a: {{ regexMatch \"^[a-z]+$\" (randAlpha 5) }}",
        "a: {{ contains \"x\" (randAlpha 5) }}",
        "a: {{ eq (randAlpha 5) (randAlpha 5) }}",
        "a: {{ has \"x\" (list (randAlpha 1)) }}",
        "a: {{ hasKey .Values (randAlpha 5) }}",
        "a: {{ randAlphaNum 8 | regexReplaceAll \"[A-Z]\" \"\" | trunc 0 }}",
        "a: {{ randNumeric 3 | int | empty }}",
        "a: {{ randNumeric 3 | trimAll \"0\" | len }}",
        "a: {{ sub (randInt 0 100) (randInt 0 100) | lt -100 }}",
        "a: {{ semverCompare \">=1.0.0\" (now | date \"2006.1.2\") }}",
        "a: {{ atoi (randAlpha 5) }}",
        "a: {{ now | date \"MST\" }}",
        "a: {{ genPrivateKey \"ecdsa\" | trunc 40 }}",
        "a: {{ htpasswd \"u\" \"p\" | trunc 10 | hasSuffix \"x\" }}",
        // Every probe answers another way.
        "a: {{ randInt 0 2 }}",
        "a: {{ randNumeric 1 }}",
        "a: {{ randAlphaNum 1 | regexMatch \"[0-9]\" }}",
        "a: {{ now | date \"Mon\" }}",
    ];
    for row in rows {
        assert!(!is_fixed(row), "counts as fixed: {row}");
    }
}
