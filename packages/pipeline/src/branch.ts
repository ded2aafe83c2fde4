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
import { callOwn } from './call-own.ts'
import { callPart, toPartResult } from './call-part.ts'
import { compoundTool, type Compound, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  findNameProblems,
  findToolOptionProblems,
  toolSettings,
} from './definition-error.ts'
import { createCompoundReader } from './input-reader.ts'
import { toToolInput, createValueResult } from './hand-off.ts'
import { findToolProblems } from './is-tool.ts'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool, OptionNames, ToolContext, TSchema, TypedTool } from '@tutti/core'
import type { InputReader } from './input-reader.ts'
import type { Fitting, Flat, OutputOf, SharedInput, SharedSeen } from './step-types.ts'

/** Selects the tool: `yes` if it returns true, otherwise `no`. `context` is the one of the branch call. */
export type Predicate<Input> = (input: Input, context: ToolContext) => boolean | Promise<boolean>

/** The two tools of a branch, and its settings. */
export interface BranchWays<Yes, No, Input = unknown> extends CompoundSettings<Input> {
  /** Tool to call if the predicate is true. */
  readonly yes: Yes
  /** Tool to call otherwise. @default none: the input is the result */
  readonly no?: No
}

const OWN_OPTIONS = { yes: true, no: true } as const satisfies OptionNames<
  Omit<BranchWays<AgentTool, AgentTool>, keyof CompoundSettings<unknown>>
>

type Tools<Yes, No> = Yes | Exclude<No, undefined>

/** Output of the chosen tool, or the input if there is no `no`. */
type BranchOutput<Yes, No, Input> =
  | OutputOf<Yes>
  | ([No] extends [AgentTool] ? OutputOf<No> : Input)

/** Input that the tools and the predicate accept. */
type Taken<Yes, No, Input> = [SharedSeen<Tools<Yes, No>>] extends [Input]
  ? SharedInput<Tools<Yes, No>>
  : Flat<Input & SharedInput<Tools<Yes, No>>>

/** The same input as the predicate and the reviewer receive it. */
type Seen<Yes, No, Input> = Flat<Input & SharedSeen<Tools<Yes, No>>>

/**
 * Creates a tool that calls one of two tools: `branch(({ text }) => text.length > 500, { yes: shorten })`.
 * Both tools must accept its input.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function branch<
  Yes extends AgentTool,
  No extends AgentTool | undefined = undefined,
  Input = SharedSeen<Tools<Yes, No>>,
>(
  predicate: Predicate<Input>,
  ways: BranchWays<Yes, No, Seen<Yes, No, Input>>,
): TypedTool<Taken<Yes, No, Input>, BranchOutput<Yes, No, Taken<Yes, No, Input>>> {
  // NOTE: the decoded input contains the input of the predicate.
  return branchTool(predicate as Predicate<Seen<Yes, No, Input>>, ways)
}

/**
 * Creates a branch with a type guard: `yes` must accept the type that the guard checks, and `no` the rest. The input is a
 * union of both. See {@link branch}.
 *
 * @throws {TypeError} naming every problem of the definition.
 */
export function branchByType<
  Input,
  Chosen extends Input,
  Yes extends AgentTool,
  No extends AgentTool | undefined = undefined,
>(
  guard: (input: Input, context: ToolContext) => input is Chosen,
  ways: BranchWays<Fitting<Chosen, Yes>, Fitting<Exclude<Input, Chosen>, No>, Input>,
): TypedTool<Input, BranchOutput<Yes, No, Exclude<Input, Chosen>>> {
  // NOTE: the compiler accepts only tools.
  return branchTool(guard, ways as BranchWays<Yes, No, Input>)
}

function branchTool<Seen, Input, Output>(
  predicate: Predicate<Seen>,
  ways: BranchWays<AgentTool, AgentTool | undefined, Seen>,
): TypedTool<Input, Output> {
  const { yes, no } = ways
  const settings = toolSettings(ways)
  const problems = [
    ...findPredicateProblems(predicate),
    ...findToolProblems(yes, 'yes'),
    ...(no === undefined ? [] : findToolProblems(no, 'no')),
    ...findToolOptionProblems(ways, OWN_OPTIONS),
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
      const answer = await callOwn(() => predicate(seen as Seen, context), name, context)
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

function findPredicateProblems(predicate: unknown): readonly string[] {
  if (typeof predicate === 'function') return []
  return [`the predicate must be a function, got ${typeof predicate}`]
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
