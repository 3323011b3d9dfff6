//! The codec as its users meet it: what goes out comes back, what is wrong is refused, others read and write
//! the same bytes.

mod signatures;
