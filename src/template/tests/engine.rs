use super::*;

fn data() -> Value {
    let map = Map::new();
    map.set("s", "text");
    map.set("n", 1e6);
    map.set("l", Value::List(List::new(vec![Value::from(1.0), Value::from("two"), Value::Nil])));
    let inner = Map::new();
    inner.set("a", Value::Nil);
    inner.set("b", true);
    map.set("m", inner);
    Value::Map(map)
}

#[test]
fn the_language_is_gos() {
    check(
        &[
            ("text", "a {{ 1 }} b", Ok("a 1 b")),
            ("trim", "a \n{{- 1 -}} \n b", Ok("a1b")),
            ("minus, no trim", "{{-3}}", Ok("-3")),
            ("field", "{{ .s }} {{ .n }} {{ .l }} {{ .m }}", Ok("text 1e+06 [1 two <nil>] map[a:<nil> b:true]")),
            ("missing", "{{ .x }}|{{ .m.a }}", Ok("<no value>|<no value>")),
            (
                "field of nil",
                "{{ .x.y }}",
                Err("template: t:1:5: executing \"t\" at <.x.y>: nil pointer evaluating interface {}.y"),
            ),
            ("field of nil in parentheses", "{{ (.x).y }}", Ok("<no value>")),
            (
                "field of a string",
                "{{ .s.y }}",
                Err("template: t:1:5: executing \"t\" at <.s.y>: can't evaluate field y in type interface {}"),
            ),
            (
                "range",
                "{{ range $i, $x := .l }}{{ $i }}={{ $x }};{{ else }}none{{ end }}",
                Ok("0=1;1=two;2=<no value>;"),
            ),
            ("range over int", "{{ range 3 }}{{ . }}{{ break }}{{ end }}", Ok("0")),
            ("define", "{{ define \"x\" }}<{{ . }}>{{ end }}{{ template \"x\" 5 }}", Ok("<5>")),
            ("variables", "{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $y := 3 }}{{ end }}{{ $x }}", Ok("2")),
            ("pipe", "{{ 1 | printf \"%d-%d\" 2 }}", Ok("2-1")),
            ("parse error", "{{ if }}", Err("template: t:1: missing value for if")),
            ("unknown function", "\n{{ nope }}", Err("template: t:2: function \"nope\" not defined")),
        ],
        &data(),
    );
}
