/**
 * One of two tools, as one tool.
 *
 * B1 The predicate sees the input as the tools would see it, laid over the fields that came.
 * B2 The input has to fit one of the tools; the tool that is chosen says what it misses.
 * B3 The result is that of the tool that was chosen, as it is. Without `no`, the input is the result
 *    where the predicate is not true.
 * B4 A predicate that throws is a failure that names the branch.
 */
import { ToolResult, Type } from '@tutti/core'
import { callOwn } from './call-own.ts'
import { callPart, resultOf } from './call-part.ts'
import { compoundTool, type Compound, type CompoundSettings } from './compound-tool.ts'
import {
  pipelineDefinitionError,
  nameProblems,
  optionProblems,
  toolSettings,
} from './definition-error.ts'
import { doorTo } from './door.ts'
import { inputFor, valueResult } from './hand-off.ts'
import { toolProblems } from './is-tool.ts'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool, OptionNames, ToolContext, TSchema, TypedTool } from '@tutti/core'
import type { Door } from './door.ts'
import type { Fitting, Flat, OutputOf, SharedInput, SharedSeen } from './step-types.ts'

/** Says which way to go. The context is that of the whole branch. */
export type Predicate<Input> = (input: Input, context: ToolContext) => boolean | Promise<boolean>

/** The two ways, and what the author may set. */
export interface BranchWays<Yes, No, Input = unknown> extends CompoundSettings<Input> {
  /** Called where the predicate is true. */
  readonly yes: Yes
  /** Called where it is not. @default the input is the result */
  readonly no?: No
}

const OWN_OPTIONS = { yes: true, no: true } as const satisfies OptionNames<
  Omit<BranchWays<AgentTool, AgentTool>, keyof CompoundSettings<unknown>>
>

type Tools<Yes, No> = Yes | Exclude<No, undefined>

/** What comes out: of the tool that is chosen, or the input itself where none is. */
type BranchOutput<Yes, No, Input> =
  | OutputOf<Yes>
  | ([No] extends [AgentTool] ? OutputOf<No> : Input)

/** What the tools take, and the predicate looks at. */
type Taken<Yes, No, Input> = [SharedSeen<Tools<Yes, No>>] extends [Input]
  ? SharedInput<Tools<Yes, No>>
  : Flat<Input & SharedInput<Tools<Yes, No>>>

/** The same as the predicate and the reviewer see it. */
type Seen<Yes, No, Input> = Flat<Input & SharedSeen<Tools<Yes, No>>>

/**
 * Makes a tool that calls one of two tools: `branch(({ text }) => text.length > 500, { yes: shorten })`.
 * Its input has to be what both take.
 *
 * @throws {TypeError} naming everything that does not fit.
 */
export function branch<
  Yes extends AgentTool,
  No extends AgentTool | undefined = undefined,
  Input = SharedSeen<Tools<Yes, No>>,
>(
  predicate: Predicate<Input>,
  ways: BranchWays<Yes, No, Seen<Yes, No, Input>>,
): TypedTool<Taken<Yes, No, Input>, BranchOutput<Yes, No, Taken<Yes, No, Input>>> {
  // NOTE: what is seen is what the predicate looks at, and more.
  return branchTool(predicate as Predicate<Seen<Yes, No, Input>>, ways)
}

/**
 * Like {@link branch}, with a type guard: `yes` has to take what the guard lets through, and `no` the
 * rest. The input is a union of both.
 *
 * @throws {TypeError} naming everything that does not fit.
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
  // NOTE: what the compiler lets through are tools.
  return branchTool(guard, ways as BranchWays<Yes, No, Input>)
}

function branchTool<Seen, Input, Output>(
  predicate: Predicate<Seen>,
  ways: BranchWays<AgentTool, AgentTool | undefined, Seen>,
): TypedTool<Input, Output> {
  const { yes, no } = ways
  const settings = toolSettings(ways)
  const problems = [
    ...predicateProblems(predicate),
    ...toolProblems(yes, 'yes'),
    ...(no === undefined ? [] : toolProblems(no, 'no')),
    ...optionProblems(ways, OWN_OPTIONS),
  ]
  if (problems.length > 0) throw pipelineDefinitionError('a branch', problems, settings)
  const defaults = defaultsOf(yes, no)
  const tooLong = nameProblems(defaults.name, settings)
  if (tooLong.length > 0) throw pipelineDefinitionError('a branch', tooLong, settings)
  const who = `Predicate of '${settings.name ?? defaults.name}'`
  const tools: readonly [AgentTool, ...AgentTool[]] = no === undefined ? [yes] : [yes, no]
  const door = doorTo(tools, 'one')
  const outputSchema = outputSchemaOf(yes, no ?? passing(door))
  return compoundTool({
    tools,
    settings,
    defaults,
    door,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    async run({ value, seen }, context) {
      // NOTE: the door lets only in what one of the tools reads, and the types ask for the rest.
      const said = await callOwn(() => predicate(seen as Seen, context), who, context)
      if (!said.ok) return ToolResult.failure(said.message)
      const tool = said.value ? yes : no
      if (tool === undefined) return valueResult(seen)
      const part = { tool, input: inputFor(tool, value), who: `Step '${tool.name}'` }
      return resultOf(await callPart(part, context, { step: said.value ? 'yes' : 'no' }), part)
    },
  })
}

function predicateProblems(predicate: unknown): readonly string[] {
  if (typeof predicate === 'function') return []
  return [`the predicate must be a function, got ${typeof predicate}`]
}

function defaultsOf(yes: AgentTool, no: AgentTool | undefined): Compound<never>['defaults'] {
  if (no === undefined) {
    return {
      name: `maybe_${yes.name}`,
      description: `Branch: ${yes.name}, or the input as it is`,
      timeoutMs: yes.timeoutMs,
    }
  }
  return {
    name: `${yes.name}_or_${no.name}`,
    description: `Branch: ${yes.name}, or ${no.name}`,
    timeoutMs: Math.max(yes.timeoutMs, no.timeoutMs),
  }
}

/** What comes out where the input is the result. */
function passing({ kind, inputSchema }: Door): Pick<AgentTool, 'outputSchema'> {
  return kind === 'text' ? {} : { outputSchema: inputSchema }
}

/** Schema of what either gives; none where both give text. */
function outputSchemaOf(
  { outputSchema: one }: Pick<AgentTool, 'outputSchema'>,
  { outputSchema: other }: Pick<AgentTool, 'outputSchema'>,
): TSchema | undefined {
  if (one === other) return one
  const either = [one ?? Type.String(), other ?? Type.String()]
  return Type.Union(either.map((schema, index) => embedSchema(schema, ['anyOf', String(index)])))
}
