/**
 * Tasks for each item of a list that is known only at run time: an input, or the output of an earlier task. Such a task has a
 * handler that maps a template over the items.
 *
 * ENS-P12 A task with `forEach` waits for the task of its list, and adds a task for each item, named by its key, by default its
 *    index. Its output is the list of their outputs.
 */
import { TuttiError } from '@tutti/core'

import { createListReader, parseJsonList } from './list-reader.ts'

import type { ContextOutput, HandlerContext } from './handler.ts'
import type { ChildTask, MapOptions, ReduceOptions } from './operations.ts'
import type { Inputs } from './template.ts'
import type { ForEachPlan } from './task.ts'
import type { OutputReader } from '../output/structured-output.ts'

/** List over which a task is mapped, and how. */
export interface ForEach<Item> extends MapOptions<Item> {
  /** Earlier task whose output is the list, or the name of an input that has it as JSON. */
  readonly over: string | ChildTask<readonly Item[]>
  /** Form of the output: `list` has all outputs, `reduce` combines them with its task within `maxTokens`. @default list */
  readonly collect?: 'list' | ReduceOutputs<unknown>
}

/** A task that combines outputs level by level, each time as many as fit into `maxTokens`. */
export interface ReduceOutputs<Output> extends Pick<ReduceOptions, 'maxTokens' | 'as'> {
  readonly reduce: ChildTask<Output>
}

/** Output for one item with `onError: 'collect'`. */
export type ForEachOutcome<Output> = { readonly key: string } & (
  | { readonly ok: true; readonly output: Output }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } }
)

/** Returns a handler that maps the task of an item over the list. */
export function createForEachHandler(
  plan: ForEachPlan,
): (context: HandlerContext) => Promise<unknown> {
  const { settings, template, reduce: reduction } = plan
  const { onError, ...options } = settings
  // NOTE: the items have the type that the author declares, which nothing checks at run time.
  const key = (plan.key ?? toIndex) as string | typeof toIndex
  return async ({ map, reduce, inputs, context }) => {
    const items = readItems(plan, { inputs, context })
    if (onError !== 'collect') {
      const outputs = await map(items, template, {
        ...options,
        key,
        ...(onError === undefined ? {} : { onError }),
      })
      if (reduction === undefined) return outputs
      const { task: combine, ...limits } = reduction
      return reduce(outputs, combine, { ...limits, key: `reduce-${combine.name}` })
    }
    const outcomes = await map(items, template, { ...options, key, onError })
    return outcomes.map((one): ForEachOutcome<unknown> => {
      if (one.ok) return { key: one.key, ok: true, output: one.output }
      const { code, message } = one.error
      return { key: one.key, ok: false, error: { code, message } }
    })
  }
}

function toIndex(_: unknown, index: number): string {
  return String(index)
}

function readItems(
  { over, isInput }: ForEachPlan,
  { inputs, context }: { readonly inputs: Inputs; readonly context: readonly ContextOutput[] },
): readonly unknown[] {
  const text = isInput ? inputs[over] : context.find(({ taskName }) => taskName === over)?.output
  const items = parseJsonList(text)
  if (items !== undefined) return items
  const what = isInput ? `Input "${over}"` : `The output of task "${over}"`
  throw new TuttiError('CONSTRAINT_VIOLATION', `${what} must be a JSON list`)
}

/** Returns a reader of the output, whose parts the tasks of the items have already read; undefined for text. */
export function createForEachReader(
  item: OutputReader | undefined,
  { reduce, settings: { onError } }: ForEachPlan,
): OutputReader | undefined {
  if (reduce !== undefined) return reduce.task.outputReader
  const output = item?.schema ?? { type: 'string' }
  const items =
    onError === 'collect'
      ? { type: 'object', properties: { key: { type: 'string' }, ok: { type: 'boolean' }, output } }
      : output
  return createListReader(items)
}
