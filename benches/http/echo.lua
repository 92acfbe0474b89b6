-- A call of the tool `echo`, 2026-07-28.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2026-07-28"
wrk.headers["Mcp-Method"] = "tools/call"
wrk.headers["Mcp-Name"] = "echo"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello, hello, hello, hello, hello"},' ..
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"wrk","version":"1"},' ..
  '"io.modelcontextprotocol/clientCapabilities":{}}}}'

local wrong = 0
function response(status, headers, body)
  if status ~= 200 or not body:find("hello, hello, hello, hello, hello", 1, true) then wrong = wrong + 1 end
  if wrong == 1 then print("WRONG", status, body) end
end
