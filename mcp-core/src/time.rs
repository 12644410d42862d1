//! Deadlines, delays, expiry and rates. The time is an argument.
//!
//! | module | content |
//! |---|---|
//! | `backoff` | delays between retries |
//! | `deadline` | waits that may be very long |
//! | `expiring` | values that expire |
//! | `log_limit`, `pace` | limits of log lines, and of other events that peers cause |

pub mod backoff;
pub mod deadline;
mod expiring;
mod log_limit;
mod pace;

pub(crate) use expiring::Expiring;
pub use log_limit::LogLimit;
pub use pace::Pace;
