//! Template code that wants to take everything: each ends in an error, soon and without a panic.

use std::cell::Cell;
use std::rc::Rc;

use super::*;

/// As deep as the default limits let a template go, at up to 5 KiB a level in a build without optimisation.
const STACK_BYTES: usize = 256 << 20;

/// A render on a stack as hosts must give it.
fn on_large_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work).expect("a thread").join().expect("no panic")
    })
}

fn limit_of(text: &str, limits: Limits) -> Limit {
    match run(text, data(), limits, Effects::Refuse) {
        Err(failure) => match failure.cause() {
            Cause::Limit(limit) => *limit,
            _ => panic!("{text}: {failure}"),
        },
        Ok(out) => panic!("{text}: printed {} bytes", out.len()),
    }
}

#[test]
fn what_grows_without_end_is_stopped() {
    let small = Limits { steps: 2_000_000, bytes: 8 << 20, depth: 1000 };
    let texts = [
        "{{ range 1000000000 }}{{ end }}",
        "{{ range until 1000000000 }}{{ end }}",
        "{{ repeat 1000000000 \"x\" }}",
        "{{ indent 1000000000 \"x\" }}",
        "{{ printf \"%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d%1000000d\" 1 1 1 1 1 1 1 1 1 }}",
        "{{ $x := \"xx\" }}{{ range 64 }}{{ $x = print $x $x }}{{ end }}",
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = concat $x $x }}{{ end }}",
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ print $x }}",
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ toJson $x }}",
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ toYaml $x }}",
        "{{ $x := dict \"a\" 1 }}{{ range 64 }}{{ $x = dict \"a\" $x \"b\" $x }}{{ end }}{{ deepCopy $x }}",
        "{{ $x := list 1 }}{{ range 64 }}{{ $x = list $x $x }}{{ end }}{{ $y := list 1 }}{{ range 64 }}{{ $y = list $y $y }}{{ end }}{{ deepEqual $x $y }}",
        "{{ replace \"\" (repeat 100000 \"x\") (repeat 100000 \"y\") }}",
        "{{ join (repeat 100000 \"x\") (until 100000) }}",
        "{{ regexReplaceAll \"\" (repeat 100000 \"x\") (repeat 100000 \"y\") }}",
        "{{ $s := repeat 100000 \"a \" }}{{ range 10000 }}{{ $_ := splitList \" \" $s }}{{ end }}",
        "{{ range $i := until 100000 }}{{ $_ := regexMatch (print \"a{1000}\" $i) \"x\" }}{{ end }}",
        "{{ fromYaml (print \"a: &a [x,x,x,x,x,x,x,x,x]\\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e]\") | len | repeat 9000000 | print }}",
        "{{ randAlphaNum 1 }}{{ seq 1 1000000000 }}",
        "{{ wrapWith 1 (repeat 100000 \"x\") (repeat 100000 \"y\") }}",
    ];
    for text in texts {
        match run(text, data(), small, Effects::Refuse) {
            Err(failure) => assert!(
                matches!(failure.cause(), Cause::Limit(_) | Cause::Refused(_) | Cause::Function(_) | Cause::Engine(_)),
                "{text}: {failure}"
            ),
            Ok(out) => assert!(out.len() < 1 << 20, "{text}: printed {} bytes", out.len()),
        }
    }
}

#[test]
fn a_search_of_a_large_text_is_charged_for_all_of_it() {
    let small = Limits { steps: 2_000_000, ..Limits::default() };
    let calls = [
        "regexReplaceAll \"(a|b)*c\" $s \"x\"",
        "mustRegexReplaceAllLiteral \"c\" $s \"x\"",
        "regexFindAll \"c\" $s -1",
        "mustRegexFind \"c\" $s",
        "regexSplit \"c\" $s -1",
        "regexMatch \"[c-z]\" $s",
    ];
    for call in calls {
        let text = format!("{{{{ $s := repeat 500000 \"ab\" }}}}{{{{ range 12 }}}}{{{{ $_ := {call} }}}}{{{{ end }}}}");
        assert_eq!(limit_of(&text, small), Limit::Steps(small.steps), "{call}");
    }
    // So is each match, for which it begins anew.
    let text = "{{ $s := repeat 100000 \"ab\" }}{{ $_ := regexReplaceAll \"a\" $s \"x\" }}";
    assert_eq!(limit_of(text, Limits { steps: 1_000_000, ..small }), Limit::Steps(1_000_000));
}

#[test]
fn recursion_ends_at_the_limit() {
    on_large_stack(|| {
        let limits = Limits::default();
        let recursive = "{{ define \"x\" }}{{ template \"x\" . }}{{ end }}{{ template \"x\" . }}";
        assert_eq!(limit_of(recursive, limits), Limit::Depth(limits.depth));
        let through_all = "{{ define \"x\" }}{{ if true }}{{ with . }}{{ range list 1 }}{{ template \"x\" (print (print .)) }}{{ end }}{{ end }}{{ end }}{{ end }}{{ template \"x\" 1 }}";
        assert_eq!(limit_of(through_all, limits), Limit::Depth(limits.depth));
    });
}

#[test]
fn values_that_hold_themselves_end_in_an_error() {
    let make = "{{ $d := dict }}{{ $_ := set $d \"a\" $d }}";
    let uses = [
        "print $d",
        "printf \"%v\" $d",
        "toJson $d",
        "toPrettyJson $d",
        "toYaml $d",
        "toYamlPretty $d",
        "toToml $d",
        "deepCopy $d",
        "toString $d",
        "quote $d",
        "deepEqual $d (deepCopy $d)",
        "merge (deepCopy $d) $d",
        "join \",\" (list $d)",
        "html $d",
        "uniq (list $d (dict \"a\" (dict)))",
    ];
    for call in uses {
        let text = format!("{make}{{{{ {call} }}}}");
        match on_large_stack(|| run(text.as_str(), data(), Limits::default(), Effects::Refuse)) {
            Err(failure) => assert!(matches!(failure.cause(), Cause::Limit(_)), "{call}: {failure}"),
            Ok(_) => assert!(call.starts_with("uniq"), "{call} went through"),
        }
    }
    assert!(run(format!("{make}{{{{ $d }}}}").as_str(), data(), Limits::default(), Effects::Refuse).is_err());
    // Changing a map while it is ranged over is fine: the loop sees what was there.
    let text = "{{ $d := dict \"a\" 1 }}{{ range $k, $v := $d }}{{ $_ := set $d (print $k $k) 2 }}{{ $k }}{{ end }}{{ len $d }}";
    assert_eq!(render(text, Value::Nil).expect("good"), b"a2");
    let text = "{{ $d := dict \"a\" (dict \"b\" 1) }}{{ $_ := merge $d $d }}{{ $_ := mergeOverwrite $d $d }}{{ $d }}";
    assert_eq!(render(text, Value::Nil).expect("good"), b"map[a:map[b:1]]");
}

#[test]
fn deep_texts_are_refused_and_do_not_overflow() {
    let deep =
        |open: &str, middle: &str, close: &str| format!("{}{middle}{}", open.repeat(100_000), close.repeat(100_000));
    for text in [
        format!("{{{{ {} }}}}", deep("(", "1", ")")),
        deep("{{ if 1 }}", "x", "{{ end }}"),
        deep("{{ range 1 }}", "x", "{{ end }}"),
        format!("{{{{ if 1 }}}}{}{{{{ end }}}}", "{{ else if 1 }}".repeat(100_000)),
        deep("{{ define \"x\" }}", "x", "{{ end }}"),
        deep("{{ block \"x\" . }}", "x", "{{ end }}"),
        format!("{{{{ regexMatch \"{}\" \"x\" }}}}", deep("(", "x", ")")),
        format!("{{{{ fromYaml \"{}\" }}}}", deep("[", "x", "]")),
        format!("{{{{ fromJson \"{}\" }}}}", deep("[", "1", "]")),
        format!("{{{{ fromToml \"a={}\" }}}}", deep("[", "1", "]")),
        format!("{{{{ fromToml \"a={}\" }}}}", deep("{a=", "1", "}")),
        "{{ $x := list }}{{ range 100000 }}{{ $x = list $x }}{{ end }}{{ toJson $x }}".to_owned(),
    ] {
        on_large_stack(|| drop(render(text.as_str(), Value::Nil)));
    }
}

#[test]
fn the_caller_can_stop_it() {
    let parsed = Parsed::new("t", "{{ range 1000000000 }}{{ end }}", &Functions::standard()).expect("good");
    let mut set = Set::new("t");
    set.add(&parsed);
    let looks = Rc::new(Cell::new(0));
    let seen = Rc::clone(&looks);
    let is_time_up = move || {
        seen.set(seen.get() + 1);
        seen.get() > 3
    };
    let mut runtime = Runtime::new(Limits::default(), Effects::Refuse).with_deadline(is_time_up);
    let failure = runtime.execute(&set, "t", Value::Nil).expect_err("endless");
    assert_eq!(failure.cause(), &Cause::Limit(Limit::Time));
    assert_eq!(looks.get(), 4);
}

#[test]
fn compiled_templates_are_shared_between_threads() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let functions = Functions::standard();
    let parsed = Parsed::new("t", "{{ . }}", &functions).expect("good");
    let mut set = Set::new("t");
    set.add(&parsed);
    is_shared(&set);
    is_shared(&parsed);
    is_shared(&functions);
    let render = || Runtime::new(Limits::default(), Effects::Refuse).execute(&set, "t", Value::int(5)).expect("good");
    let outs: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(render)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(outs, vec![b"5".to_vec(); 4]);
}
