/** Tests of the sizes of run inputs and rendered texts. */
import { describe, expect, it } from 'vitest'

import { processorTimer } from '../../../tooling/test-kit/processor-time.ts'

import { renderTask } from '../src/definition/task-text.ts'
import { agent, ensemble, task, type Task, type TaskDefinition } from '../src/index.ts'
import { assertTextSizes, type TextLimits } from '../src/internal.ts'
import { scriptedModel } from './testing.ts'

const model = scriptedModel(() => 'Done.')

function team(...tasks: readonly Task[]) {
  return ensemble({ name: 'team', tasks, model })
}

function write(definition: Partial<TaskDefinition> = {}): Task {
  const whole: TaskDefinition = {
    name: 'write',
    description: 'Write {topic}',
    expectedOutput: 'Text',
    ...definition,
  }
  return task(whole)
}

function check(tasks: readonly Task[], inputs: Record<string, string>, limits: TextLimits) {
  return () => assertTextSizes(team(...tasks), inputs, limits)
}

describe('assertTextSizes', () => {
  it('assertTextSizes accepts inputs at the limit and rejects one byte more, including names and bytes of UTF-8', () => {
    const inputs = { topic: 'é€😀' } // 5 bytes of name, 2 + 3 + 4 of value
    expect(check([write()], inputs, { maxInputBytes: 14 })).not.toThrow()
    expect(check([write()], inputs, { maxInputBytes: 13 })).toThrow(
      'Cannot run "team": its inputs together would have 14 bytes, at most 13 are allowed (maxInputBytes)',
    )
  })

  it('assertTextSizes accepts a text at the limit and rejects one byte more, with the name of its task', () => {
    const story = write({ description: '{topic} and {topic}, {{topic}} and {other}' })
    const inputs = { topic: 'ünï', other: 'x'.repeat(20) }
    const bytes = Buffer.byteLength(renderTask(story, inputs).description)
    expect(check([story], inputs, { maxTextBytes: bytes })).not.toThrow()
    expect(check([story], inputs, { maxTextBytes: bytes - 1 })).toThrow(
      expect.objectContaining({
        code: 'INPUT_TOO_LARGE',
        message:
          `Cannot run "team": description of task "write" with its inputs would have ${bytes} bytes, ` +
          `at most ${bytes - 1} are allowed (maxTextBytes)`,
        details: { bytes, maxBytes: bytes - 1, limit: 'maxTextBytes' },
      }),
    )
  })

  it('assertTextSizes also measures the expected output', () => {
    const story = write({ expectedOutput: '{topic}{topic}{topic}' })
    const inputs = { topic: 'x'.repeat(100) }
    expect(check([story], inputs, { maxTextBytes: 300 })).not.toThrow()
    expect(check([story], inputs, { maxTextBytes: 299 })).toThrow(
      /^Cannot run "team": expectedOutput of task "write"/,
    )
  })

  it('assertTextSizes counts all texts of a run, the additional context and the descriptions in later contexts', () => {
    const first = write({ name: 'first', description: '{topic}', expectedOutput: 'a' })
    const second = write({
      name: 'second',
      description: 'Go',
      expectedOutput: 'b',
      context: ['first'],
      additionalContext: 'More',
    })
    const inputs = { topic: 'x'.repeat(50) }
    const bytes = 50 + 1 + 2 + 1 + 4 + 50
    expect(check([first, second], inputs, { maxRunTextBytes: bytes })).not.toThrow()
    expect(check([first, second], inputs, { maxRunTextBytes: bytes - 1 })).toThrow(
      `the texts of its tasks together, with their inputs would have ${bytes} bytes`,
    )
  })

  it('assertTextSizes counts the texts of the task of an item and of a reduction', () => {
    const join = write({ name: 'join', description: 'Join', additionalContext: 'More' })
    const each = task({
      name: 'each',
      description: '{item}{topic}',
      expectedOutput: 'Text',
      additionalContext: 'And more',
      forEach: { over: 'list', collect: { reduce: join, maxTokens: 9 } },
    })
    const inputs = { topic: 'x'.repeat(50), list: '[]' }
    const bytes = 6 + 50 + 4 + 8 + 4 + 4 + 4
    expect(check([each], inputs, { maxRunTextBytes: bytes })).not.toThrow()
    expect(check([each], inputs, { maxRunTextBytes: bytes - 1 })).toThrow(
      `would have ${bytes} bytes`,
    )
  })

  it('assertTextSizes counts the texts of a manager, which contain those of all tasks', () => {
    const worker = agent({ role: 'Writer', goal: 'Write' })
    const led = ensemble({
      name: 'led',
      tasks: [write({ description: '{topic}', agent: worker })],
      model,
      workflow: 'HIERARCHICAL',
    })
    const inputs = { topic: 'x'.repeat(1_000) }
    expect(() => assertTextSizes(led, inputs, { maxTextBytes: 1_000 })).toThrow(/of task "Manager"/)
  })

  it('assertTextSizes measures texts of terabytes in milliseconds', () => {
    const huge = write({ description: '{topic}'.repeat(100_000) })
    const inputs = { topic: 'x'.repeat(900_000) }
    const processorMs = processorTimer()
    expect(check([huge], inputs, {})).toThrow(/would have 90000000000 bytes/)
    expect(processorMs()).toBeLessThan(5_000)
  })
})

describe('a run', () => {
  it('[ENS-E21] A run is rejected before anything runs if a text exceeds the limit', async () => {
    const huge = team(write({ description: '{topic}'.repeat(3_000) }))
    const events: unknown[] = []
    const run = huge.run({ topic: 'x'.repeat(1_000) }, { onEvent: (event) => events.push(event) })
    await expect(run).rejects.toMatchObject({ code: 'INPUT_TOO_LARGE' })
    expect(events).toEqual([])
  })

  it('A run uses the limits of its options', async () => {
    const run = team(write()).run({ topic: 'x' }, { textLimits: { maxInputBytes: 5 } })
    await expect(run).rejects.toMatchObject({ code: 'INPUT_TOO_LARGE' })
  })
})
