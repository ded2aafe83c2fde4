/**
 * Tasks for each item of a list that is known only at run time: an input, or the output of an earlier task. Such a task has a
 * handler that maps a template over the items.
 *
 * ENS-P12 A task with `forEach` waits for the task of its list, and adds a task for each item, named by its key, by default its
 *    index. Its output is the list of their outputs, or an object with each output under its key.
 */
import { TuttiError } from '@tutti/core'

import { createFormReader, parseJsonList } from './list-reader.ts'
import { readPath } from './value-inputs.ts'

import type { ContextOutput, HandlerContext } from './handler.ts'
import type { ChildTask, MapOptions, MapOutcome, ReduceOptions } from './operations.ts'
import type { Inputs } from './template.ts'
import type { ForEachPlan } from './task.ts'
import type { OutputReader } from '../output/structured-output.ts'

/** List over which a task is mapped, and how. */
export interface ForEach<Item> extends Omit<MapOptions<Item>, 'collect'> {
  /** Earlier task whose output is the list, or the name of an input that has it as JSON. */
  readonly over: string | ChildTask<readonly Item[]>
  /**
   * Form of the output: `list` has all outputs, `outputs` is an object that has them by key, `reduce` combines them with its task
   * within `maxTokens`. @default list
   */
  readonly collect?: 'list' | 'outputs' | ReduceOutputs<unknown>
}

/** A task that combines outputs level by level, each time as many as fit into `maxTokens`. */
export interface ReduceOutputs<Output> extends Pick<ReduceOptions, 'maxTokens' | 'as'> {
  readonly reduce: ChildTask<Output>
}

/** Output for one item with `onError: 'collect'`, by its key. */
export type ItemOutcome<Output> =
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }

/** Output for one item with `onError: 'collect'`, in a list. */
export type ForEachOutcome<Output> = { readonly key: string } & ItemOutcome<Output>

/** Returns a handler that maps the task of an item over the list. */
export function createForEachHandler(
  plan: ForEachPlan,
): (context: HandlerContext) => Promise<unknown> {
  const { settings, children, reduce: reduction } = plan
  const { onError, collect = 'list', ...options } = settings
  const template =
    children === undefined
      ? plan.template
      : (item: unknown, index: number) =>
          children.get(readItemKey(plan, item, index) ?? '') ?? plan.template
  // NOTE: the items have the type that the author declares, which nothing checks at run time.
  const key = (plan.key ?? toIndex) as string | typeof toIndex
  return async ({ map, reduce, inputs, context }) => {
    const items = readItems(plan, { inputs, context })
    if (onError === 'collect') {
      const outcomes = await map(items, template, { ...options, key, onError })
      return collect === 'list'
        ? outcomes.map((one) => ({ key: one.key, ...toItemOutcome(one) }))
        : Object.fromEntries(outcomes.map((one) => [one.key, toItemOutcome(one)]))
    }
    const how = { ...options, key, ...(onError === undefined ? {} : { onError }) }
    if (collect === 'outputs') return map(items, template, { ...how, collect })
    const outputs = await map(items, template, how)
    if (reduction === undefined) return outputs
    const { task: combine, ...limits } = reduction
    return reduce(outputs, combine, { ...limits, key: `reduce-${combine.name}` })
  }
}

function toItemOutcome(one: MapOutcome<unknown>): ItemOutcome<unknown> {
  if (one.ok) return { ok: true, output: one.output }
  const { code, message } = one.error
  return { ok: false, error: { code, message } }
}

function toIndex(_: unknown, index: number): string {
  return String(index)
}

/** Returns the key of an item; undefined if its field has none, for which its map fails. */
export function readItemKey(
  { key = toIndex }: Pick<ForEachPlan, 'key'>,
  item: unknown,
  index: number,
): string | undefined {
  // NOTE: the items have the type that the author declares, which nothing checks at run time.
  if (typeof key !== 'string') return (key as typeof toIndex)(item, index)
  const value = readPath(item, key.split('.'))
  return ['string', 'number', 'bigint'].includes(typeof value) ? String(value) : undefined
}

function readItems(
  { over, isInput }: ForEachPlan,
  { inputs, context }: { readonly inputs: Inputs; readonly context: readonly ContextOutput[] },
): readonly unknown[] {
  const text = isInput ? inputs[over] : context.find(({ taskName }) => taskName === over)?.output
  const items = parseJsonList(text)
  if (items !== undefined) return items
  const what = isInput ? `Input "${over}"` : `The output of task "${over}"`
  if (text === undefined && !isInput) {
    throw new TuttiError('CONSTRAINT_VIOLATION', `${what} is needed, but the task is not completed`)
  }
  throw new TuttiError('CONSTRAINT_VIOLATION', `${what} must be a JSON list`)
}

/** Returns a reader of the output, whose parts the tasks of the items have already read; undefined for text. */
export function createForEachReader(
  item: OutputReader | undefined,
  { reduce, settings: { onError, collect = 'list' } }: ForEachPlan,
): OutputReader | undefined {
  if (reduce !== undefined) return reduce.task.outputReader
  const isList = collect === 'list'
  const output = item?.schema ?? { type: 'string' }
  const outcome = {
    ...(isList ? { key: { type: 'string' } } : {}),
    ok: { type: 'boolean' },
    output,
    error: ERROR_SCHEMA,
  }
  const items = onError === 'collect' ? { type: 'object', properties: outcome } : output
  return createFormReader(collect, items)
}

const ERROR_SCHEMA = {
  type: 'object',
  properties: { code: { type: 'string' }, message: { type: 'string' } },
}
