//! Files that a program writes at a path which others could have prepared: no link is followed, and no file of another
//! user is written.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Opens a file to write at its beginning, without removing its content; makes it if there is none.
///
/// # Errors
/// If a symbolic link, a file of another user, one with several names or no regular file is at `path`, or the system
/// refuses.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    let new = OpenOptions::new().write(true).create_new(true).open(path);
    match new {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            open_existing(path, OpenOptions::new().write(true))
        }
        made => made,
    }
}

/// Replaces the content of a file, which is opened as by [`open_to_write`].
///
/// # Errors
/// As [`open_to_write`], or if the file cannot be written.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = open_to_write(path)?;
    file.set_len(0)?;
    file.write_all(content)
}

/// Opens a file to read that [`open_to_write`] could write.
///
/// # Errors
/// As [`open_to_write`]; a file that does not exist is not made.
pub fn open_to_read(path: &Path) -> io::Result<File> {
    open_existing(path, OpenOptions::new().read(true))
}

/// The content of a file, which is opened as by [`open_to_read`].
///
/// # Errors
/// As [`open_to_read`], or if the file cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    open_to_read(path)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Checks that a file at `path` may be replaced by another: there is none, a symbolic link, which is replaced itself, or a
/// file of this user.
///
/// # Errors
/// If a file of another user is there.
pub fn check_replaceable(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) => check_owner(&found),
        Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(why) => Err(why),
    }
}

fn open_existing(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // Without O_NONBLOCK a pipe would be waited for before it is refused.
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_CLOEXEC).open(path);
    let file = file.map_err(|why| match why.raw_os_error() {
        Some(libc::ELOOP) => refusal("it is a symbolic link, which is not followed"),
        _ => why,
    })?;
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(refusal("it is not a regular file"));
    }
    check_owner(&found)?;
    if found.nlink() > 1 {
        return Err(refusal("it has several names (hard links), and may be another file"));
    }
    Ok(file)
}

fn check_owner(found: &Metadata) -> io::Result<()> {
    if found.uid() == rustix::process::geteuid().as_raw() {
        Ok(())
    } else {
        Err(refusal("it belongs to another user"))
    }
}

fn refusal(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};
    use std::path::PathBuf;

    fn folder(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("tidegate-own-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).expect("writable");
        path
    }

    fn refused(path: &Path) -> String {
        let why = write(path, b"overwritten").expect_err("refused").to_string();
        assert_eq!(open_to_read(path).expect_err("refused").to_string(), why);
        why
    }

    #[test]
    fn an_own_file_is_made_written_and_read() {
        let path = folder("plain").join("file");
        write(&path, b"some content").expect("made");
        write(&path, b"less").expect("written");
        assert_eq!(read(&path).expect("readable"), b"less");
    }

    #[test]
    fn no_link_is_followed_and_what_it_leads_to_stays() {
        let folder = folder("links");
        let victim = folder.join("victim");
        fs::write(&victim, b"mine").expect("writable");
        let [soft, dangling, hard] = ["soft", "dangling", "hard"].map(|name| folder.join(name));
        symlink(&victim, &soft).expect("made");
        symlink(folder.join("new"), &dangling).expect("made");
        fs::hard_link(&victim, &hard).expect("made");
        assert_eq!(refused(&soft), "it is a symbolic link, which is not followed");
        assert_eq!(refused(&dangling), "it is a symbolic link, which is not followed");
        assert_eq!(refused(&hard), "it has several names (hard links), and may be another file");
        assert_eq!(fs::read(&victim).expect("there"), b"mine");
        assert!(!folder.join("new").exists());
        let why = open_to_read(&folder).expect_err("refused").to_string();
        assert_eq!(why, "it is not a regular file");
    }

    #[test]
    fn a_file_of_another_user_is_neither_written_nor_replaced() {
        let path = folder("owner").join("file");
        fs::write(&path, b"theirs").expect("writable");
        assert!(check_replaceable(&path).is_ok());
        // Only root may give a file away.
        if chown(&path, Some(65_534), None).is_err() {
            return;
        }
        assert_eq!(refused(&path), "it belongs to another user");
        assert_eq!(check_replaceable(&path).expect_err("refused").to_string(), "it belongs to another user");
        assert_eq!(fs::read(&path).expect("there"), b"theirs");
        assert!(check_replaceable(&path.with_extension("absent")).is_ok());
    }
}
