/**
 * A tool that calls another tool for every item of a list.
 *
 * PIPE-M1 It accepts a list, or an object with the list in `items`, which is the form of the input schema and of
 *    models.
 * PIPE-M2 With FAIL_FAST, all items are checked before the first call, so that an invalid item prevents every call.
 *    With CONTINUE_ON_FAILURE, an invalid item is a failed item.
 * PIPE-M3 The results are a list in the order of the items, which is empty if there are no items.
 */
import { defineTool, ToolResult, Type } from '@tutti/core'
import { isJsonObject } from '@tutti/core/internal'
import { compoundTool, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  findNameProblems,
  findToolOptionProblems,
  toolSettings,
} from './definition-error.ts'
import { findStrategyProblems, type PipelineErrorStrategy } from './error-strategy.ts'
import { findConcurrencyProblems, fanOut, type FannedPart } from './fan-out.ts'
import { toToolInput, parseIfJson, createValueResult } from './hand-off.ts'
import { findToolProblems } from './is-tool.ts'
import { createPartSchema, type PartOutput } from './part-failure.ts'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'
import type { InputProblems, InputReader, InputReading } from './input-reader.ts'
import type { InputOf, IsText, OutputOf } from './step-types.ts'

/** Default number of items that run at the same time; acceptable for most APIs. */
const DEFAULT_CONCURRENCY = 4

/** Number of problems after which the check of items stops; the model has enough to fix. */
const MAX_PROBLEMS = 100

/** Options of {@link mapEach}. */
export interface MapEachOptions<
  Input = unknown,
  Strategy extends PipelineErrorStrategy = PipelineErrorStrategy,
> extends CompoundSettings<Input> {
  /**
   * With FAIL_FAST, the first failure stops the other items. With CONTINUE_ON_FAILURE, a failed item returns `{ error }`
   * in place of its result. @default FAIL_FAST
   */
  readonly errorStrategy?: Strategy
  /** Maximum number of items that run at the same time. @default 4 */
  readonly concurrency?: number
}

const OWN_OPTIONS = {
  errorStrategy: true,
  concurrency: true,
} as const satisfies OptionNames<Omit<MapEachOptions, keyof CompoundSettings<unknown>>>

/** A list of inputs of `Tool`; a text tool accepts any item, as text. */
export type ItemsFor<Tool> = Items<IsText<InputOf<Tool>> extends true ? unknown : InputOf<Tool>>

/** A list, or an object with the list in `items`. */
type Items<Item> = readonly Item[] | { readonly items: readonly Item[] }

/**
 * Creates a tool that calls `tool` for every item of a list, and returns the list of results:
 * `pipeline([listPages, mapEach(readPage)])`. By default it has no time limit; each item has that of `tool`.
 *
 * @throws {TypeError} naming every problem of the definition.
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
  const notATool = findToolProblems(tool, 'the argument of mapEach')
  const name = notATool.length === 0 ? `each_${tool.name}` : ''
  const problems = [
    ...notATool,
    ...findToolOptionProblems(options, OWN_OPTIONS),
    ...findStrategyProblems(errorStrategy),
    ...findConcurrencyProblems(concurrency),
    ...findNameProblems(name, settings),
  ]
  if (problems.length > 0) throw pipelineDefinitionError('a mapEach tool', problems, settings)
  return compoundTool({
    tools: [tool],
    settings,
    defaults: { name, description: `For each item: ${tool.name}`, timeoutMs: Infinity },
    reader: createListReader(tool, errorStrategy),
    outputSchema: Type.Array(createPartSchema(tool, errorStrategy, ['items'])),
    async run({ value }, context) {
      const parts = listItems(value).map((item, index): FannedPart => ({
        tool,
        input: toToolInput(tool, item),
        label: `Item ${index}`,
        step: `#${index}`,
      }))
      const outcome = await fanOut(parts, { context, concurrency, errorStrategy })
      return outcome.ok ? createValueResult(outcome.values) : ToolResult.failure(outcome.message)
    },
  })
}

/** Returns the items. The tool can be called with unchecked input; any other value counts as a list of one item. */
function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isJsonObject(value) && Array.isArray(value['items']) ? value['items'] : [value]
}

/** Decodes the list like the input of any tool. */
const listReader = defineTool({
  name: 'list',
  description: 'Accepts a list',
  input: Type.Object({ items: Type.Array(Type.Unknown()) }),
  execute: () => '',
})

function createListReader(tool: AgentTool, errorStrategy: PipelineErrorStrategy): InputReader {
  const item =
    tool.kind === 'text'
      ? Type.String()
      : embedSchema(tool.inputSchema, ['properties', 'items', 'items'])
  return {
    kind: 'typed',
    inputSchema: Type.Object({ items: Type.Array(item) }),
    async read(input) {
      const given = typeof input === 'string' ? parseIfJson(input) : input
      const reading = await listReader.readInput(Array.isArray(given) ? { items: given } : given)
      if (!reading.ok) return reading
      const { items } = reading.value
      if (errorStrategy === 'FAIL_FAST') return readItems(tool, items)
      return { ok: true, input: { value: items, seen: items } }
    },
  }
}

async function readItems(tool: AgentTool, items: readonly unknown[]): Promise<InputReading> {
  const seen: unknown[] = []
  const problems: InputProblems[number][] = []
  for (const [index, item] of items.entries()) {
    const reading = await tool.readInput(toToolInput(tool, item))
    if (reading.ok) {
      seen.push(reading.value)
      continue
    }
    for (const { path, message } of reading.problems) {
      problems.push({ path: `/items/${index}${path}`, message })
    }
    if (problems.length >= MAX_PROBLEMS) break
  }
  return problems.length === 0
    ? { ok: true, input: { value: items, seen } }
    : { ok: false, problems }
}
