/** Runs the test MCP server on stdio, for both protocol eras; with the argument `old`, only for the older one. */
import process from 'node:process'

import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'

import { createMcpServer, createMcpServerState } from './mcp-server.ts'

const state = createMcpServerState()
const [mode] = process.argv.slice(2)
if (mode === 'old') await createMcpServer(state).connect(new StdioServerTransport())
else serveStdio(() => createMcpServer(state))
