//! Answers: JSON, text, and errors in one form.

use axum::body::Body;
use axum::http::header::{self, HeaderValue};
use axum::http::{Response, StatusCode};
use linsep::Error;
use serde_json::{Value, json};

/// What can go wrong with a request.
pub(crate) enum Wrong {
    /// It asks for something that is not there.
    Missing(&'static str),
    /// The library refuses it, in its own words.
    Refused(Error),
    /// There is no room at the moment.
    Busy(&'static str),
}

impl From<Error> for Wrong {
    fn from(error: Error) -> Wrong {
        Wrong::Refused(error)
    }
}

impl Wrong {
    /// A request that makes no sense, in words.
    pub(crate) fn usage(words: impl Into<String>) -> Wrong {
        Wrong::Refused(Error::usage(words.into()))
    }

    pub(crate) fn response(self) -> Response<Body> {
        match self {
            Wrong::Missing(words) => refuse(StatusCode::NOT_FOUND, "missing", words),
            Wrong::Busy(words) => refuse(StatusCode::SERVICE_UNAVAILABLE, "busy", words),
            Wrong::Refused(error) => {
                let code = error.code().to_string();
                refuse(StatusCode::UNPROCESSABLE_ENTITY, &code, &error.to_string())
            }
        }
    }
}

/// JSON.
pub(crate) fn json_response(value: &Value) -> Response<Body> {
    whole(StatusCode::OK, "application/json", value.to_string().into_bytes())
}

/// Bytes of a kind.
pub(crate) fn whole(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// An error in the one form that errors have.
pub(crate) fn refuse(status: StatusCode, code: &str, words: &str) -> Response<Body> {
    let body = json!({ "error": { "code": code, "message": words } });
    whole(status, "application/json", body.to_string().into_bytes())
}

/// Another address, with a cookie.
pub(crate) fn redirect(to: &'static str, cookie: &str) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(header::LOCATION, HeaderValue::from_static(to));
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A JSON number, or null where there is none.
pub(crate) fn number(value: f64) -> Value {
    serde_json::Number::from_f64(value).map_or(Value::Null, Value::Number)
}
