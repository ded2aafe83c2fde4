/** The MCP server for tests as a program: of both eras, or with the argument `old` of that before. */
import process from 'node:process'

import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'

import { mcpServer, mcpServerState } from './mcp-server.ts'

const state = mcpServerState()
const [mode] = process.argv.slice(2)
if (mode === 'old') await mcpServer(state).connect(new StdioServerTransport())
else serveStdio(() => mcpServer(state))
