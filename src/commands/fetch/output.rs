//! Where fetched content goes: a file that gets its name once it is whole, or standard output.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::exit::Failure;
use crate::results::cannot;

/// Bytes written at once.
const BUFFER: usize = 256 * 1024;

/// Takes content in order.
pub(super) struct Output {
    writer: BufWriter<Box<dyn Write>>,
    /// The file while it is not whole, and its name afterwards.
    part: Option<(PathBuf, PathBuf)>,
}

impl Output {
    /// Opens `path`, `-` for standard output. A file is written as `path.part`; what is there and no regular
    /// file (a pipe, `/dev/null`) is written to directly.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        if path == Path::new("-") {
            return Ok(Self::over(Box::new(io::stdout()), None));
        }
        let is_special = fs::metadata(path).is_ok_and(|found| !found.is_file());
        if is_special {
            let file = File::options().write(true).open(path).map_err(|why| cannot("write", path, &why))?;
            return Ok(Self::over(Box::new(file), None));
        }
        let part = part_of(path);
        let file = File::create(&part).map_err(|why| cannot("write", &part, &why))?;
        Ok(Self::over(Box::new(file), Some((part, path.to_owned()))))
    }

    fn over(writer: Box<dyn Write>, part: Option<(PathBuf, PathBuf)>) -> Self {
        Self { writer: BufWriter::with_capacity(BUFFER, writer), part }
    }

    /// Gives the file its name if it is whole; where it is if it is not.
    pub(super) fn finish(mut self, is_whole: bool) -> Result<Option<PathBuf>, Failure> {
        let flushed = self.writer.flush();
        let Some((part, whole)) = self.part else {
            return flushed.map(|()| None).map_err(|why| Failure::error(format!("standard output: {why}")));
        };
        flushed.map_err(|why| cannot("write", &part, &why))?;
        if !is_whole {
            return Ok(Some(part));
        }
        fs::rename(&part, &whole).map_err(|why| cannot("write", &whole, &why))?;
        Ok(None)
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}
