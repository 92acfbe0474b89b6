//! Placeholder of the skeleton commit.
