/** An MCP server with regular expressions in its schemas that take exponential time with backtracking. */
import { createInterface } from 'node:readline'

const type = 'object'
const pattern = '^(a+)+$'
const text = `${'a'.repeat(40)}!`
const tools = [
  {
    name: 'm_out',
    inputSchema: { type },
    outputSchema: { type, properties: { a: { type: 'string', pattern } }, required: ['a'] },
  },
  {
    name: 'm_keys',
    inputSchema: { type },
    outputSchema: {
      type,
      patternProperties: { [pattern]: { type: 'string' } },
      additionalProperties: false,
    },
  },
  {
    name: 'm_in',
    inputSchema: { type, properties: { a: { type: 'string', pattern } }, required: ['a'] },
  },
  {
    name: 'm_look',
    inputSchema: { type, properties: { a: { type: 'string', pattern: '^(?=a)' } } },
  },
]

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const reply = (result) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`)
  if (method === 'initialize') {
    reply({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: 's', version: '1' },
    })
  }
  if (method === 'tools/list') reply({ tools })
  if (method === 'tools/call') {
    const structuredContent = params.name === 'm_keys' ? { [text]: 'b' } : { a: text }
    reply({ content: [{ type: 'text', text: 'done' }], structuredContent })
  }
})
