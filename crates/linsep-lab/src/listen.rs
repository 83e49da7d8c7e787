//! Listening on loopback, with few connections and none that idles for long.

use crate::limits;
use axum::serve::Listener;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep_until};

/// 127.0.0.1 and, where there is one, ::1 with the same port.
pub(crate) struct Loopback {
    v4: TcpListener,
    v6: Option<TcpListener>,
    permits: Arc<Semaphore>,
    port: u16,
}

/// Ports that are tried until both addresses have the same one.
const TRIES: usize = 16;

impl Loopback {
    pub(crate) fn bind(port: u16) -> io::Result<Loopback> {
        let listener = |address: SocketAddr| {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener)
        };
        let mut tries = 0;
        loop {
            let v4 = listener((Ipv4Addr::LOCALHOST, port).into())?;
            let found = v4.local_addr()?.port();
            tries += 1;
            let v6 = match listener((Ipv6Addr::LOCALHOST, found).into()) {
                Ok(v6) => Some(v6),
                // Somebody else has the port there: another one, so that nobody answers in our name.
                Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                    if port == 0 && tries < TRIES {
                        continue;
                    }
                    return Err(error);
                }
                Err(_) => None,
            };
            let permits = Arc::new(Semaphore::new(limits::CONNECTIONS));
            return Ok(Loopback { v4, v6, permits, port: found });
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    fn poll_either(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        if let Poll::Ready(accepted) = self.v4.poll_accept(context) {
            return Poll::Ready(accepted);
        }
        match &self.v6 {
            Some(v6) => v6.poll_accept(context),
            None => Poll::Pending,
        }
    }
}

/// What one connection too many is told.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

impl Listener for Loopback {
    type Io = Connection;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Connection, SocketAddr) {
        loop {
            let (stream, address) = match poll_fn(|context| self.poll_either(context)).await {
                Ok(accepted) => accepted,
                Err(_) => {
                    // Out of files, most likely: wait for connections to end.
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                    continue;
                }
            };
            if !address.ip().is_loopback() {
                continue;
            }
            let Ok(permit) = Arc::clone(&self.permits).try_acquire_owned() else {
                // Only a courtesy; nobody waits for it.
                let _ = stream.try_write(FULL);
                continue;
            };
            let _ = stream.set_nodelay(true);
            let idle = Box::pin(sleep_until(Instant::now() + limits::IDLE));
            let head = Head::default();
            return (Connection { stream, idle, head, _permit: permit }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.v4.local_addr()
    }
}

/// A connection that ends when nothing comes for long, or when a request takes long to begin, and then gives
/// its place back.
pub(crate) struct Connection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    head: Head,
    _permit: OwnedSemaphorePermit,
}

/// How much has come of the lines before the body of a request.
#[derive(Default)]
struct Head {
    begun: bool,
    /// Bytes of the line ends that mark its end.
    matched: usize,
}

const END: &[u8; 4] = b"\r\n\r\n";

impl Head {
    fn is_whole(&self) -> bool {
        self.matched == END.len()
    }

    /// Takes bytes in; how long the next ones may take, if that changes.
    fn take(&mut self, bytes: &[u8]) -> Option<Duration> {
        let was_begun = std::mem::replace(&mut self.begun, true);
        for byte in bytes {
            if self.is_whole() {
                break;
            }
            self.matched = match *byte == END[self.matched] {
                true => self.matched + 1,
                false => usize::from(*byte == END[0]),
            };
        }
        match self.is_whole() {
            true => Some(limits::IDLE),
            // Every byte of a slow request would gain it time.
            false => (!was_begun).then_some(limits::HEAD),
        }
    }
}

impl Connection {
    fn wait(&mut self, time: Duration) {
        self.idle.as_mut().reset(Instant::now() + time);
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            if let Some(time) = self.head.take(&buffer.filled()[before..]) {
                self.wait(time);
            }
            return read;
        }
        ready!(self.idle.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // An answer: what comes next is another request.
        self.head = Head::default();
        self.wait(limits::IDLE);
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_byte_and_the_end_of_a_head_give_time() {
        let mut head = Head::default();
        assert_eq!(head.take(b"G"), Some(limits::HEAD));
        assert_eq!(head.take(b"ET / HTTP/1.1\r\nhost: a\r"), None);
        assert_eq!(head.take(b"\n"), None);
        assert_eq!(head.take(b"\r"), None);
        assert_eq!(head.take(b"\nbody"), Some(limits::IDLE));
        assert_eq!(head.take(b"more"), Some(limits::IDLE));
        let mut head = Head::default();
        assert_eq!(head.take(b"GET / HTTP/1.1\r\r\n\r\n"), Some(limits::IDLE));
    }
}
