//! Requests whose answers are there at once: most of them.

use core::convert::Infallible;
use core::future::ready;

use http::Response;
use mcp_core::binding::http::{Head, Output, Route, Verb};
use mcp_core::engine::server::Message;
use mcp_io::http::server::{Plain, Straight, Taken};

use super::exchange::{Begun, Exchange};
use super::service::{HttpService, ServiceFuture, ended, exchange_response, listens};

/// The same as `call` does with modern requests that have to do with nothing else: no token, no page of a browser, no session.
/// Up to where the exchange begins everything can be declined, as nothing has happened.
impl Straight for HttpService {
    fn straight(&mut self, request: &Plain<'_>) -> Taken<ServiceFuture> {
        let endpoint = &self.0;
        #[cfg(feature = "auth")]
        if endpoint.auth.is_some() {
            return Taken::Declined;
        }
        let mut head = Head::new("POST", request.query());
        for (name, value) in request.headers() {
            head.push(name, value);
        }
        let admission = endpoint.rules.admit(&head);
        let (Ok(Verb::Post(accepts)), None) = (admission.verb, admission.origin) else {
            return Taken::Declined;
        };
        let limits = endpoint.server.limits();
        if request.body().len() > limits.max_message {
            return Taken::Declined;
        }
        let message = Message::read(request.body(), &limits);
        if head.route(&message) != Ok(Route::Stateless) || listens(&message) {
            return Taken::Declined;
        }
        match Exchange::begin(endpoint, None, &head, accepts, &message) {
            Begun::Ended(Output::Json {
                status: 200, body, ..
            }) => Taken::Json(body),
            Begun::Ended(output) => Taken::Begun(at_once(ended(output))),
            Begun::Going(exchange) => Taken::Begun(Box::pin(async {
                Ok::<_, Infallible>(exchange_response(exchange).await)
            })),
        }
    }
}

fn at_once(response: Response<super::HttpBody>) -> ServiceFuture {
    Box::pin(ready(Ok(response)))
}
