/**
 * What a tool made of tools takes: the door through which its input comes in.
 *
 * D1 The input is only checked, and goes on to the tools inside as it came: each reads it by itself, so
 *    a schema that changes what it reads does so once.
 * D2 Tools that get the same input read it together: a predicate sees what each of them would see, laid
 *    over the fields that came.
 * D3 Text tools take whatever comes; where all are text tools, so is the tool made of them.
 */
import { isJsonObject } from '@tutti/core'

import { readJson } from './hand-off.ts'
import { mergeInputs, type MergeMode } from './schema/merge-inputs.ts'

import type { AgentTool, TSchema } from '@tutti/core'

/** What comes in: the same input in two forms. */
export interface Entry {
  /** As it came, for the tools inside. */
  readonly value: unknown
  /** As the body of a tool would see it: defaults filled in, slips of form mended. */
  readonly seen: unknown
}

type Reading = Awaited<ReturnType<AgentTool['readInput']>>

/** What is wrong with an input. */
export type Problems = Extract<Reading, { readonly ok: false }>['problems']

/** An input that fits, or everything that is wrong with it. */
export type Entered =
  | { readonly ok: true; readonly entry: Entry }
  | { readonly ok: false; readonly problems: Problems }

/** Where input comes in. */
export interface Door {
  readonly kind: AgentTool['kind']
  readonly inputSchema: TSchema
  enter(input: unknown): Promise<Entered>
}

/** The door to tools that get the same input: it has to fit all of them, or one of them. */
export function doorTo(tools: readonly [AgentTool, ...AgentTool[]], mode: MergeMode = 'all'): Door {
  const typed = tools.filter(({ kind }) => kind === 'typed')
  if (typed.length === 0) return textDoor(tools[0])
  return {
    kind: 'typed',
    inputSchema: mergeInputs(
      typed.map(({ inputSchema }) => inputSchema),
      mode,
    ),
    async enter(input) {
      const value = typeof input === 'string' ? readJson(input) : input
      const readings = await Promise.all(typed.map(async (tool) => tool.readInput(value)))
      const fitting = readings.flatMap((reading) => (reading.ok ? [reading.value] : []))
      const enough = mode === 'all' ? readings.length : 1
      if (fitting.length < enough) return { ok: false, problems: problemsOf(readings) }
      return { ok: true, entry: { value, seen: fitting.reduce(laidOver, value) } }
    },
  }
}

/** To read a text twice changes nothing, so what comes in is the text itself. */
function textDoor(tool: AgentTool): Door {
  return {
    kind: 'text',
    inputSchema: tool.inputSchema,
    async enter(input) {
      const reading = await tool.readInput(input)
      if (!reading.ok) return reading
      return { ok: true, entry: { value: reading.value, seen: reading.value } }
    },
  }
}

function laidOver(below: unknown, value: unknown): unknown {
  const fields = isJsonObject(below) && isJsonObject(value) && isPlain(value)
  return fields ? { ...below, ...value } : value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function problemsOf(readings: readonly Reading[]): Problems {
  const all = readings.flatMap((reading) => (reading.ok ? [] : reading.problems))
  return [
    ...new Map(all.map((problem) => [`${problem.path} ${problem.message}`, problem])).values(),
  ]
}
