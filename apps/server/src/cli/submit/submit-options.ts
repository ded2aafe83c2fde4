/** The options of `tutti run` that describe the request, one for each field of the body. */
import {
  CaptureMode,
  MAX_COUNT,
  MAX_START_DELAY_MS,
  ReviewPolicy,
  ReviewTimeoutAction,
  RunPriority,
  Workflow,
} from '@tutti/protocol/internal'
import { InvalidArgumentError, Option, type Command } from 'commander'

import {
  countParser,
  durationParser,
  gather,
  parseDollars,
  parseSeconds,
  parseTimeLimit,
} from '../option-values.ts'

/** Values of the options, as commander names them. */
export interface SubmitCommandOptions {
  readonly input?: readonly string[]
  readonly inputs?: string
  readonly inputFile?: readonly string[]
  readonly override?: readonly string[]
  readonly overrides?: string
  readonly tasks?: string
  readonly request?: string
  readonly model?: string
  readonly workflow?: Workflow
  readonly reviewPolicy?: ReviewPolicy
  readonly reviewTimeout?: number
  readonly reviewOnTimeout?: ReviewTimeoutAction
  readonly reviewRole?: string
  readonly capture?: CaptureMode
  readonly maxToolOutput?: number
  readonly toolLogLength?: number
  readonly verbose?: true
  readonly maxCost?: number
  readonly maxTokens?: number
  readonly maxTime?: number
  readonly maxModelCalls?: number
  readonly maxToolCalls?: number
  readonly tag?: readonly string[]
  readonly runId?: string
  readonly build?: string
  readonly idempotencyKey?: string
  readonly webhook?: readonly string[]
  readonly startAt?: string
  readonly startAfter?: number
  readonly maxQueue?: number
  readonly priority?: RunPriority
  readonly fairnessKey?: string
}

/** Adds the options to a command. */
export function withSubmitOptions(command: Command): Command {
  return withStartOptions(command)
    .optionsGroup('Request:')
    .option(
      '-i, --input <key=value>',
      'an input, or a JSON object of inputs as @file.json or -',
      gather,
    )
    .option('--inputs <json>', 'inputs as a JSON object; @file.json, or - for standard input')
    .option(
      '--input-file <key=path>',
      'an input whose value is the content of a file; - for standard input',
      gather,
    )
    .option('--override <task.field=value>', 'override a field of one task', gather)
    .option('--overrides <json>', 'overrides as a JSON object by task; @file.json or -')
    .option(
      '--tasks <json>',
      'your own tasks instead of those of the ensemble, as JSON; @file.json or -',
    )
    .option(
      '--request <json>',
      'the complete request body, which other options override; @file.json or -',
    )
    .option('--model <alias>', 'model of all tasks for which this request sets no other')
    .addOption(enumOption('--workflow <order>', 'order in which the tasks run', Workflow.enum))
    .optionsGroup('Reviews:')
    .addOption(
      enumOption('--review-policy <policy>', 'which tasks are reviewed', ReviewPolicy.enum),
    )
    .option(
      '--review-timeout <duration>',
      'time limit of each review: 90s, 30m, 12h, 3d, or never',
      parseTimeLimit,
    )
    .addOption(
      enumOption(
        '--review-on-timeout <action>',
        'action when a review is not decided in time',
        ReviewTimeoutAction.enum,
      ),
    )
    .option('--review-role <role>', 'role that the key of the reviewer must have')
    .optionsGroup('Records and logs:')
    .addOption(
      enumOption('--capture <mode>', 'how much detail the trace records', CaptureMode.enum),
    )
    .option(
      '--max-tool-output <characters>',
      'length of tool output that the model receives; -1 for no limit',
      parseLength,
    )
    .option(
      '--tool-log-length <characters>',
      'length of tool output in the log of the server; -1 for no limit',
      parseLength,
    )
    .option('--verbose', 'log every model turn and tool call on the server')
    .optionsGroup('Limits:')
    .option('--max-cost <dollars>', 'maximum cost; the run fails when it is exceeded', parseDollars)
    .option(
      '--max-tokens <count>',
      'maximum number of input and output tokens together',
      countParser(1, MAX_COUNT),
    )
    .option(
      '--max-time <seconds>',
      'maximum working time; waiting for people does not count',
      parseSeconds,
    )
    .option('--max-model-calls <count>', 'maximum number of model calls', countParser(1, MAX_COUNT))
    .option('--max-tool-calls <count>', 'maximum number of tool calls', countParser(1, MAX_COUNT))
    .optionsGroup('Run:')
    .option('-t, --tag <key=value>', 'a tag for finding the run; its value is text', gather)
    .option('--run-id <id>', 'id of the run (default: generated)')
    .option('--build <id>', 'build that executes the run (default: chosen by the shares of builds)')
    .option('--idempotency-key <key>', 'repeating a request with the same key returns the same run')
    .option('--webhook <name>', 'a configured webhook to notify about the run', gather)
    .optionsGroup('Options:')
}

/** Adds the options that say when the run starts. */
function withStartOptions(command: Command): Command {
  return command
    .optionsGroup('Start:')
    .option(
      '--start-at <time>',
      'time before which the run does not start, such as 2027-03-15T10:30:00Z',
    )
    .option(
      '--start-after <duration>',
      'delay of the start: 90s, 30m, 12h or 3d',
      durationParser(MAX_START_DELAY_MS),
    )
    .option(
      '--max-queue <duration>',
      'maximum time in the queue, after which the run fails: 90s, 30m, 12h or 3d',
      durationParser(MAX_START_DELAY_MS),
    )
    .addOption(
      new Option(
        '--priority <priority>',
        'order among the runs that wait (default: normal)',
      ).choices(RunPriority.enum),
    )
    .option(
      '--fairness-key <key>',
      'key by which waiting runs take turns (default: the name of the API key)',
    )
}

/** Creates an option for the values of a wire enum, in upper or lower case. The help lists the values. */
function enumOption(flags: string, description: string, values: readonly string[]): Option {
  return new Option(flags, description).choices(values).argParser((text: string) => {
    const value = values.find((known) => known === text.toUpperCase())
    if (value !== undefined) return value
    throw new InvalidArgumentError(`Allowed choices are ${values.join(', ')}.`)
  })
}

function parseLength(text: string): number {
  if (/^(?:-1|\d+)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0, or -1 for no limit.')
}
