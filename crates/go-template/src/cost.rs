//! For tests: every function with large arguments: the time that it takes is in proportion to what it takes from the budget.
//!
//! The calls follow from the signatures, so that a new function is tried as well. A step is measured in the same run by a
//! loop that does nothing, so that neither the machine nor the profile matters; time is that of this thread on a processor.
//!
//! `COST_BYTES` sets how large the arguments are, `COST=table` prints what was measured, `COST_FROM` names the function to begin with.

use std::collections::{BTreeSet, HashMap};

use crate::Cause;
use crate::Effects;
use crate::Failure;
use crate::Functions;
use crate::Limits;
use crate::Parsed;
use crate::Runtime;
use crate::Set;
use crate::Value;
use crate::function::{Function, Type};

/// How large arguments are: without optimisation a hundredth of it.
const BYTES: usize = if cfg!(debug_assertions) { 300_000 } else { 30_000_000 };

/// How many times as long as a step that does nothing a step of a function may take.
const FACTOR_MAX: f64 = if cfg!(debug_assertions) { 100.0 } else { 60.0 };

/// What is too short to be measured, in steps that do nothing.
const STEPS_MIN: f64 = 200_000.0;

/// How often a call that looks too dear is measured again.
const REPEATS_MAX: usize = 8;

/// How long this thread was on a processor, in nanoseconds.
fn cpu_ns() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    stat.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}

/// Time and steps of one render, and how it ended.
fn measure(functions: &Functions, text: &str) -> (f64, u64, Result<Vec<u8>, Failure>) {
    let parsed = Parsed::new("t", text, functions).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut set = Set::new("t");
    set.add(&parsed);
    let now = jiff::Timestamp::from_second(1_700_000_000).expect("a time");
    let mut runtime = Runtime::new(Limits::default(), Effects::Live { entropy: [7; 32], now });
    let start = cpu_ns();
    let result = runtime.execute(&set, "t", Value::Nil);
    (cpu_ns() - start, runtime.steps(), result)
}

/// What the variables of calls take, in time and in steps.
fn measure_setup(functions: &Functions, setup: &str) -> (f64, u64) {
    let (ns, steps, result) = measure(functions, setup);
    assert!(result.is_ok(), "{setup}: {result:?}");
    (ns, steps)
}

/// Arguments of a type: small, or large in one of some ways.
fn arguments(ty: Type) -> &'static [&'static str] {
    match ty {
        Type::Any | Type::Reflect => &["$s", "$n", "$w", "$l", "$d", "$deep", "3"],
        Type::String => &["$s", "$n", "$w", "$x", "$i", "\"a\""],
        Type::Bool => &["true"],
        Type::Int | Type::Int64 | Type::Duration => &["3", "1000"],
        Type::Uint32 => &["3"],
        Type::Float64 => &["1.5"],
        Type::Map => &["$d"],
        Type::List => &["$l"],
        Type::Bytes => &["nil"],
        Type::Time => &["$t"],
        Type::Location | Type::Certificate | Type::Semver | Type::Writer => &["nil"],
    }
}

/// Calls of a function: each way for all arguments at once, and each way for one of them while the others are small.
fn calls(function: &Function) -> Vec<String> {
    let mut types = function.params().to_vec();
    types.extend(function.variadic());
    types.extend(function.variadic());
    let small = |ty: Type| arguments(ty).last().copied().unwrap_or("nil");
    let most = types.iter().map(|ty| arguments(*ty).len()).max().unwrap_or(1);
    let mut calls = BTreeSet::new();
    for way in 0..most {
        let large = |ty: Type| arguments(ty).get(way).copied().unwrap_or_else(|| small(ty));
        for only in 0..=types.len() {
            let argument = |(index, ty): (usize, &Type)| {
                if only == index || only == types.len() { large(*ty) } else { small(*ty) }
            };
            let arguments: Vec<&str> = types.iter().enumerate().map(argument).collect();
            calls.insert(format!("{} {}", function.name(), arguments.join(" ")));
        }
    }
    calls.into_iter().collect()
}

/// The variables of [`arguments`].
fn variables(call: &str) -> String {
    let bytes = std::env::var("COST_BYTES").ok().and_then(|bytes| bytes.parse().ok()).unwrap_or(BYTES);
    let items = bytes / 100;
    let all = [
        ("$s ", format!("{{{{ $s := repeat {bytes} \"a\" }}}}")),
        ("$n ", format!("{{{{ $n := repeat {bytes} \"1\" }}}}")),
        ("$w ", format!("{{{{ $w := repeat {} \"aB \" }}}}", bytes / 3)),
        ("$x ", format!("{{{{ $x := repeat {} \"\\\"<\\n/\" }}}}", bytes / 4)),
        ("$i ", format!("{{{{ $i := repeat {} \"\\xff\" }}}}", bytes)),
        ("$l ", format!("{{{{ $l := splitList \",\" (repeat {items} \"some words,\") }}}}")),
        (
            "$d ",
            format!(
                "{{{{ $d := dict }}}}{{{{ range {} }}}}{{{{ $_ := set $d (print .) . }}}}{{{{ end }}}}",
                items / 10
            ),
        ),
        ("$deep ", "{{ $deep := list 1 }}{{ range 16 }}{{ $deep = list $deep $deep }}{{ end }}".to_owned()),
        ("$t ", "{{ $t := toDate \"2006-01-02\" \"2020-02-02\" }}".to_owned()),
    ];
    let call = format!("{call} ");
    all.into_iter().filter(|(name, _)| call.contains(name)).map(|(_, text)| text).collect()
}

/// Tries those of the functions that are `tried`.
pub fn check(functions: &Functions, tried: impl Fn(&str) -> bool) {
    let loops = "{{ range 1000000 }}{{ end }}";
    let step = || {
        let (ns, steps, _) = measure(functions, loops);
        ns / steps as f64
    };
    let step = [step(), step(), step()].into_iter().fold(f64::INFINITY, f64::min);
    let table = std::env::var_os("COST").is_some();
    let mut wrong = Vec::new();
    let mut setups: HashMap<String, (f64, u64)> = HashMap::new();
    let from = std::env::var("COST_FROM").unwrap_or_default();
    for name in functions.names().filter(|name| tried(name) && **name >= *from) {
        let Some(function) = functions.get(name) else { continue };
        for call in calls(function) {
            let setup = variables(&call);
            let measured = setups.entry(setup.clone()).or_insert_with(|| measure_setup(functions, &setup));
            let (setup_ns, setup_steps) = *measured;
            let text = format!("{setup}{{{{ $_ := {call} }}}}");
            let (ns, steps, result) = measure(functions, &text);
            let own_steps = steps.saturating_sub(setup_steps).max(1);
            // What fails ends the render, so that it costs once; and what is made for a call varies by some percent.
            let is_limit = |failure: &Failure| matches!(failure.cause(), Cause::Limit(_));
            let repeats = result.as_ref().map_or_else(is_limit, |_| true);
            let is_dear = |ns: f64| {
                repeats && ns / own_steps as f64 / step > FACTOR_MAX && ns > STEPS_MIN * step + setup_ns / 2.0
            };
            // A machine at work is slow now and then: what looks dear is so only if it is each time.
            let mut own_ns = (ns - setup_ns).max(0.0);
            for _ in 0..REPEATS_MAX {
                if !is_dear(own_ns) {
                    break;
                }
                let setup_ns = measure(functions, &setup).0;
                own_ns = own_ns.min((measure(functions, &text).0 - setup_ns).max(0.0));
            }
            let factor = own_ns / own_steps as f64 / step;
            if table {
                let end = result.as_ref().map_or_else(|failure| failure.to_string(), |_| String::new());
                let end: String = end.chars().rev().take(60).collect::<Vec<_>>().into_iter().rev().collect();
                println!("{factor:8.1} {:9.1} ms {own_steps:>10} steps  {call}  {end}", own_ns / 1e6);
            }
            if is_dear(own_ns) {
                wrong.push(format!("{call}: {:.1} ms for {own_steps} steps", own_ns / 1e6));
            }
        }
    }
    assert!(wrong.is_empty(), "a step that does nothing takes {step:.1} ns\n{}", wrong.join("\n"));
}
