//! Reading that can be broken off while it waits.
//!
//! A pipe or a terminal may have nothing to give for hours, and a read that waits for it hears no signal. So
//! another thread opens and reads what is not a plain file, and whoever wants the bytes asks every few
//! milliseconds whether to go on waiting. That thread ends with its input, or with the process.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long nobody asks.
const PATIENCE: Duration = Duration::from_millis(20);

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// Bytes that another thread reads.
pub(super) struct Waiting {
    chunks: Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    at: usize,
    stop: Arc<AtomicBool>,
}

impl Waiting {
    /// Reads what `open` gives until `stop` turns true.
    pub(super) fn new<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        stop: Arc<AtomicBool>,
    ) -> io::Result<Waiting> {
        let (sender, chunks) = sync_channel(4);
        let read = move || {
            let mut reader = match open() {
                Ok(reader) => reader,
                Err(error) => return drop(sender.send(Err(error))),
            };
            loop {
                let mut chunk = vec![0; CHUNK];
                let got = match reader.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(len) => {
                        chunk.truncate(len);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = got.is_err();
                if sender.send(got).is_err() || failed {
                    return;
                }
            }
        };
        std::thread::Builder::new().spawn(read)?;
        Ok(Waiting { chunks, chunk: Vec::new(), at: 0, stop })
    }
}

impl Read for Waiting {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at == self.chunk.len() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(io::Error::other(Stopped));
            }
            match self.chunks.recv_timeout(PATIENCE) {
                Ok(chunk) => (self.chunk, self.at) = (chunk?, 0),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
        }
        let len = out.len().min(self.chunk.len() - self.at);
        out[..len].copy_from_slice(&self.chunk[self.at..self.at + len]);
        self.at += len;
        Ok(len)
    }
}

/// The caller did not want to wait any longer.
#[derive(Debug)]
struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the reading was broken off")
    }
}

impl std::error::Error for Stopped {}

/// Whether an error says that the reading was broken off.
pub(super) fn was_stopped(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Stopped>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_bytes_arrive_and_an_error_too() {
        let text: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        let copy = text.clone();
        let stop = Arc::new(AtomicBool::new(false));
        let mut waiting = Waiting::new(move || Ok(io::Cursor::new(copy)), stop).unwrap();
        let mut found = Vec::new();
        waiting.read_to_end(&mut found).unwrap();
        assert!(found == text);
        let fail = || Err::<io::Empty, _>(io::ErrorKind::NotFound.into());
        let mut waiting = Waiting::new(fail, Arc::new(AtomicBool::new(false))).unwrap();
        assert_eq!(waiting.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_reader_that_gives_nothing_can_be_left() {
        struct Idle;
        impl Read for Idle {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                std::thread::sleep(Duration::from_secs(5));
                Ok(0)
            }
        }
        let stop = Arc::new(AtomicBool::new(false));
        let mut waiting = Waiting::new(|| Ok(Idle), Arc::clone(&stop)).unwrap();
        let started = std::time::Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(100));
                stop.store(true, Ordering::Relaxed);
            });
            assert!(was_stopped(&waiting.read(&mut [0]).unwrap_err()));
        });
        assert!(started.elapsed() < Duration::from_secs(2));
    }
}
