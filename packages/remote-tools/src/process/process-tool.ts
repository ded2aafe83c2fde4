/**
 * Tools that are programs in any language. The author names the program, and the tool starts it without a shell. Text of
 * the model reaches the program only as input.
 */
import {
  defineTextTool,
  defineTool,
  type ToolDefinition,
  type ToolResult,
  type ToolSettings,
  type Type,
  type TypedTool,
} from '@tutti/core'
import {
  pickOptions,
  startOfInput,
  TOOL_SETTING_NAMES,
  TYPED_TOOL_NAMES,
  type OptionNames,
  type SourceOf,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'

import { PROGRAM_OPTION_NAMES, resolveProgramOptions, type ProgramOptions } from './options.ts'
import { OnceRunner, type ProcessCall } from './run-once.ts'
import { WorkerPool } from './worker/pool.ts'

import type { ResolvedProgramOptions } from './options.ts'

/** Options of a process tool whose input is one string. */
export interface TextProcessToolOptions extends ToolSettings<string>, ProgramOptions {
  readonly input?: undefined
  readonly output?: undefined
}

/** Options of a typed process tool; the program gets the whole object as its input. */
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
   * Closes the tool. With mode `once`, calls in flight are cancelled; workers get a few seconds to finish theirs. Later
   * calls fail. Resolves when no program of the tool is running. Never rejects.
   */
  close(): Promise<void>
}

/**
 * Creates a tool from a program, for example `processTool({ name: 'sentiment', description: 'Rates a text',
 * command: 'python3', args: ['/opt/tools/sentiment.py'] })`. The first call starts the program.
 *
 * @throws {TypeError} naming every invalid option.
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
  const shared = {
    ...resolveConcurrency(options, program),
    ...resolveApproval(options, program),
    execute,
  }
  const tool =
    options.input === undefined
      ? defineTextTool({ ...pickOptions(options, TOOL_SETTING_NAMES), ...shared })
      : defineTool({ exactIntegers: true, ...pickOptions(options, DEFINITION_NAMES), ...shared })
  const close = (): Promise<void> => runner.close()
  // NOTE: the input of the tool has the type of its schema, as the signatures above declare.
  return Object.assign(tool, { close, [Symbol.asyncDispose]: close }) as ProcessTool<
    unknown,
    unknown
  >
}

/**
 * Limits concurrent calls to the capacity of the workers, so that waiting does not count as call time; the author's limit takes
 * precedence.
 */
function resolveConcurrency(
  { maxConcurrentCalls, limiter }: Pick<ToolSettings<never>, 'maxConcurrentCalls' | 'limiter'>,
  { worker }: ResolvedProgramOptions,
): Pick<ToolSettings<never>, 'maxConcurrentCalls'> {
  if (worker === undefined || maxConcurrentCalls !== undefined || limiter !== undefined) return {}
  return { maxConcurrentCalls: worker.size * worker.concurrency }
}

/** Returns the approval option; unless it describes calls itself, it shows the command line to the reviewer. */
function resolveApproval(
  { requireApproval }: Pick<ToolSettings<never>, 'requireApproval'>,
  program: ResolvedProgramOptions,
): Pick<ToolSettings<unknown>, 'requireApproval'> {
  if (requireApproval === undefined || requireApproval === false) return {}
  const describe = (input: unknown): string => describeCall(program, input)
  return { requireApproval: { describe, ...(requireApproval === true ? {} : requireApproval) } }
}

/** Returns the text for a reviewer: the command line and the start of the input. */
function describeCall({ command, args }: ResolvedProgramOptions, input: unknown): string {
  return `Execute command: ${[command, ...args].join(' ')}\nInput: ${startOfInput(input)}`
}
