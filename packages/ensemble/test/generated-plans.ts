/**
 * Generates plans from seeds: graphs with conditions and switches, whose tasks are any constructs, also inside each other.
 *
 *   list ─▶ forEach      plain, handler, handoffs, forEach, ensemble (another graph), loop (over any of these), waitFor
 */
import { defineTextTool, Type, type AgentTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { expect } from 'vitest'

import { agent, ensemble, handoff, task, type Task } from '../src/index.ts'
import {
  createGrowth,
  createGrowthReviewer,
  createJudge,
  createModel,
  KINDS_WITH_WAITS,
  LOOP_ENDS,
  toLoopTask,
  toTask,
  type Growth,
  type LoopEnd,
} from './growing-runs.ts'
import { computePhases, createRoute, toChoice, type RouteTask } from './routes.ts'
import {
  createTaskFailure,
  createThinker,
  createWorldTool,
  requestCalls,
} from './scenario-parts.ts'
import { createRandom } from './task-graphs.ts'
import { readPhasesAfter } from './task-phases.ts'

import type { Process, Scenario } from './interrupt-everywhere.ts'

/** A graph, and the construct of each of its tasks by name. */
export interface GeneratedPlan {
  readonly route: readonly RouteTask[]
  readonly constructs: ReadonlyMap<string, Construct>
  readonly workflow: 'SEQUENTIAL' | 'PARALLEL'
}

type Construct =
  | { readonly kind: 'plain' | 'broken'; readonly ms: number }
  | { readonly kind: 'handler'; readonly growth: Growth }
  | { readonly kind: 'handoff'; readonly count: number; readonly end: HandoffEnd }
  | { readonly kind: 'forEach'; readonly body: ItemBody; readonly isCollecting: boolean }
  | { readonly kind: 'ensemble'; readonly plan: GeneratedPlan }
  | { readonly kind: 'loop'; readonly body: LoopBody; readonly end: LoopEnd }
  | { readonly kind: 'wait'; readonly how: WaitKind }

type LoopBody =
  | { readonly kind: 'growth'; readonly growth: Growth }
  | { readonly kind: 'wait' | 'handoff' }
  | { readonly kind: 'plan'; readonly plan: GeneratedPlan }

type WaitKind = (typeof WAITS)[number]

type ItemBody = (typeof ITEM_BODIES)[number]

type HandoffEnd = (typeof HANDOFF_ENDS)[number]

export const CONSTRUCTS = [
  'plain',
  'handler',
  'handoff',
  'forEach',
  'ensemble',
  'loop',
  'wait',
] as const
const WAITS = ['event', 'any', 'all', 'time', 'person'] as const
const LOOP_BODIES = ['growth', 'wait', 'handoff', 'plan'] as const
const ITEM_BODIES = ['wait', 'work', 'handoff'] as const
/** Ends of handoffs: an answer, their limit, or an answer of the second attempt. */
const HANDOFF_ENDS = ['answer', 'limit', 'retry'] as const

/** The task whose output is the list of every `forEach`. */
const LIST = task({
  name: 'list',
  description: 'List',
  output: Type.Array(Type.Integer()),
  handler: () => [4, 2],
})

/** Returns the plan of a seed, with 4 to 8 tasks or one more case of a switch. */
export function planOf(seed: number): GeneratedPlan {
  const random = createRandom(seed)
  return createPlan(random, { count: 4 + (seed % 5), depth: 1, failing: 0.1 })
}

interface PlanLimits {
  readonly count: number
  readonly depth: number
  readonly failing: number
}

function createPlan(random: () => number, { count, depth, failing }: PlanLimits): GeneratedPlan {
  const constructs = new Map<string, Construct>()
  const route = createRoute(random, count, { failing }).map((one): RouteTask => {
    const construct: Construct = one.fails
      ? { kind: 'broken', ms: 1 + Math.floor(random() * 9) }
      : createConstruct(random, depth)
    constructs.set(one.name, construct)
    return construct.kind === 'forEach' ? { ...one, context: [LIST.name, ...one.context] } : one
  })
  const workflow = random() < 0.7 ? 'PARALLEL' : 'SEQUENTIAL'
  return {
    route: [{ name: LIST.name, context: [], fails: false }, ...route],
    constructs,
    workflow,
  }
}

function pick<Value>(random: () => number, values: readonly [Value, ...Value[]]): Value {
  return values[Math.floor(random() * values.length)] ?? values[0]
}

function createConstruct(random: () => number, depth: number): Construct {
  const kind = pick(random, CONSTRUCTS)
  const grow = (): Growth => createGrowth(random, depth, KINDS_WITH_WAITS)
  // What an ensemble does at its first failure depends on the timing of its other tasks.
  const nest = (): GeneratedPlan => createPlan(random, { count: 2, depth: depth - 1, failing: 0 })
  switch (kind) {
    case 'handler':
      return { kind, growth: grow() }
    case 'handoff':
      return { kind, count: 1 + Math.floor(random() * 3), end: pick(random, HANDOFF_ENDS) }
    case 'forEach':
      return { kind, body: pick(random, ITEM_BODIES), isCollecting: random() < 0.5 }
    case 'ensemble':
      return depth === 0 ? { kind: 'plain', ms: 2 } : { kind, plan: nest() }
    case 'loop': {
      const body = pick(random, LOOP_BODIES)
      const end = pick(random, LOOP_ENDS)
      if (body === 'wait' || body === 'handoff') return { kind, body: { kind: body }, end }
      if (body === 'growth' || depth === 0) {
        return { kind, body: { kind: 'growth', growth: grow() }, end }
      }
      return { kind, body: { kind: body, plan: nest() }, end }
    }
    case 'wait':
      return { kind, how: pick(random, WAITS) }
    default:
      return { kind, ms: 1 + Math.floor(random() * 20) }
  }
}

/** Returns the kinds of the constructs in a plan, also inside others. */
export function listKinds({ constructs }: GeneratedPlan): readonly string[] {
  return [...constructs.values()].flatMap((construct) => {
    switch (construct.kind) {
      case 'ensemble':
        return ['ensemble', ...listKinds(construct.plan)]
      case 'loop':
        return construct.body.kind === 'plan'
          ? ['loop', ...listKinds(construct.body.plan)]
          : ['loop']
      default:
        return [construct.kind]
    }
  })
}

/** Returns the scenario of a plan; its check compares the end of each task with that of the rule. */
export function toPlanScenario(plan: GeneratedPlan): Scenario {
  return {
    anyOrder: true,
    mayEnd: ['COMPLETED', 'FAILED'],
    eventFor: ({ name, key }) =>
      name === 'go'
        ? { name, ...(key === undefined ? {} : { key }), id: `${name}:${key}` }
        : undefined,
    open: (process) => ({
      team: ensemble({
        name: 'plan',
        workflow: plan.workflow,
        errorStrategy: 'CONTINUE_ON_ERROR',
        maxConcurrentTasks: 2,
        modelRetries: 0,
        model: createModel(process),
        tasks: toTasks(process, plan, 'plan'),
      }),
      options: { reviewer: createGrowthReviewer(process) },
    }),
    check({ events, result }) {
      // The run may be a replay. The order of the events was checked already.
      const phases = readPhasesAfter(events, { isReplay: true })
      const route = plan.route.map((one) => ({
        ...one,
        fails:
          one.fails ||
          (mayFail(plan.constructs.get(one.name)) && phases.get(one.name) === 'failed'),
      }))
      const expected = [...computePhases(route)]
      const isPlanned = new Set(plan.route.map(({ name }) => name))
      expect([...phases].filter(([name]) => isPlanned.has(name))).toEqual(
        expected.map(([name, phase]) => [name, phase === 'excluded' ? 'skipped' : phase]),
      )
      const isBroken = expected.some(([, phase]) => phase === 'failed')
      expect(result.status).toBe(isBroken ? 'FAILED' : 'COMPLETED')
    },
  }
}

/** Whether the operations of a construct can fail it, such as a map whose items all fail. */
function mayFail(construct: Construct | undefined): boolean {
  return ['handler', 'ensemble', 'loop'].includes(construct?.kind ?? '')
}

/** Returns the tasks of a plan; `path` makes the keys of its events unique. */
function toTasks(process: Process, plan: GeneratedPlan, path: string): readonly Task[] {
  const tasks = new Map<string, Task>()
  for (const one of plan.route) {
    const { name, context } = one
    const construct = plan.constructs.get(name)
    const made =
      construct === undefined
        ? LIST
        : toConstruct(process, construct, { name, path: `${path}.${name}` })
    tasks.set(
      name,
      task({
        ...made,
        name,
        context: context.flatMap((before) => tasks.get(before) ?? []),
        ...toChoice(one, tasks),
      }),
    )
  }
  return [...tasks.values()]
}

interface Place {
  readonly name: string
  readonly path: string
}

function toConstruct(process: Process, construct: Construct, { name, path }: Place): Task {
  switch (construct.kind) {
    case 'plain':
      return task({
        name,
        description: `Think ${construct.ms}`,
        tools: [createWorldTool(process, 'look')],
      })
    case 'broken':
      return toWork(process, { name, ms: construct.ms, isBroken: true })
    case 'handler':
      return toTask(process, name, construct.growth, 0)
    case 'handoff':
      return toHandingOff(process, { name, ...construct })
    case 'forEach':
      return toForEach(process, construct, { name, path })
    case 'ensemble':
      return toEnsembleTask(name, toNested(process, construct.plan, { name, path }))
    case 'loop':
      return toLoop(process, construct, { name, path })
    case 'wait':
      return toWait(construct.how, { name, path })
  }
}

interface Work {
  readonly name: string
  readonly ms: number
  readonly isBroken?: boolean
}

/** Returns a task with one side effect, which takes `ms`. */
function toWork(process: Process, { name, ms, isBroken = false }: Work): Task {
  return task({
    name,
    description: `Do ${name}`,
    async handler({ context, idempotencyKey, signal }) {
      process.call('work', idempotencyKey)
      await sleep(process.clock, ms, signal)
      signal.throwIfAborted()
      if (isBroken) throw new Error(`${name} broke`)
      return `${name}: ${context.map(({ output }) => output).join()}`
    },
  })
}

/**
 * Returns a task whose two agents look and hand off to each other `count` times. With the end `limit` they try once more, and
 * with `retry` the last one fails in the first attempt.
 */
function toHandingOff(
  process: Process,
  {
    name,
    count,
    end,
    description = `Help ${name}`,
  }: {
    readonly name: string
    readonly count: number
    readonly end: HandoffEnd
    readonly description?: string
  },
): Task {
  const tried = end === 'limit' ? count + 1 : count
  const model = createThinker(process, ({ last, messages }) => {
    const calls = messages.flatMap((one) => (one.role === 'assistant' ? one.toolCalls : []))
    const done = calls.filter((one) => one.name.startsWith('transfer')).length
    const looked = calls.filter((one) => one.name === 'look').length
    if (done === tried) {
      const isFirst = messages.some(({ content }) => content === '0 in attempt 1')
      return end === 'retry' && isFirst ? createTaskFailure('Broke') : `Ended with ${last}`
    }
    const look = [`l${looked}`, 'look', `${done}`] as const
    if (looked === done) return requestCalls(look)
    const next = done % 2 === 0 ? 'transfer_to_B' : 'transfer_to_A'
    return requestCalls([`h${done}`, next, {}])
  })
  const tools = [createAttemptTool(process)]
  const second = agent({ role: 'B', tools, handoffs: [handoff('A', { filter: (all) => all })] })
  return task({
    name,
    description,
    model,
    agent: agent({ role: 'A', tools, handoffs: [second] }),
    maxHandoffs: count,
    retries: end === 'retry' ? 1 : 0,
  })
}

/** Returns a tool that returns its input and the attempt of its task. */
function createAttemptTool(process: Process): AgentTool {
  return defineTextTool({
    name: 'look',
    description: 'Looks',
    async execute(input, { idempotencyKey, signal }) {
      process.call('look', idempotencyKey)
      await sleep(process.clock, 7, signal)
      signal.throwIfAborted()
      return `${input} in attempt ${idempotencyKey.split('/').at(-3)}`
    },
  })
}

function toForEach(
  process: Process,
  { body, isCollecting }: Construct & { readonly kind: 'forEach' },
  { name, path }: Place,
): Task {
  const bodies: Readonly<Record<ItemBody, () => Task>> = {
    work: () => toWork(process, { name, ms: 5 }),
    wait: () =>
      task({ name, description: 'Wait', waitFor: { event: 'go', key: `${path}-{item}` } }),
    handoff: () => toHandingOff(process, { name, count: 1, end: 'answer' }),
  }
  const each = bodies[body]()
  const named = { ...each, description: `${name} {item}` }
  return isCollecting
    ? task({ ...named, forEach: { over: LIST, onError: 'collect' } })
    : task({ ...named, forEach: { over: LIST } })
}

/** Returns a task with the ensemble. In every other one its output is that of the first task, which has no condition. */
function toEnsembleTask(name: string, nested: ReturnType<typeof toNested>): Task {
  const [first, ...others] = nested.tasks
  return first === undefined || others.length % 2 === 0
    ? task({ name, ensemble: nested })
    : task({ name, ensemble: nested, output: first })
}

/** Returns an ensemble whose last task reads all others, so that it always has an output. */
function toNested(process: Process, plan: GeneratedPlan, { name, path }: Place) {
  const tasks = toTasks(process, plan, path)
  const hasElse = (one: RouteTask): boolean =>
    one.switchName === undefined ||
    plan.route.some(({ switchName, when }) => switchName === one.switchName && when === undefined)
  const safe = plan.route.filter(hasElse).map((one) => one.name)
  const end = task({
    ...toWork(process, { name: 'end', ms: 1 }),
    context: tasks.filter((one) => safe.includes(one.name)),
  })
  return ensemble({
    name,
    workflow: plan.workflow,
    modelRetries: 0,
    model: createModel(process),
    tasks: [...tasks, end],
  })
}

function toLoop(
  process: Process,
  { body, end }: Construct & { readonly kind: 'loop' },
  { name, path }: Place,
): Task {
  if (body.kind === 'growth') {
    return toLoopTask(process, name, { kind: 'loop', growth: body.growth, end })
  }
  const repeated = toRound(process, body, { name, path })
  switch (end) {
    case 'judge':
      return task({
        ...repeated,
        loop: { max: 3, until: { judge: createJudge(process) }, history: 'all' },
      })
    case 'until':
      return task({ ...repeated, loop: { max: 2, until: (_, { round }) => round === 2 } })
    case 'unchanged':
      return task({ ...repeated, loop: { max: 2, stopWhenUnchanged: true, onMax: 'accept' } })
    case 'review':
      return task({ ...repeated, loop: { max: 1, onMax: { review: { prompt: 'Enough?' } } } })
  }
}

function toRound(
  process: Process,
  body: Exclude<LoopBody, { readonly kind: 'growth' }>,
  { name, path }: Place,
): Task {
  switch (body.kind) {
    case 'wait':
      return task({
        name,
        description: 'Grow {feedback}',
        waitFor: { event: 'go', key: `${path}-{round}` },
      })
    case 'handoff':
      return toHandingOff(process, {
        name,
        count: 2,
        end: 'answer',
        description: 'Grow {feedback}',
      })
    case 'plan':
      return toEnsembleTask(name, toNested(process, body.plan, { name, path }))
  }
}

function toWait(how: WaitKind, { name, path }: Place): Task {
  const description = `Wait for ${name}`
  switch (how) {
    case 'event':
      return task({ name, description, waitFor: { event: 'go', key: path, timeoutMs: 60_000 } })
    case 'any':
      return task({
        name,
        description,
        waitFor: { event: { any: ['never', { name: 'go', key: path }] } },
      })
    case 'all': {
      const all = ['a', 'b'].map((part) => ({ name: 'go', key: `${path}-${part}` }))
      return task({ name, description, waitFor: { event: { all } } })
    }
    case 'time':
      return task({ name, description, waitFor: { event: 'never', timeoutMs: 30 } })
    case 'person':
      return task({ name, description, waitFor: { event: 'never', review: { prompt: name } } })
  }
}
