//! Files appear whole or not at all.
//!
//! A model or a table that is written in place is damaged when the disk fills up or the machine
//! stops halfway. Therefore the content goes to a new file in the same folder, is forced to the
//! disk, and takes the place of the target by one rename, which is atomic. At every moment the
//! target holds either all of its old bytes or all of the new ones.
//!
//! The order is: create, fill, flush, sync the file, rename, sync the folder. The new file gets the
//! permission mode of the one that it replaces; owner and hard links are not carried over.

use crate::error::{Error, Result};
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// Writes what `fill` produces to `path`, all of it or nothing.
///
/// The content is streamed, so its size does not matter for memory. After an error (or a panic of
/// `fill`) the temporary file is gone and an existing file is as it was. The one exception is a
/// failed sync of the folder as the very last step: then the new content is complete and in place,
/// but may not survive a power cut.
///
/// A symbolic link is followed, not replaced. A device, pipe or socket is written to directly,
/// since there is nothing to replace.
pub fn write_atomic(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let in_place = write_with(&Disk, path, fill).map_err(|e| Error::io("write", path, e))?;
    in_place.map_err(|e| Error::io(SYNC_FOLDER, path, e))
}

/// What could not be done where the new content is complete and in place, but may not survive a power cut.
pub const SYNC_FOLDER: &str = "sync the folder of";

/// Removes the files that are being written at this moment, for a process that has to end at once. Nothing
/// is written any more after it.
///
/// It can be called from wherever the end comes, also by a thread that is creating such a file: others are
/// waited for, but not for long.
pub fn remove_temporaries() {
    const TRIES: u32 = 50;
    for _ in 0..TRIES {
        match UNDER_WAY.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(2)),
            Err(TryLockError::Poisoned(paths)) => return remove_for_good(paths.into_inner()),
            Ok(paths) => return remove_for_good(paths),
        }
    }
}

fn remove_for_good(paths: MutexGuard<'static, Vec<PathBuf>>) {
    for path in paths.iter() {
        let _ = fs::remove_file(path);
    }
    // Whoever wants to create one more waits until the process has ended.
    std::mem::forget(paths);
}

/// The temporary files of all threads. Who creates one holds the lock, so that there is none beside the list.
static UNDER_WAY: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn under_way() -> MutexGuard<'static, Vec<PathBuf>> {
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How much is gathered before the system is asked to write.
const BUFFER: usize = 1 << 20;

/// An error within is one after the new content took its place.
fn write_with<F: Files>(
    files: &F,
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<io::Result<()>> {
    let (target, mode) = match files.locate(path)? {
        Target::Stream => {
            let stream = OpenOptions::new().write(true).open(path)?;
            let mut out = BufWriter::with_capacity(BUFFER, stream);
            fill(&mut out)?;
            return out.flush().map(Ok);
        }
        Target::New(target) => (target, None),
        Target::Existing(target, mode) => (target, Some(mode)),
    };
    let (mut temporary, file) = create_beside(files, &target, mode.is_some())?;
    if let Some(mode) = mode {
        files.set_mode(&file, mode)?;
    }
    let mut out = BufWriter::with_capacity(BUFFER, file);
    fill(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    files.sync(&file)?;
    drop(file);
    files.rename(&temporary.path, &target)?;
    temporary.renamed = true;
    Ok(files.sync_folder(folder(&target)))
}

/// Creates a new file in the folder of `target`, and the guard that removes it.
fn create_beside<'a, F: Files>(
    files: &'a F,
    target: &Path,
    private: bool,
) -> io::Result<(Temporary<'a, F>, F::File)> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let name = target.file_name().and_then(OsStr::to_str).unwrap_or("linsep");
    let name: String = name.chars().take(40).collect();
    // Names left behind by a killed process with the same id are passed over.
    for _ in 0..1000 {
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let path = folder(target).join(format!(".{name}.{}.{number}.tmp", std::process::id()));
        let mut under_way = under_way();
        match files.create(&path, private) {
            Ok(file) => {
                under_way.push(path.clone());
                return Ok((Temporary { files, path, renamed: false }, file));
            }
            Err(e) if e.kind() != ErrorKind::AlreadyExists => return Err(e),
            Err(_) => {}
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A temporary file that is removed unless it took the place of the target.
struct Temporary<'a, F: Files> {
    files: &'a F,
    path: PathBuf,
    renamed: bool,
}

impl<F: Files> Drop for Temporary<'_, F> {
    fn drop(&mut self) {
        if !self.renamed {
            // The error that led here is the one to report.
            let _ = self.files.remove(&self.path);
        }
        under_way().retain(|path| *path != self.path);
    }
}

/// What stands at the path that was asked for, links resolved.
enum Target {
    New(PathBuf),
    Existing(PathBuf, Permissions),
    Stream,
}

/// The operations of the system, so that tests can let each of them fail.
trait Files {
    type File: Write;
    fn locate(&self, path: &Path) -> io::Result<Target>;
    /// Creates a file that must not exist; `private` keeps others out until its mode is set.
    fn create(&self, path: &Path, private: bool) -> io::Result<Self::File>;
    fn set_mode(&self, file: &Self::File, mode: Permissions) -> io::Result<()>;
    fn sync(&self, file: &Self::File) -> io::Result<()>;
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;
    fn remove(&self, path: &Path) -> io::Result<()>;
}

struct Disk;

impl Files for Disk {
    type File = File;

    fn locate(&self, path: &Path) -> io::Result<Target> {
        let names_folder = path.to_string_lossy().ends_with(std::path::is_separator);
        match fs::metadata(path) {
            Ok(data) if data.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(data) if data.is_file() => {
                Ok(Target::Existing(fs::canonicalize(path)?, data.permissions()))
            }
            Ok(_) => Ok(Target::Stream),
            Err(e) if e.kind() == ErrorKind::NotFound && !names_folder => {
                // A link whose target is missing cannot be canonicalized. Its end can be found, as
                // the system would have complained about a circle.
                let mut end = path.to_path_buf();
                while let Ok(next) = fs::read_link(&end) {
                    end = folder(&end).join(next);
                }
                Ok(Target::New(end))
            }
            Err(e) => Err(e),
        }
    }

    fn create(&self, path: &Path, private: bool) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if private {
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        options.open(path)
    }

    fn set_mode(&self, file: &File, mode: Permissions) -> io::Result<()> {
        file.set_permissions(mode)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        use ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
        match File::open(folder).and_then(|folder| folder.sync_all()) {
            // Not every system can sync a folder, and one that may be written need not be readable.
            Err(e) if matches!(e.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
            result => result,
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    /// Lets the call number `fail_at` fail and remembers the names of all calls.
    #[derive(Clone)]
    struct Faulty {
        fail_at: usize,
        kind: ErrorKind,
        calls: Rc<RefCell<Vec<&'static str>>>,
    }

    impl Faulty {
        fn new(fail_at: usize, kind: ErrorKind) -> Faulty {
            Faulty { fail_at, kind, calls: Rc::default() }
        }

        fn call(&self, name: &'static str) -> io::Result<()> {
            let mut calls = self.calls.borrow_mut();
            calls.push(name);
            if calls.len() == self.fail_at { Err(self.kind.into()) } else { Ok(()) }
        }
    }

    struct FaultyFile(File, Faulty);

    impl Write for FaultyFile {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let some = self.0.write(&bytes[..bytes.len().min(1000)])?;
            self.1.call("write").map(|()| some)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Files for Faulty {
        type File = FaultyFile;
        fn locate(&self, path: &Path) -> io::Result<Target> {
            self.call("locate").and_then(|()| Disk.locate(path))
        }
        fn create(&self, path: &Path, private: bool) -> io::Result<FaultyFile> {
            self.call("create")?;
            Ok(FaultyFile(Disk.create(path, private)?, self.clone()))
        }
        fn set_mode(&self, file: &FaultyFile, mode: Permissions) -> io::Result<()> {
            self.call("set_mode").and_then(|()| Disk.set_mode(&file.0, mode))
        }
        fn sync(&self, file: &FaultyFile) -> io::Result<()> {
            self.call("sync").and_then(|()| Disk.sync(&file.0))
        }
        fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
            self.call("rename").and_then(|()| Disk.rename(from, to))
        }
        fn sync_folder(&self, folder: &Path) -> io::Result<()> {
            self.call("sync_folder").and_then(|()| Disk.sync_folder(folder))
        }
        fn remove(&self, path: &Path) -> io::Result<()> {
            self.call("remove").and_then(|()| Disk.remove(path))
        }
    }

    /// A folder of its own for one test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("linsep-atomic-{name}-{}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = fs::remove_dir_all(&path);
            fs::create_dir(&path).unwrap();
            Folder(path)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn text(bytes: &'static [u8]) -> impl FnOnce(&mut dyn Write) -> io::Result<()> {
        move |out| out.write_all(bytes)
    }

    #[test]
    fn a_failure_at_any_step_leaves_old_or_new_content_and_nothing_else() {
        let folder = Folder::new("faults");
        let path = folder.0.join("model.json");
        let new: &[u8] = &[b'n'; 2500];
        for old in [Some(b"old"), None] {
            let mut failed = Vec::new();
            for n in 1.. {
                let _ = fs::remove_file(&path);
                if let Some(old) = old {
                    fs::write(&path, old).unwrap();
                }
                let files = Faulty::new(n, ErrorKind::StorageFull);
                let result = write_with(&files, &path, text(new)).and_then(|done| done);
                assert!(folder.names().iter().all(|name| name == "model.json"), "call {n}");
                if result.is_ok() {
                    assert_eq!(fs::read(&path).unwrap(), new);
                    break;
                }
                let call = files.calls.borrow()[n - 1];
                let changed = call == "sync_folder";
                let expected = if changed { Some(new) } else { old.map(|old| &old[..]) };
                assert_eq!(fs::read(&path).ok().as_deref(), expected, "call {n}, {call}");
                failed.push(call);
            }
            let start = if old.is_some() { "locate create set_mode" } else { "locate create" };
            let all = format!("{start} write write write sync rename sync_folder");
            assert_eq!(failed.join(" "), all);
        }
    }

    #[test]
    fn a_taken_name_is_not_touched_but_another_one_tried() {
        let folder = Folder::new("taken");
        let files = Faulty::new(2, ErrorKind::AlreadyExists);
        write_with(&files, &folder.0.join("a"), text(b"x")).unwrap().unwrap();
        assert_eq!(files.calls.borrow()[1..3], ["create", "create"]);
        assert_eq!(folder.names(), ["a"]);
    }

    #[test]
    fn an_error_or_a_panic_of_the_callback_leaves_no_trace() {
        let folder = Folder::new("callback");
        let path = folder.0.join("a");
        write_atomic(&path, text(b"old")).unwrap();
        let error = write_atomic(&path, |out| {
            out.write_all(&vec![b'x'; 3 << 20])?;
            Err(ErrorKind::Other.into())
        });
        assert!(matches!(error, Err(Error::Io { action: "write", path: p, .. }) if p == path));
        let panic = || write_atomic(&path, |_| panic!("in the callback"));
        assert!(std::panic::catch_unwind(panic).is_err());
        assert_eq!(folder.names(), ["a"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn places_that_cannot_be_written_are_errors() {
        let folder = Folder::new("refused");
        let file = folder.0.join("file");
        fs::write(&file, "x").unwrap();
        for path in [file.join("below"), folder.0.join("none/a"), folder.0.clone(), "".into()] {
            assert!(write_atomic(&path, text(b"y")).is_err(), "{}", path.display());
            assert!(write_atomic(&path.join("new/"), text(b"y")).is_err());
        }
        assert_eq!(folder.names(), ["file"]);
        assert_eq!(fs::read(&file).unwrap(), b"x");
    }

    #[test]
    fn long_names_and_large_content_are_no_problem() {
        let folder = Folder::new("long");
        let path = folder.0.join("n".repeat(250));
        let chunk: Vec<u8> = (0..=255).cycle().take(100_003).collect();
        write_atomic(&path, |out| (0..50).try_for_each(|_| out.write_all(&chunk))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), chunk.repeat(50));
        assert_eq!(folder.names().len(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn the_mode_is_kept_and_links_are_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = Folder::new("mode");
        fs::create_dir(folder.0.join("sub")).unwrap();
        let (real, link) = (folder.0.join("sub/real"), folder.0.join("link"));
        symlink("second", &link).unwrap();
        symlink("sub/real", folder.0.join("second")).unwrap();
        write_atomic(&link, text(b"through a dangling link")).unwrap();
        assert_eq!(fs::read(&real).unwrap(), b"through a dangling link");
        for mode in [0o640, 0o600, 0o755] {
            fs::set_permissions(&real, fs::Permissions::from_mode(mode)).unwrap();
            write_atomic(&link, text(b"again")).unwrap();
            assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, mode);
        }
        assert_eq!(fs::read(&real).unwrap(), b"again");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(folder.names(), ["link", "second", "sub"]);
        symlink("circle", folder.0.join("circle")).unwrap();
        assert!(write_atomic(&folder.0.join("circle"), text(b"x")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_written_to_and_never_replaced() {
        use std::os::unix::{fs::FileTypeExt, net::UnixListener};
        let folder = Folder::new("socket");
        let path = folder.0.join("socket");
        let _listener = UnixListener::bind(&path).unwrap();
        assert!(write_atomic(&path, text(b"x")).is_err());
        assert!(fs::metadata(&path).unwrap().file_type().is_socket());
        write_atomic(Path::new("/dev/null"), text(b"x")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
