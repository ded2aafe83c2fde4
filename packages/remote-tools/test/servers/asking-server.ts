/** An MCP server whose tools ask questions; over stdio when it is started as a program. */
import { inputRequired, Server } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'

import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server'

type Form = Parameters<typeof inputRequired.elicit>[0]

const FORMS: Readonly<Record<string, Form>> = {
  confirm: { message: 'Continue?', requestedSchema: { type: 'object', properties: {} } },
  introduce: {
    message: 'Who are you?',
    requestedSchema: {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
      required: ['name', 'age'],
    },
  },
}

/** Creates the server. Each tool returns the result of its question. */
export function askingServer(): Server {
  const server = new Server({ name: 'asking', version: '1.0.0' }, { capabilities: { tools: {} } })
  const names = [...Object.keys(FORMS), 'impatient']
  server.setRequestHandler('tools/list', () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })),
  }))
  server.setRequestHandler('tools/call', ({ params: { name } }, context) => {
    const form = FORMS[name]
    return form === undefined ? askBriefly(server) : ask(form, context)
  })
  return server
}

function ask(form: Form, { mcpReq }: ServerContext) {
  const answer = mcpReq.inputResponses?.['answer']
  if (answer !== undefined) return text(JSON.stringify(answer))
  return inputRequired({ inputRequests: { answer: inputRequired.elicit(form) } })
}

/** Stops waiting for the answer after a moment, as the MCP SDK does after a minute. */
async function askBriefly(server: Server): Promise<CallToolResult> {
  const form = { message: 'Quick?', requestedSchema: { type: 'object' as const, properties: {} } }
  try {
    return text(JSON.stringify(await server.elicitInput(form, { timeout: 50 })))
  } catch {
    return text('no answer in time')
  }
}

function text(said: string): CallToolResult {
  return { content: [{ type: 'text', text: said }] }
}

if (process.argv[1] === import.meta.filename) {
  await askingServer().connect(new StdioServerTransport())
}
