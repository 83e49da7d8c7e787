//! `linsep lab` from outside: what it is opened with, what it refuses, and how it ends.

use crate::common::{Room, send_signal};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// The program while it serves.
struct Served {
    child: Child,
    host: String,
    token: String,
}

impl Served {
    fn start(room: &Room, arguments: &[&str]) -> Served {
        let mut command = room.command();
        command.args(["lab", "--no-open"]).args(arguments);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines
            .by_ref()
            .map(Result::unwrap)
            .find_map(|line| line.split_once("http://").map(|(_, rest)| rest.to_owned()))
            .expect("an address");
        // What comes later goes nowhere, but nobody waits for it to be read.
        std::thread::spawn(move || lines.count());
        let (host, token) = address.split_once("/?token=").unwrap();
        Served { child, host: host.to_owned(), token: token.to_owned() }
    }

    fn ask(&self, line: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (host, token) = (&self.host, &self.token);
        let port = host.rsplit(':').next().unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let text = format!(
            "{line} HTTP/1.1\r\nhost: {host}\r\norigin: http://{host}\r\nconnection: close\r\n\
             cookie: linsep-lab-{port}={token}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    fn answer(&self, line: &str, body: &Value) -> Value {
        let mut text = String::new();
        self.ask(line, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{line}: {text}");
        serde_json::from_str(body).unwrap()
    }

    fn own(&self, learner: &str, settings: Value) -> Value {
        let data = json!({ "kind": "file", "id": "own" });
        self.answer(
            "POST /api/runs",
            &json!({ "data": data, "learner": learner, "settings": settings, "seed": 0 }),
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_model_and_its_data_open_in_either_order() {
    let room = Room::with_examples();
    room.run("train examples/iris.csv --positive setosa -o setosa.linsep").exits(0);
    let shown = room.run("show setosa.linsep --json").exits(0).json();
    let plane = &shown["planes"][0];
    let wanted: Vec<&Value> =
        std::iter::once(&plane["bias"]).chain(plane["weights"].as_array().unwrap()).collect();
    for order in [["setosa.linsep", "examples/iris.csv"], ["examples/iris.csv", "setosa.linsep"]] {
        let served = Served::start(&room, &order);
        let catalogue = served.answer("GET /api/catalogue", &Value::Null);
        let opening = &catalogue["sets"]["own"]["opening"];
        assert_eq!((&opening["model"], &opening["learner"]), (&json!(true), &json!("perceptron")));
        let opened = served.own("model", json!({}));
        assert_eq!(opened["summary"]["ended"], json!("finished"));
        assert_eq!(json!(wanted), opened["frames"][0]["planes"][0], "{order:?}");
        let state = served.answer(
            &format!("GET /api/runs/{}/state?k=0", opened["id"].as_str().unwrap()),
            &Value::Null,
        );
        assert_eq!(state["errors"], json!(0));
    }
}

#[test]
fn a_trace_opens_as_the_run_that_it_is() {
    let room = Room::with_examples();
    let flags = "--positive setosa --order cyclic --scale none --verdict off";
    room.run(&format!("train examples/iris.csv {flags} --trace run.ndjson -o m.linsep")).exits(0);
    let served = Served::start(&room, &["run.ndjson", "examples/iris.csv"]);
    let catalogue = served.answer("GET /api/catalogue", &Value::Null);
    let opening = &catalogue["sets"]["own"]["opening"];
    assert_eq!(opening["settings"]["order"], json!("cyclic"));
    let learner = opening["learner"].as_str().unwrap();
    let opened = served.own(learner, opening["settings"].clone());
    let id = opened["id"].as_str().unwrap();
    served.answer(&format!("POST /api/runs/{id}/step"), &json!({ "by": "end" }));
    let mut trace = String::new();
    let path = format!("GET /api/runs/{id}/trace");
    served.ask(&path, &Value::Null).read_to_string(&mut trace).unwrap();
    let (_, trace) = trace.split_once("\r\n\r\n").unwrap();
    assert_eq!(
        trace,
        room.read("run.ndjson"),
        "the run of the trace is made again to the last bit"
    );
}

#[test]
fn what_cannot_be_opened_is_refused_as_everywhere_else() {
    let room = Room::with_model();
    let alone = room.run("lab two.linsep --no-open").exits(2);
    assert!(alone.err.contains("linsep lab two.linsep DATA"), "{}", alone.err);
    room.run("lab two.linsep two.linsep two.csv --no-open").exits(2).says(&["opens one"]);
    room.write("bad.csv", "x,y,label\n1,2,a\n3,oops,b\n");
    let other = room.run("train bad.csv -o n.linsep").exits(3);
    let here = room.run("lab bad.csv --no-open").exits(3);
    assert_eq!(here.err, other.err, "the same error with the same place");
    room.write("one.csv", "x,y,label\n1,2,a\n3,4,b\n");
    room.write("other.csv", "x,y,label\n1,2,a\n3,5,b\n");
    room.run("train one.csv --trace t.ndjson -o n.linsep").exits(0);
    room.run("lab t.ndjson other.csv --no-open").says(&["the trace is of other data"]);
    room.run("lab two.csv --port 70000 --no-open").exits(2).says(&["65535"]);
    room.run("lab one.csv --time-limit 1s --no-open").exits(5).says(&["--time-limit was reached"]);
    room.run("lab --lesson nothing --no-open").exits(2).says(&["there are: plane"]);
}

#[test]
fn a_signal_ends_it_at_once_even_in_the_middle_of_a_run() {
    let room = Room::new();
    room.run("generate blobs --rows 20000 --noise 0.2 -o f.csv").exits(0);
    for signal in ["INT", "TERM"] {
        let mut served = Served::start(&room, &["f.csv"]);
        let opened = served.own("perceptron", json!({ "verdict": "off" }));
        let id = opened["id"].as_str().unwrap().to_owned();
        let _waiting = served.ask(&format!("POST /api/runs/{id}/step"), &json!({ "by": "end" }));
        let _judge = served.ask(&format!("GET /api/runs/{id}/verdict"), &Value::Null);
        std::thread::sleep(Duration::from_millis(50));
        let clock = Instant::now();
        send_signal(signal, served.child.id());
        let status = served.child.wait().unwrap();
        assert_eq!(status.code(), Some(130), "{signal}");
        assert!(clock.elapsed() < Duration::from_secs(2), "{signal}: {:?}", clock.elapsed());
        assert!(TcpStream::connect(&served.host).is_err(), "nobody listens any more");
    }
}
