/* A server in C: a lamp on standard input and output, in a poll(2) loop. Then, with an argument, a test of what a program
 * may do wrong. */
#include "../mcp.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(it) do { if (!(it)) { fprintf(stderr, "line %d: %s\n", __LINE__, #it); exit(1); } } while (0)

static const mcp_tool TOOLS[] = {
    {"switch", "Switches the lamp", "{\"type\":\"object\"}"},
    {"echo", "Says what it is told",
     "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}}}"},
};

static void answer(mcp_server *server, const mcp_event *event) {
    char text[256];
    ptrdiff_t length = -1;
    if (event->tool == 0) {
        CHECK(mcp_server_reply(server, event->token, "on", 2, 0) == MCP_OK);
        return;
    }
    if (event->arguments != NULL)
        length = mcp_json_string(event->arguments, event->arguments_length, "text", text, sizeof text);
    if (length < 0 || (size_t)length > sizeof text)
        CHECK(mcp_server_reply(server, event->token, "no text, or too long", 20, 1) == MCP_OK);
    else
        CHECK(mcp_server_reply(server, event->token, text, (size_t)length, 0) == MCP_OK);
}

static int serve(mcp_server *server) {
    size_t held = 0, room = 4096;
    uint8_t *input = malloc(room);
    CHECK(input != NULL);
    for (;;) {
        size_t waiting, used = 0;
        const uint8_t *output = mcp_server_output(server, &waiting);
        if (waiting > 0) {
            ssize_t count = write(STDOUT_FILENO, output, waiting);
            CHECK(count > 0);
            CHECK(mcp_server_written(server, (size_t)count) == MCP_OK);
            continue;
        }
        struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
        CHECK(poll(&ready, 1, -1) > 0);
        if (held == room) {
            room *= 2;
            input = realloc(input, room);
            CHECK(input != NULL);
        }
        ssize_t count = read(STDIN_FILENO, input + held, room - held);
        CHECK(count >= 0);
        if (count == 0)
            break;
        held += (size_t)count;
        for (;;) {
            mcp_event event;
            CHECK(mcp_server_receive(server, input + used, held - used, &event) == MCP_OK);
            used += event.consumed;
            if (event.kind == MCP_MORE)
                break;
            if (event.kind == MCP_CALL)
                answer(server, &event);
        }
        memmove(input, input + used, held - used);
        held -= used;
    }
    free(input);
    return 0;
}

/* One line, which is taken whole. */
static mcp_event say(mcp_server *server, const char *line) {
    mcp_event event;
    CHECK(mcp_server_receive(server, (const uint8_t *)line, strlen(line), &event) == MCP_OK);
    CHECK(event.consumed == strlen(line));
    return event;
}

/* Any limit will do, and any pieces: what is too long is refused once, and the next line is read. */
static void pieces(size_t max_message, const char *expected) {
    mcp_server *server = mcp_server_new("lamp", "1.0.0", TOOLS, 2, 0x5EED, max_message);
    const char *input = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n[\n";
    size_t used = 0, length;
    CHECK(server != NULL);
    for (size_t there = 0; there <= strlen(input); there++) {
        mcp_event event;
        do {
            CHECK(mcp_server_receive(server, (const uint8_t *)input + used, there - used, &event) == MCP_OK);
            used += event.consumed;
            CHECK(used <= there);
        } while (event.kind != MCP_MORE);
    }
    CHECK(used == strlen(input));
    const uint8_t *output = mcp_server_output(server, &length);
    CHECK(length == strlen(expected) && memcmp(output, expected, length) == 0);
    mcp_server_free(server);
}

static void misuse(mcp_server *server) {
    mcp_event event;
    size_t length;
    char text[4];
    CHECK(mcp_server_new(NULL, "1", NULL, 0, 0, 0) == NULL);
    CHECK(mcp_server_new("x", "1", NULL, 1, 0, 0) == NULL);
    mcp_tool bad = {"x", "x", "{"};
    CHECK(mcp_server_new("x", "1", &bad, 1, 0, 0) == NULL);
    CHECK(mcp_server_receive(NULL, NULL, 0, &event) == MCP_MISUSE);
    CHECK(mcp_server_receive(server, NULL, 1, &event) == MCP_MISUSE);
    CHECK(mcp_server_receive(server, NULL, 0, NULL) == MCP_MISUSE);
    CHECK(mcp_server_receive(server, NULL, 0, &event) == MCP_OK && event.kind == MCP_MORE);
    /* More than any object has: a length that went below zero. */
    CHECK(mcp_server_new("x", "1", TOOLS, SIZE_MAX, 0, 0) == NULL);
    CHECK(mcp_server_new("x", "1", TOOLS, SIZE_MAX / sizeof *TOOLS, 0, 0) == NULL);
    CHECK(mcp_server_receive(server, (const uint8_t *)"x", SIZE_MAX, &event) == MCP_MISUSE);
    CHECK(mcp_json_string("{}", SIZE_MAX, "a", text, sizeof text) == -1);
    CHECK(mcp_json_string("{}", 2, NULL, text, sizeof text) == -1);
    CHECK(mcp_json_string("{\"a\":\"1\"}", 9, "a", NULL, 4) == 1);
    mcp_tool nameless = {NULL, "x", "{\"type\":\"object\"}"}, twice[] = {TOOLS[0], TOOLS[0]};
    CHECK(mcp_server_new("x", "1", &nameless, 1, 0, 0) == NULL);
    CHECK(mcp_server_new("x", "1", twice, 2, 0, 0) == NULL);
    CHECK(mcp_server_new("\xff", "1", TOOLS, 2, 0, 0) == NULL);
    CHECK(mcp_server_output(server, NULL) == NULL);
    CHECK(mcp_server_output(server, &length) != NULL && length == 0);
    CHECK(mcp_server_written(server, 0) == MCP_OK);
    CHECK(mcp_server_output(NULL, &length) == NULL);
    CHECK(mcp_server_written(server, 1) == MCP_MISUSE);
    CHECK(mcp_server_reply(server, 7, "x", 1, 0) == MCP_MISUSE);
    CHECK(mcp_json_string("{\"a\":\"\\u00e9\"}", 14, "a", text, sizeof text) == 2);
    CHECK(memcmp(text, "\xc3\xa9", 2) == 0);
    CHECK(mcp_json_string("{\"a\":\"12345\"}", 13, "a", text, sizeof text) == 5);
    CHECK(mcp_json_string("{\"a\":1}", 7, "a", text, sizeof text) == -1);
    CHECK(mcp_json_string(NULL, 7, "a", text, sizeof text) == -1);

    say(server, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\","
                "\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}\n");
    const char *call = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"switch\"}}\n";
    event = say(server, call);
    CHECK(event.kind == MCP_CALL && event.tool == 0 && event.arguments == NULL);
    uint64_t first = event.token;
    CHECK(mcp_server_reply(server, first, "\xff", 1, 0) == MCP_MISUSE);
    CHECK(mcp_server_reply(server, first, "on", 2, 0) == MCP_OK);
    CHECK(mcp_server_reply(server, first, "on", 2, 0) == MCP_STALE);
    event = say(server, call);
    CHECK(event.kind == MCP_CALL && event.token != first);
    /* The place is used again, and the old token does not fit it. */
    CHECK(mcp_server_reply(server, first, "on", 2, 0) == MCP_MISUSE);
    uint64_t second = event.token;
    event = say(server, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n");
    CHECK(event.kind == MCP_CANCELLED && event.token == second);
    CHECK(mcp_server_reply(server, second, "on", 2, 0) == MCP_STALE);
    event = say(server, "not JSON\n");
    CHECK(event.kind == MCP_HANDLED);
    /* What is answered with, or read, may not be in the output: that moves. */
    event = say(server, call);
    const uint8_t *output = mcp_server_output(server, &length);
    CHECK(mcp_server_reply(server, event.token, (const char *)output, length, 0) == MCP_MISUSE);
    CHECK(mcp_server_receive(server, output + length - 1, 1, &event) == MCP_MISUSE);
    /* No text is a text too; and then the call is over. */
    CHECK(mcp_server_reply(server, event.token, NULL, 0, 1) == MCP_OK);
    CHECK(mcp_server_reply(server, event.token, NULL, 0, 1) == MCP_STALE);
    CHECK(mcp_server_written(server, SIZE_MAX) == MCP_MISUSE);
    output = mcp_server_output(server, &length);
    CHECK(output[length - 1] == '\n');
    CHECK(mcp_server_written(server, length - 1) == MCP_OK && mcp_server_written(server, 2) == MCP_MISUSE);
    CHECK(mcp_server_written(server, 1) == MCP_OK);
    mcp_server_free(NULL);

    const char *served = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"
                         "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":"
                         "\"Parse error: unexpected end at byte 1\"}}\n";
    pieces(0, served);
    pieces(SIZE_MAX, served);
    pieces(1, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":"
              "\"Message longer than 1 bytes, discarded\"}}\n"
              "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":"
              "\"Parse error: unexpected end at byte 1\"}}\n");
}

int main(int count, char **words) {
    (void)words;
    mcp_server *server = mcp_server_new("lamp", "1.0.0", TOOLS, 2, 0x5EED, 65536);
    CHECK(server != NULL);
    int done = 0;
    if (count > 1)
        misuse(server);
    else
        done = serve(server);
    mcp_server_free(server);
    return done;
}
