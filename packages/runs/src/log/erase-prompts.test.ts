import { expect, it } from 'vitest'

import { erasePrompts } from './erase-prompts.ts'

import type { RequestedRun } from '../domain/run-record.ts'

it('[RUNS-J3] The prompts of tasks that combine outputs are removed too, and ensembles as tasks stay as they are', () => {
  const request: RequestedRun = {
    options: { captureMode: 'OFF' },
    tasks: [
      { ensemble: 'trip', inputs: { city: 'Brest' } },
      {
        description: 'Write {item}',
        forEach: {
          over: 'list',
          collect: { reduce: { description: 'Join', instructions: 'Secret' }, maxTokens: 9 },
        },
      },
    ],
  }
  expect(erasePrompts(request)).toEqual({
    options: { captureMode: 'OFF' },
    tasks: [
      { ensemble: 'trip', inputs: { city: 'Brest' } },
      {
        description: 'Write {item}',
        forEach: { over: 'list', collect: { reduce: { description: 'Join' }, maxTokens: 9 } },
      },
    ],
    isErased: true,
  })
})
