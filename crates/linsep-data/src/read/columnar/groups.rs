//! Groups of rows decoded on several threads, their blocks handed on in the order of the file.
//!
//! Groups may have any size, so what waits is bounded in blocks: a worker that is far ahead of the others waits until its
//! blocks are wanted. The lowest group that is not finished always has a worker, and its blocks are always
//! wanted, so nobody waits for good.

use crate::error::Result;
use crate::read::block::Block;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel, sync_channel};

/// A block with the lines of its rows.
pub(super) type Decoded = (Block, Vec<u8>);

/// What a decoder gives its blocks to.
pub(super) type Give<'a> = dyn FnMut(Decoded) -> Result<ControlFlow<()>> + 'a;

/// Blocks of one group that may wait.
const WAITING: usize = 64;

/// Decodes every group with `decode` and gives the blocks to `sink` until it breaks off.
pub(super) fn run(
    count: usize,
    threads: usize,
    decode: impl Fn(usize, &mut Give<'_>) -> Result<ControlFlow<()>> + Sync,
    mut sink: impl FnMut(Decoded) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    let one_by_one = |sink: &mut Give<'_>| {
        for group in 0..count {
            if decode(group, sink)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    };
    let threads = threads.min(count);
    if threads <= 1 {
        return one_by_one(&mut sink);
    }
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let (begin, begun) = channel::<(usize, Receiver<Result<Decoded>>)>();
        let mut workers = 0;
        for _ in 0..threads {
            let (begin, next, decode) = (begin.clone(), &next, &decode);
            let worker = move || loop {
                let group = next.fetch_add(1, Ordering::Relaxed);
                let (send, receive) = sync_channel(WAITING);
                if group >= count || begin.send((group, receive)).is_err() {
                    return;
                }
                let mut give = |decoded: Decoded| {
                    // Nobody receives any more when the reading has ended.
                    Ok(match send.send(Ok(decoded)) {
                        Ok(()) => ControlFlow::Continue(()),
                        Err(_) => ControlFlow::Break(()),
                    })
                };
                match decode(group, &mut give) {
                    Ok(ControlFlow::Continue(())) => {}
                    Ok(ControlFlow::Break(())) => return,
                    Err(error) => drop(send.send(Err(error))),
                }
            };
            // Where the system has no more threads, fewer do.
            workers += usize::from(std::thread::Builder::new().spawn_scoped(scope, worker).is_ok());
        }
        drop(begin);
        if workers == 0 {
            return one_by_one(&mut sink);
        }
        let mut waiting = BTreeMap::new();
        for group in 0..count {
            let blocks = loop {
                if let Some(blocks) = waiting.remove(&group) {
                    break blocks;
                }
                match begun.recv() {
                    Ok((group, blocks)) => waiting.insert(group, blocks),
                    // A worker panicked; the scope reports that.
                    Err(_) => return Ok(ControlFlow::Continue(())),
                };
            };
            for decoded in blocks {
                if sink(decoded?)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    })
}
