//! Listening on loopback, with few connections and none that idles for long.

use crate::limits;
use axum::serve::Listener;
use std::future::poll_fn;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
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
            return (Connection { stream, idle, _permit: permit }, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.v4.local_addr()
    }
}

/// A connection that ends when nothing comes for long, and then gives its place back.
pub(crate) struct Connection {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _permit: OwnedSemaphorePermit,
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if read.is_ready() {
            self.idle.as_mut().reset(Instant::now() + limits::IDLE);
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
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
