import { defineTool, ToolResult, Type } from '@tutti/core'
import { expectTypeOf, test } from 'vitest'

import { agent } from './agent.ts'
import { ensemble } from '../ensemble.ts'
import { task } from './define-task.ts'
import type { Task } from './task.ts'

import type { RunResult } from '../run/run-result.ts'
import type { ContextOutput } from './handler.ts'
import type { StandardToolSchema } from '@tutti/core'

declare const result: RunResult

const Person = Type.Object({ name: Type.String(), age: Type.Optional(Type.Integer()) })
declare const Day: StandardToolSchema<
  { day?: string; length: string },
  { day: string; length: number }
>
const plain = task({ description: 'Write a line' })
const typed = task({ description: 'Find a person', output: Person })
const parsed = task({ description: 'Find a day', output: Day })

test('[ENS-E10] the output of a task without a schema is text', () => {
  expectTypeOf(plain).toEqualTypeOf<Task<string>>()
  expectTypeOf(result.outputOf(plain)).toEqualTypeOf<string | undefined>()
})

test('[ENS-E10] the output of a task is of the type of its schema, TypeBox or any Standard Schema', () => {
  expectTypeOf(result.outputOf(typed)).toEqualTypeOf<{ name: string; age?: number } | undefined>()
  expectTypeOf(result.outputOf(parsed)).toEqualTypeOf<{ day: string; length: number } | undefined>()
})

test('a copy of a task keeps its type, one with another schema gets that of the schema', () => {
  expectTypeOf(task({ ...typed, maxIterations: 3 })).toEqualTypeOf(typed)
  expectTypeOf(task({ ...plain, name: 'other' })).toEqualTypeOf(plain)
  expectTypeOf(task({ ...typed, output: Type.Array(Type.String()) })).toEqualTypeOf<
    Task<string[]>
  >()
})

test('tasks of any type go into an ensemble, and into the context of a task, as they are', () => {
  const summary = task({ description: 'Sum up', context: [plain, typed, parsed] })
  const team = ensemble({ name: 'team', tasks: [plain, typed, parsed, summary] })
  expectTypeOf(team.run()).resolves.toEqualTypeOf<RunResult>()
})

test('[ENS-T9] a handler gives text, a result, or a value of the schema, now or later', () => {
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

test('[ENS-T9] a handler knows what it is given; a tool may stand in for it', () => {
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

test('an option that no task has is an error, with and without a schema', () => {
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

test('an option that no agent or ensemble has is an error', () => {
  // @ts-expect-error -- "tool" is not an option
  agent({ role: 'Clerk', goal: 'Pay', tool: [] })
  // @ts-expect-error -- "reviewPolice" is not an option
  ensemble({ name: 'pay', tasks: [plain], reviewPolice: 'AFTER_EVERY_TASK' })
  // @ts-expect-error -- "PARALEL" is not a workflow
  ensemble({ name: 'pay', tasks: [plain], workflow: 'PARALEL' })
})
