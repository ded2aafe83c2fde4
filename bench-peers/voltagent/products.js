/** VoltAgent in the benchmark `server`. */
import { randomUUID } from 'node:crypto'

import { INPUT, PROMPT, TOOL } from '../../tooling/bench/lib/story.ts'

const path = '/agents/buyer/stream'

const stream = {
  readyPath: '/agents',
  first: 'data:',
  result: '"type":"finish",',
  proof: ['"output":"2 tea"', '" tea"'],
  tool: { method: 'POST', path: `/tools/${TOOL.name}/execute`, body: { input: INPUT } },
}

export const products = [
  {
    ...stream,
    name: 'VoltAgent',
    kind: 'peer in memory',
    storage: 'in memory',
    submit: () => ({ method: 'POST', path, body: { input: PROMPT } }),
  },
  {
    ...stream,
    name: 'VoltAgent, durable',
    kind: 'durable peer',
    storage: 'conversations, in libSQL',
    submit: () => {
      const memory = { userId: 'buyer', conversationId: randomUUID() }
      return { method: 'POST', path, body: { input: PROMPT, options: { memory } } }
    },
  },
]
