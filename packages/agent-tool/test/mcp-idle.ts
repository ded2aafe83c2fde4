/** Calls a tool of an MCP server once and then leaves the process idle. A test starts it as a child process. */
import process from 'node:process'

import { systemClock } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'

import { mcpConnector } from '../src/mcp/mcp-connector.ts'

import type { McpServer } from '@tutti/mcp/internal'

// NOTE: the test passes an `McpServer` as JSON.
const server = JSON.parse(process.argv[2] ?? '') as McpServer
const connector = mcpConnector({ server, tool: 'echo' })
const session = await connector.connect({
  mode: 'sync',
  signal: new AbortController().signal,
  onBytes: () => undefined,
  remaining: () => ({ timeMs: Infinity, costUsd: Infinity, tokens: Infinity }),
  traceparent: undefined,
  idempotencyKey: 'call-1',
  clock: systemClock,
  logger: silentLogger,
  hasReviewer: false,
  hasReply: false,
  requestAnswer: () => Promise.reject(new Error('No reviewer')),
})
for await (const update of session.send({ input: 'hi', index: 0 })) {
  if (update.kind === 'end') process.stdout.write(String(update.output))
}
