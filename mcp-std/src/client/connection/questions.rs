//! What the server asks: the requests of the legacy era.

use core::task::Poll;

use mcp_core::ErrorCode;
use mcp_core::engine::client::{ReplyToken, ServerRequest, ServerRequestKind};
use mcp_core::frame::Lines;
use mcp_core::model::{InputRequest, InputResponse};
use mcp_core::rpc::ErrorObject;

use super::ClientConnection;
use crate::client::handlers::{Declined, Refusal};
use crate::panic::contain;

impl ClientConnection<'_> {
    /// Asks a handler what the server asks.
    pub(super) fn asked_by_server(&mut self, request: ServerRequest<'_>, out: &mut Vec<u8>) {
        let ServerRequest {
            token,
            kind,
            params,
            ..
        } = request;
        let question = InputRequest::of(method_of(kind).into(), params);
        let question = match question {
            Ok(question) => question.into_owned(),
            Err(error) => {
                self.answer(token, Err(Refusal::Invalid(error.to_string())), out);
                return;
            }
        };
        let server = self.stdio.engine().server();
        let server = server.and_then(|server| server.implementation.clone());
        // Making the future runs the program's code as well.
        let doing = contain(|| self.shared.handlers.answer(question, server));
        let Ok(doing) = doing else {
            let panicked = Declined::failed("the handler panicked");
            self.answer(token, Err(Refusal::Declined(panicked)), out);
            return;
        };
        let index = token.key().index();
        if let Poll::Ready((token, done)) = self.running.start(index, doing, token) {
            self.answer(token, done, out);
        }
    }

    /// Answers the server.
    pub(super) fn answer(
        &mut self,
        token: ReplyToken,
        done: Result<InputResponse<'static>, Refusal>,
        out: &mut Vec<u8>,
    ) {
        /// What the examples of the specification have for a user who says no (SMP-07).
        const DECLINED: ErrorCode = ErrorCode::new(-1);
        let refusal = match done {
            Ok(response) => {
                let engine = self.stdio.engine_mut();
                // Stale: the server has taken its question back.
                let _ = engine.reply(token, &response, &mut Lines::new(out));
                return;
            }
            Err(refusal) => refusal,
        };
        let (code, message) = match &refusal {
            Refusal::Unsupported => (ErrorCode::METHOD_NOT_FOUND, "Method not found"),
            Refusal::Invalid(fault) => (ErrorCode::INVALID_PARAMS, &**fault),
            Refusal::Declined(declined) if declined.by_user => (DECLINED, &*declined.reason),
            Refusal::Declined(declined) => (ErrorCode::INTERNAL_ERROR, &*declined.reason),
        };
        let error = ErrorObject::new(code, message);
        let engine = self.stdio.engine_mut();
        let _ = engine.fail(token, &error, &mut Lines::new(out));
    }
}

/// The method of a question of the server's.
const fn method_of(kind: ServerRequestKind) -> &'static str {
    match kind {
        ServerRequestKind::ListRoots => "roots/list",
        ServerRequestKind::CreateMessage => "sampling/createMessage",
        ServerRequestKind::Elicit => "elicitation/create",
        // Passed on by the engine only if it is known, and not known here: no handler is either.
        _ => "",
    }
}
