// A Corvo worker in Rust, standard library only: it speaks HTTP over a plain TCP connection and
// reads the few members it needs by hand. A real worker would use crates such as ureq and serde_json.
//
//   rustc worker.rs && CORVO_URL=http://localhost:8080 ./worker emails [--once]
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::sync::mpsc::{channel, RecvTimeoutError};
use std::time::Duration;
use std::{env, process, thread};

/// POST a JSON body. Returns the body of the answer if the status is a success.
fn call(path: &str, body: &str) -> Result<String> {
    let base = env::var("CORVO_URL").unwrap_or_else(|_| "http://localhost:8080".into());
    let host = base.trim_start_matches("http://").trim_end_matches('/');
    let key = env::var("CORVO_API_KEY").map(|k| format!("X-API-Key: {k}\r\n")).unwrap_or_default();
    let mut stream = TcpStream::connect(host)?;
    stream.set_read_timeout(Some(Duration::from_secs(45)))?;
    write!(
        stream,
        "POST /api/v1{path} HTTP/1.0\r\nHost: {host}\r\nContent-Type: application/json\r\n{key}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let (head, text) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap_or("no status");
    if !status.starts_with('2') {
        return Err(Error::new(ErrorKind::Other, format!("{path}: {status} {text}")));
    }
    Ok(text.to_string())
}

/// The text after "name":, up to the next comma or brace, without quotes.
fn member<'a>(json: &'a str, name: &str) -> Option<&'a str> {
    let key = format!("\"{name}\":");
    let rest = json[json.find(&key)? + key.len()..].trim_start_matches('"');
    rest.find(['"', ',', '}']).map(|end| &rest[..end])
}

/// Your code. Return Err to fail the attempt; the JSON text in Ok is stored as the result.
fn handle(job: &str) -> std::result::Result<String, String> {
    let to = member(job, "to").unwrap_or("nobody");
    Ok(format!("{{\"greeted\":\"{to}\"}}"))
}

fn work(job: &str, id: &str) -> Result<()> {
    let token = member(job, "lease_token").unwrap_or("0");
    let lease: f64 = member(job, "lease_duration").and_then(|n| n.parse().ok()).unwrap_or(60.0);
    let (done, ended) = channel::<()>();
    let beat = format!("{{\"jobs\":{{\"{id}\":{{}}}}}}");
    // Renew the lease until the job is done; the thread's value is true if the job was cancelled.
    let heart = thread::spawn(move || loop {
        match ended.recv_timeout(Duration::from_secs_f64(lease / 3.0)) {
            Err(RecvTimeoutError::Timeout) => match call("/heartbeat", &beat) {
                Ok(answer) if member(&answer, "status") == Some("cancel") => return true,
                Ok(_) => {}
                Err(error) => eprintln!("heartbeat: {error}"),
            },
            _ => return false,
        }
    });
    let outcome = handle(job);
    drop(done);
    if heart.join().unwrap_or(false) {
        return Ok(());
    }
    match outcome {
        Ok(result) => call(&format!("/ack/{id}"), &format!("{{\"result\":{result},\"lease_token\":{token}}}")),
        Err(error) => call(&format!("/fail/{id}"), &format!("{{\"error\":{error:?},\"lease_token\":{token}}}")),
    }
    .map(|_| ())
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let Some(queue) = args.get(1) else {
        eprintln!("usage: worker QUEUE [--once]");
        process::exit(1);
    };
    let once = args.get(2).is_some_and(|flag| flag == "--once");
    let want = format!("{{\"queues\":[\"{queue}\"],\"worker_id\":\"rust-{}\",\"timeout\":30}}", process::id());
    loop {
        let turn = call("/fetch", &want).and_then(|job| match member(&job, "job_id") {
            Some(id) if !id.is_empty() => work(&job, id).map(|()| true),
            _ => Ok(false),
        });
        match turn {
            Ok(true) if once => return,
            Ok(_) => {}
            Err(error) => {
                eprintln!("trying again: {error}");
                thread::sleep(Duration::from_secs(1));
            }
        }
    }
}
