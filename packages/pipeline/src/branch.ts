/**
 * A tool that calls one of two tools.
 *
 * PIPE-B1 The predicate receives the input as the tools would decode it, merged over the caller's fields.
 * PIPE-B2 The input must match one of the tools; the chosen tool reports what it lacks.
 * PIPE-B3 The result is that of the chosen tool, unchanged. Without `no`, the result is the input if the predicate is
 *    not true.
 * PIPE-B4 A predicate that throws is a failure with the name of the branch.
 */
import { ToolResult, Type } from '@tutti/core'
import { findOptionProblems } from '@tutti/core/internal'
import { callOwn } from './call-own.ts'
import { callPart, toPartResult } from './call-part.ts'
import { compoundTool, type Compound, type CompoundSettings } from './compound-tool.ts'
import {
  findFunctionProblems,
  pipelineDefinitionError,
  findNameProblems,
  findToolOptionProblems,
  toolSettings,
} from './definition-error.ts'
import { createCompoundReader } from './input-reader.ts'
import { toToolInput, createValueResult } from './hand-off.ts'
import { findToolProblems } from './is-tool.ts'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool, ToolContext, TSchema, TypedTool } from '@tutti/core'
import type { OptionNames } from '@tutti/core/internal'
import type { InputReader } from './input-reader.ts'
import type { Fit, Flat, InputOf, OutputOf, SharedInput, SharedSeen } from './step-types.ts'

/** Selects the tool: `yes` if it returns true, otherwise `no`. `context` is the one of the branch call. */
export type Predicate<Input> = (input: Input, context: ToolContext) => boolean | Promise<boolean>

/** The predicate of a branch, and its tools. */
export interface BranchWays<Yes, No, Input = unknown, Chosen extends Input = never> {
  /** Selects the tool. A type guard also narrows the input: to its type for `yes`, and to the rest for `no`. */
  readonly when: Predicate<Input> | TypeGuard<Input, Chosen>
  /** Tool to call if the predicate is true. */
  readonly yes: WayFor<Chosen, Chosen, Yes>
  /** Tool to call otherwise. @default none: the input is the result */
  readonly no?: WayFor<Chosen, Exclude<Input, Chosen>, No>
}

const WAYS = { when: true, yes: true, no: true } as const satisfies OptionNames<
  BranchWays<AgentTool, AgentTool>
>

/** A predicate that narrows the type of the input. */
type TypeGuard<Input, Chosen extends Input> = (
  input: Input,
  context: ToolContext,
) => input is Chosen

/** Whether the predicate is not a type guard: the compiler then infers no type for `Chosen`. */
type IsPlain<Chosen> = [Chosen] extends [never] ? true : false

/** The tool, or the compile error if it does not accept the input for which a type guard chooses it. */
type WayFor<Chosen, Given, Tool> =
  IsPlain<Chosen> extends true
    ? Tool
    : Fit<Given, InputOf<Exclude<Tool, undefined>>> extends true
      ? Tool
      : WayMisfit<Given, InputOf<Exclude<Tool, undefined>>>

/** Compile error of a tool that does not accept the input for which a type guard chooses it. */
interface WayMisfit<Given, Taken> {
  readonly 'this tool does not accept the input for which `when` chooses it': {
    readonly input: Given
    readonly accepts: Taken
  }
}

type Tools<Yes, No> = Yes | Exclude<No, undefined>

/** Output of the chosen tool, or the input if there is no `no`. */
type BranchOutput<Yes, No, Rest> =
  | OutputOf<Yes>
  | OutputOf<Exclude<No, undefined>>
  | (undefined extends No ? Rest : never)

/** Input of the branch: what the predicate reads and the tools accept. A type guard defines it alone. */
type Taken<Yes, No, Input, Chosen> =
  IsPlain<Chosen> extends false
    ? Input
    : [SharedSeen<Tools<Yes, No>>] extends [Input]
      ? SharedInput<Tools<Yes, No>>
      : Flat<Input & SharedInput<Tools<Yes, No>>>

/** The same input as the predicate and the reviewer receive it. */
type Seen<Yes, No, Input, Chosen> =
  IsPlain<Chosen> extends false ? Input : Flat<Input & SharedSeen<Tools<Yes, No>>>

/** The part of the input for which the predicate is not true. */
type Rest<Yes, No, Input, Chosen> =
  IsPlain<Chosen> extends false ? Exclude<Input, Chosen> : Taken<Yes, No, Input, Chosen>

/**
 * The same type, but the compiler infers nothing from it: the type that the caller of `branch` expects must not determine
 * the input of the predicate. `NoInfer` would do the same, but remains visible in the type of the tool.
 */
type Uninferred<Type> = [Type] extends [infer Same] ? Same : never

/**
 * Creates a tool that calls one of two tools: `branch({ when: ({ text }) => text.length > 500, yes: shorten })`.
 * Both tools must accept its input. If `when` is a type guard, the input is a union: `yes` must accept the type that
 * the guard checks, and `no` the rest.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function branch<
  Yes extends AgentTool,
  No extends AgentTool | undefined = undefined,
  Input = SharedSeen<Tools<Yes, No>>,
  Chosen extends Input = never,
>(
  ways: BranchWays<Yes, No, Input, Chosen>,
  options: CompoundSettings<Seen<Yes, No, Input, Chosen>> = {},
): TypedTool<
  Taken<Yes, No, Uninferred<Input>, Chosen>,
  BranchOutput<Yes, No, Rest<Yes, No, Uninferred<Input>, Chosen>>
> {
  // NOTE: the compiler accepts only tools, and the decoded input contains the input of the predicate.
  const { when, yes, no } = ways as BranchWays<AgentTool, AgentTool, unknown, unknown>
  const settings = toolSettings(options)
  const problems = [
    ...findFunctionProblems(when, 'when'),
    ...findToolProblems(yes, 'yes'),
    ...(no === undefined ? [] : findToolProblems(no, 'no')),
    ...findOptionProblems(ways, WAYS),
    ...findToolOptionProblems(options, {}),
  ]
  if (problems.length > 0) throw pipelineDefinitionError('a branch', problems, settings)
  const defaults = createDefaults(yes, no)
  const tooLong = findNameProblems(defaults.name, settings)
  if (tooLong.length > 0) throw pipelineDefinitionError('a branch', tooLong, settings)
  const name = `Predicate of '${settings.name ?? defaults.name}'`
  const tools: readonly [AgentTool, ...AgentTool[]] = no === undefined ? [yes] : [yes, no]
  const reader = createCompoundReader(tools, 'one')
  const outputSchema = mergeOutputSchemas(yes, no ?? passThroughSchema(reader))
  return compoundTool({
    tools,
    settings,
    defaults,
    reader,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    async run({ value, seen }, context) {
      // NOTE: the reader accepts only input that one of the tools can decode; the types require the rest.
      const answer = await callOwn(() => when(seen, context), name, context)
      if (!answer.ok) return ToolResult.failure(answer.message)
      const tool = answer.value ? yes : no
      if (tool === undefined) return createValueResult(seen)
      const part = { tool, input: toToolInput(tool, value), label: `Step '${tool.name}'` }
      return toPartResult(
        await callPart(part, context, { step: answer.value ? 'yes' : 'no' }),
        part,
      )
    },
  })
}

function createDefaults(yes: AgentTool, no: AgentTool | undefined): Compound<never>['defaults'] {
  if (no === undefined) {
    return {
      name: `maybe_${yes.name}`,
      description: `Branch: ${yes.name}, or the input unchanged`,
      timeoutMs: yes.timeoutMs,
    }
  }
  return {
    name: `${yes.name}_or_${no.name}`,
    description: `Branch: ${yes.name}, or ${no.name}`,
    timeoutMs: Math.max(yes.timeoutMs, no.timeoutMs),
  }
}

/** Returns the output schema of a branch without `no` that returns its input. */
function passThroughSchema({ kind, inputSchema }: InputReader): Pick<AgentTool, 'outputSchema'> {
  return kind === 'text' ? {} : { outputSchema: inputSchema }
}

/** Returns the union of the output schemas; none when both tools return text. */
function mergeOutputSchemas(
  { outputSchema: one }: Pick<AgentTool, 'outputSchema'>,
  { outputSchema: other }: Pick<AgentTool, 'outputSchema'>,
): TSchema | undefined {
  if (one === other) return one
  const either = [one ?? Type.String(), other ?? Type.String()]
  return Type.Union(either.map((schema, index) => embedSchema(schema, ['anyOf', String(index)])))
}
