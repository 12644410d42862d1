//! Limits of calls: per tool, per caller, and for repeated request states.
//!
//! | module | content; each module uses only modules above it |
//! |---|---|
//! | `quota` | shares of callers in calls that wait |
//! | `used_states` | the request states that clients have used, in memory |
//! | `limiter` | [`CallLimits`](limiter::CallLimits), and the request states that clients have used |

pub(crate) mod limiter;
pub(crate) mod quota;
pub(crate) mod used_states;
