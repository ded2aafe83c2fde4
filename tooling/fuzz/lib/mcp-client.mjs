/**
 * The MCP client under test, in its own process so that its stalls can be measured: imports the tools of the server
 * whose URL it gets, and calls some of them. Ends with the process that started it.
 */
const packages = new URL('../../../packages/', import.meta.url)
const { runTool } = await import(new URL('core/dist/index.js', packages))
const { mcpTools } = await import(new URL('remote-tools/dist/index.js', packages))

process.on('disconnect', () => {
  process.exit(0)
})

process.on('message', ({ id, url, limitMs }) => {
  void attempt(url, limitMs).then((outcome) => process.send({ id, outcome }))
})

/** Returns what the client got from the server: the names of its tools, or the reason why there are none, and its answers. */
async function attempt(url, limitMs) {
  const outcome = { tools: [], calls: [], importFailure: undefined, importMs: 0 }
  const startedAt = performance.now()
  try {
    await using imported = await mcpTools(
      { url },
      { connectTimeoutMs: limitMs, timeoutMs: limitMs },
    )
    outcome.importMs = performance.now() - startedAt
    outcome.tools = imported.tools.map(({ name }) => name)
    for (const tool of imported.tools.filter(({ name }) => /^good_?\d*$/.test(name))) {
      const call = { id: 'call', name: tool.name, arguments: '{}' }
      const { end, result } = await runTool(tool, call)
      outcome.calls.push({ end, text: String(result.errorMessage ?? result.output).slice(0, 500) })
    }
  } catch (error) {
    outcome.importMs = performance.now() - startedAt
    outcome.importFailure = `${error?.name}: ${error?.message}`.slice(0, 500)
  }
  return outcome
}

// `watch-loop.mjs` lets its process end without a channel.
process.channel?.ref()

// Loads the libraries before the first attempt is measured.
await attempt('http://127.0.0.1:9/mcp', 1_000)
process.send({ id: 0, outcome: undefined })
