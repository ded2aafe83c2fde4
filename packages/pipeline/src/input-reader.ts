/**
 * Reads and checks the input of a compound tool.
 *
 * PIPE-D1 The input is only checked, and passed to the tools inside unchanged: each tool decodes it once, so a schema
 * transforms its input only once.
 * PIPE-D2 Tools with the same input decode it together: a predicate receives their decoded values, merged over the
 * caller's fields.
 * PIPE-D3 Text tools accept any input. A compound tool of text tools is a text tool.
 */
import { isJsonObject } from '@tutti/core/internal'

import { parseIfJson } from './hand-off.ts'
import { mergeInputs, type MergeMode } from './schema/merge-inputs.ts'

import type { AgentTool, TSchema } from '@tutti/core'

/** Input of a compound tool in two forms. */
export interface CompoundInput {
  /** Input as received, for the tools inside. */
  readonly value: unknown
  /** Input as the tools decode it, with defaults and coercions. */
  readonly seen: unknown
}

type Reading = Awaited<ReturnType<AgentTool['readInput']>>

export type InputProblems = Extract<Reading, { readonly ok: false }>['problems']

/** A valid input, or its problems. */
export type InputReading =
  | { readonly ok: true; readonly input: CompoundInput }
  | { readonly ok: false; readonly problems: InputProblems }

/** Reads the input of a compound tool. */
export interface InputReader {
  readonly kind: AgentTool['kind']
  readonly inputSchema: TSchema
  read(input: unknown): Promise<InputReading>
}

/** Creates a reader for tools with the same input, which must be valid for all of them, or for one of them. */
export function createCompoundReader(
  tools: readonly [AgentTool, ...AgentTool[]],
  mode: MergeMode = 'all',
): InputReader {
  const typed = tools.filter(({ kind }) => kind === 'typed')
  if (typed.length === 0) return createTextReader(tools[0])
  return {
    kind: 'typed',
    inputSchema: mergeInputs(
      typed.map(({ inputSchema }) => inputSchema),
      mode,
    ),
    async read(input) {
      const value = typeof input === 'string' ? parseIfJson(input) : input
      const readings = await Promise.all(typed.map(async (tool) => tool.readInput(value)))
      const valid = readings.flatMap((reading) => (reading.ok ? [reading.value] : []))
      const needed = mode === 'all' ? readings.length : 1
      if (valid.length < needed) return { ok: false, problems: listProblems(readings) }
      return { ok: true, input: { value, seen: valid.reduce(mergeFields, value) } }
    },
  }
}

/** Creates a reader for text tools. Decoding a text twice does not change it, so both forms are the decoded text. */
function createTextReader(tool: AgentTool): InputReader {
  return {
    kind: 'text',
    inputSchema: tool.inputSchema,
    async read(input) {
      const reading = await tool.readInput(input)
      if (!reading.ok) return reading
      return { ok: true, input: { value: reading.value, seen: reading.value } }
    },
  }
}

function mergeFields(given: unknown, value: unknown): unknown {
  const areObjects = isJsonObject(given) && isJsonObject(value) && isPlain(value)
  return areObjects ? { ...given, ...value } : value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function listProblems(readings: readonly Reading[]): InputProblems {
  const all = readings.flatMap((reading) => (reading.ok ? [] : reading.problems))
  return [
    ...new Map(all.map((problem) => [`${problem.path} ${problem.message}`, problem])).values(),
  ]
}
