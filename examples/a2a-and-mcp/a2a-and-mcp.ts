/** A Tutti server, asked by others over A2A and MCP; then an ensemble that asks over A2A and MCP itself. */
import { agentTool } from '@tutti/agent-tool'
import { createClient } from '@tutti/client'
import { ensemble, task } from '@tutti/ensemble'
import { mcpTools } from '@tutti/remote-tools'
import { scriptedModel } from '@tutti/testing'

import { askOverA2a, askOverMcp } from './foreign-clients.ts'
import { startServer } from './start-server.ts'

await using server = await startServer() // in earnest: npx tutti start

console.log('# Others ask this server, over A2A')
console.log(await askOverA2a(server.url, 'moon'))

console.log('\n# and over MCP')
const calls = [
  ['poet', { subject: 'sea' }],
  ['count_words', { text: 'O sea' }],
] as const
console.log(await askOverMcp(`${server.url}/mcp`, calls))

console.log('\n# An ensemble asks it, over A2A and MCP')
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
// The tools of an MCP server, each as a tool of its own
await using imported = await mcpTools({ url: `${server.url}/mcp` }, { include: ['count_words'] })

// A real model instead: langchainModel('anthropic:claude-haiku-4-5') of @tutti/langchain
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
const { status, output } = await ensemble({ name: 'desk', tasks: [write], model }).run(
  { subject: 'the weather' },
  {
    onEvent(event) {
      if (event.type === 'agent_tool_invoked') console.log(`… over ${event.protocol}`)
      if (event.type === 'tool_called') console.log(`${event.toolName}: ${event.toolResult}`)
    },
  },
)
console.log(status, output)

console.log('\n# Each question to the poet was a run of the server')
const client = createClient({ baseUrl: server.url })
for await (const run of client.runs.listAll()) {
  console.log(run.ensemble, run.status)
}
