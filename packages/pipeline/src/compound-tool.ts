/**
 * A compound tool, which consists of other tools: the common part of pipelines, `parallel`, `mapEach` and `branch`.
 *
 *   input ─InputReader─▶ valid? ─approve─▶ run ─callTool─▶ the tools inside ─▶ ToolResult
 *
 * PIPE-C1 The input is checked first, regardless of the error strategy, and passed on unchanged.
 * PIPE-C2 Name, description, time limit and idempotency are derived from the tools inside, unless they are set.
 * PIPE-C3 The error of an invalid definition names every problem.
 */
import { defineTool, toStandardSchema, Type } from '@tutti/core'

import type {
  AgentTool,
  ToolContext,
  ToolResult,
  ToolSettings,
  TSchema,
  TypedTool,
} from '@tutti/core'
import type { StandardToolSchema } from '@tutti/core/internal'
import type { CompoundInput, InputProblems, InputReader } from './input-reader.ts'

/** Settings of a compound tool; all of them have defaults. */
export type CompoundSettings<Input> = Partial<ToolSettings<Input>>

/** Definition of a compound tool. */
export interface Compound<Seen> {
  /** Tools inside. */
  readonly tools: readonly AgentTool[]
  readonly settings: CompoundSettings<Seen>
  /** Defaults derived from the tools inside; the time limit is in milliseconds. */
  readonly defaults: Readonly<Record<'name' | 'description', string>> & {
    readonly timeoutMs: number
  }
  readonly reader: InputReader
  readonly outputSchema?: TSchema
  run(input: CompoundInput, context: ToolContext): Promise<ToolResult>
}

/** Creates the tool. The caller defines its input and output types. */
export function compoundTool<Seen, Input, Output>(
  compound: Compound<Seen>,
): TypedTool<Input, Output> {
  const { defaults, reader, outputSchema, settings, tools } = compound
  const inputs = new WeakMap<object, CompoundInput>()
  const findInput = (value: unknown): CompoundInput =>
    (isReference(value) ? inputs.get(value) : undefined) ?? { value, seen: value }
  async function read(input: unknown): Promise<Decoded<Input>> {
    const reading = await reader.read(input)
    if (!reading.ok) return reading
    const { value } = reading.input
    if (isReference(value)) inputs.set(value, reading.input)
    // NOTE: the tools inside can decode the value, so it has their input type.
    return { ok: true, value: value as Input }
  }
  const tool = defineTool({
    ...defaults,
    idempotent: tools.every(({ idempotent }) => idempotent),
    ...withDecodedReview(settings, (value) => findInput(value).seen),
    input: createSchema(reader.inputSchema, read),
    coerce: false,
    execute: (value, context) => compound.run(findInput(value), context),
  })
  return {
    ...tool,
    kind: reader.kind,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...(reader.kind === 'text' ? createTextSchema() : {}),
    readInput: read,
  }
}

/** Returns the schema of a text tool: its text, not the object in which a model writes the text. */
function createTextSchema<Input>(): StandardToolSchema<Input> {
  // NOTE: the input of a compound tool of text tools is text.
  return toStandardSchema(Type.String()) as StandardToolSchema as StandardToolSchema<Input>
}

type Decoded<Input> = Awaited<ReturnType<TypedTool<Input>['readInput']>>

/** Creates a schema that accepts what `read` accepts; `defineTool` rejects other input with its own messages. */
function createSchema<Input>(
  inputSchema: TSchema,
  read: (input: unknown) => Promise<Decoded<Input>>,
): StandardToolSchema<Input> {
  function jsonSchema({ target }: { readonly target: JsonSchemaTarget }): Record<string, unknown> {
    // NOTE: the JSON Schema of a tool is always an object.
    if (target === 'draft-2020-12') return inputSchema as Record<string, unknown>
    return toStandardSchema(inputSchema)['~standard'].jsonSchema.input({ target })
  }
  return {
    '~standard': {
      version: 1,
      vendor: 'tutti',
      async validate(input) {
        const decoded = await read(input)
        return decoded.ok ? decoded : { issues: decoded.problems.map(toIssue) }
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

function toIssue({ path, message }: InputProblems[number]): Issue {
  const keys = path.split('/').slice(1)
  return { message, path: keys.map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~')) }
}

/** Changes the settings so that the reviewer receives the decoded input. */
function withDecodedReview<Seen, Input>(
  { requireApproval, ...settings }: CompoundSettings<Seen>,
  findSeen: (value: Input) => unknown,
): CompoundSettings<Input> {
  if (requireApproval === undefined) return settings
  if (typeof requireApproval === 'boolean') return { ...settings, requireApproval }
  const { describe, ...approval } = requireApproval
  if (describe === undefined) return { ...settings, requireApproval: approval }
  return {
    ...settings,
    requireApproval: {
      ...approval,
      // NOTE: the decoded input has the type that the tools inside decode it to.
      describe: (value) => describe.call(requireApproval, findSeen(value) as Seen),
    },
  }
}

function isReference(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
