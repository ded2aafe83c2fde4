import { defineTextTool, runTool, ToolResult } from '@tutti/core'
import { ensemble, task } from '@tutti/ensemble'
import { expect, it } from 'vitest'

import { fakeClock } from './fake-clock.ts'
import { scriptedModel } from './scripted-model.ts'
import { scriptedReviewer } from './scripted-reviewer.ts'

const CALL = { id: 'c', name: 'pay', arguments: '{"input":"5 EUR"}' }

const pay = defineTextTool({
  name: 'pay',
  description: 'Pays',
  requireApproval: true,
  execute: (amount) => `Paid ${amount}`,
})

it('scriptedReviewer returns its answers in order, repeats the last one, and records its requests', async () => {
  const reviewer = scriptedReviewer([
    'CONTINUE',
    { action: 'EDIT', input: '1 EUR' },
    { action: 'REJECT', feedback: 'No' },
  ])
  const outputs = []
  for (let index = 0; index < 4; index += 1) {
    const { result } = await runTool(pay, CALL, { reviewer })
    outputs.push(result.output || result.errorMessage)
  }
  const rejected = 'The reviewer rejected the call of "pay": No'
  expect(outputs).toEqual(['Paid 5 EUR', 'Paid 1 EUR', rejected, rejected])
  expect(reviewer.requests).toHaveLength(4)
  expect(reviewer.requests[0]).toMatchObject({ toolName: 'pay', input: { input: '5 EUR' } })
})

it('scriptedReviewer does not answer with the entry never', async () => {
  const clock = fakeClock()
  const running = runTool(pay, CALL, { clock, reviewer: scriptedReviewer(['never']) })
  await clock.advance(300_000)
  expect((await running).end).toBe('exit_early')
})

it('scriptedReviewer returns an edit without input, which the tool rejects', async () => {
  const { result } = await runTool(pay, CALL, { reviewer: scriptedReviewer(['EDIT']) })
  expect(result).toEqual(
    ToolResult.failure(
      'Invalid edited input for "pay": edited input must be a string, got undefined',
    ),
  )
})

it('scriptedReviewer decides the reviews of runs and records them in addition to the requests of tools', async () => {
  const reviewer = scriptedReviewer([
    'CONTINUE',
    { action: 'EDIT', text: 'Better' },
    new Error('The line is dead'),
  ])
  const review = { timeoutMs: 1_000 }
  const call = { toolCalls: [{ name: 'pay', arguments: { input: '5 EUR' } }] }
  const tasks = [
    task({ name: 'a', description: 'A', tools: [pay], model: scriptedModel([call, 'A']), review }),
    task({ name: 'b', description: 'B', model: scriptedModel(['B']), review }),
  ]
  const result = await ensemble({ name: 'team', tasks }).run({}, { reviewer })
  expect(result).toMatchObject({ status: 'FAILED', output: 'Better' })
  expect(reviewer.reviews.map(({ taskName, timing }) => `${taskName} ${timing}`)).toEqual([
    'a DURING_EXECUTION',
    'a AFTER_EXECUTION',
    'b AFTER_EXECUTION',
  ])
  expect(reviewer.requests.map(({ toolName }) => toolName)).toEqual(['pay'])
})

it('scriptedReviewer rejects an empty list', () => {
  expect(() => scriptedReviewer([])).toThrow(RangeError)
})
