import { expect, it } from 'vitest'

import { scriptedModel } from '../test/testing.ts'
import { agent } from './definition/agent.ts'
import { ensemble } from './ensemble.ts'
import { memoryScope } from './memory/memory.ts'
import { inMemoryStore } from './memory/in-memory-store.ts'
import { rateLimit } from './model/rate-limit.ts'
import { task } from './definition/define-task.ts'

/** Calls `make` without type checks, as JavaScript code does. */
function careless(make: (definition: never) => unknown, definition: object): () => unknown {
  return () => make(definition as never)
}

const pay = task({ name: 'pay', description: 'Pay' })
const model = scriptedModel(() => 'paid')

it('task() rejects a misspelled option, so that a typo cannot remove a review', () => {
  const definition = { name: 'Pay', description: 'Pay', reviw: { prompt: 'Pay?' } }
  expect(careless(task, definition)).toThrow(
    'Cannot create task "Pay": unknown option "reviw" (did you mean "review"?)',
  )
})

it('task() names every problem of the parts of a task at once', () => {
  const definition = {
    name: 'Pay',
    description: 'Pay',
    review: { promt: 'Pay?', onTimeout: 'FAL' },
    beforeReview: 'yes',
    guardrails: { inputs: [] },
    budget: { maxCost: 1 },
  }
  expect(careless(task, definition)).toThrow(
    'Cannot create task "Pay": budget has no limit "maxCost". Available: [maxTokens, maxCostUsd, ' +
      'maxDurationMs, maxModelCalls, maxToolCalls]; ' +
      'unknown option "inputs" of guardrails (did you mean "input"?); ' +
      'unknown option "promt" of review (did you mean "prompt"?); ' +
      'review.onTimeout must be one of "CONTINUE", "EXIT_EARLY", "FAIL", got "FAL" (did you mean "FAIL"?); ' +
      'beforeReview must be true, false or an object, got yes',
  )
})

it('agent() rejects a misspelled option', () => {
  expect(careless(agent, { role: 'Clerk', goal: 'Pay', tool: [] })).toThrow(
    'Cannot create agent "Clerk": unknown option "tool" (did you mean "tools"?)',
  )
})

it('ensemble() rejects misspelled options and choices', () => {
  const definition = {
    name: 'pay',
    tasks: [pay],
    model,
    workflow: 'PARALEL',
    errorStrategy: 'FAIL',
    reviewPolicy: 'ALWAYS',
    reviewPolice: 'AFTER_EVERY_TASK',
    delegation: { maxDeph: 1 },
  }
  expect(careless(ensemble, definition)).toThrow(
    'Cannot create ensemble "pay": unknown option "reviewPolice" (did you mean "reviewPolicy"?); ' +
      'workflow must be one of "SEQUENTIAL", "PARALLEL", "HIERARCHICAL", got "PARALEL" (did you mean "PARALLEL"?); ' +
      'errorStrategy must be "FAIL_FAST" or "CONTINUE_ON_ERROR", got "FAIL"; ' +
      'reviewPolicy must be one of "NEVER", "AFTER_EVERY_TASK", "AFTER_LAST_TASK", got "ALWAYS"; ' +
      'unknown option "maxDeph" of delegation (did you mean "maxDepth"?)',
  )
})

it('ensemble() rejects a plain object where a task is expected', () => {
  expect(careless(ensemble, { name: 'pay', tasks: [{ description: 'Pay' }], model })).toThrow(
    'Cannot create ensemble "pay": tasks[0] must be created with task()',
  )
})

it('run() rejects a misspelled option', async () => {
  const team = ensemble({ name: 'pay', tasks: [pay], model })
  const options = { reviwer: {} } as never
  await expect(async () => team.run({}, options)).rejects.toThrow(
    'Cannot run "pay": unknown option "reviwer" (did you mean "reviewer"?)',
  )
})

it('run() rejects misspelled limits', () => {
  expect(careless(rateLimit, { requests: 1, intervalMs: 1, maxWait: 1 })).toThrow(
    'Cannot create a rate limit: unknown option "maxWait" (did you mean "maxWaitMs"?)',
  )
  expect(careless(inMemoryStore, { maxAge: 1 })).toThrow('did you mean "maxAgeMs"?')
  expect(careless(memoryScope, { name: 'a', store: inMemoryStore(), limits: 1 })).toThrow(
    'did you mean "limit"?',
  )
})
