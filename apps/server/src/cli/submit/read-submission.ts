/** From the words and options of `tutti run` to the body of the request. */
import { isJsonObject } from '@tutti/protocol'

import type {
  Capabilities,
  RunBudgetBody,
  RunOptionsBody,
  RunReviewBody,
  SubmitRunBody,
} from '@tutti/protocol'

import { CommandError } from '../command-error.ts'
import { pairOf, taskFieldOf, type TaskField } from './pairs.ts'
import { GivenValues } from './given-values.ts'

import type { CommandIo } from '../command-io.ts'
import type { SubmitCommandOptions } from './submit-options.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Reads everything that the command line names. The server judges whether it fits, and names each place that does not;
 * values of `key=value` are text, as all inputs are.
 *
 * @throws {CommandError} USAGE when something cannot be read, or is said in a way that can only be a mistake.
 */
export async function readSubmission(
  words: readonly string[],
  options: SubmitCommandOptions,
  io: CommandIo,
): Promise<SubmitRunBody> {
  const source = new GivenValues(io)
  const request =
    options.request === undefined ? {} : await source.object(options.request, '--request')
  const [ensemble, ...pairs] = splitWords(words)
  const inputs = { ...partOf(request, 'inputs'), ...(await readInputs(pairs, options, source)) }
  const overrides = {
    ...partOf(request, 'taskOverrides'),
    ...(await readOverrides(options, source)),
  }
  const tags = {
    ...partOf(request, 'tags'),
    ...Object.fromEntries((options.tag ?? []).map((tag) => pairOf(tag, '--tag'))),
  }
  const budget = { ...partOf(request, 'budget'), ...budgetOf(options) }
  const given = partOf(request, 'options')
  const review = { ...partOf(given, 'review'), ...runReviewOf(options) }
  const settings = { ...given, ...runOptionsOf(options), ...filled('review', review) }
  const body = {
    ...request,
    ...(ensemble === undefined ? {} : { ensemble }),
    ...(options.tasks === undefined ? {} : { tasks: await source.json(options.tasks, '--tasks') }),
    ...filled('inputs', inputs),
    ...filled('taskOverrides', overrides),
    ...filled('tags', tags),
    ...filled('options', settings),
    ...filled('budget', budget),
    ...(options.runId === undefined ? {} : { runId: options.runId }),
    ...(options.webhook === undefined ? {} : { webhooks: [...options.webhook] }),
  }
  // NOTE: files may hold anything; the server checks the body and names each place that does not fit.
  return body as SubmitRunBody
}

/** The same request with a model for each task that names none; `capabilities` tell the tasks of the ensemble. */
export function withModel(
  body: SubmitRunBody,
  model: string,
  capabilities: Capabilities,
): SubmitRunBody {
  if (body.tasks !== undefined) {
    return { ...body, tasks: body.tasks.map((task) => ({ model, ...task })) }
  }
  const { ensembles } = capabilities
  const chosen =
    body.ensemble === undefined
      ? ensembles[0]
      : ensembles.find(({ name }) => name === body.ensemble)
  // One that is not known is refused by the server, with the names of those that are.
  if (chosen === undefined) return body
  const given = body.taskOverrides ?? {}
  const named = chosen.tasks.map(({ name }) => [name, { model, ...given[name] }] as const)
  return { ...body, taskOverrides: { ...given, ...Object.fromEntries(named) } }
}

/** The ensemble, which has no `=`, and the inputs after it. */
function splitWords(words: readonly string[]): readonly [string | undefined, ...string[]] {
  const [first, ...rest] = words
  if (first === undefined) return [undefined]
  return first.includes('=') ? [undefined, ...words] : [first, ...rest]
}

async function readInputs(
  pairs: readonly string[],
  { input = [], inputs, inputFile = [] }: SubmitCommandOptions,
  source: GivenValues,
): Promise<Json> {
  const read: Record<string, unknown> = {}
  if (inputs !== undefined) Object.assign(read, await source.object(inputs, '--inputs'))
  for (const given of input) {
    const isSource = given === '-' || given.startsWith('@')
    const [key, value] = isSource ? ['', ''] : pairOf(given, '--input')
    Object.assign(read, isSource ? await source.object(given, '--input') : { [key]: value })
  }
  for (const given of inputFile) {
    const [key, path] = pairOf(given, '--input-file')
    read[key] = await source.file(path, '--input-file')
  }
  for (const pair of pairs) {
    const [key, value] = pairOf(pair, 'An input')
    read[key] = value
  }
  return read
}

async function readOverrides(
  { override = [], overrides }: SubmitCommandOptions,
  source: GivenValues,
): Promise<Json> {
  const read = overrides === undefined ? {} : await source.object(overrides, '--overrides')
  return override.map(taskFieldOf).reduce(withTaskField, read)
}

function withTaskField(overrides: Json, { task, path, value }: TaskField): Json {
  const before = overrides[task] ?? {}
  if (!isJsonObject(before))
    throw new CommandError('USAGE', `--overrides: "${task}" must be an object`)
  const [field = '', within] = path
  if (within === undefined) return { ...overrides, [task]: { ...before, [field]: value } }
  const inner = isJsonObject(before[field]) ? before[field] : {}
  return { ...overrides, [task]: { ...before, [field]: { ...inner, [within]: value } } }
}

function runOptionsOf(options: SubmitCommandOptions): RunOptionsBody {
  const { workflow, reviewPolicy, capture, maxToolOutput, toolLogLength, verbose } = options
  return {
    ...(workflow === undefined ? {} : { workflow }),
    ...(reviewPolicy === undefined ? {} : { reviewPolicy }),
    ...(capture === undefined ? {} : { captureMode: capture }),
    ...(maxToolOutput === undefined ? {} : { maxToolOutputLength: maxToolOutput }),
    ...(toolLogLength === undefined ? {} : { toolLogTruncateLength: toolLogLength }),
    ...(verbose === undefined ? {} : { verbose }),
  }
}

function runReviewOf(options: SubmitCommandOptions): RunReviewBody {
  const { reviewTimeout, reviewOnTimeout, reviewRole } = options
  return {
    ...(reviewTimeout === undefined ? {} : { timeoutMs: reviewTimeout }),
    ...(reviewOnTimeout === undefined ? {} : { onTimeout: reviewOnTimeout }),
    ...(reviewRole === undefined ? {} : { requiredRole: reviewRole }),
  }
}

function budgetOf(options: SubmitCommandOptions): RunBudgetBody {
  const { maxCost, maxTokens, maxTime, maxModelCalls, maxToolCalls } = options
  return {
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxTime === undefined ? {} : { maxDurationMs: Math.ceil(maxTime) }),
    ...(maxModelCalls === undefined ? {} : { maxModelCalls }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  }
}

function partOf(request: Json, name: string): Json {
  const part = request[name] ?? {}
  if (isJsonObject(part)) return part
  throw new CommandError('USAGE', `--request: "${name}" must be an object`)
}

function filled(name: string, part: Json): Json {
  return Object.keys(part).length === 0 ? {} : { [name]: part }
}
