/**
 * Pure: computes the sizes of the texts of a run from its templates and inputs before any text is rendered. A
 * template that names one large input a thousand times is a small request but a huge run.
 */
import { TuttiError } from '@tutti/core'

import { listAllTasks } from './manager.ts'
import { measureTemplate, countUtf8Bytes, type TemplateSize } from './template.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { Inputs } from './template.ts'
import type { Task } from './task.ts'

/** Maximum sizes of texts, in bytes of UTF-8. */
export interface TextLimits {
  /** Maximum size of the names and values of all inputs of a run. @default 1000000 */
  readonly maxInputBytes?: number
  /** Maximum size of one text of a task with its inputs filled in. @default 2000000 */
  readonly maxTextBytes?: number
  /**
   * Maximum size of all texts of a run; a description counts again for each task that has it in its context.
   * @default 8000000
   */
  readonly maxRunTextBytes?: number
}

/** Default limits of texts. */
export const DEFAULT_TEXT_LIMITS = {
  // The same as the limit of a request body.
  maxInputBytes: 1_000_000,
  // More than the context of most models, and room for all inputs twice.
  maxTextBytes: 2_000_000,
  // A few tasks that receive everything, or a thousand tasks with some pages each.
  maxRunTextBytes: 8_000_000,
} as const satisfies Required<TextLimits>

/** Maximum length of a task name in an error, in characters. */
const MAX_SHOWN_NAME = 100

/**
 * Checks the sizes of the inputs and of the rendered texts. Takes time and memory in proportion to the
 * templates and the inputs, not to the rendered texts.
 *
 * @throws {TuttiError} INPUT_TOO_LARGE naming the text, its size and the limit; the numbers are also in
 * `details.bytes` and `details.maxBytes`.
 */
export function assertTextSizes(
  ensemble: Pick<ResolvedEnsemble, 'name' | 'tasks' | 'manager' | 'plan'>,
  inputs: Inputs,
  limits: TextLimits = {},
): void {
  const { maxInputBytes, maxTextBytes, maxRunTextBytes } = { ...DEFAULT_TEXT_LIMITS, ...limits }
  const assertSize = (
    what: string,
    size: { readonly bytes: number; readonly limit: TextLimit },
  ) => {
    const maxBytes = { maxInputBytes, maxTextBytes, maxRunTextBytes }[size.limit]
    if (size.bytes <= maxBytes) return
    throw tooLargeError(`Cannot run "${ensemble.name}": ${what}`, { ...size, maxBytes })
  }
  const bytesOf = new Map(
    Object.entries(inputs).map(([name, value]) => [name, countUtf8Bytes(value)]),
  )
  const names = Object.keys(inputs).reduce((sum, name) => sum + countUtf8Bytes(name), 0)
  const values = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
  assertSize('its inputs together', { bytes: names + values, limit: 'maxInputBytes' })

  const tasks = listAllTasks(ensemble)
  const descriptions = new Map<string, number>()
  let total = 0
  for (const task of tasks) {
    const sizes = measureTask(task)
    for (const field of RENDERED) {
      const bytes = countRenderedBytes(sizes[field], bytesOf)
      const what = `${field} of task "${task.name.slice(0, MAX_SHOWN_NAME).toWellFormed()}" with its inputs`
      assertSize(what, { bytes, limit: 'maxTextBytes' })
      if (field === 'description') descriptions.set(task.name, bytes)
      total += bytes
    }
    total += sizes.additionalContextBytes
  }
  for (const name of tasks.flatMap(({ context }) => context)) total += descriptions.get(name) ?? 0
  assertSize('the texts of its tasks together, with their inputs', {
    bytes: total,
    limit: 'maxRunTextBytes',
  })
}

type TextLimit = keyof TextLimits

const RENDERED = ['description', 'expectedOutput'] as const

interface TaskSizes extends Readonly<Record<(typeof RENDERED)[number], TemplateSize>> {
  readonly additionalContextBytes: number
}

/** Cache of sizes: tasks never change, and every run of an ensemble needs them. */
const known = new WeakMap<Task, TaskSizes>()

function measureTask(task: Task): TaskSizes {
  const sizes = known.get(task) ?? {
    description: measureTemplate(task.description),
    expectedOutput: measureTemplate(task.expectedOutput),
    additionalContextBytes: countUtf8Bytes(task.additionalContext ?? ''),
  }
  known.set(task, sizes)
  return sizes
}

function countRenderedBytes(
  { literalBytes, uses }: TemplateSize,
  bytesOf: ReadonlyMap<string, number>,
): number {
  let bytes = literalBytes
  for (const [name, count] of uses)
    bytes += count * (bytesOf.get(name) ?? countUtf8Bytes(`{${name}}`))
  return bytes
}

function tooLargeError(
  what: string,
  {
    bytes,
    limit,
    maxBytes,
  }: { readonly bytes: number; readonly limit: TextLimit; readonly maxBytes: number },
): TuttiError {
  return new TuttiError(
    'INPUT_TOO_LARGE',
    `${what} would have ${bytes} bytes, at most ${maxBytes} are allowed (${limit})`,
    { details: { bytes, maxBytes, limit } },
  )
}
