use go_yaml::json;

use super::*;

/// Sets each text in turn and shows what comes out, or the error.
fn after(texts: &[(Typing, &str)]) -> String {
    let mut values = Mapping::new();
    let read = |name: &str| if name == "f" { Ok("content\n".to_owned()) } else { Err(format!("no {name}")) };
    for (typing, text) in texts {
        if let Err(error) = set(text, *typing, OpenIndex::Ends, &read, &mut values) {
            return error.to_string();
        }
    }
    json::encode(&Value::Mapping(values), json::Options::default())
}

#[test]
fn values() {
    let rows = [
        ("a=1,b=+5,c=-0,d=007,e=1.5,f=", r#"{"a":1,"b":5,"c":0,"d":"007","e":"1.5","f":""}"#),
        ("a=true,b=TRUE,c=null,d=Null,e=yes", r#"{"a":true,"b":true,"c":null,"d":null,"e":"yes"}"#),
        ("a=99999999999999999999", r#"{"a":"99999999999999999999"}"#),
        ("a=1\\,2,b\\.c=3", r#"{"a":"1,2","b.c":3}"#),
        ("a.b.c=1,a.d=2", r#"{"a":{"b":{"c":1},"d":2}}"#),
        ("a={1,b,true},c={}", r#"{"a":[1,"b",true],"c":[""]}"#),
        ("a={1}x=2", r#"{"a":[1],"x":2}"#),
        ("a[2]=x", r#"{"a":[null,null,"x"]}"#),
        ("a[0].b=1,a[0].c=2,a[1][1]=3", r#"{"a":[{"b":1,"c":2},[null,3]]}"#),
        ("a[0]=1,a[0].b=2", r#"{"a":[{"b":2}]}"#),
        ("a[0].b=", r#"{"a":[]}"#),
        ("a[0].b=1,a[0].c=", r#"{"a":[{"b":1,"c":""}]}"#),
        ("a[0]", r#"{"a":[]}"#),
        ("a[1", "{}"),
        ("a=1,b[0=2,c=3", r#"{"a":1}"#),
        ("a=1,b.c[0=2", r#"{"a":1}"#),
        ("a[0]=1,a[1][0=2", r#"{"a":[1]}"#),
        ("a[0].b[=2", r#"{"a":[]}"#),
        ("=x,a=1,", r#"{"a":1}"#),
        ("", "{}"),
    ];
    for (text, expected) in rows {
        assert_eq!(after(&[(Typing::Typed, text)]), expected, "{text:?}");
    }
}

#[test]
fn other_flags() {
    let rows: &[(&[(Typing, &str)], &str)] = &[
        (&[(Typing::Strings, "a=true,b={1,2}")], r#"{"a":"true","b":["1","2"]}"#),
        (&[(Typing::Files, "a=f,b.c={f,f}")], r#"{"a":"content\n","b":{"c":["content\n","content\n"]}}"#),
        (&[(Typing::Files, "a=g")], "no g"),
        (&[(Typing::Literal, "a.b={1,2}\\x=,y")], r#"{"a":{"b":"{1,2}\\x=,y"}}"#),
        (&[(Typing::Literal, "a[1].b=x,y")], r#"{"a":[null,{"b":"x,y"}]}"#),
        (&[(Typing::Json, r#"a={"b":[1,null]} ,c="d",e=,f=1.5"#)], r#"{"a":{"b":[1,null]},"c":"d","e":null,"f":1.5}"#),
        (&[(Typing::Json, r#"a[1]={"b":1}"#)], r#"{"a":[null,{"b":1}]}"#),
        (&[(Typing::Json, "a={")], "invalid JSON"),
        (&[(Typing::Json, "a=true=")], r#"{"a":true}"#),
        (&[(Typing::Json, "a=1b=2.5x={}y=[1]")], r#"{"a":1,"b":2.5,"x":{},"y":[1]}"#),
        (&[(Typing::Json, "a=1,b[0={}")], r#"{"a":1}"#),
        (&[(Typing::Literal, "a.b\\[=2")], "{}"),
        (&[(Typing::Files, "a[=g")], "{}"),
        (&[(Typing::Typed, "a.b=1"), (Typing::Typed, "a.c=2,a.b=3")], r#"{"a":{"b":3,"c":2}}"#),
    ];
    for (texts, expected) in rows {
        assert_eq!(after(texts), *expected, "{texts:?}");
    }
}

#[test]
fn errors() {
    let rows = [
        ("a", "key \"a\" has no value"),
        ("a.b", "key \"b\" has no value"),
        ("a,b=1", "key \"a\" has no value (cannot end with ,)"),
        ("a.=1", "key map \"a\" has no value"),
        ("a[x]=1", "error parsing index: strconv.Atoi: parsing \"x\": invalid syntax"),
        (
            "a[99999999999999999999]=1",
            "error parsing index: strconv.Atoi: parsing \"99999999999999999999\": value out of range",
        ),
        ("a[-1]=1", "negative -1 index not allowed"),
        ("a[65537]=1", "index of 65537 is greater than maximum supported index of 65536"),
        ("a[0]xy=1", "unexpected data at end of array index: ['x' 'y']"),
        ("a={1", "list must terminate with '}'"),
        ("a=1,a.b=2", "unable to parse key: interface conversion: interface {} is int64, not map[string]interface {}"),
        ("a=x,a[0]=2", "unable to parse key: interface conversion: interface {} is string, not []interface {}"),
        ("a=null,a.b=2", "unable to parse key: interface conversion: interface {} is nil, not map[string]interface {}"),
    ];
    for (text, expected) in rows {
        assert_eq!(after(&[(Typing::Typed, text)]), expected, "{text:?}");
    }
    let deep = "a.".repeat(31) + "b=1";
    assert_eq!(
        after(&[(Typing::Typed, &deep)]),
        "value name nested level is greater than maximum supported nested level of 30"
    );
    assert_eq!(
        after(&[(Typing::Typed, &format!("a{}=1", "[0]".repeat(1000)))]),
        "a value name has more than 200 indexes"
    );
}
