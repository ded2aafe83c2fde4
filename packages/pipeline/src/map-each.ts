/**
 * One tool for every item of a list, as one tool.
 *
 * M1 It takes a list, or an object with the list under `items`: that is what a model writes, and what
 *    the input schema says.
 * M2 With FAIL_FAST every item is checked at the door, so that nothing is done where one does not fit.
 *    With CONTINUE_ON_FAILURE an item that does not fit is an item that failed.
 * M3 Results are a list in the order of the items; of no items, an empty one.
 */
import { defineTool, isJsonObject, ToolResult, Type } from '@tutti/core'
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  nameProblems,
  optionProblems,
  toolSettings,
} from './definition-error.ts'
import { strategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { concurrencyProblems, fanOut, type FannedPart } from './fan-out.ts'
import { inputFor, readJson, valueResult } from './hand-off.ts'
import { toolProblems } from './is-tool.ts'
import { partSchema, type PartOutput } from './part-failure.ts'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool, OptionNames, TypedTool } from '@tutti/core'
import type { Door, Entered, Problems } from './door.ts'
import type { InputOf, IsText, OutputOf } from './step-types.ts'

/** Items handled at the same time, when nothing else is said: kind to most APIs. */
const DEFAULT_CONCURRENCY = 4

/** No item is looked at after so many problems: the model has enough to mend. */
const ENOUGH_PROBLEMS = 100

/** What the author may set. */
export interface MapEachOptions<
  Input = unknown,
  Strategy extends PipelineErrorStrategy = PipelineErrorStrategy,
> extends CompoundSettings<Input> {
  /**
   * With FAIL_FAST the first failure stops the other items; with CONTINUE_ON_FAILURE an item that failed
   * gives `{ error }` in place of its result. @default FAIL_FAST
   */
  readonly errorStrategy?: Strategy
  /** Items handled at the same time, at most. @default 4 */
  readonly concurrency?: number
}

const OWN_OPTIONS = {
  errorStrategy: true,
  concurrency: true,
} as const satisfies OptionNames<Omit<MapEachOptions, keyof CompoundSettings<unknown>>>

/** A list of what `Tool` takes; a text tool takes anything, as text. */
export type ItemsFor<Tool> = Items<IsText<InputOf<Tool>> extends true ? unknown : InputOf<Tool>>

/** A list, by itself or as the field of an object. */
type Items<Item> = readonly Item[] | { readonly items: readonly Item[] }

/**
 * Makes a tool that calls `tool` once for every item of a list, and gives the list of its results:
 * `pipeline(listPages, mapEach(readPage))`. It has no time limit of its own: each item has that of
 * `tool`.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function mapEach<
  Tool extends AgentTool,
  const Strategy extends PipelineErrorStrategy = 'FAIL_FAST',
>(
  tool: Tool,
  options: MapEachOptions<ItemsFor<Tool>, Strategy> = {},
): TypedTool<ItemsFor<Tool>, PartOutput<OutputOf<Tool>, Strategy>[]> {
  const { errorStrategy = 'FAIL_FAST', concurrency = DEFAULT_CONCURRENCY } = options
  const settings = toolSettings(options)
  const notATool = toolProblems(tool, 'what is called for each item')
  const name = notATool.length === 0 ? `each_${tool.name}` : ''
  const problems = [
    ...notATool,
    ...optionProblems(options, OWN_OPTIONS),
    ...strategyProblems(errorStrategy),
    ...concurrencyProblems(concurrency),
    ...nameProblems(name, settings),
  ]
  if (problems.length > 0) throw pipelineDefinitionError('a mapEach tool', problems, settings)
  return compoundTool({
    tools: [tool],
    settings,
    defaults: { name, description: `For each item: ${tool.name}`, timeoutMs: Infinity },
    door: listDoor(tool, errorStrategy),
    outputSchema: Type.Array(partSchema(tool, errorStrategy, ['items'])),
    async run({ value }, context) {
      const parts = itemsOf(value).map((item, index): FannedPart => ({
        tool,
        input: inputFor(tool, item),
        who: `Item ${index}`,
        step: `#${index}`,
      }))
      const given = await fanOut(parts, { context, concurrency, errorStrategy })
      return given.ok ? valueResult(given.values) : ToolResult.failure(given.message)
    },
  })
}

/** The body can be called without a check; one value is then a list of one. */
function itemsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) && Array.isArray(value['items']) ? value['items'] : [value]
}

/** Reads what holds the items, as any tool reads its input. */
const listReader = defineTool({
  name: 'list',
  description: 'Takes a list',
  input: Type.Object({ items: Type.Array(Type.Unknown()) }),
  execute: () => '',
})

function listDoor(tool: AgentTool, errorStrategy: PipelineErrorStrategy): Door {
  const item =
    tool.kind === 'text'
      ? Type.String()
      : embedSchema(tool.inputSchema, ['properties', 'items', 'items'])
  return {
    kind: 'typed',
    inputSchema: Type.Object({ items: Type.Array(item) }),
    async enter(input) {
      const given = typeof input === 'string' ? readJson(input) : input
      const reading = await listReader.readInput(Array.isArray(given) ? { items: given } : given)
      if (!reading.ok) return reading
      const { items } = reading.value
      if (errorStrategy === 'FAIL_FAST') return enterItems(tool, items)
      return { ok: true, entry: { value: items, seen: items } }
    },
  }
}

async function enterItems(tool: AgentTool, items: readonly unknown[]): Promise<Entered> {
  const seen: unknown[] = []
  const problems: Problems[number][] = []
  for (const [index, item] of items.entries()) {
    const reading = await tool.readInput(inputFor(tool, item))
    if (reading.ok) {
      seen.push(reading.value)
      continue
    }
    for (const { path, message } of reading.problems) {
      problems.push({ path: `/items/${index}${path}`, message })
    }
    if (problems.length >= ENOUGH_PROBLEMS) break
  }
  return problems.length === 0
    ? { ok: true, entry: { value: items, seen } }
    : { ok: false, problems }
}
