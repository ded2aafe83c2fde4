/** Mastra in the benchmark `server`. */
import { randomUUID } from 'node:crypto'

import { ANSWER, INPUT, PROMPT, TOOL } from '../../tooling/bench/lib/story.ts'

export const products = [
  {
    name: 'Mastra',
    kind: 'peer in memory',
    storage: 'in memory',
    readyPath: '/api/agents',
    submit: () => ({
      method: 'POST',
      path: '/api/agents/buyer/stream',
      body: { messages: PROMPT },
    }),
    first: 'data:',
    result: '"type":"finish",',
    proof: ['"result":"2 tea"', '" tea"'],
    tool: {
      method: 'POST',
      path: `/api/agents/buyer/tools/${TOOL.name}/execute`,
      body: { data: INPUT },
    },
  },
  {
    name: 'Mastra workflow, durable',
    kind: 'durable peer',
    storage: 'workflow snapshots, in libSQL',
    readyPath: '/api/agents',
    submit: () => ({
      method: 'POST',
      path: `/api/workflows/buy/stream?runId=${randomUUID()}`,
      body: { inputData: { prompt: PROMPT } },
    }),
    first: 'data:',
    result: '"type":"workflow-finish",',
    proof: ['"result":"2 tea"', ANSWER],
  },
]
