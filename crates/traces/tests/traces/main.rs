//! Tests of trace files: their formats, units, statistics and conversions.

mod conversions;
mod imitations;
mod real_traces;
mod trace_formats;
mod trace_properties;
mod units;
mod written;
