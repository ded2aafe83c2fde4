/** A process that calls a tool of an MCP server once, and then has nothing to do. Started by a test. */
import process from 'node:process'

import { silentLogger, systemClock } from '@tutti/core'

import { mcpConnector } from '../src/mcp/mcp-connector.ts'

import type { McpServer } from '@tutti/mcp'

// NOTE: the test that starts this gives it such a description.
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
  requestAnswer: () => Promise.reject(new Error('There is nobody to ask')),
})
for await (const update of session.send({ input: 'hi', index: 0 })) {
  if (update.kind === 'end') process.stdout.write(String(update.output))
}
