//! A server of the Model Context Protocol for programs in C; the manual is `mcp.h`.
//!
//! Tools and their calls, both eras, over whatever carries lines: what `StdioServer` of `mcp-core` is. No panic crosses
//! over to C: a server that had one is broken, and says so from then on.

#![expect(unsafe_code, reason = "what C hands over is pointers")]

use core::ffi::{CStr, c_char, c_int};
use core::slice;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use mcp_core::Limits;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{
    Batch, Call, CallRequest, Catalog, Incoming, ReplyToken, ServerEngine,
};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Tool};

/// `mcp_tool`.
#[repr(C)]
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "C knows its size")]
pub struct McpTool {
    /// UTF-8, ending with NUL.
    pub name: *const c_char,
    /// The same.
    pub description: *const c_char,
    /// The same; a JSON Schema.
    pub input_schema: *const c_char,
}

/// `mcp_status`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "C knows its values")]
pub enum McpStatus {
    /// `MCP_OK`
    Ok = 0,
    /// `MCP_MISUSE`
    Misuse = 1,
    /// `MCP_STALE`
    Stale = 2,
    /// `MCP_BROKEN`
    Broken = 3,
}

/// `mcp_kind`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "C knows its values")]
pub enum McpKind {
    /// `MCP_MORE`
    More = 0,
    /// `MCP_HANDLED`
    Handled = 1,
    /// `MCP_CALL`
    Call = 2,
    /// `MCP_CANCELLED`
    Cancelled = 3,
}

/// `mcp_event`.
#[repr(C)]
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "C knows its size")]
pub struct McpEvent {
    /// What came of it.
    pub kind: McpKind,
    /// Bytes of the input.
    pub consumed: usize,
    /// Which call.
    pub token: u64,
    /// The place of the tool.
    pub tool: usize,
    /// Within the input, or null.
    pub arguments: *const c_char,
    /// In bytes.
    pub arguments_length: usize,
}

impl McpEvent {
    const fn new(kind: McpKind, consumed: usize) -> Self {
        Self {
            kind,
            consumed,
            token: 0,
            tool: 0,
            arguments: core::ptr::null(),
            arguments_length: 0,
        }
    }
}

/// `mcp_server`.
#[derive(Debug)]
pub struct McpServer {
    server: StdioServer,
    out: Vec<u8>,
    /// By the place of the call in the engine's table.
    calls: Vec<Waiting>,
    broken: bool,
}

#[derive(Debug, Default)]
struct Waiting {
    /// How often the place was used: the upper half of a token.
    generation: u32,
    token: Option<ReplyToken>,
}

impl McpServer {
    fn keep(&mut self, token: ReplyToken) -> u64 {
        let at = token.key().index();
        if self.calls.len() <= at {
            self.calls.resize_with(at + 1, Waiting::default);
        }
        let waiting = &mut self.calls[at];
        waiting.generation = waiting.generation.wrapping_add(1);
        waiting.token = Some(token);
        number(waiting.generation, at)
    }

    /// The place that a token names, if it names one.
    fn place(&self, token: u64) -> Option<usize> {
        let at = usize::try_from(token & u64::from(u32::MAX)).ok()?;
        let waiting = self.calls.get(at)?;
        (number(waiting.generation, at) == token).then_some(at)
    }

    /// Whether some of the bytes are in the output, which is about to change.
    fn writes_over(&self, bytes: &[u8]) -> bool {
        let out = self.out.as_ptr().addr();
        let bytes = bytes.as_ptr_range();
        bytes.start.addr() < out + self.out.capacity() && out < bytes.end.addr()
    }

    fn receive(&mut self, input: &[u8]) -> McpEvent {
        let step = self.server.receive(input, &mut self.out);
        let consumed = step.consumed;
        match step.incoming {
            None => McpEvent::new(McpKind::More, consumed),
            Some(Incoming::Call(call)) => self.call(call, consumed),
            Some(Incoming::Cancelled(key)) => {
                let at = key.index();
                let waiting = self.calls.get_mut(at);
                let generation = waiting.map_or(0, |waiting| {
                    waiting.token = None;
                    waiting.generation
                });
                McpEvent {
                    token: number(generation, at),
                    ..McpEvent::new(McpKind::Cancelled, consumed)
                }
            }
            Some(Incoming::Batch(batch)) => {
                self.refuse_calls(batch);
                McpEvent::new(McpKind::Handled, consumed)
            }
            Some(_) => McpEvent::new(McpKind::Handled, consumed),
        }
    }

    fn call(&mut self, call: Call<'_>, consumed: usize) -> McpEvent {
        // Nothing else is offered.
        let CallRequest::Tool {
            tool, arguments, ..
        } = call.request
        else {
            return McpEvent::new(McpKind::Handled, consumed);
        };
        McpEvent {
            token: self.keep(call.token),
            tool,
            arguments: arguments.map_or(core::ptr::null(), |it| it.as_bytes().as_ptr().cast()),
            arguments_length: arguments.map_or(0, |it| it.as_bytes().len()),
            ..McpEvent::new(McpKind::Call, consumed)
        }
    }

    /// An event is one call, and a batch may be many: only sessions of 2025-03-26 have them, and there calls in them are
    /// answered as failed.
    fn refuse_calls(&mut self, mut batch: Batch<'_>) {
        let out = &mut Lines::new(&mut self.out);
        let engine = self.server.engine_mut();
        while let Some(incoming) = engine.next_in_batch(&mut batch, out) {
            if let Incoming::Call(call) = incoming {
                let content = [ContentBlock::text("not in a batch")];
                let result = CallToolResult::new(&content).failed(true);
                // A `Vec` has room, and the call is new.
                let _ = engine.reply(call.token, &result, out);
            }
        }
    }
}

const fn number(generation: u32, at: usize) -> u64 {
    (generation as u64) << 32 | at as u64
}

/// Runs `body` on the server; whatever panics breaks it.
///
/// # Safety
///
/// `server` is null, or of [`mcp_server_new`] and nobody else uses it now.
unsafe fn guarded(
    server: *mut McpServer,
    body: impl FnOnce(&mut McpServer) -> McpStatus,
) -> McpStatus {
    // SAFETY: by the caller's word.
    let Some(server) = (unsafe { server.as_mut() }) else {
        return McpStatus::Misuse;
    };
    if server.broken {
        return McpStatus::Broken;
    }
    let done = catch_unwind(AssertUnwindSafe(|| body(&mut *server)));
    done.unwrap_or_else(|_| {
        server.broken = true;
        McpStatus::Broken
    })
}

/// # Safety
///
/// `text` is null, or ends with NUL and is not changed as long as `'a` is.
unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: by the caller's word.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// `None`: they cannot be there.
///
/// # Safety
///
/// `start` is null, or so many elements are there and not changed as long as `'a` is.
unsafe fn elements<'a, T>(start: *const T, length: usize) -> Option<&'a [T]> {
    // No object is larger. A negative length is one that went wrong.
    let most = isize::MAX.unsigned_abs() / size_of::<T>();
    match (start.is_null(), length) {
        (_, 0) => Some(&[]),
        (false, length) if length <= most => {
            // SAFETY: by the caller's word.
            Some(unsafe { slice::from_raw_parts(start, length) })
        }
        (_, _) => None,
    }
}

/// See `mcp.h`.
///
/// # Safety
///
/// All strings end with NUL, and `tools` has `count` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_new(
    name: *const c_char,
    version: *const c_char,
    tools: *const McpTool,
    count: usize,
    seed: u64,
    max_message: usize,
) -> *mut McpServer {
    let made = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: by the caller's word.
        let (name, version) = unsafe { (text(name)?, text(version)?) };
        // SAFETY: by the caller's word.
        let given = unsafe { elements(tools, count) }?;
        let mut tools = Vec::with_capacity(given.len());
        for tool in given {
            // SAFETY: by the caller's word.
            let (name, description, schema) = unsafe {
                (
                    text(tool.name)?,
                    text(tool.description)?,
                    text(tool.input_schema)?,
                )
            };
            let schema = Json::parse(schema.as_bytes()).ok()?;
            tools.push(Tool::constant(name, description, schema));
        }
        let server = Implementation::constant(name, version);
        let catalog = Catalog::builder(&server).tools(&tools).build().ok()?;
        let mut limits = Limits::DEFAULT;
        if max_message != 0 {
            limits.max_message = max_message;
        }
        let engine = ServerEngine::new(Arc::new(catalog), limits, seed);
        Some(McpServer {
            server: StdioServer::new(engine),
            out: Vec::new(),
            calls: Vec::new(),
            broken: false,
        })
    }));
    match made {
        Ok(Some(server)) => Box::into_raw(Box::new(server)),
        Ok(None) | Err(_) => core::ptr::null_mut(),
    }
}

/// See `mcp.h`.
///
/// # Safety
///
/// `server` is of [`mcp_server_new`] and nobody else uses it now, `input` has `length` bytes, and `event` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_receive(
    server: *mut McpServer,
    input: *const u8,
    length: usize,
    event: *mut McpEvent,
) -> McpStatus {
    // SAFETY: by the caller's word.
    let Some(input) = (unsafe { elements(input, length) }) else {
        return McpStatus::Misuse;
    };
    if event.is_null() {
        return McpStatus::Misuse;
    }
    let receive = |server: &mut McpServer| {
        if server.writes_over(input) {
            return McpStatus::Misuse;
        }
        let came = server.receive(input);
        // SAFETY: by the caller's word; it need not hold anything yet.
        unsafe { event.write(came) };
        McpStatus::Ok
    };
    // SAFETY: by the caller's word.
    unsafe { guarded(server, receive) }
}

/// See `mcp.h`.
///
/// # Safety
///
/// `server` is of [`mcp_server_new`] and nobody else uses it now, and `said` has `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_reply(
    server: *mut McpServer,
    token: u64,
    said: *const c_char,
    length: usize,
    is_error: c_int,
) -> McpStatus {
    // SAFETY: by the caller's word.
    let said = unsafe { elements(said.cast(), length) };
    let Some(said) = said.and_then(|said| str::from_utf8(said).ok()) else {
        return McpStatus::Misuse;
    };
    let reply = |server: &mut McpServer| {
        let Some(at) = server
            .place(token)
            .filter(|_| !server.writes_over(said.as_bytes()))
        else {
            return McpStatus::Misuse;
        };
        let Some(token) = server.calls[at].token.take() else {
            return McpStatus::Stale;
        };
        let content = [ContentBlock::text(said)];
        let result = CallToolResult::new(&content).failed(is_error != 0);
        let out = &mut Lines::new(&mut server.out);
        match server.server.engine_mut().reply(token, &result, out) {
            Ok(()) => McpStatus::Ok,
            Err(_) => McpStatus::Stale,
        }
    };
    // SAFETY: by the caller's word.
    unsafe { guarded(server, reply) }
}

/// See `mcp.h`.
///
/// # Safety
///
/// `server` is of [`mcp_server_new`] and nobody else uses it now, and `length` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_output(
    server: *const McpServer,
    length: *mut usize,
) -> *const u8 {
    // SAFETY: by the caller's word.
    let server = unsafe { server.as_ref() };
    let Some(server) = server.filter(|_| !length.is_null()) else {
        return core::ptr::null();
    };
    // SAFETY: by the caller's word.
    unsafe { length.write(server.out.len()) };
    server.out.as_ptr()
}

/// See `mcp.h`.
///
/// # Safety
///
/// `server` is of [`mcp_server_new`] and nobody else uses it now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_written(server: *mut McpServer, count: usize) -> McpStatus {
    let written = |server: &mut McpServer| {
        if count > server.out.len() {
            return McpStatus::Misuse;
        }
        server.out.drain(..count);
        McpStatus::Ok
    };
    // SAFETY: by the caller's word.
    unsafe { guarded(server, written) }
}

/// See `mcp.h`.
///
/// # Safety
///
/// `object` has `length` bytes, `name` ends with NUL, and `capacity` bytes of `into` can be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_json_string(
    object: *const c_char,
    length: usize,
    name: *const c_char,
    into: *mut c_char,
    capacity: usize,
) -> isize {
    // SAFETY: by the caller's word.
    let (object, name) = unsafe { (elements(object.cast(), length), text(name)) };
    let found = catch_unwind(|| {
        let object = RawJson::parse(object?).ok()?;
        Some(object.member(name?)?.as_string()?.decode().into_owned())
    });
    let Ok(Some(found)) = found else {
        return -1;
    };
    if found.len() <= capacity && !into.is_null() {
        // SAFETY: so many bytes can be written there, and the text is in no memory of the caller's.
        unsafe { core::ptr::copy_nonoverlapping(found.as_ptr(), into.cast(), found.len()) };
    }
    // No text is longer than half of the memory.
    found.len() as isize
}

/// See `mcp.h`.
///
/// # Safety
///
/// `server` is null, or of [`mcp_server_new`] and nobody uses it now or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mcp_server_free(server: *mut McpServer) {
    if !server.is_null() {
        // SAFETY: by the caller's word it came from a box, and goes only once.
        drop(unsafe { Box::from_raw(server) });
    }
}
