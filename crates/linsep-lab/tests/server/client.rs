//! A client that says exactly what it is told to say.

use linsep_lab::Lab;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A lab that runs in a thread of the test.
pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) token: String,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// A header of the answer.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }
}

impl Server {
    /// Starts a lab.
    pub(crate) fn start(lab: Lab) -> Server {
        let (tell, told) = channel();
        std::thread::spawn(move || {
            lab.serve(&mut |address| tell.send(address.to_owned()).unwrap(), &|| false).unwrap();
        });
        let address = told.recv_timeout(Duration::from_secs(20)).unwrap();
        let rest = address.strip_prefix("http://127.0.0.1:").unwrap();
        let (port, token) = rest.split_once("/?token=").unwrap();
        Server { port: port.parse().unwrap(), token: token.to_owned() }
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The cookie that the token becomes.
    pub(crate) fn cookie(&self) -> String {
        format!("linsep-lab-{}={}", self.port, self.token)
    }

    /// Writes bytes and reads what comes back.
    pub(crate) fn say(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        // A server that refuses early may close before all is written.
        let _ = stream.write_all(bytes);
        read_answer(&mut stream)
    }

    /// A request with these headers, and no others but the length of the body.
    pub(crate) fn request(&self, line: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut text = format!("{line} HTTP/1.1\r\nconnection: close\r\n");
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if !body.is_empty() {
            text.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        text.push_str("\r\n");
        self.say(&[text.as_bytes(), body].concat())
    }

    /// A plain GET by the page.
    pub(crate) fn get(&self, path: &str) -> Answer {
        let (host, cookie) = (self.host(), self.cookie());
        self.request(&format!("GET {path}"), &[("host", &host), ("cookie", &cookie)], b"")
    }

    /// A POST by the page.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        let (host, cookie) = (self.host(), self.cookie());
        let origin = format!("http://{host}");
        let headers = [
            ("host", &host[..]),
            ("cookie", &cookie),
            ("origin", &origin),
            ("content-type", "application/json"),
        ];
        self.request(&format!("POST {path}"), &headers, body.to_string().as_bytes())
    }
}

/// Reads until the server closes.
pub(crate) fn read_answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 16];
    loop {
        match stream.read(&mut piece) {
            Ok(0) | Err(_) => break,
            Ok(n) => bytes.extend_from_slice(&piece[..n]),
        }
    }
    let end = bytes.windows(4).position(|part| part == b"\r\n\r\n");
    let Some(end) = end else { return Answer { status: 0, head: String::new(), body: bytes } };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    Answer { status, head, body: bytes[end + 4..].to_vec() }
}
