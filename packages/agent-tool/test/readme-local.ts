import { runTool, Type } from '@tutti/core'

import { agentTool, type LocalAgent } from '../src/index.ts'

// An agent of this process: it answers with a value, or piece by piece
const librarian: LocalAgent = {
  async *answer({ input }) {
    yield { kind: 'chunk', chunk: 'Looking…', usage: { costUsd: 0.01 } }
    return `Three books on ${String(input)}`
  },
}

const books = agentTool({
  name: 'books',
  description: 'Finds books on a subject',
  agent: librarian, // or 'https://agents.example.com/librarian', 'mcp+stdio:books-server#find', …
  mode: 'streaming',
  input: Type.Object({ subject: Type.String() }),
  request: ({ subject }) => subject, // subject: string
  maxCostUsd: 0.5,
})

const call = { id: 'call-1', name: 'books', arguments: '{"subject":"tides"}' }
const { result } = await runTool(books, call, {
  onAgentReport: (_, { type }) => console.log(type),
})
console.log(result.output)
// agent_tool_invoked
// agent_tool_progress
// agent_tool_completed
// Three books on tides
