import { agentTool } from '@tutti/agent-tool'
import { tasksConnector } from '@tutti/compat-jamjet/connector'
import { ensemble, task } from '@tutti/ensemble'

import { startAgents } from './agents.ts'

await using agents = await startAgents() // in production: 'https://research-agent.example.com'
const connectors = [tasksConnector] // for agents without an A2A card

// One request, one answer
const classifier = agentTool({
  name: 'classifier',
  description: 'Determines the subject of a question',
  agent: `${agents.url}/classifier`,
  connectors,
  mode: 'sync',
  timeoutMs: 5_000,
})

// A stream: each line is an event when it arrives, with a cost limit and an idle timeout
const researcher = agentTool({
  name: 'researcher',
  description: 'Looks things up',
  agent: `${agents.url}/researcher`,
  connectors,
  mode: 'streaming',
  maxCostUsd: 0.5,
  idleTimeoutMs: 30_000,
})

// A conversation: each answer is sent back as the next input, until the agent is done
const editor = agentTool({
  name: 'editor',
  description: 'Improves a text',
  agent: `${agents.url}/editor`,
  connectors,
  mode: 'conversational',
  maxTurns: 5,
})

// Tasks with a tool as their handler need no model. Give the same tools to a model with `tools`
const classify = task({ name: 'classify', description: '{question}', handler: classifier })
const research = task({
  name: 'research',
  description: 'Look it up',
  context: [classify],
  handler: researcher,
})
const edit = task({ name: 'edit', description: 'Edit it', context: [research], handler: editor })

const newsroom = ensemble({ name: 'newsroom', tasks: [classify, research, edit] })
const { status, output } = await newsroom.run(
  { question: 'Why are there tides?' },
  {
    onEvent(event) {
      if (event.type === 'agent_tool_progress') console.log('…', event.chunk)
      if (event.type === 'agent_tool_completed') {
        const { toolName, total_turns, total_cost } = event
        console.log(`${toolName}: ${total_turns} turn(s), ${total_cost.toFixed(2)} USD`)
      }
    },
  },
)
console.log(status, output)
