//! What authors are told about wrong uses. That right uses do the right thing is tested in mcp-std.

use proc_macro2::TokenStream;
use syn::{File, Item};

use super::expand;

/// What the compiler is made to say, in order.
fn errors(options: &str, function: &str) -> Vec<String> {
    let tokens = |text: &str| text.parse::<TokenStream>().expect("tokens");
    let expanded = expand(tokens(options), tokens(function));
    let file = syn::parse2::<File>(expanded).expect("items, or nothing can be shown");
    assert!(
        matches!(file.items.first(), Some(Item::Fn(_) | Item::Struct(_))),
        "what was there stays there, or everything that refers to it fails as well"
    );
    let messages = file.items.into_iter().filter_map(|item| {
        let Item::Macro(item) = item else { return None };
        item.mac.parse_body::<syn::LitStr>().ok()
    });
    messages.map(|message| message.value()).collect()
}

#[track_caller]
fn refused(options: &str, function: &str, because: &[&str]) {
    let errors = errors(options, function);
    assert_eq!(errors.len(), because.len(), "{errors:?}");
    for (error, because) in errors.iter().zip(because) {
        assert!(error.contains(because), "{error:?} because {because:?}");
    }
}

#[test]
fn what_is_no_free_function() {
    refused("", "struct Add;", &["a tool is a function"]);
    refused("", "fn f(&self) {}", &["not a method"]);
    refused("", "fn f<T>(a: T) {}", &["not a generic one"]);
    refused("", "fn f<'a>(a: u8) {}", &["not a generic one"]);
    refused("", "unsafe fn f() {}", &["`unsafe`"]);
}

#[test]
fn arguments_that_a_client_cannot_give() {
    refused("", "fn f((a, b): (u8, u8)) {}", &["by name"]);
    refused("", "fn f(Point { x, y }: Point) {}", &["by name"]);
    refused("", "fn f(a: &str) {}", &["take `String`"]);
    refused("", "fn f(a: impl Into<String>) {}", &["`impl Trait`"]);
    refused("", "fn f(#[cfg(unix)] a: u8) {}", &["`cfg`"]);
    refused("", "fn f(#[default = 3] a: u8) {}", &["#[default(value)]"]);
    refused("", "fn f(#[default()] a: u8) {}", &["#[default(value)]"]);
}

#[test]
fn what_the_client_does_not_give() {
    refused("", "fn f(a: Context, b: &Context) {}", &["one context"]);
    refused("", "fn f(#[state] a: &mut Notes) {}", &["side by side"]);
    refused("", "fn f(#[state] #[default] a: &Notes) {}", &["a default"]);
    refused(
        "",
        "fn f(#[serde(default)] a: Context) {}",
        &["attributes of serde"],
    );
}

#[test]
fn options() {
    refused(
        "readonly",
        "fn f() {}",
        &["not an option of a tool; these are: `name`"],
    );
    refused("name = 3", "fn f() {}", &["expected string literal"]);
    refused("read_only = 1", "fn f() {}", &["expected boolean literal"]);
    refused("local, local", "fn f() {}", &["said twice"]);
    refused("", "#[doc = concat!()] fn f() {}", &["description"]);
}

#[test]
fn all_mistakes_at_once() {
    refused(
        "oops",
        "fn f<T>((a, b): (T, T), c: &str) {}",
        &["not an option", "not a generic one", "by name", "`String`"],
    );
}

#[test]
fn half_written_bodies_are_the_compilers_to_judge() {
    let tokens = "fn f(a: u8) { let x = }".parse().expect("tokens");
    let expanded = expand(TokenStream::new(), tokens).to_string();
    assert!(!expanded.contains("compile_error"), "{expanded}");
}
