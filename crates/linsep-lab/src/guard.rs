//! Who may speak to the server.
//!
//! Problem: a server on loopback is reachable by every page that the browser has open, by a name that an
//! attacker points at 127.0.0.1, and by every user of a shared machine. So: an exact list of hosts with the
//! port (no other name gets an answer), a random token that moves from the printed address into a cookie
//! that scripts cannot read and other sites cannot send, and for everything that changes something an origin
//! that is our own. Nothing is said to other origins, and no address is a path of the file system.

use crate::answer::{redirect, refuse};
use crate::limits;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use linsep::{Error, Result};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The rules of one server.
pub(crate) struct Guard {
    token: String,
    cookie: String,
    /// Host headers that are answered.
    hosts: Vec<String>,
    bucket: Mutex<Bucket>,
}

/// Requests that may come at once, filled up as time goes by.
struct Bucket {
    left: f64,
    at: Instant,
}

const TOKEN_BYTES: usize = 32;

/// What every answer says to the browser, errors too.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'self'; img-src 'self' blob:; base-uri 'none'; form-action 'none'; \
         frame-ancestors 'none'; object-src 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

impl Guard {
    /// Rules for a server on this port, with a new token.
    pub(crate) fn new(port: u16) -> Result<Guard> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| Error::usage(format!("the system gives no random bytes: {error}")))?;
        Ok(Guard {
            token: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            cookie: format!("linsep-lab-{port}"),
            hosts: ["127.0.0.1", "localhost", "[::1]"].map(|h| format!("{h}:{port}")).to_vec(),
            bucket: Mutex::new(Bucket { left: limits::BURST, at: Instant::now() }),
        })
    }

    /// The address to open.
    pub(crate) fn address(&self) -> String {
        format!("http://{}/?token={}", self.hosts[0], self.token)
    }

    fn is_token(&self, text: &str) -> bool {
        // As long for a wrong token as for a right one.
        let same = text.bytes().zip(self.token.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b));
        text.len() == self.token.len() && same == 0
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
        cookies.flat_map(|line| line.split(';')).any(|pair| {
            let named = pair.trim().split_once('=').filter(|(name, _)| *name == self.cookie);
            named.is_some_and(|(_, value)| self.is_token(value))
        })
    }

    fn takes_part(&self) -> bool {
        let mut bucket = self.bucket.lock().unwrap_or_else(|broken| broken.into_inner());
        let passed = bucket.at.elapsed().as_secs_f64();
        bucket.at = Instant::now();
        bucket.left = (bucket.left + passed * limits::RATE).min(limits::BURST);
        let has_room = bucket.left >= 1.0;
        bucket.left -= if has_room { 1.0 } else { 0.0 };
        has_room
    }

    /// The answer to a request that is not let through.
    fn verdict(&self, method: &Method, uri: &Uri, headers: &HeaderMap) -> Option<Response> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = match (hosts.next().and_then(|host| host.to_str().ok()), hosts.next()) {
            (Some(host), None) if self.hosts.iter().any(|known| known == host) => host,
            _ => return Some(refuse(StatusCode::FORBIDDEN, "host", "this host is not served")),
        };
        if uri.authority().is_some_and(|authority| authority.as_str() != host) {
            return Some(refuse(StatusCode::FORBIDDEN, "host", "this host is not served"));
        }
        if !self.takes_part() {
            let words = "too many requests; wait a second";
            return Some(refuse(StatusCode::TOO_MANY_REQUESTS, "rate", words));
        }
        let is_get = method == Method::GET;
        if !is_get && method != Method::POST && method != Method::DELETE {
            return Some(refuse(
                StatusCode::METHOD_NOT_ALLOWED,
                "method",
                "not a method of the lab",
            ));
        }
        let own = format!("http://{host}");
        let origin = headers.get(header::ORIGIN);
        let is_own = |value: &HeaderValue| value.as_bytes() == own.as_bytes();
        let foreign = match origin {
            Some(value) => !is_own(value),
            None => !is_get,
        };
        if foreign {
            return Some(refuse(
                StatusCode::FORBIDDEN,
                "origin",
                "only the lab's own page may ask",
            ));
        }
        let entry = is_get && uri.path() == "/";
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let from_here = match site {
            None | Some(b"same-origin") => true,
            Some(b"none") => is_get,
            Some(_) => entry,
        };
        if !from_here {
            return Some(refuse(
                StatusCode::FORBIDDEN,
                "origin",
                "only the lab's own page may ask",
            ));
        }
        if let Some(token) = uri.query().and_then(|q| q.strip_prefix("token=")).filter(|_| entry) {
            if !self.is_token(token) {
                return Some(no_token());
            }
            let cookie =
                format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie, self.token);
            return Some(redirect("/", &cookie));
        }
        if !self.has_cookie(headers) {
            return Some(no_token());
        }
        if method == Method::POST {
            let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
            if kind != Some(b"application/json") {
                let words = "the body has to be application/json";
                return Some(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "body", words));
            }
        }
        None
    }
}

fn no_token() -> Response {
    let words = "open the address that linsep printed, with its token";
    refuse(StatusCode::FORBIDDEN, "token", words)
}

/// Lets a request through or not, and gives every answer the headers that keep browsers strict.
pub(crate) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request<Body>,
    next: Next,
) -> Response {
    let refused = guard.verdict(request.method(), request.uri(), request.headers());
    let mut response = match refused {
        Some(response) => response,
        None => next.run(request).await,
    };
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_is_the_token() {
        let guard = Guard::new(80).unwrap();
        let token = guard.token.clone();
        assert_eq!(token.len(), 2 * TOKEN_BYTES);
        assert!(guard.is_token(&token));
        for wrong in
            ["", &token[1..], &format!("{token}0"), &token.to_uppercase().replace('A', "b")]
        {
            assert!(!guard.is_token(wrong), "{wrong}");
        }
        assert_ne!(token, Guard::new(80).unwrap().token);
    }

    #[test]
    fn the_bucket_runs_empty_and_fills_again() {
        let guard = Guard::new(80).unwrap();
        let taken = (0..2 * limits::BURST as usize).filter(|_| guard.takes_part()).count();
        assert!(taken as f64 >= limits::BURST && (taken as f64) < 1.5 * limits::BURST, "{taken}");
        guard.bucket.lock().unwrap().at -= std::time::Duration::from_secs(1);
        assert!(guard.takes_part());
    }
}
