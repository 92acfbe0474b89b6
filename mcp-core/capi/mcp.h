/* A server of the Model Context Protocol, for programs in C: lines of bytes in, calls and lines of bytes out. It does no
 * I/O, starts no threads and knows no clock: the loop is the program's own. `tests/lamp.c` is a program with one.
 *
 * Link with libmcp_c.a, made by `cargo build -p mcp-capi`, and -lpthread -ldl -lm.
 *
 * A server is used by one thread at a time. No function fails for what the peer sends. NULL where there must be a pointer
 * is MCP_MISUSE, as is a token that was used. */
#ifndef MCP_H
#define MCP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp_server mcp_server;

/* A tool. All strings are UTF-8, end with NUL, and are copied. */
typedef struct mcp_tool {
    const char *name;
    const char *description;
    /* A JSON Schema with "type": "object" at its root. */
    const char *input_schema;
} mcp_tool;

typedef enum mcp_status {
    MCP_OK = 0,
    /* A mistake of the program's. Nothing has happened. */
    MCP_MISUSE = 1,
    /* The call is over: answered, or cancelled by the client. */
    MCP_STALE = 2,
    /* A mistake of this library's. The server is not to be used any more, but freed. */
    MCP_BROKEN = 3
} mcp_status;

typedef enum mcp_kind {
    /* No whole message is there: offer more input, behind what is not consumed. */
    MCP_MORE = 0,
    /* A message that needs nothing of the program. */
    MCP_HANDLED = 1,
    /* A call of a tool, to be answered once. */
    MCP_CALL = 2,
    /* The client does not wait for the call of this token any more. */
    MCP_CANCELLED = 3
} mcp_kind;

/* What came of some input. */
typedef struct mcp_event {
    mcp_kind kind;
    /* So many bytes of the input are used up. */
    size_t consumed;
    /* MCP_CALL and MCP_CANCELLED: which call. */
    uint64_t token;
    /* MCP_CALL: the place of the tool among those given. */
    size_t tool;
    /* MCP_CALL: the arguments, a JSON object that is not terminated, within the input; NULL if there are none. */
    const char *arguments;
    size_t arguments_length;
} mcp_event;

/* Makes a server; NULL if the tools cannot be offered. `seed` should be unpredictable to the client. `max_message` is the
 * longest line accepted, in bytes; 0 is 4 MiB. */
mcp_server *mcp_server_new(const char *name, const char *version, const mcp_tool *tools, size_t count,
                           uint64_t seed, size_t max_message);

/* Takes at most one message of `input`, which begins with the first byte that is not consumed: what is left of the input
 * before, and what has arrived since. While nothing is consumed the same bytes are offered again, with more behind them, so
 * there has to be room for `max_message` + 3 bytes; no line needs more. To be called until MCP_MORE. When the input ends
 * without a line end, add one: the last line is a message too.
 *
 * What is answered to, and what is refused, is in the output. `input` may not be a part of that. */
mcp_status mcp_server_receive(mcp_server *server, const uint8_t *input, size_t length, mcp_event *event);

/* Answers a call with a text of `length` bytes of UTF-8, which may not be a part of the output; `is_error` says that the tool
 * failed. Now or later, in any order: until then the call counts among those in flight. MCP_STALE if the client has cancelled
 * it meanwhile: that is no mistake. */
mcp_status mcp_server_reply(mcp_server *server, uint64_t token, const char *text, size_t length, int is_error);

/* What is to be written: whole lines, but for what of them was written before. It is there until the next call of another
 * function on this server. It grows until it is written: do not read on while a client does not take its answers. */
const uint8_t *mcp_server_output(const mcp_server *server, size_t *length);

/* So many bytes of the output were written. */
mcp_status mcp_server_written(mcp_server *server, size_t count);

/* The string that the member `name` of a JSON object is, with its escapes decoded, into `text`, and its length in bytes;
 * nothing is copied if it is longer than `capacity`. -1: there is no such string. */
ptrdiff_t mcp_json_string(const char *object, size_t length, const char *name, char *text, size_t capacity);

/* Frees a server; NULL is allowed. */
void mcp_server_free(mcp_server *server);

#ifdef __cplusplus
}
#endif

#endif
