//! The codec as its users meet it: what goes out comes back, what is wrong is refused, others read and write
//! the same bytes.

mod corpus;
mod evolvability;
mod foreign;
mod generator;
mod link;
mod mutations;
mod oracle;
mod round_trip;
mod signatures;
mod tlvs;
