/**
 * Tools that are programs, in any language. The program is named once and started by the tool itself,
 * never through a shell; what the model writes reaches it as input alone.
 */
import {
  defineTextTool,
  defineTool,
  pickOptions,
  startOfInput,
  TOOL_SETTING_NAMES,
  TYPED_TOOL_NAMES,
  type OptionNames,
  type SourceOf,
  type ToolDefinition,
  type ToolResult,
  type ToolSchema,
  type ToolSettings,
  type Type,
  type TypedTool,
  type ValueOf,
} from '@tutti/core'

import { PROGRAM_OPTION_NAMES, resolveProgramOptions, type ProgramOptions } from './options.ts'
import { OnceRunner, type ProcessCall } from './run-once.ts'
import { WorkerPool } from './worker/pool.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** What the author of a process tool writes whose whole input is one string. */
export interface TextProcessToolOptions extends ToolSettings<string>, ProgramOptions {
  readonly input?: undefined
  readonly output?: undefined
}

/** What the author of a typed process tool writes: the program gets the whole object as its input. */
export interface TypedProcessToolOptions<Input extends ToolSchema, Output extends ToolSchema>
  extends Omit<ToolDefinition<Input, Output>, 'execute'>, ProgramOptions {}

const TEXT_NAMES = {
  ...TOOL_SETTING_NAMES,
  ...PROGRAM_OPTION_NAMES,
  input: true,
  output: true,
} as const satisfies OptionNames<TextProcessToolOptions>

const { execute: _, ...DEFINITION_NAMES } = TYPED_TOOL_NAMES

const TYPED_NAMES = {
  ...DEFINITION_NAMES,
  ...PROGRAM_OPTION_NAMES,
} as const satisfies OptionNames<TypedProcessToolOptions<ToolSchema, ToolSchema>>

/** A tool that is a program. */
export interface ProcessTool<Input, Output = string>
  extends TypedTool<Input, Output>, AsyncDisposable {
  /**
   * Ends what runs: calls in flight are cancelled, workers may finish theirs first. Later calls fail.
   * Resolves when no program of the tool is left, at most a few seconds later. Never rejects.
   */
  close(): Promise<void>
}

/**
 * Makes a tool of a program, such as `processTool({ name: 'sentiment', description: 'Rates a text',
 * command: 'python3', args: ['/opt/tools/sentiment.py'] })`. Nothing is started before the first call.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
 */
export function processTool(options: TextProcessToolOptions): ProcessTool<string>
export function processTool<
  const Input extends ToolSchema,
  const Output extends ToolSchema = Type.TString,
>(options: TypedProcessToolOptions<Input, Output>): ProcessTool<ValueOf<Input>, SourceOf<Output>>
export function processTool(
  options: TextProcessToolOptions | TypedProcessToolOptions<ToolSchema, ToolSchema>,
): ProcessTool<unknown, unknown> {
  const program = resolveProgramOptions(
    options,
    options.input === undefined ? TEXT_NAMES : TYPED_NAMES,
  )
  const { worker } = program
  const runner = worker === undefined ? new OnceRunner(program) : new WorkerPool(program, worker)
  const execute = (input: unknown, context: ProcessCall['context']): Promise<ToolResult> =>
    runner.run({ input, context })
  const shared = { ...turnsOf(options, program), ...approvalOf(options, program), execute }
  const tool =
    options.input === undefined
      ? defineTextTool({ ...pickOptions(options, TOOL_SETTING_NAMES), ...shared })
      : defineTool({ ...pickOptions(options, DEFINITION_NAMES), ...shared })
  const close = (): Promise<void> => runner.close()
  // NOTE: a tool takes the input that its own schema describes, which the signatures above say.
  return Object.assign(tool, { close, [Symbol.asyncDispose]: close }) as ProcessTool<
    unknown,
    unknown
  >
}

/** Calls that the workers have no room for wait before their time begins, unless a bound is given. */
function turnsOf(
  { maxConcurrentCalls, limiter }: Pick<ToolSettings<never>, 'maxConcurrentCalls' | 'limiter'>,
  { worker }: ResolvedProgramOptions,
): Pick<ToolSettings<never>, 'maxConcurrentCalls'> {
  if (worker === undefined || maxConcurrentCalls !== undefined || limiter !== undefined) return {}
  return { maxConcurrentCalls: worker.size * worker.concurrency }
}

/** A reviewer is shown the command line, unless the tool describes its calls itself. */
function approvalOf(
  { requireApproval }: Pick<ToolSettings<never>, 'requireApproval'>,
  program: ResolvedProgramOptions,
): Pick<ToolSettings<unknown>, 'requireApproval'> {
  if (requireApproval === undefined || requireApproval === false) return {}
  const describe = (input: unknown): string => describeCall(program, input)
  return { requireApproval: { describe, ...(requireApproval === true ? {} : requireApproval) } }
}

/** Text for a reviewer: the command line, and the start of the input. */
function describeCall({ command, args }: ResolvedProgramOptions, input: unknown): string {
  return `Execute command: ${[command, ...args].join(' ')}\nInput: ${startOfInput(input)}`
}
