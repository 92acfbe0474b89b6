//! A wiki: resources, a template of them, a prompt, completion, and changes that subscribers hear of.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mcp_std::{Context, Prompt, Resource, ResourceError, ResourceTemplate, Server};
use schemars::JsonSchema;
use serde::Deserialize;

/// Titles and texts. Calls run side by side, and each holds it for as long as it needs.
type Pages = Arc<Mutex<BTreeMap<String, String>>>;

/// The variables of the template below.
#[derive(Deserialize)]
struct Page {
    title: String,
}

#[derive(Deserialize, JsonSchema)]
struct Edit {
    /// The title of the page; a new one makes a new page.
    title: String,
    /// What it is to say.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Summary {
    /// Which page.
    title: String,
    /// How many words.
    words: Option<u32>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pages = Pages::default();
    write(&pages, "Home", "Welcome to the wiki!");

    let shared = pages.clone();
    let titles = move |typed: String, _| {
        let titles = read(&shared, |pages| pages.keys().cloned().collect::<Vec<_>>());
        async move {
            let fitting = titles.into_iter().filter(|title| title.starts_with(&typed));
            fitting.collect::<Vec<_>>()
        }
    };

    let shared = pages.clone();
    let index = Resource::new("wiki://index", "index", move || {
        let index = read(&shared, |pages| pages.keys().cloned().collect::<Vec<_>>());
        async move { index.join("\n") }
    })
    .description("The titles of all pages")
    .mime_type("text/plain");

    let shared = pages.clone();
    let page = ResourceTemplate::new("wiki://page/{title}", "page", move |page: Page| {
        let text = read(&shared, |pages| pages.get(&page.title).cloned());
        async move { text.ok_or(ResourceError::NotFound) }
    })
    .mime_type("text/markdown")
    .complete("title", titles.clone());

    let summarise = Prompt::new("summarise", "Sums up a page", |it: Summary| async move {
        let words = it.words.unwrap_or(100);
        format!("Sum up wiki://page/{} in {words} words", it.title)
    })
    .complete("title", titles);

    let edit = move |context: Context, edit: Edit| {
        write(&pages, &edit.title, &edit.text);
        context.resource_updated(&format!("wiki://page/{}", edit.title));
        context.resource_updated("wiki://index");
        async {}
    };

    Server::builder("wiki", "1.0.0")
        .with_resource(index)
        .with_template(page)
        .with_prompt(summarise)
        .tool("edit", "Writes a page", edit)
        .subscriptions()
        .build()?
        .run_stdio()?;
    Ok(())
}

fn read<T>(pages: &Pages, look: impl FnOnce(&BTreeMap<String, String>) -> T) -> T {
    look(&pages.lock().expect("nothing panics while it is locked"))
}

fn write(pages: &Pages, title: &str, text: &str) {
    let mut pages = pages.lock().expect("nothing panics while it is locked");
    pages.insert(title.to_owned(), text.to_owned());
}
