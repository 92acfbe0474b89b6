//! The RFC's own examples, and what a template makes of a URI.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{TemplateErrorKind, TemplateValue, UriTemplate, Variables};
use crate::model::{List, Map};

fn list(values: &[&'static str]) -> TemplateValue<'static> {
    let values = values.iter().map(|&value| value.into());
    TemplateValue::List(values.collect::<List<'_, _>>())
}

fn map(values: &[(&'static str, &'static str)]) -> TemplateValue<'static> {
    let values = values.iter().map(|&(name, value)| (name, value.into()));
    TemplateValue::Map(values.collect::<Map<'_, _>>())
}

/// RFC 6570, section 3.2.
fn values() -> Variables<'static> {
    Variables::from([
        ("count", list(&["one", "two", "three"])),
        ("dom", list(&["example", "com"])),
        ("dub", "me/too".into()),
        ("hello", "Hello World!".into()),
        ("half", "50%".into()),
        ("var", "value".into()),
        ("who", "fred".into()),
        ("base", "http://example.com/home/".into()),
        ("path", "/foo/bar".into()),
        ("list", list(&["red", "green", "blue"])),
        ("keys", map(&[("semi", ";"), ("dot", "."), ("comma", ",")])),
        ("v", "6".into()),
        ("x", "1024".into()),
        ("y", "768".into()),
        ("empty", "".into()),
        ("empty_keys", map(&[])),
    ])
}

fn template(text: &str) -> UriTemplate<'_> {
    UriTemplate::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// RFC 6570, sections 3.2.1 to 3.2.9.
#[test]
fn co_06_the_examples_of_the_rfc_expand() {
    let values = values();
    for (text, uri) in [
        ("{count}", "one,two,three"),
        ("{count*}", "one,two,three"),
        ("{/count}", "/one,two,three"),
        ("{/count*}", "/one/two/three"),
        ("{;count}", ";count=one,two,three"),
        ("{;count*}", ";count=one;count=two;count=three"),
        ("{?count}", "?count=one,two,three"),
        ("{?count*}", "?count=one&count=two&count=three"),
        ("{&count*}", "&count=one&count=two&count=three"),
        ("{var}", "value"),
        ("{hello}", "Hello%20World%21"),
        ("{half}", "50%25"),
        ("O{empty}X", "OX"),
        ("O{undef}X", "OX"),
        ("{x,y}", "1024,768"),
        ("{x,hello,y}", "1024,Hello%20World%21,768"),
        ("?{x,empty}", "?1024,"),
        ("?{x,undef}", "?1024"),
        ("?{undef,y}", "?768"),
        ("{var:3}", "val"),
        ("{var:30}", "value"),
        ("{list}", "red,green,blue"),
        ("{list*}", "red,green,blue"),
        ("{keys}", "semi,%3B,dot,.,comma,%2C"),
        ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
        ("{+var}", "value"),
        ("{+hello}", "Hello%20World!"),
        ("{+half}", "50%25"),
        ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
        ("{+base}index", "http://example.com/home/index"),
        ("O{+empty}X", "OX"),
        ("O{+undef}X", "OX"),
        ("{+path}/here", "/foo/bar/here"),
        ("here?ref={+path}", "here?ref=/foo/bar"),
        ("up{+path}{var}/here", "up/foo/barvalue/here"),
        ("{+x,hello,y}", "1024,Hello%20World!,768"),
        ("{+path,x}/here", "/foo/bar,1024/here"),
        ("{+path:6}/here", "/foo/b/here"),
        ("{+list}", "red,green,blue"),
        ("{+list*}", "red,green,blue"),
        ("{+keys}", "semi,;,dot,.,comma,,"),
        ("{+keys*}", "semi=;,dot=.,comma=,"),
        ("{#var}", "#value"),
        ("{#hello}", "#Hello%20World!"),
        ("{#half}", "#50%25"),
        ("foo{#empty}", "foo#"),
        ("foo{#undef}", "foo"),
        ("{#x,hello,y}", "#1024,Hello%20World!,768"),
        ("{#path,x}/here", "#/foo/bar,1024/here"),
        ("{#path:6}/here", "#/foo/b/here"),
        ("{#list}", "#red,green,blue"),
        ("{#list*}", "#red,green,blue"),
        ("{#keys}", "#semi,;,dot,.,comma,,"),
        ("{#keys*}", "#semi=;,dot=.,comma=,"),
        ("{.who}", ".fred"),
        ("{.who,who}", ".fred.fred"),
        ("{.half,who}", ".50%25.fred"),
        ("www{.dom*}", "www.example.com"),
        ("X{.var}", "X.value"),
        ("X{.empty}", "X."),
        ("X{.undef}", "X"),
        ("X{.var:3}", "X.val"),
        ("X{.list}", "X.red,green,blue"),
        ("X{.list*}", "X.red.green.blue"),
        ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
        ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"),
        ("X{.empty_keys}", "X"),
        ("X{.empty_keys*}", "X"),
        ("{/who}", "/fred"),
        ("{/who,who}", "/fred/fred"),
        ("{/half,who}", "/50%25/fred"),
        ("{/who,dub}", "/fred/me%2Ftoo"),
        ("{/var}", "/value"),
        ("{/var,empty}", "/value/"),
        ("{/var,undef}", "/value"),
        ("{/var,x}/here", "/value/1024/here"),
        ("{/var:1,var}", "/v/value"),
        ("{/list}", "/red,green,blue"),
        ("{/list*}", "/red/green/blue"),
        ("{/list*,path:4}", "/red/green/blue/%2Ffoo"),
        ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
        ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
        ("{;who}", ";who=fred"),
        ("{;half}", ";half=50%25"),
        ("{;empty}", ";empty"),
        ("{;v,empty,who}", ";v=6;empty;who=fred"),
        ("{;v,bar,who}", ";v=6;who=fred"),
        ("{;x,y}", ";x=1024;y=768"),
        ("{;x,y,empty}", ";x=1024;y=768;empty"),
        ("{;x,y,undef}", ";x=1024;y=768"),
        ("{;hello:5}", ";hello=Hello"),
        ("{;list}", ";list=red,green,blue"),
        ("{;list*}", ";list=red;list=green;list=blue"),
        ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"),
        ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
        ("{?who}", "?who=fred"),
        ("{?half}", "?half=50%25"),
        ("{?x,y}", "?x=1024&y=768"),
        ("{?x,y,empty}", "?x=1024&y=768&empty="),
        ("{?x,y,undef}", "?x=1024&y=768"),
        ("{?var:3}", "?var=val"),
        ("{?list}", "?list=red,green,blue"),
        ("{?list*}", "?list=red&list=green&list=blue"),
        ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"),
        ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
        ("{&who}", "&who=fred"),
        ("{&half}", "&half=50%25"),
        ("?fixed=yes{&x}", "?fixed=yes&x=1024"),
        ("{&x,y,empty}", "&x=1024&y=768&empty="),
        ("{&var:3}", "&var=val"),
        ("{&list}", "&list=red,green,blue"),
        ("{&list*}", "&list=red&list=green&list=blue"),
        ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"),
        ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
        ("é/{var}", "%C3%A9/value"),
        ("a%20b", "a%20b"),
    ] {
        assert_eq!(template(text).expand(&values), uri, "{text}");
    }
}

#[test]
fn co_06_what_is_no_template_is_refused_where_it_is_wrong() {
    use TemplateErrorKind::*;
    for (text, kind, offset) in [
        ("a{b", Brace, 1),
        ("a}b", Brace, 1),
        ("{a{b}}", Brace, 0),
        ("{a}}", Brace, 3),
        ("a b", Literal, 1),
        ("a%2", Literal, 1),
        ("a|b", Literal, 1),
        ("{=a}", Operator, 1),
        ("{|a}", Operator, 1),
        ("{}", Name, 1),
        ("{+}", Name, 2),
        ("{a,}", Name, 3),
        ("{a b}", Name, 1),
        ("{.a..b}", Name, 2),
        ("{a.}", Name, 1),
        ("{a%2}", Name, 1),
        ("{a:0}", Prefix, 3),
        ("{a:}", Prefix, 3),
        ("{a:10000}", Prefix, 3),
        ("{a:+1}", Prefix, 3),
        ("{a:1*}", Name, 1),
    ] {
        let error = UriTemplate::parse(text).expect_err(text);
        assert_eq!((error.kind, error.offset), (kind, offset), "{text}");
    }
    let many = "{a}/".repeat(40);
    let error = UriTemplate::parse(&many).expect_err("too many");
    assert_eq!(error.kind, TooComplex);
    assert_eq!(
        template("{a.b}{+c%41_}").names().collect::<Vec<_>>(),
        ["a.b", "c%41_"]
    );
    assert!(
        template("")
            .matches("")
            .is_some_and(|found| found.is_empty())
    );
}

fn found<'t>(template: &'t UriTemplate<'_>, uri: &str) -> Vec<(&'t str, String)> {
    let found = template.matches(uri);
    let found = found.unwrap_or_else(|| panic!("{} against {uri}", template.as_str()));
    let names = template.names();
    names
        .filter_map(|name| {
            let value = match found.get(name)? {
                TemplateValue::Text(text) => text.to_string(),
                TemplateValue::List(list) => list.join("|"),
                TemplateValue::Map(map) => map
                    .iter()
                    .map(|(name, value)| format!("{name}:{value}"))
                    .collect::<Vec<_>>()
                    .join("|"),
            };
            Some((name, value))
        })
        .collect()
}

#[test]
fn uris_are_taken_apart() {
    for (text, uri, expected) in [
        (
            "file:///{+path}",
            "file:///a/b%20c.txt",
            &[("path", "a/b c.txt")][..],
        ),
        (
            "file:///{+dir}/{name}",
            "file:///a/b/c.txt",
            &[("dir", "a/b"), ("name", "c.txt")],
        ),
        (
            "{name}.{ext}",
            "a.b.txt",
            &[("name", "a.b"), ("ext", "txt")],
        ),
        (
            "db://{table}/{id}",
            "db://users/%2e%2E%2Fx",
            &[("table", "users"), ("id", "../x")],
        ),
        ("x://{é}", "", &[]),
        ("r://{a}{?b,c}", "r://1", &[("a", "1")]),
        ("r://{a}{?b,c}", "r://1?c=3", &[("a", "1"), ("c", "3")]),
        (
            "r://{a}{?b,c}",
            "r://1?c=a/b&b=",
            &[("a", "1"), ("b", ""), ("c", "a/b")],
        ),
        (
            "r://{a}?x=1{&b}",
            "r://1?x=1&b=2",
            &[("a", "1"), ("b", "2")],
        ),
        ("{?a}{&b}", "?a=1&b=2", &[("a", "1"), ("b", "2")]),
        ("r:/{/list*}", "r://red/green", &[("list", "red|green")]),
        (
            "r:/{/list*}{?q*}",
            "r://red?a=1&b=2",
            &[("list", "red"), ("q", "a:1|b:2")],
        ),
        ("{list}", "red,gr%2Ceen", &[("list", "red|gr,een")]),
        ("{x,y}", "1,2", &[("x", "1"), ("y", "2")]),
        ("{;x,y}", ";x=1;y", &[("x", "1"), ("y", "")]),
        ("{?list*}", "?list=1&list=2", &[("list", "1|2")]),
        (
            "{/var:1,var}",
            "/v/value",
            &[("var", "value"), ("var", "value")],
        ),
        ("{x}-{x}", "a-a", &[("x", "a"), ("x", "a")]),
        ("X{.ext}{#at}", "X.a.b#/c", &[("ext", "a.b"), ("at", "/c")]),
        ("{x}", "é", &[("x", "é")]),
        ("é{x}", "éa", &[("x", "a")]),
        ("é{x}", "%C3%A9a", &[("x", "a")]),
    ] {
        if expected.is_empty() {
            assert!(UriTemplate::parse(text).is_err(), "names are ASCII");
            continue;
        }
        let template = template(text);
        let expected: Vec<_> = expected.iter().map(|&(n, v)| (n, v.to_string())).collect();
        assert_eq!(found(&template, uri), expected, "{text} against {uri}");
    }
}

#[test]
fn uris_of_another_form_are_not() {
    for (text, uri) in [
        ("a/{x}", "b/c"),
        ("a/{x}", "a/"),
        ("a/{x}", "a/b/c"),
        ("a/{x}", "a/b?c"),
        ("a/{x}", "a/b c"),
        ("a/{x}", "a/%zz"),
        ("a/{x}", "a/%"),
        ("a/{x}", "a/%+1"),
        ("a/{x}", "a/%ff"),
        ("a/{x}/b", "a/b"),
        ("{x}-{x}", "a-b"),
        ("{/var:1,var}", "/x/value"),
        ("{var:2}", "abc"),
        ("{?a}", "?b=1"),
        ("{?a}", "?a=1&a=2"),
        ("{?a}", "?a=1#b"),
        ("{?a*}", "?b=1&b=2"),
        ("x", "xy"),
        ("", "x"),
    ] {
        assert!(
            template(text).matches(uri).is_none(),
            "{text} against {uri}"
        );
    }
}

/// The worst for those who try: every run could take everything.
#[test]
fn hostile_uris_take_no_longer_than_others() {
    let text = "{a}-{b}-{c}-{d}-{e}-{+f}-{+g}-{+h}-{/i*}-{/j*}{?k*}x";
    let template = template(text);
    let uri = "-/".repeat(16 * 1024);
    assert!(template.matches(&uri).is_none());
    assert!(template.matches(&"a".repeat(64 * 1024 + 1)).is_none());
    let query = format!("?{}", "a=1&".repeat(16 * 1023));
    assert!(self::template("{?k*}").matches(&query).is_none());
}

/// An equals sign is for variables that explode, and not for those beside them.
#[test]
fn a_sign_that_would_have_been_encoded_is_in_no_value() {
    assert!(template("{+x}{y,z*}").matches("?=").is_none());
    assert!(template("{y,z*}").matches("a,b=c").is_some());
    assert!(template("{y,z*}").matches("a=b,c").is_none());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z0-9._~-]{1,6}",
        "[ -~]{1,6}",
        "\\PC{1,4}",
        "[/?#%,=&;.]{1,4}",
    ]
}

proptest! {
    /// What was written is found again, where the RFC leaves one way to read it.
    #[test]
    fn co_06_values_come_back(
        values in vec(text(), 2),
        list in vec(text(), 2..4),
        form in proptest::sample::select(&[
            "x://{a}/{b}", "{a},{b}", "{/a,b}", "{?a,b}", "{;a,b}", "q?z=1{&a,b}", "{a}{?b}", "{/a}{/b}",
            "{?a}{&b}", "x{#a}",
        ][..]),
        lists in proptest::sample::select(&["{/l*}", "{?l*}", "{;l*}", "{l}", "{?l}", "a{&l*}"][..]),
    ) {
        let template = template(form);
        let mut given = Variables::EMPTY;
        for (name, value) in template.names().zip(&values) {
            given.insert(name, value.as_str().into());
        }
        let uri = template.expand(&given);
        prop_assert_eq!(template.matches(&uri), Some(given), "{} {}", form, uri);

        let template = self::template(lists);
        let list: List<'_, _> = list.iter().map(|value| value.as_str().into()).collect();
        let given = Variables::from([("l", TemplateValue::List(list))]);
        let uri = template.expand(&given);
        prop_assert_eq!(template.matches(&uri), Some(given), "{} {}", lists, uri);
    }

    /// A match is one: written out again it is the same URI, but for how things are encoded.
    #[test]
    fn matching_agrees_with_expanding(
        form in "[a-c/]{0,2}\\{[+#./;?&]?x[*]?\\}[a-c/]{0,2}(\\{[+#./;?&]?y(,z)?[*]?\\})?[a-c]?",
        uri in "[a-c/?;&=.,#xyz]{0,16}",
    ) {
        let Ok(template) = UriTemplate::parse(&form) else { return Ok(()) };
        if let Some(found) = template.matches(&uri) {
            let again = template.expand(&found);
            prop_assert!(template.matches(&again).is_some(), "{} {} {}", form, uri, again);
        }
    }
}
