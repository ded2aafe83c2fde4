/** Tests of the tasks within a requested task. */
import { expect, it } from 'vitest'

import { changeAddedTasks, listAddedTasks } from './added-tasks.ts'

import type { TaskDefinitionBody } from './schemas/rest/submit-run.ts'

const reduce = { description: 'Join {items}' }
const judge = { description: 'Judge {output}' }
const body: TaskDefinitionBody = {
  description: 'Write {item}',
  forEach: { over: 'list', collect: { reduce, maxTokens: 9 } },
  loop: { max: 2, until: { judge } },
}

it('The tasks within a requested task are the one that combines outputs and the judge, with their paths', () => {
  expect(listAddedTasks(body)).toEqual([
    { path: '/forEach/collect/reduce', task: reduce },
    { path: '/loop/until/judge', task: judge },
  ])
  expect(
    listAddedTasks({
      forEach: { over: 'list', collect: 'outputs' },
      loop: { max: 2, until: 'round == 2' },
    }),
  ).toEqual([])
})

it('A change of the tasks within a requested task keeps its other fields', () => {
  const changed = changeAddedTasks(body, (task) => ({ ...task, model: 'opus' }))
  expect(changed).toEqual({
    description: 'Write {item}',
    forEach: { over: 'list', collect: { reduce: { ...reduce, model: 'opus' }, maxTokens: 9 } },
    loop: { max: 2, until: { judge: { ...judge, model: 'opus' } } },
  })
  const plain = { description: 'Write', loop: { max: 2, until: 'round == 2' } }
  expect(changeAddedTasks(plain, () => reduce)).toEqual(plain)
})
