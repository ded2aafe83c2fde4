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

it('[RUNS-J3] The instructions, goals and backgrounds of agents are removed, and their roles and handoffs stay', () => {
  const agents = [
    { role: 'A', goal: 'Secret', background: 'Secret', handoffs: ['B'] },
    { role: 'B', instructions: 'Secret' },
  ]
  const options = { captureMode: 'OFF' } as const
  const tasks = [{ description: 'Help', agents }]
  expect(erasePrompts({ options, tasks })).toEqual({
    options,
    tasks: [{ description: 'Help', agents: [{ role: 'A', handoffs: ['B'] }, { role: 'B' }] }],
    isErased: true,
  })
  const open = [{ description: 'Help', agents: [{ role: 'A' }] }]
  expect(erasePrompts({ options, tasks: open })).toBeUndefined()
})
