/**
 * Pure: the sizes that the texts of a run will have, computed from its templates and inputs before any text
 * is rendered. A template that names one large input a thousand times is a small request and a huge run.
 */
import { TuttiError } from '@tutti/core'

import { allTasks } from './manager.ts'
import { templateSize, utf8Bytes, type TemplateSize } from './template.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { Inputs } from './template.ts'
import type { Task } from './task.ts'

/** Sizes of texts, in bytes of UTF-8. */
export interface TextLimits {
  /** Names and values of all inputs of a run. @default 1000000 */
  readonly maxInputBytes?: number
  /** One text of a task with its inputs put in. @default 2000000 */
  readonly maxTextBytes?: number
  /** All texts of a run, counted as often as a task is given them. @default 8000000 */
  readonly maxRunTextBytes?: number
}

/** Limits of texts when nothing else is said. */
export const DEFAULT_TEXT_LIMITS = {
  // As much as a request body may have.
  maxInputBytes: 1_000_000,
  // More than the context of most models, and room for all inputs twice.
  maxTextBytes: 2_000_000,
  // A few tasks that are given everything, or a thousand with some pages each.
  maxRunTextBytes: 8_000_000,
} as const satisfies Required<TextLimits>

/** Longest task name that an error shows, in characters. */
const MAX_SHOWN_NAME = 100

/**
 * Checks the sizes of the inputs and of the texts that they make. Takes time and memory in proportion to the
 * templates and the inputs, not to the texts.
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
  const refuse = (what: string, size: { readonly bytes: number; readonly limit: TextLimit }) => {
    const maxBytes = { maxInputBytes, maxTextBytes, maxRunTextBytes }[size.limit]
    if (size.bytes <= maxBytes) return
    throw tooLarge(`Cannot run "${ensemble.name}": ${what}`, { ...size, maxBytes })
  }
  const bytesOf = new Map(Object.entries(inputs).map(([name, value]) => [name, utf8Bytes(value)]))
  const names = Object.keys(inputs).reduce((sum, name) => sum + utf8Bytes(name), 0)
  const values = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
  refuse('its inputs together', { bytes: names + values, limit: 'maxInputBytes' })

  const tasks = allTasks(ensemble)
  const descriptions = new Map<string, number>()
  let total = 0
  for (const task of tasks) {
    const sizes = measureTask(task)
    for (const field of RENDERED) {
      const bytes = renderedBytes(sizes[field], bytesOf)
      const what = `${field} of task "${task.name.slice(0, MAX_SHOWN_NAME).toWellFormed()}" with its inputs`
      refuse(what, { bytes, limit: 'maxTextBytes' })
      if (field === 'description') descriptions.set(task.name, bytes)
      total += bytes
    }
    total += sizes.additionalContextBytes
  }
  for (const name of tasks.flatMap(({ context }) => context)) total += descriptions.get(name) ?? 0
  refuse('the texts of its tasks together, with their inputs', {
    bytes: total,
    limit: 'maxRunTextBytes',
  })
}

type TextLimit = keyof TextLimits

const RENDERED = ['description', 'expectedOutput'] as const

interface TaskSizes extends Readonly<Record<(typeof RENDERED)[number], TemplateSize>> {
  readonly additionalContextBytes: number
}

/** Tasks never change, and every run of an ensemble asks. */
const known = new WeakMap<Task, TaskSizes>()

function measureTask(task: Task): TaskSizes {
  const sizes = known.get(task) ?? {
    description: templateSize(task.description),
    expectedOutput: templateSize(task.expectedOutput),
    additionalContextBytes: utf8Bytes(task.additionalContext ?? ''),
  }
  known.set(task, sizes)
  return sizes
}

function renderedBytes(
  { literalBytes, uses }: TemplateSize,
  bytesOf: ReadonlyMap<string, number>,
): number {
  let bytes = literalBytes
  for (const [name, count] of uses) bytes += count * (bytesOf.get(name) ?? utf8Bytes(`{${name}}`))
  return bytes
}

function tooLarge(
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
