//! Pieces to blocks on several threads, handed on in the order of the file.
//!
//! The caller's thread cuts and collects, the workers parse. At most a few pieces are under way, so
//! memory stays bounded, and the cuts do not depend on the number of threads.

use super::block::{Block, Buffers};
use super::source::Pieces;
use crate::error::Result;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::mpsc::{channel, sync_channel};

/// Parses every piece and gives block and text to `sink` until it breaks off.
pub(crate) fn run(
    pieces: &mut Pieces<'_>,
    threads: usize,
    parse: impl Fn(&[u8], &mut Buffers) -> Block + Sync,
    mut sink: impl FnMut(Block, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    if threads <= 1 {
        return one_by_one(pieces, &parse, &mut sink);
    }
    let most_under_way = 2 * threads;
    let (work, queue) = sync_channel::<(usize, Cow<'_, [u8]>)>(most_under_way);
    let queue = Mutex::new(queue);
    std::thread::scope(|scope| {
        // Owned here, so that leaving the scope closes the queue and the workers end.
        let work = work;
        let (done, results) = channel();
        let mut workers = 0;
        for _ in 0..threads {
            let (queue, parse, done) = (&queue, &parse, done.clone());
            let worker = move || {
                let mut buffers = Buffers::default();
                loop {
                    // A poisoned lock means that another worker panicked; the scope reports that.
                    let Ok(next) = queue.lock().map(|queue| queue.recv()) else { return };
                    let Ok((number, piece)) = next else { return };
                    let block = parse(&piece, &mut buffers);
                    if done.send((number, block, piece)).is_err() {
                        return;
                    }
                }
            };
            // Where the system has no more threads, fewer do.
            workers += usize::from(std::thread::Builder::new().spawn_scoped(scope, worker).is_ok());
        }
        drop(done);
        if workers == 0 {
            return one_by_one(pieces, &parse, &mut sink);
        }
        let (mut sent, mut taken) = (0, 0);
        let mut waiting = BTreeMap::new();
        let mut ended = false;
        loop {
            while !ended && sent - taken < most_under_way {
                match pieces.next()? {
                    Some(piece) => {
                        if work.send((sent, piece)).is_err() {
                            ended = true;
                            break;
                        }
                        sent += 1;
                    }
                    None => ended = true,
                }
            }
            if taken == sent {
                return Ok(ControlFlow::Continue(()));
            }
            let Ok((number, block, piece)) = results.recv() else {
                return Ok(ControlFlow::Continue(()));
            };
            waiting.insert(number, (block, piece));
            while let Some((block, piece)) = waiting.remove(&taken) {
                taken += 1;
                if sink(block, &piece)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
    })
}

/// The same on the caller's thread.
fn one_by_one(
    pieces: &mut Pieces<'_>,
    parse: &impl Fn(&[u8], &mut Buffers) -> Block,
    sink: &mut impl FnMut(Block, &[u8]) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let mut buffers = Buffers::default();
    while let Some(piece) = pieces.next()? {
        if sink(parse(&piece, &mut buffers), &piece)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}
