/** Generates scenarios: runs with any combination of engine features. */
import { defineTextTool, TuttiError, Type, type AgentTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { pipeline } from '@tutti/pipeline'
import { array, boolean, constantFrom, nat, record, subarray, type Arbitrary } from 'fast-check'

import { agent, ensemble, task } from '../src/index.ts'
import {
  createTaskFailure,
  createWorldReviewer,
  readContext,
  requestCalls,
} from './scenario-parts.ts'
import { scriptedModel, type ScriptedReply } from './testing.ts'

import type { ChatModel, ModelRequest } from '../src/adapter.ts'
import type { ClientTool, ReviewAnswer, Task } from '../src/index.ts'
import type { OpenReview } from '../src/internal.ts'
import type { Process, Scenario, ScenarioCommand } from './interrupt-everywhere.ts'

/** Tools that a generated task may call, in one turn. */
const CALLS = ['search', 'pipe', 'expert', 'approve', 'client', 'once', 'delegate_task'] as const
type Call = (typeof CALLS)[number]

/** Outcomes of the review of a generated task. */
const REVIEWS = ['none', 'CONTINUE', 'EDIT', 'REJECT'] as const

export interface GeneratedTask {
  readonly isHandler: boolean
  readonly hasContext: boolean
  readonly calls: readonly Call[]
  readonly beforeReview: boolean
  readonly review: (typeof REVIEWS)[number]
  /** Whether its output has a schema, and its first answer does not match it. */
  readonly isStructured: boolean
  /** Whether its first model call fails and is repeated. */
  readonly isFlaky: boolean
  /** Whether its first attempt fails after its calls. */
  readonly isRetried: boolean
  readonly isDirected: boolean
}

export interface GeneratedRun {
  readonly workflow: 'SEQUENTIAL' | 'PARALLEL' | 'HIERARCHICAL'
  readonly tasks: readonly GeneratedTask[]
}

/** Generates runs of up to two tasks. */
export const generatedRuns: Arbitrary<GeneratedRun> = record({
  workflow: constantFrom('SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'),
  tasks: array(
    record({
      isHandler: nat(4).map((number) => number === 0),
      hasContext: boolean(),
      calls: subarray([...CALLS]),
      beforeReview: boolean(),
      review: constantFrom(...REVIEWS),
      isStructured: boolean(),
      isFlaky: boolean(),
      isRetried: boolean(),
      isDirected: boolean(),
    }),
    { minLength: 1, maxLength: 2 },
  ),
})

/** A run with every feature, once in each workflow. */
export const EVERY_FEATURE: readonly GeneratedRun[] = (
  ['SEQUENTIAL', 'PARALLEL', 'HIERARCHICAL'] as const
).map((workflow) => ({
  workflow,
  tasks: REVIEWS.slice(2).map((review, index) => ({
    isHandler: false,
    hasContext: true,
    calls: CALLS,
    beforeReview: index !== 1,
    review,
    isStructured: index !== 1,
    isFlaky: true,
    isRetried: index !== 0,
    isDirected: true,
  })),
}))

const CLIENT_TOOL: ClientTool = {
  name: 'client',
  description: 'Asks the client',
  inputSchema: Type.Object({ input: Type.String() }),
}

/** Returns the scenario of a generated run. */
export function toScenario(run: GeneratedRun): Scenario {
  const isManaged = run.workflow === 'HIERARCHICAL'
  return {
    once: ['once'],
    mayEnd: ['COMPLETED', 'FAILED'],
    commands: run.tasks.flatMap((spec, index) => (spec.isDirected ? toDirective(index) : [])),
    open: (process) => ({
      team: ensemble({
        name: 'generated',
        workflow: run.workflow,
        errorStrategy: 'CONTINUE_ON_ERROR',
        modelRetries: 1,
        ...(isManaged ? { managerModel: createManager(process, run) } : {}),
        tasks: run.tasks.map((spec, index) => toTask(process, run, { spec, index })),
      }),
      options: {
        ...(run.tasks.some(isAgent(run)) ? { clientTools: [CLIENT_TOOL] } : {}),
        reviewer: createWorldReviewer(process, (review) => decide(run, review)),
      },
    }),
  }
}

/** Returns whether a task of the run has an agent, which workers of a manager always have. */
function isAgent({ workflow }: GeneratedRun): (spec: GeneratedTask) => boolean {
  return ({ isHandler }) => workflow === 'HIERARCHICAL' || !isHandler
}

/** Returns a directive that reaches a task after its first tool call, before its next model call. */
function toDirective(index: number): ScenarioCommand {
  const to = toName(index)
  const content = `Be kind, ${to}`
  return {
    when: (event) => event.type === 'tool_called' && event.taskName === to,
    send: (handle) => handle.inject({ content, to }),
    isRecorded: (step) => step.kind === 'directive_taken' && step.directive.content === content,
  }
}

function toName(index: number): string {
  return `t${index}`
}

function toRole(index: number): string {
  return `Role ${index}`
}

interface PlacedTask {
  readonly spec: GeneratedTask
  readonly index: number
}

function toTask(process: Process, { workflow, tasks }: GeneratedRun, placed: PlacedTask): Task {
  const { spec, index } = placed
  const isManaged = workflow === 'HIERARCHICAL'
  const context = spec.hasContext && index > 0 && !isManaged ? [toName(index - 1)] : []
  const peer = tasks.findIndex((other, at) => at !== index && !other.isHandler)
  const canDelegate = !isManaged && peer !== -1 && spec.calls.includes('delegate_task')
  const common = {
    name: toName(index),
    description: `Do ${toName(index)}`,
    context,
    retries: spec.isRetried ? 1 : 0,
    beforeReview: spec.beforeReview,
    review: spec.review !== 'none',
  }
  if (spec.isHandler && !isManaged) {
    return task({
      ...common,
      async handler({ attempt, idempotencyKey, signal }) {
        process.call('handler', idempotencyKey)
        await sleep(process.clock, 9, signal)
        signal.throwIfAborted()
        if (spec.isRetried && attempt === 1) throw createTaskFailure('The handler broke')
        return `handled ${attempt}`
      },
    })
  }
  return task({
    ...common,
    agent: agent({ role: toRole(index), goal: 'Work', allowDelegation: canDelegate }),
    tools: createTools(process, spec),
    model: createModel(process, spec, toRole(peer)),
    ...(spec.isStructured ? { output: Type.Object({ text: Type.String() }) } : {}),
  })
}

/** Returns the tools of a task. Each returns the attempt that called it, from its idempotency key. */
function createTools(process: Process, { calls }: GeneratedTask): readonly AgentTool[] {
  const make = (name: string, options: { idempotent?: boolean; requireApproval?: boolean } = {}) =>
    defineTextTool({
      name,
      description: `Returns what ${name} knows`,
      ...options,
      async execute(input, { idempotencyKey, signal, reportProgress }) {
        process.call(name, idempotencyKey)
        reportProgress('half')
        await sleep(process.clock, 7, signal)
        signal.throwIfAborted()
        return `${name}:${input}@${idempotencyKey.split('/')[2]}`
      },
    })
  const expert = ensemble({
    name: 'inner',
    tasks: [
      task({
        name: 'think',
        description: 'Think',
        model: scriptedModel(() => 'a thought', { clock: process.clock, delayMs: 3 }),
      }),
    ],
  })
  const tools: Readonly<Partial<Record<Call, () => AgentTool>>> = {
    search: () => make('search'),
    once: () => make('once', { idempotent: false }),
    approve: () => make('approve', { requireApproval: true }),
    pipe: () => pipeline([make('first'), make('second')], { name: 'pipe' }),
    expert: () => expert.asTool({ name: 'expert' }),
  }
  return calls.flatMap((call) => tools[call]?.() ?? [])
}

/** Returns a model whose answers depend only on their requests, except that the call of a first turn may fail once. */
function createModel(process: Process, spec: GeneratedTask, peerRole: string): ChatModel {
  const failed = new Set<string>()
  return scriptedModel(
    (request) => {
      const { turn, prompt, results } = readRequest(request)
      const isPlanned = prompt.includes('Do ')
      // Every first turn fails once, also the one of a fork that repeats it.
      if (spec.isFlaky && turn === 0 && isPlanned && !failed.delete(prompt)) {
        failed.add(prompt)
        return new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
      }
      // Delegated work is not delegated again.
      const calls = spec.calls.filter(
        (call) =>
          request.tools.some(({ name }) => name === call) &&
          (isPlanned || call !== 'delegate_task'),
      )
      if (turn === 0 && calls.length > 0) return toCalls(calls, peerRole)
      if (spec.isRetried && /@1\b/.test(results)) return createTaskFailure('The agent broke')
      const isKind = request.messages.some(({ content }) => content.includes('Be kind'))
      // One word is one token event.
      const text = `${results}${readContext(prompt)}${isKind ? '+kind' : ''}`.replaceAll(' ', '_')
      if (!spec.isStructured || request.tools.length === 0) return text
      return turn === (calls.length > 0 ? 1 : 0) ? 'no JSON' : JSON.stringify({ text })
    },
    { clock: process.clock, delayMs: 5, name: 'thinker' },
  )
}

function toCalls(calls: readonly Call[], agentRole: string): ScriptedReply {
  return requestCalls(
    ...calls.map((call, index) => {
      const input =
        call === 'delegate_task' ? { agentRole, taskDescription: 'Help' } : { input: 'x' }
      return [`c${index}`, call, input] as const
    }),
  )
}

/** Returns a manager that delegates to every worker in its first turn, and to the first one again. */
function createManager({ clock }: Process, { tasks }: GeneratedRun): ChatModel {
  const delegate = (id: string, index: number) =>
    [id, 'delegate_task', { agentRole: toRole(index), taskDescription: `Do it ${id}` }] as const
  return scriptedModel(
    (request) => {
      const { turn, results } = readRequest(request)
      if (turn === 0) return requestCalls(...tasks.map((_, index) => delegate(`m${index}`, index)))
      return turn === 1 ? requestCalls(delegate('again', 0)) : `all: ${results}`
    },
    { clock, delayMs: 5, name: 'manager' },
  )
}

function readRequest({ messages }: ModelRequest) {
  return {
    turn: messages.filter(({ role }) => role === 'assistant').length,
    prompt: messages[1]?.content ?? '',
    results: messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : [])).join('+'),
  }
}

function decide({ tasks }: GeneratedRun, review: OpenReview): ReviewAnswer {
  const { timing, taskName, attempt, taskOutput, approval } = review
  if (timing === 'BEFORE_EXECUTION') return { action: 'EDIT', text: `Do ${taskName} well` }
  if (approval?.clientTool === true) return { action: 'EDIT', input: { from: 'client' } }
  if (timing === 'DURING_EXECUTION') return { action: 'CONTINUE' }
  const wanted = tasks[Number(/\d+/.exec(taskName)?.[0] ?? -1)]?.review ?? 'CONTINUE'
  if (wanted === 'EDIT') return { action: 'EDIT', text: taskOutput ?? '' }
  if (wanted === 'REJECT' && attempt <= 2) return { action: 'REJECT', feedback: 'Longer' }
  return { action: 'CONTINUE' }
}
