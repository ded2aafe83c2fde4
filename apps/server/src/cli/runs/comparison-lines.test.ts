import { readFileSync } from 'node:fs'

import { decode, RunComparison } from '@tutti/protocol'
import { expect, it } from 'vitest'

import { lineText } from '../../terminal/line.ts'
import { comparisonLines } from './comparison-lines.ts'

/** Reads the comparison of a run and its fork from the fixtures of the protocol. */
function readFixture(): RunComparison {
  const folder = '../../../../../packages/protocol/fixtures/valid'
  const url = new URL(`${folder}/RunComparison.fork.json`, import.meta.url)
  const decoded = decode(RunComparison, JSON.parse(readFileSync(url, 'utf8')))
  if (!decoded.ok) throw new Error('The fixture is not valid')
  return decoded.value
}

const show = (change: Partial<RunComparison> = {}): string =>
  comparisonLines({ ...readFixture(), ...change })
    .map(lineText)
    .join('\n')

it('The comparison shows both runs, their relation, totals with changes, inputs and tasks', () => {
  expect(show()).toMatchInlineSnapshot(`
    "A  run-7f3a2b  COMPLETED  briefing
    B  run-9c1d4e  FAILED  briefing
       B is a fork after event 14 of A

                       A      B  CHANGE
    time           4.2 s  1.8 s  -2.4 s
    tokens           900      -       -
    cost         $0.0040      -       -
    model calls        3      1      -2
    tool calls         1      0      -1
    Only the first calls of B are compared, because there are too many

    Input topic
      - tides
      + storms

    TASK        STATUS                           OUTPUT           TIME    TOKENS              COST   MODEL   TOOLS
    researcher  COMPLETED -> COMPLETED (reused)  equal           2.6 s  600 -> 0  $0.0030 -> $0.00  2 -> 0  1 -> 0
    writer      - -> FAILED (attempt 2)          only in B  - -> 1.5 s         -                 -  - -> 1  - -> 0

    writer: error
      + No answer"
  `)
})

it('The comparison shows descriptions, outputs and tool calls that differ, with signs', () => {
  const [task] = readFixture().tasks
  const side = task?.a
  if (task === undefined || side === undefined) throw new Error('The fixture has no task')
  const text = (value: string) => ({ text: value, bytes: value.length })
  const [pair] = task.calls
  const mail = {
    ...pair?.a,
    toolName: 'mail',
    outcome: 'FAILURE' as const,
    durationMs: 1,
    attempt: 1,
    iterationIndex: 1,
  }
  const shown = show({
    tasks: [
      {
        ...task,
        a: { ...side, output: text('one\ntwo\nthree\nfour\nfive\nsix') },
        b: {
          ...side,
          output: text('one\ntwo\nthree\nfour\n5\nsix'),
          description: text('Look up tides'),
        },
        sameOutput: false,
        sameDescription: false,
        calls: [...task.calls, { b: mail }],
      },
    ],
  })
  expect(shown.slice(shown.indexOf('researcher: description'))).toMatchInlineSnapshot(`
    "researcher: description
      - Research tides
      + Look up tides

    researcher: output
        three
        four
      - five
      + 5
        six

    researcher: tool calls
        search {"q":"tides"} (reused)
      + mail {"q":"tides"} FAILED"
  `)
})

it('The comparison says how many tasks are not listed, and whether they differ', () => {
  expect(show({ omitted: { tasks: 8_000, different: 0 } })).toContain(
    '8,000 more tasks are not listed: equal',
  )
  expect(show({ omitted: { tasks: 8_000, different: 3 } })).toContain('3 of them differ')
  expect(show()).not.toContain('not listed')
})

it('The comparison says when only a part is compared, and when texts differ after the part', () => {
  const [task] = readFixture().tasks
  if (task === undefined) throw new Error('The fixture has no task')
  const shown = show({ tasks: [{ ...task, sameOutput: false }] })
  expect(shown).toContain('Only the first calls of B are compared')
  expect(shown).toContain('only the start is compared: A has 90,000 bytes, B has 90,000 bytes')
  expect(shown).toContain('the compared texts are equal')
})

it.each([
  ['CHILD', 'A is a fork after event 0 of B'],
  ['SAME', 'A and B are the same run'],
  ['SIBLINGS', 'A is a fork after event 0 and B a fork after event 14 of'],
] as const)('The comparison describes the relation %s', (relation, text) => {
  expect(show({ relation })).toContain(text)
})

it('The comparison shows long texts that have nothing in common without a diff by lines', () => {
  const [task] = readFixture().tasks
  const side = task?.a
  if (task === undefined || side === undefined) throw new Error('The fixture has no task')
  const long = (letter: string) => {
    const text = Array.from({ length: 8_000 }, (_, index) => `${letter}${index}`).join('\n')
    return { text, bytes: text.length }
  }
  const [a, b] = [
    { ...side, output: long('a') },
    { ...side, output: long('b') },
  ]
  const shown = show({ tasks: [{ ...task, a, b, sameOutput: false }] })
  expect(shown).toContain('- a7999\n')
  expect(shown).toContain('+ b0\n')
})
