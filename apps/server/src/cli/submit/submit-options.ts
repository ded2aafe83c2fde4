/** The options of `tutti run` that say what is submitted: each field of the body has its own. */
import { CaptureMode, ReviewPolicy, ReviewTimeoutAction, Workflow } from '@tutti/protocol'
import { InvalidArgumentError, Option, type Command } from 'commander'

import { countParser, dollarsOf, durationOf, parseSeconds } from '../option-values.ts'

const MOST = Number.MAX_SAFE_INTEGER

/** What they give, as commander names it. */
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
  readonly idempotencyKey?: string
  readonly webhook?: readonly string[]
}

/** Adds them to a command. */
export function withSubmitOptions(command: Command): Command {
  return command
    .optionsGroup('What runs:')
    .option(
      '-i, --input <key=value>',
      'an input; @file.json or - for a JSON object of them',
      gather,
    )
    .option('--inputs <json>', 'inputs as a JSON object; @file.json, or - for standard input')
    .option(
      '--input-file <key=path>',
      'an input whose value is the text of a file; - for standard input',
      gather,
    )
    .option('--override <task.field=value>', 'changes one task for this run', gather)
    .option('--overrides <json>', 'the same as a JSON object, task by task; @file.json or -')
    .option(
      '--tasks <json>',
      'tasks of your own in place of those of the ensemble, as JSON; @file.json or -',
    )
    .option(
      '--request <json>',
      'the whole body of the request; what else is said goes on top; @file.json or -',
    )
    .option('--model <alias>', 'model of every task that is not given one here')
    .addOption(wordOption('--workflow <order>', 'how the tasks follow one another', Workflow.enum))
    .optionsGroup('Reviews:')
    .addOption(
      wordOption('--review-policy <policy>', 'which tasks are reviewed', ReviewPolicy.enum),
    )
    .option(
      '--review-timeout <duration>',
      'time to decide each review: 90s, 30m, 12h, 3d, or never for no limit',
      durationOf,
    )
    .addOption(
      wordOption(
        '--review-on-timeout <action>',
        'what happens to a review that is not decided in time',
        ReviewTimeoutAction.enum,
      ),
    )
    .option('--review-role <role>', 'role that the key of the reviewer must have')
    .optionsGroup('Records and logs:')
    .addOption(wordOption('--capture <mode>', 'how much the trace keeps', CaptureMode.enum))
    .option(
      '--max-tool-output <characters>',
      'of the output of a tool that the model reads; -1 for all',
      lengthOf,
    )
    .option(
      '--tool-log-length <characters>',
      'of the output of a tool in the log of the server; -1 for all',
      lengthOf,
    )
    .option('--verbose', 'has the log of the server tell of every model turn and tool call')
    .optionsGroup('Limits:')
    .option('--max-cost <dollars>', 'what the run may cost; beyond it the run fails', dollarsOf)
    .option(
      '--max-tokens <count>',
      'that the run may read and write together',
      countParser(1, MOST),
    )
    .option(
      '--max-time <seconds>',
      'that the run may work; waiting for people is free',
      parseSeconds,
    )
    .option('--max-model-calls <count>', 'that the run may make', countParser(1, MOST))
    .option('--max-tool-calls <count>', 'that the run may make', countParser(1, MOST))
    .optionsGroup('The run:')
    .option('-t, --tag <key=value>', 'a tag to find the run by; its value is text', gather)
    .option('--run-id <id>', 'the id of the run, of your choice')
    .option('--idempotency-key <key>', 'the same request under the same key is one run')
    .option('--webhook <name>', 'a webhook of the server that is told of the run', gather)
    .optionsGroup('Options:')
}

function gather(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/** One of the words of the wire, in any case; the help lists them. */
function wordOption(flags: string, description: string, words: readonly string[]): Option {
  return new Option(flags, description).choices(words).argParser((text: string) => {
    const word = words.find((known) => known === text.toUpperCase())
    if (word !== undefined) return word
    throw new InvalidArgumentError(`Allowed choices are ${words.join(', ')}.`)
  })
}

function lengthOf(text: string): number {
  if (/^(?:-1|\d+)$/.test(text)) return Number(text)
  throw new InvalidArgumentError('It must be a whole number from 0, or -1 for no limit.')
}
