//! Tool arguments that are mirrored into headers: `x-mcp-header` (XH-01 to XH-18).
