/**
 * Tasks that wait for external events: a handler made from a plan over the operation `waitFor`.
 *
 * ENS-I5 The output of a task with `waitFor` is the outcome of its wait. With `all`, it waits for every event at the same time,
 *    and has the outcome of each.
 */
import { schemaReader, type ToolSchema } from '@tutti/core/internal'

import {
  findAwaitedProblems,
  findWaitProblems,
  listAwaitedEvents,
  type EventsToAwait,
  type EventToAwait,
  type WaitForOptions,
  type WaitOutcome,
} from './wait.ts'
import { findTemplateVariables, renderTemplate } from './template.ts'

import type { HandlerContext } from './handler.ts'
import type { Inputs } from './template.ts'
import type { OutputReader } from '../output/structured-output.ts'

/** Wait of a task. Texts of `key` and of the keys of events can contain template variables. */
export interface TaskWait<Schema extends ToolSchema = ToolSchema> extends WaitForOptions<Schema> {
  /** One event, any of several, or all of several. */
  readonly event: EventsToAwait | { readonly all: readonly EventToAwait[] }
}

/** Output of a task that waits for all of several events. */
export interface AllOutcome<Data = unknown> {
  /** Whether all events arrived. */
  readonly arrived: boolean
  /** Outcomes in the order of the events. */
  readonly events: readonly WaitOutcome<Data>[]
}

type WaitHandler = (context: HandlerContext) => Promise<WaitOutcome | AllOutcome>

const handlers = new WeakSet<object>()

/** Whether a handler is the one of a task with `waitFor`. */
export function isWaitHandler(handler: object): boolean {
  return handlers.has(handler)
}

/** Returns a handler that waits for the events of a plan. */
export function createWaitHandler({ event, ...options }: TaskWait): WaitHandler {
  const handler: WaitHandler = async ({ waitFor, inputs }) => {
    const render = (one: EventToAwait): EventToAwait => renderEvent(one, inputs)
    const { key, ...rest } = options
    const rendered = key === undefined ? rest : { ...rest, key: renderTemplate(key, inputs) }
    if (!isAll(event)) {
      return waitFor(isAny(event) ? { any: event.any.map(render) } : render(event), rendered)
    }
    const events = await Promise.all(event.all.map((one) => waitFor(render(one), rendered)))
    return { arrived: events.every(({ arrived }) => arrived), events }
  }
  handlers.add(handler)
  return handler
}

function renderEvent(event: EventToAwait, inputs: Inputs): EventToAwait {
  return typeof event === 'string' || event.key === undefined
    ? event
    : { ...event, key: renderTemplate(event.key, inputs) }
}

function isAll(event: TaskWait['event']): event is { readonly all: readonly EventToAwait[] } {
  return typeof event === 'object' && 'all' in event
}

function isAny(event: EventsToAwait): event is { readonly any: readonly EventToAwait[] } {
  return typeof event === 'object' && 'any' in event
}

/** Returns the template variables of the keys of a wait. */
export function listWaitVariables({
  event,
  key,
}: Pick<TaskWait, 'event' | 'key'>): readonly string[] {
  const keys = [
    key,
    ...listEvents(event).map((one) => (typeof one === 'string' ? undefined : one.key)),
  ]
  return keys.flatMap((text) => (text === undefined ? [] : findTemplateVariables(text)))
}

function listEvents(event: TaskWait['event']): readonly EventToAwait[] {
  return isAll(event) ? event.all : isAny(event) ? event.any : [event]
}

/** Returns the problems of a wait of a task, one text each. Those of a key with variables are found when the task runs. */
export function findTaskWaitProblems(wait: TaskWait): readonly string[] {
  const { event, ...options } = wait
  const awaited = listAwaitedEvents({ any: listEvents(event) }, undefined)
  const found = [
    ...findAwaitedProblems(
      // A rendered key is checked when it is known.
      awaited.map(({ name }) => ({ name })),
    ),
    ...findWaitProblems(options),
  ]
  return found.map((problem) => `waitFor: ${problem}`)
}

/** Returns the reader of the output of a wait, which the operation has already checked. */
export function createWaitReader({ event, schema }: TaskWait): OutputReader {
  const data =
    schema === undefined
      ? {}
      : schemaReader(schema, { action: 'Cannot create a wait: schema' }).jsonSchema
  const outcome = {
    type: 'object',
    properties: {
      arrived: { type: 'boolean' },
      data,
      name: { type: 'string' },
      eventId: { type: 'string' },
      timedOut: { type: 'boolean' },
    },
    required: ['arrived'],
  }
  const readValue: OutputReader['readValue'] = (value) =>
    Promise.resolve(
      typeof value === 'object' && value !== null && 'arrived' in value
        ? { ok: true, value }
        : { ok: false, problem: 'must be the outcome of a wait' },
    )
  return {
    schema: isAll(event)
      ? {
          type: 'object',
          properties: { arrived: { type: 'boolean' }, events: { type: 'array', items: outcome } },
          required: ['arrived', 'events'],
        }
      : outcome,
    name: 'outcome',
    read: async (text) => {
      try {
        return await readValue(JSON.parse(text))
      } catch {
        return { ok: false, problem: 'must be the outcome of a wait as JSON' }
      }
    },
    readValue,
  }
}
