import { expect, it } from 'vitest'

import { withModel } from './read-submission.ts'

import type { SubmitRunBody } from '@tutti/protocol'

type Tasks = NonNullable<SubmitRunBody['tasks']>

it('A model of all tasks is that of each agent without one, and replaces no model of a task or an agent', () => {
  const agents = [{ role: 'A', model: 'own', handoffs: ['B'] }, { role: 'B' }]
  const tasks: Tasks = [
    { description: 'One' },
    { description: 'Two', agents },
    { description: 'Three', model: 'small', agents },
    { ensemble: 'trip' },
  ]
  expect(withModel({ tasks }, 'large', { ensembles: [] } as never).tasks).toEqual([
    { description: 'One', model: 'large' },
    {
      description: 'Two',
      agents: [
        { role: 'A', model: 'own', handoffs: ['B'] },
        { role: 'B', model: 'large' },
      ],
    },
    { description: 'Three', model: 'small', agents },
    { ensemble: 'trip' },
  ])
})
