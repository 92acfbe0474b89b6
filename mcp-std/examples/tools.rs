//! A notebook: one server with each kind of tool. Tools share state, take arguments or none, return text or
//! structured content, report progress, and fail.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_io::Timer;
use mcp_std::{Context, Limits, Progress, Server, Structured, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the tools share: calls run side by side, and each holds it for as long as it needs.
type Notes = Arc<Mutex<Vec<Remember>>>;

/// The arguments of a tool. The client sees the type as a JSON Schema, with these comments as descriptions.
#[derive(Deserialize, JsonSchema)]
struct Remember {
    /// What the note is about, in a word or two.
    topic: String,
    /// The note itself.
    text: String,
}

/// A structured result. Its schema is in the list of tools as well.
#[derive(Serialize, JsonSchema)]
struct Remembered {
    /// How many notes there are now.
    notes: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let notes = Notes::default();

    // Each call gets a future of its own, and each future a handle of its own on what is shared.
    let shared = notes.clone();
    let remember = move |note: Remember| {
        let notes = shared.clone();
        async move {
            let mut notes = notes.lock().expect("no tool panics while it is locked");
            notes.push(note);
            Structured(Remembered { notes: notes.len() })
        }
    };

    // No arguments.
    let recall = move || {
        let notes = notes.clone();
        async move {
            let notes = notes.lock().expect("no tool panics while it is locked");
            let lines = notes
                .iter()
                .map(|note| format!("{}: {}", note.topic, note.text));
            lines.collect::<Vec<_>>().join("\n")
        }
    };

    // An `Err` is for the model to read; anything that is `Display` will do.
    let publish = || async { Err::<(), _>("this notebook is private") };

    // The default is 4 MiB. No note is as long.
    let mut limits = Limits::DEFAULT;
    limits.max_message = 64 * 1024;

    Server::builder("notebook", "1.0.0")
        .instructions(
            "Remember what the user may want to know again, and recall it before you ask.",
        )
        .limits(limits)
        .tool("remember", "Writes a note", remember)
        // `Tool` is for those that have more to say about themselves.
        .with_tool(Tool::new("recall", "Reads all notes", recall).read_only(true))
        .tool("study", "Goes through the notes in three rounds", study)
        .tool("publish", "Shows the notes to everybody", publish)
        .build()?
        .run_stdio()?;
    Ok(())
}

/// Handlers may be functions as well. The context is how a call reports progress, to clients that asked for it.
async fn study(context: Context) -> &'static str {
    for (round, saying) in [
        (1.0, "reading"),
        (2.0, "reading again"),
        (3.0, "learning by heart"),
    ] {
        context
            .progress(Progress::new(round).of(3.0).saying(saying))
            .await;
        // Other calls go on meanwhile. If the client cancels this one, it ends here.
        Timer::after(Duration::from_millis(100)).await;
    }
    "learned"
}
