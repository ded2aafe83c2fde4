/**
 * Pure: computes the sizes of the texts of a run from its templates and inputs before any text is rendered. A
 * template that names one large input a thousand times is a small request but a huge run.
 */
import { TuttiError } from '@tutti/core'
import { cachePerObject } from '@tutti/core/internal'

import { listAllTasks } from './manager.ts'
import { listWorkingTasks } from './task.ts'
import { findSubEnsemble, type SubEnsemble } from './sub-ensemble.ts'
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
  ensemble: TextsOfEnsemble,
  inputs: Inputs,
  limits: TextLimits = {},
): void {
  const { maxInputBytes, maxTextBytes, maxRunTextBytes } = { ...DEFAULT_TEXT_LIMITS, ...limits }
  const tooLarge = (what: string, sizes: TooLarge): TuttiError =>
    tooLargeError(`Cannot run "${ensemble.name}": ${what}`, sizes)
  const bytesOf = new Map<string, number>()
  let inputBytes = 0
  for (const [name, value] of Object.entries(inputs)) {
    const bytes = countUtf8Bytes(value)
    bytesOf.set(name, bytes)
    inputBytes += countUtf8Bytes(name) + bytes
  }
  if (inputBytes > maxInputBytes) {
    const sizes = { bytes: inputBytes, maxBytes: maxInputBytes }
    throw tooLarge('its inputs together', { ...sizes, limit: 'maxInputBytes' })
  }
  const total = sumTextBytes(ensemble, bytesOf, (field, task, bytes) => {
    if (bytes <= maxTextBytes) return
    const name = task.name.slice(0, MAX_SHOWN_NAME).toWellFormed()
    const what = `${field} of task "${name}" with its inputs`
    throw tooLarge(what, { bytes, maxBytes: maxTextBytes, limit: 'maxTextBytes' })
  })
  if (total > maxRunTextBytes) {
    const what = 'the texts of its tasks together, with their inputs'
    throw tooLarge(what, { bytes: total, maxBytes: maxRunTextBytes, limit: 'maxRunTextBytes' })
  }
}

/** A text of a task that exceeds the limit with its inputs. */
export interface LargeText {
  readonly field: (typeof RENDERED)[number]
  readonly bytes: number
}

/**
 * Returns the first text of a task that would exceed a limit with its inputs; undefined if none would. Renders no text.
 *
 * @param maxTextBytes maximum size of a text, in bytes of UTF-8.
 */
export function findLargeText(
  task: Pick<Task, (typeof RENDERED)[number]>,
  inputs: Inputs,
  maxTextBytes: number,
): LargeText | undefined {
  const sizes = measureTask(task)
  for (const field of RENDERED) {
    const used = [...sizes[field].uses.keys()].filter((name) => Object.hasOwn(inputs, name))
    const bytesOf = new Map(used.map((name) => [name, countUtf8Bytes(inputs[name] ?? '')]))
    const bytes = countRenderedBytes(sizes[field], bytesOf)
    if (bytes > maxTextBytes) return { field, bytes }
  }
  return undefined
}

const RENDERED = ['description', 'expectedOutput'] as const

type TextsOfEnsemble = Pick<ResolvedEnsemble, 'name' | 'tasks' | 'manager' | 'plan'>

/** Returns the size of the texts of an ensemble and its sub-ensembles; calls `check` with the size of each template. */
function sumTextBytes(
  ensemble: TextsOfEnsemble,
  bytesOf: ReadonlyMap<string, number>,
  check: (field: (typeof RENDERED)[number], task: Task, bytes: number) => void,
): number {
  let total = 0
  for (const { task, uses, sizes, plainBytes } of measureTexts(ensemble)) {
    for (const field of RENDERED) {
      const bytes = countRenderedBytes(sizes[field], bytesOf)
      total += field === 'description' ? bytes * (1 + uses) : bytes
      check(field, task, bytes)
    }
    total += plainBytes
    const subEnsemble = findSubEnsemble(task)
    if (subEnsemble === undefined) continue
    total += sumTextBytes(subEnsemble.definition, toMappedBytes(subEnsemble, bytesOf), check)
  }
  return total
}

/** Returns the sizes of the inputs of a sub-ensemble, without outputs of tasks, whose sizes are not known. */
function toMappedBytes(
  { inputs }: SubEnsemble,
  bytesOf: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  const mapped = new Map(bytesOf)
  for (const [name, source] of Object.entries(inputs)) {
    if (typeof source === 'string') {
      mapped.set(name, countRenderedBytes(measureTemplate(source), bytesOf))
    } else mapped.delete(name)
  }
  return mapped
}

/** Texts of a task, independently of the inputs. */
interface TaskSizes {
  readonly task: Task
  /** Number of tasks that have the description in their context. */
  readonly uses: number
  readonly sizes: TemplateSizes
  /** Size of the texts that are not templates. */
  readonly plainBytes: number
}

type TemplateSizes = Readonly<Record<(typeof RENDERED)[number], TemplateSize>>

const measureTask = cachePerObject(
  ({ description, expectedOutput }: Pick<Task, (typeof RENDERED)[number]>): TemplateSizes => ({
    description: measureTemplate(description),
    expectedOutput: measureTemplate(expectedOutput),
  }),
)

const measureTexts = cachePerObject((ensemble: TextsOfEnsemble): readonly TaskSizes[] => {
  const tasks = listAllTasks(ensemble).flatMap(listWorkingTasks)
  const uses = new Map<string, number>()
  for (const name of tasks.flatMap(({ context }) => context)) {
    uses.set(name, (uses.get(name) ?? 0) + 1)
  }
  return tasks.map((task) => ({
    task,
    uses: uses.get(task.name) ?? 0,
    sizes: measureTask(task),
    plainBytes:
      countUtf8Bytes(task.additionalContext ?? '') +
      countUtf8Bytes(task.instructions ?? task.agent.instructions ?? ''),
  }))
})

/**
 * Returns the size of a task's texts with its inputs filled in, without rendering them: template bytes plus input characters.
 */
export function measureTaskTexts(task: Task, inputOf: (name: string) => string): number {
  let size = 0
  for (const { literalBytes, uses } of measureTemplates(task)) {
    size += literalBytes
    for (const [name, count] of uses) size += count * inputOf(name).length
  }
  return size
}

const measureTemplates = cachePerObject((task: Task): readonly TemplateSize[] =>
  RENDERED.map((field) => measureTemplate(task[field])),
)

function countRenderedBytes(
  { literalBytes, uses }: TemplateSize,
  bytesOf: ReadonlyMap<string, number>,
): number {
  let bytes = literalBytes
  for (const [name, count] of uses)
    bytes += count * (bytesOf.get(name) ?? countUtf8Bytes(`{${name}}`))
  return bytes
}

interface TooLarge {
  readonly bytes: number
  readonly maxBytes: number
  readonly limit: keyof TextLimits
}

function tooLargeError(what: string, details: TooLarge): TuttiError {
  const { bytes, maxBytes, limit } = details
  return new TuttiError(
    'INPUT_TOO_LARGE',
    `${what} would have ${bytes} bytes, at most ${maxBytes} are allowed (${limit})`,
    { details: { ...details } },
  )
}
