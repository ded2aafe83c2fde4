import { expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { agent } from './agent.ts'
import { task } from './define-task.ts'
import { modelOfTask } from './model-of-task.ts'

const own = scriptedModel([])
const ofAgent = scriptedModel([])
const shared = scriptedModel([])
const equipped = agent({ role: 'Writer', goal: 'Write', model: ofAgent })

it('modelOfTask returns the model of the task, else of its agent, else of the ensemble', () => {
  const make = (definition: object): ReturnType<typeof task> =>
    task({ description: 'Do it', ...definition })
  expect(modelOfTask(make({ model: own, agent: equipped }), { model: shared })).toBe(own)
  expect(modelOfTask(make({ agent: equipped }), { model: shared })).toBe(ofAgent)
  expect(modelOfTask(make({}), { model: shared })).toBe(shared)
  expect(modelOfTask(make({}), {})).toBeUndefined()
})
