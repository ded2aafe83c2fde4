/** Generates growing runs: handlers with random operations, and tasks that they add, from seeds. */
import { defineTextTool, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'

import { ensemble, task } from '../src/index.ts'
import {
  createThinker,
  createWorldReviewer,
  createWorldTool,
  requestCalls,
} from './scenario-parts.ts'
import { createRandom } from './task-graphs.ts'

import type { HandlerContext, ReviewAnswer, RunReviewer, StepContext, Task } from '../src/index.ts'
import type { Process, Scenario } from './interrupt-everywhere.ts'

/** A generated handler: operations one after another, or at the same time. */
export interface Growth {
  readonly operations: readonly Operation[]
  readonly isConcurrent: boolean
}

type Operation =
  | { readonly kind: 'step' | 'ask' | 'agent'; readonly ms: number }
  | { readonly kind: 'call'; readonly isOnce: boolean }
  | { readonly kind: 'task'; readonly growth: Growth; readonly retries: number }
  | {
      readonly kind: 'ensemble'
      readonly growth: Growth
      readonly retries: number
      readonly workflow: 'SEQUENTIAL' | 'PARALLEL'
    }
  | { readonly kind: 'map'; readonly items: readonly number[]; readonly reaction: Reaction }
  | { readonly kind: 'loop'; readonly growth: Growth; readonly end: LoopEnd }
  | { readonly kind: 'sleep'; readonly ms: number }
  | { readonly kind: 'wait'; readonly isDelivered: boolean }

type Reaction = 'fail' | 'continue' | 'collect' | 'until'

/** End of a loop of two rounds. */
export type LoopEnd = 'until' | 'judge' | 'unchanged' | 'review'

const KINDS = ['step', 'step', 'ask', 'agent', 'call', 'task', 'map', 'ensemble', 'loop'] as const
/** Kinds of operations, with waits for times and external events. */
export const KINDS_WITH_WAITS = [...KINDS, 'sleep', 'wait'] as const
export const LOOP_ENDS = ['until', 'judge', 'unchanged', 'review'] as const

const REACTIONS = ['fail', 'continue', 'collect', 'until'] as const

/** Returns a random growth of these kinds of operations, with tasks up to `depth` deep. */
export function createGrowth(
  random: () => number,
  depth: number,
  kinds: readonly Operation['kind'][] = KINDS,
): Growth {
  const count = 1 + Math.floor(random() * 3)
  return {
    isConcurrent: random() < 0.5,
    operations: Array.from({ length: count }, () => createOperation(random, depth, kinds)),
  }
}

function createOperation(
  random: () => number,
  depth: number,
  kinds: readonly Operation['kind'][],
): Operation {
  const kind = kinds[Math.floor(random() * kinds.length)] ?? 'step'
  switch (kind) {
    case 'call':
      return { kind, isOnce: random() < 0.3 }
    case 'task':
      if (depth === 0) return { kind: 'step', ms: 3 }
      return {
        kind,
        growth: createGrowth(random, depth - 1, kinds),
        retries: random() < 0.3 ? 1 : 0,
      }
    case 'ensemble':
      if (depth === 0) return { kind: 'step', ms: 3 }
      return {
        kind,
        growth: createGrowth(random, depth - 1, kinds),
        retries: random() < 0.3 ? 1 : 0,
        workflow: random() < 0.5 ? 'SEQUENTIAL' : 'PARALLEL',
      }
    case 'map': {
      const items = Array.from({ length: Math.floor(random() * 4) }, () => Math.floor(random() * 9))
      return { kind, items, reaction: REACTIONS[Math.floor(random() * 4)] ?? 'fail' }
    }
    case 'loop':
      if (depth === 0) return { kind: 'step', ms: 3 }
      return {
        kind,
        growth: createGrowth(random, depth - 1, kinds),
        end: LOOP_ENDS[Math.floor(random() * 4)] ?? 'until',
      }
    case 'wait':
      return { kind, isDelivered: random() < 0.6 }
    default:
      return { kind, ms: 1 + Math.floor(random() * 20) }
  }
}

/** Orders another round. */
const AGAIN: ReviewAnswer = { action: 'REJECT', feedback: 'again' }

/**
 * Returns the scenario of one growing task, between two others.
 *
 * @param isChanged whether the growing task has another description and begins with another operation.
 */
export function toGrowingScenario(growth: Growth, { isChanged = false } = {}): Scenario {
  return {
    anyOrder: true,
    mayEnd: ['COMPLETED', 'FAILED'],
    open: (process) => ({
      team: ensemble({
        name: 'growing',
        workflow: 'SEQUENTIAL',
        maxConcurrentTasks: 2,
        modelRetries: 0,
        model: createModel(process),
        tasks: [
          task({ name: 'first', description: 'Begin', handler: () => 'begun' }),
          isChanged
            ? changeTask(toTask(process, 'grow', growth, 0))
            : toTask(process, 'grow', growth, 0),
          task({
            name: 'last',
            description: 'End',
            context: ['grow'],
            handler: ({ context }) => context.map(({ output }) => output).join(),
          }),
        ],
      }),
      options: {
        reviewer: createGrowthReviewer(process),
      },
    }),
  }
}

/** Returns a reviewer that answers questions with 7, and ends a loop after one more round. */
export function createGrowthReviewer(process: Process): RunReviewer {
  return createWorldReviewer(process, ({ prompt }) => {
    if (prompt?.startsWith('Enough?') !== true) return { action: 'EDIT', input: { n: 7 } }
    return prompt.includes('Grow again') ? { action: 'CONTINUE' } : AGAIN
  })
}

/** Returns a model that looks once before it answers. */
export function createModel(process: Process) {
  return createThinker(process, ({ turn, prompt, last }) =>
    turn === 0 ? requestCalls(['c', 'look', 'x']) : `${/Think \d+/.exec(prompt)?.[0]} ${last}`,
  )
}

/** Returns a task with a sub-ensemble: a task that grows, one that waits, and one that reads both. */
function toEnsembleTask(
  process: Process,
  name: string,
  { growth, retries, workflow }: Operation & { readonly kind: 'ensemble' },
): Task {
  return task({
    name,
    retries,
    inputs: { n: '4' },
    ensemble: ensemble({
      name: 'nested',
      workflow,
      modelRetries: 0,
      model: createModel(process),
      tasks: [
        toTask(process, 'left', growth, 0),
        task({
          name: 'right',
          description: 'Wait {n}',
          async handler({ inputs, idempotencyKey, signal }) {
            process.call('right', idempotencyKey)
            await sleep(process.clock, Number(inputs['n']), signal)
            signal.throwIfAborted()
            return inputs['n'] ?? ''
          },
        }),
        task({
          name: 'join',
          description: 'Join',
          context: ['right', 'left'],
          handler({ context, taskName }) {
            if (retries > 0 && !taskName.includes('#')) throw new Error(`${name} broke`)
            return context.map((one) => `${one.taskName} ${one.output}`).join()
          },
        }),
      ],
    }),
  })
}

/** Returns a task whose handler performs the operations of a growth. */
export function toTask(process: Process, name: string, growth: Growth, retries: number): Task {
  return task({
    name,
    description: `Grow ${name}`,
    retries,
    async handler(context) {
      const outputs: unknown[] = []
      const perform = async (operation: Operation, index: number): Promise<void> => {
        outputs[index] = await performOperation(process, context, { operation, index })
      }
      if (growth.isConcurrent) await Promise.all(growth.operations.map(perform))
      else
        for (const [index, operation] of growth.operations.entries())
          await perform(operation, index)
      if (context.attempt <= retries) throw new Error(`${name} broke`)
      return [context.description, ...outputs]
    },
  })
}

/** Returns the task with one more step at the start of its handler. */
function changeTask(from: Task): Task {
  const { handler, name, description } = from
  return task({
    name,
    description: `${description} again`,
    async handler(context) {
      await context.step('new', () => 1)
      return typeof handler === 'function' ? handler(context) : ''
    },
  })
}

async function performOperation(
  process: Process,
  {
    step,
    compensate,
    ask,
    call,
    task: add,
    map,
    sleep: sleepFor,
    waitFor,
    attempt,
    taskName,
  }: HandlerContext,
  { operation, index }: { readonly operation: Operation; readonly index: number },
): Promise<unknown> {
  const record = (what: string): void => {
    process.call(what, `${taskName}/${attempt}/${what}`)
  }
  switch (operation.kind) {
    case 'step': {
      const perform = async ({ signal, tries }: StepContext): Promise<{ value: number }> => {
        record(`step s${index}`)
        await sleep(process.clock, operation.ms, signal)
        signal.throwIfAborted()
        if (operation.ms % 3 === 0 && tries < 3) throw new Error(`Try ${tries} broke`)
        return { value: operation.ms }
      }
      const value = await step(`s${index}`, perform, {
        retries: 2,
        backoff: { firstDelayMs: 4 },
        timeoutMs: 1_000,
      })
      compensate(`undo ${index}`, async ({ signal, tries }) => {
        record(`step undo ${index}`)
        await sleep(process.clock, operation.ms, signal)
        signal.throwIfAborted()
        if (tries === 1) throw new Error('Not undone')
      })
      // What follows depends on the order of the ends.
      return step(`after ${index}`, () => {
        record(`step after ${index}`)
        return value.value + attempt
      })
    }
    case 'ask': {
      const answer = await ask(`How many ${index}?`, { schema: Type.Object({ n: Type.Integer() }) })
      return answer.answered ? answer.value.n : 'none'
    }
    case 'agent':
      return add(
        task({
          name: `think-${index}`,
          description: 'Think {n}',
          tools: [createWorldTool(process, 'look')],
        }),
        {
          inputs: { n: String(operation.ms) },
        },
      )
    case 'call':
      return call(
        defineTextTool({
          name: 'get',
          description: 'Gets',
          idempotent: !operation.isOnce,
          async execute(input, { signal }) {
            record(`call get:${input}`)
            await sleep(process.clock, 7, signal)
            signal.throwIfAborted()
            return `get:${input}`
          },
        }),
        `${index}`,
      )
    case 'task':
      return add(toTask(process, `sub-${index}`, operation.growth, operation.retries))
    case 'ensemble':
      return add(toEnsembleTask(process, `nested-${index}`, operation))
    case 'loop':
      return add(toLoopTask(process, `loop-${index}`, operation))
    case 'sleep':
      await sleepFor(operation.ms)
      return `slept ${operation.ms}`
    case 'wait':
      return operation.isDelivered
        ? waitFor('go', { key: `${taskName}/${index}` })
        : waitFor('never', { timeoutMs: 15 })
    case 'map':
      return mapItems(process, map, { operation, index })
  }
}

/** Returns a loop over a task that grows, or over an ensemble with one. */
export function toLoopTask(
  process: Process,
  name: string,
  { growth, end }: Operation & { readonly kind: 'loop' },
): Task {
  const body = toTask(process, name, growth, 0)
  switch (end) {
    case 'judge':
      return task({
        ensemble: ensemble({
          name,
          modelRetries: 0,
          model: createModel(process),
          tasks: [
            body,
            task({
              name: 'end',
              description: 'End round {round} after {previous} with {feedback}: {history}',
              handler: ({ description }) => description,
            }),
          ],
        }),
        loop: { max: 9, until: { judge: createJudge(process) }, history: 'all' },
      })
    case 'until':
      return task({
        ...body,
        loop: { max: 2, until: (_, state) => state.round === 2, result: 'all' },
      })
    case 'unchanged':
      return task({ ...body, loop: { max: 2, stopWhenUnchanged: true, onMax: 'accept' } })
    case 'review':
      return task({
        ...body,
        description: 'Grow {feedback}',
        loop: { max: 1, onMax: { review: { prompt: 'Enough?' } } },
      })
  }
}

/** Returns a judge that wants two rounds. */
export function createJudge(process: Process) {
  return task({
    name: 'judge',
    description: 'Judge {output} of {round}',
    output: Type.Object({ done: Type.Boolean(), feedback: Type.String() }),
    async handler({ inputs, idempotencyKey, signal }) {
      process.call('judge', idempotencyKey)
      await sleep(process.clock, 3, signal)
      signal.throwIfAborted()
      return { done: inputs['round'] === '2', feedback: `not ${inputs['round']}` }
    },
  })
}

function mapItems(
  process: Process,
  map: HandlerContext['map'],
  {
    operation: { items, reaction },
    index,
  }: { readonly operation: Operation & { readonly kind: 'map' }; readonly index: number },
): Promise<readonly unknown[]> {
  const child = task({
    name: `item-${index}`,
    description: 'Item {item}',
    async handler({ inputs, idempotencyKey, signal }) {
      process.call('item', idempotencyKey)
      const item = Number(inputs['item'])
      await sleep(process.clock, item, signal)
      signal.throwIfAborted()
      if (item % 3 === 2 && reaction !== 'fail') throw new Error(`Item ${item} broke`)
      return `item ${item}`
    },
  })
  switch (reaction) {
    case 'collect':
      return map(items, child, { onError: 'collect', maxParallel: 2 }).then((all) =>
        all.map((one) => (one.ok ? one.output : one.error.message)),
      )
    case 'until':
      return map(items, child, {
        onError: 'continue',
        maxParallel: 1,
        ...(items.length === 0 ? {} : { until: { succeeded: 1 } }),
      })
    default:
      return map(items, child, { onError: reaction })
  }
}

/** Returns the growth of a seed. */
export function growthOf(seed: number): Growth {
  return createGrowth(createRandom(seed), 2)
}
