import { fileURLToPath } from 'node:url'
import { runTool, toModelText } from '@tutti/core'
import { mcpTools } from '../src/index.ts'

const server = import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')
await using everything = await mcpTools(
  { command: process.execPath, args: [fileURLToPath(server), 'stdio'] },
  { include: ['echo', 'get-sum'], prefix: 'demo_', approve: 'destructive' },
)
for (const tool of everything.tools) {
  const call = { id: tool.name, name: tool.name, arguments: '{"message":"hello","a":1,"b":"2"}' }
  console.log(tool.name, '->', toModelText((await runTool(tool, call)).result))
}
// demo_echo -> Echo: hello
// demo_get-sum -> The sum of 1 and 2 is 3.
