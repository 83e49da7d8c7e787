//! Who gets an answer, and what every answer says to the browser.

use crate::client::{Server, read_answer};
use linsep_lab::Lab;
use serde_json::json;
use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::time::{Duration, Instant};

fn server() -> Server {
    Server::start(Lab::default())
}

#[test]
fn the_token_becomes_a_cookie_by_a_redirect() {
    let server = server();
    let host = server.host();
    let entry = server.request(&format!("GET /?token={}", server.token), &[("host", &host)], b"");
    assert_eq!(entry.status, 303);
    assert_eq!(entry.header("location"), Some("/"));
    let cookie = entry.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&server.cookie()), "{cookie}");
    for word in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(word), "{cookie}");
    }
    assert_eq!(server.get("/").status, 200);
    assert!(String::from_utf8_lossy(&server.get("/").body).contains("<title>linsep lab</title>"));
}

#[test]
fn nobody_without_the_token_is_answered() {
    let server = server();
    let host = server.host();
    let wrong = format!("linsep-lab-{}={}", server.port, "0".repeat(64));
    for path in ["/", "/main.js", "/api/catalogue", "/?token=", "/?token=0", "/api/runs/1/trace"] {
        let line = format!("GET {path}");
        assert_eq!(server.request(&line, &[("host", &host)], b"").status, 403, "{path}");
        let headers = [("host", &host[..]), ("cookie", &wrong)];
        assert_eq!(server.request(&line, &headers, b"").status, 403, "{path}");
    }
    // The token opens the page and nothing else.
    let line = format!("GET /api/catalogue?token={}", server.token);
    assert_eq!(server.request(&line, &[("host", &host)], b"").status, 403);
}

#[test]
fn foreign_hosts_are_refused() {
    let server = server();
    let (cookie, port) = (server.cookie(), server.port);
    let hosts = [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        format!("127.0.0.1:{port}."),
        format!("127.0.0.1.evil.example:{port}"),
        format!("0.0.0.0:{port}"),
        String::new(),
    ];
    for host in &hosts {
        let headers = [("host", &host[..]), ("cookie", &cookie)];
        let status = server.request("GET /", &headers, b"").status;
        assert!(status == 403 || status == 400, "{host}: {status}");
    }
    let without = server.request("GET /", &[("cookie", &cookie)], b"").status;
    assert!(without == 403 || without == 400, "{without}");
    let twice = [("host", &server.host()[..]), ("host", "evil.example"), ("cookie", &cookie)];
    let twice = server.request("GET /", &twice, b"").status;
    assert!(twice == 403 || twice == 400, "{twice}");
    let absolute = format!("GET http://evil.example:{port}/");
    let headers = [("host", &server.host()[..]), ("cookie", &cookie)];
    assert_eq!(server.request(&absolute, &headers, b"").status, 403);
    for host in [format!("localhost:{port}"), format!("[::1]:{port}")] {
        let headers = [("host", &host[..]), ("cookie", &cookie)];
        assert_eq!(server.request("GET /", &headers, b"").status, 200, "{host}");
    }
}

#[test]
fn foreign_origins_change_nothing() {
    let server = server();
    let (host, cookie) = (server.host(), server.cookie());
    let own = format!("http://{host}");
    let body = json!({
        "data": { "kind": "bundled", "name": "and" }, "learner": "perceptron", "settings": {}, "seed": 0,
    })
    .to_string();
    let post = |more: &[(&str, &str)]| {
        let mut headers =
            vec![("host", &host[..]), ("cookie", &cookie), ("content-type", "application/json")];
        headers.extend_from_slice(more);
        server.request("POST /api/runs", &headers, body.as_bytes()).status
    };
    assert_eq!(post(&[]), 403, "no origin");
    let local = format!("http://localhost:{}", server.port);
    for origin in ["http://evil.example", "null", "https://127.0.0.1", &local] {
        assert_eq!(post(&[("origin", origin)]), 403, "{origin}");
    }
    for site in ["cross-site", "same-site", "none"] {
        assert_eq!(post(&[("origin", &own), ("sec-fetch-site", site)]), 403, "{site}");
    }
    assert_eq!(post(&[("origin", &own), ("sec-fetch-site", "same-origin")]), 200);
    // A plain form of another page could send these.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        let headers =
            [("host", &host[..]), ("cookie", &cookie), ("origin", &own), ("content-type", kind)];
        let status = server.request("POST /api/runs", &headers, body.as_bytes()).status;
        assert_eq!(status, 415, "{kind}");
    }
    let headers = [("host", &host[..]), ("cookie", &cookie), ("sec-fetch-site", "cross-site")];
    assert_eq!(server.request("GET /api/catalogue", &headers, b"").status, 403);
    let headers = [("host", &host[..]), ("cookie", &cookie), ("origin", "http://evil.example")];
    assert_eq!(server.request("GET /api/catalogue", &headers, b"").status, 403);
}

#[test]
fn every_answer_keeps_browsers_strict() {
    let server = server();
    let host = server.host();
    let answers = [
        server.get("/"),
        server.get("/main.js"),
        server.get("/api/catalogue"),
        server.get("/nothing"),
        server.request("GET /", &[("host", &host)], b""),
        server.request("GET /", &[("host", "evil.example")], b""),
        server.request(&format!("GET /?token={}", server.token), &[("host", &host)], b""),
    ];
    for answer in answers {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.contains("default-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("x-frame-options"), Some("DENY"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
    let page = String::from_utf8(server.get("/").body).unwrap();
    assert!(!page.contains("style=") && !page.contains("<style") && !page.contains("onclick"));
}

#[test]
fn no_address_is_a_path() {
    let server = server();
    for path in [
        "/../Cargo.toml",
        "/..%2f..%2fetc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/page/index.html",
        "/index.html",
        "/api/runs/..%2f1",
        "/api/runs/../../etc/passwd",
        "/main.js/../lab.css",
        "/api/runs/1/data?file=/etc/passwd",
        "/%252e%252e/%252e%252e/etc/passwd",
        "/..%5c..%5cetc%5cpasswd",
        "/..%c0%af..%c0%afetc/passwd",
        "/%00/etc/passwd",
        "/main.js%00.css",
        "/....//....//etc/passwd",
        "/./main.js",
        "file:///etc/passwd",
    ] {
        let answer = server.get(path);
        assert!(matches!(answer.status, 400 | 404 | 422), "{path}: {}", answer.status);
        assert!(!String::from_utf8_lossy(&answer.body).contains("root:"), "{path}");
    }
    for id in ["/etc/passwd", "../own", "own", ""] {
        let spec = json!({ "data": { "kind": "file", "id": id }, "learner": "perceptron" });
        assert_eq!(server.post("/api/runs", &spec).status, 404, "{id}");
    }
    let table = json!({
        "data": { "kind": "bundled", "name": "and" }, "learner": "perceptron",
        "settings": { "eta": "table:/etc/passwd" },
    });
    let answer = server.post("/api/runs", &table);
    assert_eq!(answer.status, 422);
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("reads no files"));
}

#[test]
fn large_and_damaged_requests_are_refused() {
    let server = server();
    let (host, cookie) = (server.host(), server.cookie());
    let origin = format!("http://{host}");
    let headers = [
        ("host", &host[..]),
        ("cookie", &cookie),
        ("origin", &origin),
        ("content-type", "application/json"),
    ];
    let large = vec![b' '; 3 << 20];
    let status = server.request("POST /api/runs", &headers, &large).status;
    // The server may close before the whole body is written.
    assert!(status == 413 || status == 0, "{status}");
    for body in ["{", "[]", "null", "{\"data\":1}", "{\"learner\":\"perceptron\",\"x\":1}"] {
        assert_eq!(
            server.request("POST /api/runs", &headers, body.as_bytes()).status,
            422,
            "{body}"
        );
    }
    let deep = "[".repeat(200_000);
    assert_eq!(server.request("POST /api/runs", &headers, deep.as_bytes()).status, 422);
    assert!(matches!(server.say(b"\0\0\0\0 nonsense\r\n\r\n").status, 0 | 400));
    let long = format!("GET /{} HTTP/1.1\r\nhost: {host}\r\n\r\n", "a".repeat(200_000));
    assert!(matches!(server.say(long.as_bytes()).status, 0 | 400 | 414 | 431));
    for method in ["PUT", "PATCH", "OPTIONS", "HEAD", "TRACE", "CONNECT"] {
        let status = server.request(&format!("{method} /"), &headers, b"").status;
        assert!(matches!(status, 405 | 403 | 400 | 404), "{method}: {status}");
    }
    assert_eq!(server.get("/").status, 200, "the server goes on");
}

#[test]
fn many_connections_are_refused_and_the_others_served() {
    let server = server();
    let open: Vec<TcpStream> = (0..200)
        .filter_map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).ok())
        .collect();
    std::thread::sleep(std::time::Duration::from_millis(500));
    let mut served = 0;
    let mut refused = 0;
    let request = format!(
        "GET / HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\n\r\n",
        server.host(),
        server.cookie()
    );
    for mut stream in open {
        stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).unwrap();
        let _ = stream.write_all(request.as_bytes());
        match read_answer(&mut stream).status {
            200 => served += 1,
            503 | 0 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert_eq!(served, 64, "{refused} refused");
    assert_eq!(refused, 136);
    assert_eq!(server.get("/").status, 200, "there is room again");
}

#[test]
fn a_flood_of_requests_is_slowed_down() {
    let server = server();
    let request = format!(
        "GET /icon.svg HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n",
        server.host(),
        server.cookie()
    );
    let last = format!(
        "GET /icon.svg HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nconnection: close\r\n\r\n",
        server.host(),
        server.cookie()
    );
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let sender = std::thread::spawn(move || {
        let all = request.repeat(3_000) + &last;
        let _ = writer.write_all(all.as_bytes());
    });
    let answer = read_answer(&mut stream);
    sender.join().unwrap();
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    assert!(text.matches("HTTP/1.1 429").count() > 100, "nobody was slowed down");
}

#[test]
fn only_loopback_is_listened_on() {
    let server = server();
    // A datagram socket knows which address would be used to reach another machine; nothing is sent.
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let outside = probe.connect("192.0.2.1:9").ok().and_then(|()| probe.local_addr().ok());
    if let Some(outside) = outside.filter(|address| !address.ip().is_loopback()) {
        let reached = TcpStream::connect((outside.ip(), server.port));
        assert!(reached.is_err(), "reached through {}", outside.ip());
    }
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_ok());
}

#[test]
fn a_slow_request_loses_its_place() {
    let server = server();
    let mut slow = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
    let mut reader = slow.try_clone().unwrap();
    let clock = Instant::now();
    let closed = std::thread::spawn(move || {
        let answer = read_answer(&mut reader);
        (answer.status, clock.elapsed())
    });
    slow.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
    // A byte now and then gains no time.
    while !closed.is_finished() && clock.elapsed() < Duration::from_secs(25) {
        std::thread::sleep(Duration::from_millis(500));
        let _ = slow.write_all(b"a");
    }
    assert!(closed.is_finished(), "the request is still listened to");
    let (status, after) = closed.join().unwrap();
    assert!(matches!(status, 0 | 408), "{status}");
    assert!(after >= Duration::from_secs(9), "{after:?}");
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn nobody_works_for_a_client_that_has_gone() {
    let rows: Vec<Vec<f64>> = (0..40_000u32)
        .map(|i| {
            let x = f64::from(i.wrapping_mul(2_654_435_761) >> 8);
            (0..30).map(|j| (x * f64::from(j + 1)).sin()).collect()
        })
        .collect();
    let labels: Vec<&str> = (0..40_000).map(|i| if i % 3 == 0 { "a" } else { "b" }).collect();
    let data = linsep::Dataset::from_rows(&rows, &labels).unwrap();
    let mut lab = Lab::default();
    lab.subject = Some(linsep_lab::Subject::new("own.csv", std::sync::Arc::new(data)));
    let server = Server::start(lab);
    // The exact judge takes its ten seconds on these rows; four of them are all workers that there are.
    let spec = json!({ "data": { "kind": "file", "id": "own" }, "learner": "perceptron", "settings": { "verdict": "off" } });
    let id = server.post("/api/runs", &spec).json()["id"].as_str().unwrap().to_owned();
    let request = format!(
        "GET /api/runs/{id}/verdict HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n",
        server.host(),
        server.cookie()
    );
    let mut asking: Vec<TcpStream> = Vec::new();
    for _ in 0..4 {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        asking.push(stream);
    }
    std::thread::sleep(Duration::from_millis(300));
    drop(asking);
    let clock = Instant::now();
    let step = server.post(&format!("/api/runs/{id}/step"), &json!({ "by": "update" }));
    assert_eq!(step.status, 200);
    assert!(clock.elapsed() < Duration::from_secs(4), "{:?}", clock.elapsed());
}
