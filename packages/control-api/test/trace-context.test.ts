import { defineTextTool } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { expect, it } from 'vitest'

import { served } from './served.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'

it.each([
  ['is in the trace of the request that asked for it', `00-${TRACE}-b7ad6b7169203331-01`, true],
  ['has a trace of its own where the header is not as it should be', `00-${TRACE}-x-01`, false],
])('a run %s', async (_what, traceparent, isIn) => {
  const seen: (string | undefined)[] = []
  const look = defineTextTool({
    name: 'look',
    description: 'Looks',
    execute: (_, context) => {
      seen.push(context.traceparent)
      return 'seen'
    },
  })
  const watch = ensemble({
    name: 'watch',
    tasks: [task({ name: 'watch', description: 'Watch', handler: look })],
    model: scriptedModel([]),
  })
  await using api = await served({ ensembles: [watch] })
  await api.post('/api/runs?wait=30', {}, { traceparent })
  expect(seen).toEqual([expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)])
  expect(seen[0]?.includes(TRACE)).toBe(isIn)
})
