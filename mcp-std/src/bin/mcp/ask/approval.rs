//! Whether a tool may be called, asked in the terminal.

use core::future::Future;
use core::pin::Pin;
use std::sync::PoisonError;

use mcp_std::host::{ApprovalRequest, Decision, Glob};

use super::keyboard::Turn;
use super::{Ending, TURN, choose};
use crate::screen;
use crate::show::word;
use crate::text::cut;

type Deciding = Pin<Box<dyn Future<Output = Decision> + Send>>;

/// Approves of the tools of these names; of all others whoever is at the terminal does, or nobody.
pub(crate) fn approver(
    approved: &[String],
    terminal: bool,
) -> impl Fn(ApprovalRequest) -> Deciding + Send + Sync + use<> {
    let approved: Vec<_> = approved.iter().map(|pattern| Glob::new(pattern)).collect();
    move |request| {
        let name = &request.tool.name;
        if approved.iter().any(|pattern| pattern.matches(name)) {
            return Box::pin(async { Decision::Once });
        }
        if !terminal {
            screen::print(&format!(
                "mcp host: {} is not called: nobody is asked here; `--approve {}` allows it\n",
                word(name),
                word(name)
            ));
            return Box::pin(async { Decision::Deny("nobody is there to approve of it".into()) });
        }
        let asked = Turn::begin();
        Box::pin(smol::unblock(move || decide(&request, asked)))
    }
}

fn decide(request: &ApprovalRequest, asked: Turn) -> Decision {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let refused = || Decision::Deny("the user said no".to_owned());
    if asked.is_over() {
        return refused();
    }
    for finding in &request.findings {
        screen::print(&format!("  Careful: {}\n", word(&finding.to_string())));
    }
    let arguments = word(&request.arguments.to_string());
    screen::print(&format!(
        "  {} of {} is to be called with {}\n",
        word(&request.tool.tool),
        word(&request.server),
        cut(&arguments, 2000)
    ));
    match choose(
        "  Call it? [y]es, [N]o, [a]lways: ",
        &["n", "y", "a"],
        asked,
    ) {
        Ok("y") => Decision::Once,
        Ok("a") => Decision::Always,
        Ok(_) => refused(),
        Err(Ending::Decline | Ending::Cancel) => refused(),
    }
}
