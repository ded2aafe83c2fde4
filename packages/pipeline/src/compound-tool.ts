/**
 * A tool made of tools: what pipelines, `parallel`, `mapEach` and `branch` have in common.
 *
 *   input ─door─▶ fits? ─approve─▶ run ─callTool─▶ the tools inside ─▶ ToolResult
 *
 * C1 Input is checked at the door, whatever the error strategy, and handed on as it came.
 * C2 Name, description, time limit and idempotency follow from the tools inside, unless they are set.
 * C3 Everything that is wrong with a definition is said at once.
 */
import { defineTool, toStandardSchema, Type } from '@tutti/core'

import type {
  AgentTool,
  StandardToolSchema,
  ToolContext,
  ToolResult,
  ToolSettings,
  TSchema,
  TypedTool,
} from '@tutti/core'
import type { Door, Entry, Problems } from './door.ts'

/** What the author of a tool made of tools may set; all of it has a default. */
export type CompoundSettings<Input> = Partial<ToolSettings<Input>>

/** A tool made of tools, before it is one. */
export interface Compound<Seen> {
  /** The tools inside. */
  readonly tools: readonly AgentTool[]
  readonly settings: CompoundSettings<Seen>
  /** What follows from the tools inside, where the settings say nothing; the limit in milliseconds. */
  readonly defaults: Readonly<Record<'name' | 'description', string>> & {
    readonly timeoutMs: number
  }
  readonly door: Door
  readonly outputSchema?: TSchema
  run(entry: Entry, context: ToolContext): Promise<ToolResult>
}

/** Makes the tool; what it takes and gives is for the caller to say. */
export function compoundTool<Seen, Input, Output>(
  compound: Compound<Seen>,
): TypedTool<Input, Output> {
  const { defaults, door, outputSchema, settings, tools } = compound
  const entries = new WeakMap<object, Entry>()
  const entryOf = (value: unknown): Entry =>
    (isReference(value) ? entries.get(value) : undefined) ?? { value, seen: value }
  async function read(input: unknown): Promise<Decoded<Input>> {
    const entered = await door.enter(input)
    if (!entered.ok) return entered
    const { value } = entered.entry
    if (isReference(value)) entries.set(value, entered.entry)
    // NOTE: the tools inside can read it, and what they take is what the type says.
    return { ok: true, value: value as Input }
  }
  const tool = defineTool({
    ...defaults,
    idempotent: tools.every(({ idempotent }) => idempotent),
    ...withSeenInput(settings, (value) => entryOf(value).seen),
    input: schemaOf(door.inputSchema, read),
    coerce: false,
    execute: (value, context) => compound.run(entryOf(value), context),
  })
  return {
    ...tool,
    kind: door.kind,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(door.kind === 'text' ? schemaOfText() : {}),
    readInput: read,
  }
}

/** What every text tool is a schema of: its text, and not the object that a model writes it in. */
function schemaOfText<Input>(): StandardToolSchema<Input> {
  // NOTE: the input of a tool made of text tools is text.
  return toStandardSchema(Type.String()) as StandardToolSchema as StandardToolSchema<Input>
}

type Decoded<Input> = Awaited<ReturnType<TypedTool<Input>['readInput']>>

/** What the door takes as the schema of a tool: `defineTool` then refuses the rest, in its own words. */
function schemaOf<Input>(
  inputSchema: TSchema,
  read: (input: unknown) => Promise<Decoded<Input>>,
): StandardToolSchema<Input> {
  function jsonSchema({ target }: { readonly target: JsonSchemaTarget }): Record<string, unknown> {
    // NOTE: every JSON Schema that a tool has is an object.
    if (target === 'draft-2020-12') return inputSchema as Record<string, unknown>
    return toStandardSchema(inputSchema)['~standard'].jsonSchema.input({ target })
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'tutti',
      async validate(input) {
        const decoded = await read(input)
        return decoded.ok ? decoded : { issues: decoded.problems.map(issueOf) }
      },
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

type JsonSchemaTarget = Parameters<
  StandardToolSchema['~standard']['jsonSchema']['input']
>[0]['target']

type Issue = Extract<
  Awaited<ReturnType<StandardToolSchema['~standard']['validate']>>,
  { readonly issues: readonly unknown[] }
>['issues'][number]

function issueOf({ path, message }: Problems[number]): Issue {
  const keys = path.split('/').slice(1)
  return { message, path: keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')) }
}

/** Settings whose reviewer reads of the input as a body would see it. */
function withSeenInput<Seen, Input>(
  { requireApproval, ...settings }: CompoundSettings<Seen>,
  seenOf: (value: Input) => unknown,
): CompoundSettings<Input> {
  if (requireApproval === undefined) return settings
  if (typeof requireApproval === 'boolean') return { ...settings, requireApproval }
  const { describe, ...approval } = requireApproval
  if (describe === undefined) return { ...settings, requireApproval: approval }
  return {
    ...settings,
    requireApproval: {
      ...approval,
      // NOTE: what is seen of an input is what the tools inside read it as.
      describe: (value) => describe.call(requireApproval, seenOf(value) as Seen),
    },
  }
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
