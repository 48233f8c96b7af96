//! What randomness and the clock give: nothing, or always the same.

use super::*;
use crate::{Drew, SecretSeed, Seed};

fn seeded(seed: u8, allowed: &[&str]) -> Effects {
    with_seed(Seed::Public([seed; 32]), allowed)
}

fn with_seed(seed: Seed, allowed: &[&str]) -> Effects {
    let now = "2026-01-02T03:04:05Z".parse().expect("a time");
    let allowed = allowed.iter().map(|name| (*name).to_owned()).collect();
    Effects::Seeded { seed, now, allowed, drew: Drew::default() }
}

fn secret(key: u8, identity: &str) -> Seed {
    Seed::Secret { key: SecretSeed::new([key; 32]), identity: identity.to_owned() }
}

fn with(effects: Effects, text: &str) -> Result<String, Failure> {
    run(text, Value::Nil, Limits::default(), effects).map(|out| String::from_utf8(out).expect("UTF-8"))
}

#[test]
fn what_would_differ_is_refused_by_name() {
    let calls = [
        "randAlphaNum 3",
        "randAlpha 3",
        "randNumeric 3",
        "randAscii 3",
        "randBytes 3",
        "randInt 1 2",
        "shuffle \"ab\"",
        "uuidv4",
        "bcrypt \"x\"",
        "htpasswd \"u\" \"p\"",
        "encryptAES \"k\" \"t\"",
        "genPrivateKey \"rsa\"",
        "genCA \"x\" 1",
        "genSelfSignedCert \"x\" nil nil 1",
        "now",
        "ago 0",
        "date \"2006\" \"x\"",
        "htmlDate nil",
        "dateInZone \"2006\" 1.5 \"UTC\"",
        "durationRound (toDate \"2006\" \"2020\")",
    ];
    for call in calls {
        let failure = with(Effects::Refuse, &format!("{{{{ {call} }}}}")).expect_err(call);
        let Cause::Refused(found) = failure.cause() else { panic!("{call}: {failure}") };
        assert_eq!(found.refused.function(), call.split(' ').next().expect("a name"), "{call}");
        let level = failure.levels().next().expect("a place");
        assert_eq!((level.place.line, level.place.column), (1, 3), "{call}");
    }
    // Not among those that the admin allowed.
    assert!(with(seeded(1, &["uuidv4"]), "{{ randAlphaNum 3 }}").is_err());
}

#[test]
fn a_seed_gives_the_same_again() {
    let text = "{{ randAlphaNum 8 }}|{{ randAlphaNum 8 }}|{{ uuidv4 }}|{{ randInt 5 100 }}|{{ shuffle \"abcdef\" }}|{{ now | htmlDate }}";
    let allowed = ["randAlphaNum", "uuidv4", "randInt", "shuffle", "now"];
    let first = with(seeded(1, &allowed), text).expect("allowed");
    assert_eq!(first, with(seeded(1, &allowed), text).expect("allowed"));
    assert_ne!(first, with(seeded(2, &allowed), text).expect("allowed"));
    let parts: Vec<&str> = first.split('|').collect();
    assert_ne!(parts[0], parts[1], "two calls differ");
    assert_eq!(parts[5], "2026-01-02");
    // An edit elsewhere leaves a call's result alone.
    let edited = with(seeded(1, &allowed), "new\n{{ uuidv4 }} text {{ randAlphaNum 8 }}").expect("allowed");
    assert!(edited.ends_with(parts[0]), "{edited} against {first}");
}

#[test]
fn the_stream_of_a_seed_never_changes() {
    // Pinned: another value would change what is hydrated everywhere.
    let text = "{{ randAlphaNum 8 }} {{ randBytes 6 }} {{ uuidv4 }} {{ randInt 0 1000000 }} {{ genPrivateKey \"ed25519\" | sha256sum | trunc 16 }}";
    let allowed = ["randAlphaNum", "randBytes", "uuidv4", "randInt", "genPrivateKey"];
    assert_eq!(
        with(seeded(7, &allowed), text).expect("allowed"),
        "B26DcUsH 0wR9SheO 9e0b74af-fbe1-4bde-a431-0c6d48ad7177 432295 6685831f1c8eac36"
    );
}

/// Every function that draws, each with a call.
const DRAWS: [(&str, &str); 18] = [
    ("randAlphaNum", "randAlphaNum 12"),
    ("randAlpha", "randAlpha 12"),
    ("randNumeric", "randNumeric 12"),
    ("randAscii", "randAscii 12 | b64enc"),
    ("randBytes", "randBytes 9"),
    ("randInt", "randInt 0 1000000000"),
    ("shuffle", "shuffle \"abcdefghijklmnop\""),
    ("uuidv4", "uuidv4"),
    ("genPrivateKey", "genPrivateKey \"ed25519\" | sha256sum"),
    ("genCA", "(genCA \"x\" 1).Key | sha256sum"),
    ("genCAWithKey", "(genCAWithKey \"x\" 1 (genCA \"k\" 1).Key).Cert | sha256sum"),
    ("genSelfSignedCert", "(genSelfSignedCert \"x\" nil nil 1).Key | sha256sum"),
    ("genSelfSignedCertWithKey", "(genSelfSignedCertWithKey \"x\" nil nil 1 (genCA \"k\" 1).Key).Cert | sha256sum"),
    ("genSignedCert", "(genSignedCert \"x\" nil nil 1 (genCA \"k\" 1)).Cert | sha256sum"),
    (
        "genSignedCertWithKey",
        "(genSignedCertWithKey \"x\" nil nil 1 (genCA \"k\" 1) (genCA \"l\" 1).Key).Cert | sha256sum",
    ),
    ("bcrypt", "bcrypt \"word\""),
    ("htpasswd", "htpasswd \"user\" \"word\""),
    ("encryptAES", "encryptAES \"key\" \"text\""),
];

#[test]
fn what_is_drawn_follows_from_key_identity_function_and_call() {
    for (function, call) in DRAWS {
        let draw = |seed: Seed, before: &str| {
            let text = format!("{before}[{{{{ {call} }}}}]");
            let out = with(with_seed(seed, &[function, "randAlpha", "genCA"]), &text).expect(function);
            out.rsplit_once('[').expect("there").1.to_owned()
        };
        let plain = draw(secret(1, "a"), "");
        assert_eq!(
            plain,
            draw(secret(1, "a"), "new\n{{ randAlpha 3 }} {{ if true }}x{{ end }}"),
            "{function}: an edit elsewhere"
        );
        assert_ne!(plain, draw(secret(2, "a"), ""), "{function}: the key counts");
        assert_ne!(plain, draw(secret(1, "b"), ""), "{function}: the identity counts");
        assert_ne!(plain, draw(Seed::public("a"), ""), "{function}: it cannot be computed without the key");
    }
    let calls =
        with(with_seed(secret(1, "a"), &["randAlpha"]), "{{ randAlpha 9 }} {{ randAlpha 9 }} {{ randAlpha 10 }}");
    let calls = calls.expect("allowed");
    let calls: Vec<&str> = calls.split(' ').collect();
    assert_ne!(calls[0], calls[1], "each call draws by itself");
    assert_ne!(calls[0], &calls[2][..9], "and by its text");
}

#[test]
fn a_draw_is_heard_of() {
    for (function, call) in DRAWS {
        let drew = Drew::default();
        let allowed = [function.to_owned(), "genCA".to_owned()].into();
        let (seed, now) = (Seed::Sketch, jiff::Timestamp::UNIX_EPOCH);
        let effects = Effects::Seeded { seed, now, allowed, drew: drew.clone() };
        with(effects, &format!("{{{{ {call} }}}}")).expect(function);
        assert!(drew.is_set(), "{function}");
    }
    for text in ["{{ now | htmlDate }}", "{{ derivePassword 1 \"long\" \"word\" \"user\" \"example.com\" }}", "plain"] {
        let drew = Drew::default();
        let (seed, now, allowed) = (Seed::Sketch, jiff::Timestamp::UNIX_EPOCH, ["now".to_owned()].into());
        with(Effects::Seeded { seed, now, allowed, drew: drew.clone() }, text).expect(text);
        assert!(!drew.is_set(), "{text}");
    }
}

/// HMAC-SHA256 over the length of the identity, the identity, how often the call ran, function, template and call; then
/// SHA-256 over that and a counter, as engine revisions 1 to 3 had it. Computed with Python's hmac.
#[test]
fn the_stream_of_a_secret_seed_never_changes() {
    let out = with(with_seed(secret(7, "argocd/web/dev"), &["randBytes"]), "{{ randBytes 24 }}").expect("allowed");
    assert_eq!(out, "m+0ArfWRW3B13L2IT21J6zEd4Yohn+mF");
}

#[test]
fn certificates_are_signed_by_their_ca() {
    let text = "{{ $ca := genCA \"ca\" 365 }}{{ $cert := genSignedCert \"x\" (list \"1.2.3.4\") (list \"a.b\") 10 $ca }}\
                {{ $ca.Cert }}{{ $cert.Cert }}{{ $cert.Key }}{{ typeOf $ca }} {{ kindOf $ca }} {{ (buildCustomCert (b64enc $ca.Cert) (b64enc $ca.Key)).Cert | eq $ca.Cert }}";
    let allowed = ["genCA", "genSignedCert"];
    let out = with(seeded(3, &allowed), text).expect("allowed");
    assert!(out.ends_with("sprig.certificate struct true"), "{out}");
    assert_eq!(out.matches("-----BEGIN CERTIFICATE-----\n").count(), 2);
    assert_eq!(out.matches("-----BEGIN RSA PRIVATE KEY-----\n").count(), 1);
    let failure = with(seeded(3, &allowed), "{{ genCA \"x\" 1.5 }}").expect_err("no int");
    assert!(failure.to_string().ends_with("expected integer; found 1.5"), "{failure}");
    let failure = with(seeded(3, &["genCA"]), "{{ genSelfSignedCert \"x\" \"y\" nil 1 }}").expect_err("no list");
    assert!(failure.to_string().contains("can't handle \"y\" for arg of type []interface {}"), "{failure}");
}

/// There is no clock by which it could be made anew.
#[test]
fn a_certificate_of_a_secret_seed_has_no_end() {
    let end = |seed| {
        let out = with(with_seed(seed, &["genCA"]), "{{ (genCA \"ca\" 365).Cert }}").expect("allowed");
        let base64: String = out.lines().filter(|line| !line.starts_with('-')).collect();
        let der = data_encoding::BASE64.decode(base64.as_bytes()).expect("base64");
        ["99991231235959Z", "270102030405Z"].map(|end| memchr::memmem::find(&der, end.as_bytes()).is_some())
    };
    assert_eq!(end(secret(1, "argocd/web/dev")), [true, false]);
    assert_eq!(end(Seed::Public([1; 32])), [false, true]);
}

#[test]
fn a_probe_notes_each_call_by_the_way_to_it() {
    let text = "{{ define \"a\" }}{{ randAlpha 3 }}{{ end }}{{ range list 1 2 }}{{ template \"a\" }}{{ end }}\n{{ template \"a\" }} {{ now }}{{ uuidv4 }}";
    let parsed = Parsed::new("t", text, &Functions::standard()).expect("a template");
    let mut set = Set::new("t");
    set.add(&parsed);
    let probe = |calls, number| {
        let (seed, now, allowed) = (Seed::Public([0; 32]), jiff::Timestamp::UNIX_EPOCH, ["uuidv4".to_owned()].into());
        let effects = Effects::Probe { seed, now, allowed, calls, number, sketch: true };
        let mut runtime = Runtime::new(Limits::default(), effects);
        let out = runtime.execute(&set, "t", Value::Nil).expect("executes");
        (String::from_utf8(out).expect("UTF-8"), runtime.probed().to_vec())
    };
    let (first, probed) = probe(Calls::All, 0);
    let ways: Vec<Vec<_>> =
        probed.iter().map(|call| call.places.iter().map(|place| (place.line, place.column)).collect()).collect();
    assert_eq!(ways, [vec![(1, 74), (1, 19)], vec![(2, 12), (1, 19)], vec![(2, 22)]], "what is in a loop counts once");
    // The second call draws elsewhere, the others as before.
    let (second, again) = probe(Calls::At([probed[1].site].into()), 1);
    assert_eq!(again, probed);
    assert_eq!(first[..6], second[..6]);
    assert_ne!(first[7..10], second[7..10]);
    assert_eq!(first[10..], second[10..]);
}
