//! Just enough HTTP to ask whether a server is well.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Far above what a healthy server on loopback needs, even under load.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether `GET url/health` answers 200. `url` is `http://ADDRESS:PORT`, with a numeric address.
pub(crate) fn is_healthy(url: &str) -> bool {
    url.strip_prefix("http://")
        .and_then(|address| address.trim_end_matches('/').parse().ok())
        .and_then(|address| first_line(address).ok())
        .is_some_and(|line| is_ok(&line))
}

fn first_line(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // In one piece: who answers after the first of several and closes has left the others unread, and its reply may be lost with them.
    let request = format!("GET /health HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut reply = String::new();
    // The limit is for a stranger on that port.
    stream.take(64 * 1024).read_to_string(&mut reply)?;
    Ok(reply.lines().next().unwrap_or_default().to_owned())
}

fn is_ok(status_line: &str) -> bool {
    let mut words = status_line.split(' ');
    words.next().is_some_and(|word| word.starts_with("HTTP/1.")) && words.next() == Some("200")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn asked_of_a_server_that_says(reply: &'static str) -> bool {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap();
            assert!(request[..read].starts_with(b"GET /health HTTP/1.1\r\n"));
            stream.write_all(reply.as_bytes()).unwrap();
        });
        let healthy = is_healthy(&url);
        server.join().unwrap();
        healthy
    }

    #[test]
    fn only_a_200_is_healthy() {
        assert!(asked_of_a_server_that_says("HTTP/1.1 200 OK\r\n\r\n{\"status\":\"ok\"}"));
        assert!(!asked_of_a_server_that_says(
            "HTTP/1.1 503 Service Unavailable\r\n\r\nloading 200"
        ));
        assert!(!asked_of_a_server_that_says("SSH-2.0-x 200\r\n"));
        assert!(!asked_of_a_server_that_says(""));
    }

    #[test]
    fn nobody_there_is_not_healthy() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        drop(listener);
        assert!(!is_healthy(&url));
        assert!(!is_healthy("no url"));
    }
}
