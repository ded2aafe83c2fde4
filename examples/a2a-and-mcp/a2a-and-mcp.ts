/** A Tutti server that other clients call over A2A and MCP, and an ensemble that calls it over A2A and MCP. */
import { agentTool } from '@tutti/agent-tool'
import { createClient } from '@tutti/client'
import { ensemble, task } from '@tutti/ensemble'
import { mcpTools } from '@tutti/remote-tools'
import { scriptedModel } from '@tutti/testing'

import { callOverA2a, callOverMcp } from './foreign-clients.ts'
import { startServer } from './start-server.ts'

await using server = await startServer() // in production: npx tutti start

console.log('# Other clients call this server over A2A')
console.log(await callOverA2a(server.url, 'moon'))

console.log('\n# … and over MCP')
const calls = [
  ['poet', { subject: 'sea' }],
  ['count_words', { text: 'O sea' }],
] as const
console.log(await callOverMcp(`${server.url}/mcp`, calls))

console.log('\n# An ensemble calls it over A2A and MCP')
const poets = {
  a2a: agentTool({
    name: 'poet_over_a2a',
    description: 'Writes a line about anything',
    agent: `${server.url}/agents/poet`,
    mode: 'streaming',
  }),
  mcp: agentTool({
    name: 'poet_over_mcp',
    description: 'Writes a line about anything',
    agent: `mcp+${server.url}/mcp#poet`,
  }),
}
// Each tool of an MCP server becomes a tool
await using imported = await mcpTools({ url: `${server.url}/mcp` }, { include: ['count_words'] })

// To use a real model: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
const model = scriptedModel([
  { toolCalls: [{ name: 'poet_over_a2a', arguments: { input: 'wind' } }] },
  { toolCalls: [{ name: 'poet_over_mcp', arguments: { input: 'rain' } }] },
  { toolCalls: [{ name: 'count_words', arguments: { text: 'O wind, O rain' } }] },
  'O wind, O rain (four words)',
])
const write = task({
  description: 'Write about {subject}',
  tools: [poets.a2a, poets.mcp, ...imported.tools],
})
const { status, output } = await ensemble({ name: 'weather', tasks: [write], model }).run(
  { subject: 'the weather' },
  {
    onEvent(event) {
      if (event.type === 'agent_tool_invoked') console.log(`… over ${event.protocol}`)
      if (event.type === 'tool_called') console.log(`${event.toolName}: ${event.toolResult}`)
    },
  },
)
console.log(status, output)

console.log('\n# Each call of the poet was a run on the server')
const client = createClient({ baseUrl: server.url })
for await (const run of client.runs.listAll()) {
  console.log(run.ensemble, run.status)
}
