import { defineTextTool, defineTool, ToolResult, Type } from '@tutti/core'
import { expectTypeOf, test } from 'vitest'

import { agent } from '../src/definition/agent.ts'
import { ensemble, type Ensemble } from '../src/ensemble.ts'
import { condition } from '../src/definition/make-condition.ts'
import { task } from '../src/definition/define-task.ts'
import type { ForEachOutcome, ItemOutcome } from '../src/definition/for-each.ts'
import type { Task } from '../src/definition/task.ts'
import type { WaitOutcome } from '../src/definition/wait.ts'
import type { AllOutcome } from '../src/definition/wait-task.ts'

import type { RunResult } from '../src/run/run-result.ts'
import type { ContextOutput } from '../src/definition/handler.ts'
import type { StandardToolSchema } from '@tutti/core/internal'

declare const result: RunResult

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer()) })
declare const Day: StandardToolSchema<
  { day?: string; length: string },
  { day: string; length: number }
>
const plain = task({ description: 'Write a line' })
const typed = task({ description: 'Find a person', output: Person })
const parsed = task({ description: 'Find a day', output: Day })

test('[ENS-E10] The output of a task without a schema is text', () => {
  expectTypeOf(plain).toEqualTypeOf<Task<string>>()
  expectTypeOf(result.outputOf(plain)).toEqualTypeOf<string | undefined>()
})

test('[ENS-E10] The output of a task has the type of its schema, TypeBox or any Standard Schema', () => {
  expectTypeOf(result.outputOf(typed)).toEqualTypeOf<{ name: string; age?: number } | undefined>()
  expectTypeOf(result.outputOf(parsed)).toEqualTypeOf<{ day: string; length: number } | undefined>()
})

test('A copy of a task keeps its type; with another schema it gets the type of that schema', () => {
  expectTypeOf(task({ ...typed, maxIterations: 3 })).toEqualTypeOf(typed)
  expectTypeOf(task({ ...plain, name: 'other' })).toEqualTypeOf(plain)
  expectTypeOf(task({ ...typed, output: Type.Array(Type.String()) })).toEqualTypeOf<
    Task<string[]>
  >()
})

test('Tasks of any type can be in an ensemble and in the context of a task', () => {
  const summary = task({ description: 'Sum up', context: [plain, typed, parsed] })
  const team = ensemble({ name: 'team', tasks: [plain, typed, parsed, summary] })
  expectTypeOf(team.run()).resolves.toEqualTypeOf<RunResult>()
})

test('[ENS-T9] A handler returns text, a result or a value of the schema, or a promise of one', () => {
  task({ description: 'Count', handler: () => 'three' })
  task({ description: 'Count', handler: () => ToolResult.failure('No') })
  task({ description: 'Find', output: Person, handler: () => ({ name: 'Ada' }) })
  task({ description: 'Find', output: Person, handler: async () => ({ name: 'Ada', age: 36 }) })
  task({ description: 'Find', output: Person, handler: () => '{"name":"Ada"}' })
  // @ts-expect-error -- a name is text
  task({ description: 'Find', output: Person, handler: () => ({ name: 7 }) })
  // @ts-expect-error -- the name is missing
  task({ description: 'Find', output: Person, handler: async () => ({ age: 7 }) })
})

test('[ENS-T9] A handler has a typed context, and can be replaced by a tool', () => {
  task({
    description: 'Count',
    handler({ context, inputs, signal, attempt }) {
      expectTypeOf(context).toEqualTypeOf<readonly ContextOutput[]>()
      expectTypeOf(inputs).toEqualTypeOf<Readonly<Record<string, string>>>()
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(attempt).toEqualTypeOf<number>()
      return ''
    },
  })
  const find = defineTool({
    name: 'find',
    description: 'Finds',
    input: Type.Object({}),
    output: Person,
    execute: () => ({ name: 'Ada' }),
  })
  expectTypeOf(task({ description: 'Find', output: Person, handler: find })).toEqualTypeOf<
    Task<{ name: string; age?: number }>
  >()
})

test('[ENS-P5] The operations of a handler have the types of their tasks, tools, steps and schemas', () => {
  const find = defineTool({
    name: 'find',
    description: 'Finds',
    input: Type.Object({ id: Type.Integer(), deep: Type.Optional(Type.Boolean()) }),
    output: Person,
    execute: () => ({ name: 'Ada' }),
  })
  const look = defineTextTool({ name: 'look', description: 'Looks', execute: () => '' })
  task({
    description: 'Grow',
    async handler({ task: add, map, call, step, ask }) {
      expectTypeOf(await add(plain)).toEqualTypeOf<string>()
      expectTypeOf(await add(typed, { key: 'x' })).toEqualTypeOf<{ name: string; age?: number }>()
      expectTypeOf(await map([1, 2], parsed)).toEqualTypeOf<
        readonly { day: string; length: number }[]
      >()
      await map(['a'], (item) => {
        expectTypeOf(item).toEqualTypeOf<string>()
        return plain
      })
      // @ts-expect-error -- items are the inputs of a map
      await map(['a'], plain, { inputs: { itme: 'a' } })
      // @ts-expect-error -- the option is named inputs
      await add(plain, { input: { topic: 'tea' } })
      const byKey = await map([1], parsed, { collect: 'outputs' })
      expectTypeOf(byKey).toEqualTypeOf<Readonly<Record<string, { day: string; length: number }>>>()
      const [first] = await map([1], plain, { onError: 'collect', key: (item) => item.toFixed() })
      if (first?.ok === true) expectTypeOf(first.output).toEqualTypeOf<string>()
      expectTypeOf(await call(find, { id: 7 })).toEqualTypeOf<{ name: string; age?: number }>()
      expectTypeOf(await call(look, 'x')).toEqualTypeOf<string>()
      // @ts-expect-error -- an id is a number
      await call(find, { id: 'seven' })
      expectTypeOf(await step('s', async () => ({ n: 1 }))).toEqualTypeOf<{ n: number }>()
      const tried = await step('t', ({ tries }) => tries, { retries: 2, backoff: {}, timeoutMs: 1 })
      expectTypeOf(tried).toEqualTypeOf<number>()
      // @ts-expect-error -- the option is named retries
      await step('u', () => 1, { retry: 2 })
      const answer = await ask('Who?', { schema: Person })
      if (answer.answered)
        expectTypeOf(answer.value).toEqualTypeOf<{ name: string; age?: number }>()
      const text = await ask('What?')
      if (text.answered) expectTypeOf(text.value).toEqualTypeOf<string>()
      return ''
    },
  })
})

test('[ENS-P12] A task with forEach has the type of its list, and its key that of an item', () => {
  const people = task({ description: 'List', output: Type.Array(Person) })
  const lines = task({
    description: 'Write about {item.name}',
    forEach: {
      over: people,
      key(item) {
        expectTypeOf(item).toEqualTypeOf<{ name: string; age?: number }>()
        return item.name
      },
    },
  })
  expectTypeOf(lines).toEqualTypeOf<Task<readonly string[]>>()
  const found = task({
    description: 'Find {item}',
    output: Person,
    forEach: { over: 'names', onError: 'collect' },
  })
  expectTypeOf(found).toEqualTypeOf<
    Task<readonly ForEachOutcome<{ name: string; age?: number }>[]>
  >()
  const keyed = task({
    description: 'Find {item.name}',
    output: Person,
    forEach: { over: people, key: (item) => item.name, collect: 'outputs' },
  })
  expectTypeOf(keyed).toEqualTypeOf<
    Task<Readonly<Record<string, { name: string; age?: number }>>>
  >()
  const outcomesByKey = task({
    description: 'Find {item.name}',
    forEach: { over: people, collect: 'outputs', onError: 'collect' },
  })
  expectTypeOf(outcomesByKey).toEqualTypeOf<Task<Readonly<Record<string, ItemOutcome<string>>>>>()
  const reduced = task({
    description: 'Write {item}',
    forEach: { over: people, collect: { reduce: parsed, maxTokens: 100 } },
  })
  expectTypeOf(reduced).toEqualTypeOf<Task<{ day: string; length: number }>>()
  // @ts-expect-error -- the output of the task is a text, not a list
  task({ description: 'Write', forEach: { over: plain } })
  // @ts-expect-error -- "maxItem" is not an option
  task({ description: 'Write', forEach: { over: people, maxItem: 3 } })
})

test('[ENS-P18] A task with loop has the type of its body, or of the list of its outputs', () => {
  const judge = task({ description: 'Judge {output}', output: Type.Boolean() })
  const verdict = task({
    description: 'Judge {output}',
    output: Type.Object({ done: Type.Boolean(), feedback: Type.Optional(Type.String()) }),
  })
  const refined = task({
    description: 'Find {feedback}',
    output: Person,
    loop: {
      max: 3,
      until(output, { round, outputs, inputs }) {
        expectTypeOf(output).toEqualTypeOf<{ name: string; age?: number }>()
        expectTypeOf(round).toEqualTypeOf<number>()
        expectTypeOf(outputs).toEqualTypeOf<readonly { name: string; age?: number }[]>()
        expectTypeOf(inputs).toEqualTypeOf<Readonly<Record<string, string>>>()
        return output.name === 'Ada'
      },
    },
  })
  expectTypeOf(refined).toEqualTypeOf(typed)
  expectTypeOf(task({ ...refined, name: 'other' })).toEqualTypeOf(typed)
  const lines = task({
    description: 'Write',
    loop: { max: 3, until: (output, { round }) => output.length > round, result: 'all' },
  })
  expectTypeOf(lines).toEqualTypeOf<Task<readonly string[]>>()
  const child = ensemble({ name: 'child', tasks: [parsed] })
  const nested = task({ ensemble: child, loop: { max: 2, until: ({ length }) => length === 7 } })
  expectTypeOf(nested).toEqualTypeOf(parsed)
  const people = task({ description: 'List', output: Type.Array(Person) })
  const each = task({
    description: 'Write about {item.name}',
    forEach: { over: people, key: ({ name }) => name },
    loop: { max: 3, until: { judge: verdict }, onMax: 'review' },
  })
  expectTypeOf(each).toEqualTypeOf<Task<readonly string[]>>()
  const eachChild = task({
    ensemble: child,
    forEach: { over: people, onError: 'collect' },
    loop: { max: 3, until: { judge }, result: 'all' },
  })
  expectTypeOf(eachChild).toEqualTypeOf<
    Task<readonly ForEachOutcome<readonly { day: string; length: number }[]>[]>
  >()
  // @ts-expect-error -- the output of a judge is a boolean or a verdict, not text
  task({ description: 'Write', loop: { max: 3, until: { judge: plain } } })
  // @ts-expect-error -- a person is not a verdict
  task({ description: 'Write', loop: { max: 3, until: { judge: typed } } })
  // @ts-expect-error -- `max` is missing
  task({ description: 'Write', loop: { until: { judge } } })
  // @ts-expect-error -- "onmax" is not an option
  task({ description: 'Write', loop: { max: 3, onmax: 'fail' } })
  // @ts-expect-error -- "stop" is not a reaction
  task({ description: 'Write', loop: { max: 3, onMax: 'stop' } })
  // @ts-expect-error -- a person has no such field
  task({ description: 'Find', output: Person, loop: { max: 3, until: ({ nam }) => nam === '' } })
  // @ts-expect-error -- a condition returns a boolean
  task({ description: 'Write', loop: { max: 3, until: (output) => output } })
})

test('[ENS-P15] A task with an ensemble has the type of its last output, and its inputs those of earlier outputs', () => {
  const pick = task({ description: 'Pick', output: Person })
  const child = ensemble({ name: 'child', tasks: [plain, parsed] })
  expectTypeOf(child).toEqualTypeOf<Ensemble<{ day: string; length: number }>>()
  const sub = task({ ensemble: child, inputs: { who: pick, name: [pick, 'name'], tone: '{tone}' } })
  expectTypeOf(sub).toEqualTypeOf<Task<{ day: string; length: number }>>()
  expectTypeOf(task({ ...sub, retries: 1 })).toEqualTypeOf(sub)
  expectTypeOf(task({ ensemble: ensemble({ name: 'x', tasks: [plain] }) })).toEqualTypeOf(plain)
  const managed = ensemble({ name: 'x', workflow: 'HIERARCHICAL', tasks: [parsed] })
  expectTypeOf(task({ ensemble: managed })).toEqualTypeOf<Task<string>>()
  const people = task({ description: 'List', output: Type.Array(Person) })
  const each = task({
    ensemble: child,
    inputs: { who: '{item.name}' },
    forEach: {
      over: people,
      key(item) {
        expectTypeOf(item).toEqualTypeOf<{ name: string; age?: number }>()
        return item.name
      },
    },
  })
  expectTypeOf(each).toEqualTypeOf<Task<readonly { day: string; length: number }[]>>()
  const outcomes = task({ ensemble: child, forEach: { over: people, onError: 'collect' } })
  expectTypeOf(outcomes).toEqualTypeOf<
    Task<readonly ForEachOutcome<{ day: string; length: number }>[]>
  >()
  expectTypeOf(
    task({ ensemble: child, forEach: { over: people, collect: 'outputs' } }),
  ).toEqualTypeOf<Task<Readonly<Record<string, { day: string; length: number }>>>>()
  const reduced = task({
    ensemble: child,
    forEach: { over: people, collect: { reduce: typed, maxTokens: 9 } },
  })
  expectTypeOf(reduced).toEqualTypeOf(typed)
  // @ts-expect-error -- a person has no such field
  task({ ensemble: child, inputs: { who: [pick, 'nam'] } })
  // @ts-expect-error -- an output is a task
  task({ ensemble: child, output: 'plain' })
  // @ts-expect-error -- an input is a text or an output
  task({ ensemble: child, inputs: { who: 7 } })
  // @ts-expect-error -- a model belongs to the ensemble
  task({ ensemble: child, maxIterations: 7 })
})

test('[ENS-P29] A task with an ensemble and a chosen output has the type of that output', () => {
  const child = ensemble({ name: 'child', tasks: [plain, typed, parsed] })
  const sub = task({ name: 'sub', ensemble: child, inputs: { who: '{who}' }, output: typed })
  expectTypeOf(sub).toEqualTypeOf(typed)
  expectTypeOf(task({ ...sub, retries: 1 })).toEqualTypeOf(typed)
  expectTypeOf(task({ ensemble: child, output: plain })).toEqualTypeOf(plain)
  expectTypeOf(task({ ensemble: child, output: typed, forEach: { over: 'people' } })).toEqualTypeOf<
    Task<readonly { name: string; age?: number }[]>
  >()
  const repeated = task({
    ensemble: child,
    output: typed,
    loop: {
      max: 2,
      until(output) {
        expectTypeOf(output).toEqualTypeOf<{ name: string; age?: number }>()
        return output.name === ''
      },
    },
  })
  expectTypeOf(repeated).toEqualTypeOf(typed)
  expectTypeOf(
    task({
      ensemble: child,
      output: typed,
      loop: { max: 2, result: 'all' },
      forEach: { over: 'people' },
    }),
  ).toEqualTypeOf<Task<readonly (readonly { name: string; age?: number }[])[]>>()
  // @ts-expect-error -- the chosen output has no such field
  task({ ensemble: child, output: typed, loop: { max: 2, until: ({ length }) => length === 7 } })
})

test('[ENS-I5] The output of a task that waits has the type of its events', () => {
  const one = task({ description: 'Wait', waitFor: { event: 'paid', schema: Person } })
  const all = task({ description: 'Wait', waitFor: { event: { all: ['a', 'b'] } } })
  expectTypeOf(one).toEqualTypeOf<Task<WaitOutcome<{ name: string; age?: number }>>>()
  expectTypeOf(all).toEqualTypeOf<Task<AllOutcome>>()
  task({
    description: 'Wait',
    async handler({ waitFor }) {
      const outcome = await waitFor({ any: ['a', 'b'] }, { schema: Person })
      expectTypeOf(outcome).toEqualTypeOf<WaitOutcome<{ name: string; age?: number }>>()
      return outcome.arrived ? outcome.data.name : ''
    },
  })
  // @ts-expect-error -- "timeout" is not an option of a wait
  task({ description: 'Wait', waitFor: { event: 'paid', timeout: 1 } })
})

test('An unknown option of a task is an error, with and without a schema', () => {
  // @ts-expect-error -- "reviw" is not an option
  task({ description: 'Pay', reviw: { prompt: 'Pay?' } })
  // @ts-expect-error -- "reviw" is not an option
  task({ description: 'Pay', output: Person, reviw: true })
  // @ts-expect-error -- "retry" is not an option
  task({ description: 'Pay', output: Person, handler: () => ({ name: 'Ada' }), retry: 1 })
  // @ts-expect-error -- "maxIteration" is not an option
  task({ ...typed, maxIteration: 3 })
  // @ts-expect-error -- "promt" is not an option of a review
  task({ description: 'Pay', output: Person, review: { promt: 'Pay?' } })
  // @ts-expect-error -- "FAL" is not an action
  task({ description: 'Pay', review: { onTimeout: 'FAL' } })
})

test('An unknown option of an agent or an ensemble is an error', () => {
  // @ts-expect-error -- "tool" is not an option
  agent({ role: 'Clerk', goal: 'Pay', tool: [] })
  // @ts-expect-error -- "reviewPolice" is not an option
  ensemble({ name: 'pay', tasks: [plain], reviewPolice: 'AFTER_EVERY_TASK' })
  // @ts-expect-error -- "PARALEL" is not a workflow
  ensemble({ name: 'pay', tasks: [plain], workflow: 'PARALEL' })
})

test('[ENS-X1] A condition receives the outputs of the tasks that it reads, and undefined for those that did not complete', () => {
  const kind = task({ description: 'Classify', output: Type.Enum(['bug', 'question']) })
  const fix = task({
    description: 'Fix',
    output: Person,
    when: condition(kind, (value, { inputs }) => {
      expectTypeOf(value).toEqualTypeOf<'bug' | 'question' | undefined>()
      expectTypeOf(inputs['x']).toEqualTypeOf<string | undefined>()
      return value === 'bug'
    }),
  })
  expectTypeOf(fix).toEqualTypeOf<Task<{ name: string; age?: number }>>()
  expectTypeOf(task({ ...fix, name: 'copy' })).toEqualTypeOf(fix)
  task({
    description: 'Both',
    when: condition([typed, plain], ([person, text]) => {
      expectTypeOf(person).toEqualTypeOf<{ name: string; age?: number } | undefined>()
      expectTypeOf(text).toEqualTypeOf<string | undefined>()
      return person?.name === text
    }),
  })
  task({ description: 'Inputs', when: ({ inputs }) => inputs['x'] === '1' })
  const each = task({
    description: 'Each {item}',
    forEach: { over: 'items' },
    when: condition(kind, (value) => value === 'bug'),
  })
  expectTypeOf(each).toEqualTypeOf<Task<readonly string[]>>()
  const sub = task({
    ensemble: ensemble({ name: 'team', tasks: [typed] }),
    when: condition(kind, (value) => value === 'bug'),
  })
  expectTypeOf(sub).toEqualTypeOf<typeof typed>()
  // @ts-expect-error -- no such kind
  task({ description: 'Fix', when: condition(kind, (value) => value === 'bgu') })
  // @ts-expect-error -- a condition is not a promise
  task({ description: 'Fix', when: async () => true })
  // @ts-expect-error -- the task may have been skipped
  task({ description: 'Fix', when: condition(typed, (value) => value.name === 'Ada') })
})
