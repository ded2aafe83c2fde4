/** Builds the request body of `tutti run` from its arguments and options. */
import { changeAddedTasks } from '@tutti/protocol/basics'
import { isJsonObject } from '@tutti/protocol/internal'

import type { Capabilities, SubmitRunBody } from '@tutti/protocol'
import type {
  RunBudgetBody,
  RunOptionsBody,
  RunReviewBody,
  TaskDefinitionBody,
} from '@tutti/protocol/internal'

import { CommandError } from '../command-error.ts'
import { parsePair, parseTaskField, type TaskField } from './pairs.ts'
import { GivenValues } from './given-values.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { SubmitCommandOptions } from './submit-options.ts'

type Json = Readonly<Record<string, unknown>>

/**
 * Reads all values and sources of the command line. The server validates the body and names each invalid field. Values
 * of `key=value` are text, like all inputs.
 *
 * @throws {CommandError} USAGE when a source cannot be read or parsed, or an argument is malformed.
 */
export async function readSubmission(
  args: readonly string[],
  options: SubmitCommandOptions,
  io: CommandIo,
): Promise<SubmitRunBody> {
  const source = new GivenValues(io)
  const request =
    options.request === undefined ? {} : await source.object(options.request, '--request')
  const [ensemble, ...pairs] = splitArguments(args)
  const inputs = { ...readPart(request, 'inputs'), ...(await readInputs(pairs, options, source)) }
  const overrides = {
    ...readPart(request, 'taskOverrides'),
    ...(await readOverrides(options, source)),
  }
  const tags = {
    ...readPart(request, 'tags'),
    ...Object.fromEntries((options.tag ?? []).map((tag) => parsePair(tag, '--tag'))),
  }
  const budget = { ...readPart(request, 'budget'), ...toBudget(options) }
  const given = readPart(request, 'options')
  const review = { ...readPart(given, 'review'), ...toRunReview(options) }
  const settings = { ...given, ...toRunOptions(options), ...filled('review', review) }
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
    ...(options.build === undefined ? {} : { build: options.build }),
    ...(options.webhook === undefined ? {} : { webhooks: [...options.webhook] }),
    ...(options.startAt === undefined ? {} : { startAt: options.startAt }),
    ...(options.startAfter === undefined ? {} : { startAfterMs: options.startAfter }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
    ...(options.fairnessKey === undefined ? {} : { fairnessKey: options.fairnessKey }),
    ...((options.maxQueue ?? 0) === 0 ? {} : { maxQueueMs: options.maxQueue }),
  }
  // NOTE: files may contain anything; the server validates the body and names each invalid field.
  return body as SubmitRunBody
}

/** Adds a model to each task for which the request sets none; `capabilities` list the tasks of the ensembles. */
export function withModel(
  body: SubmitRunBody,
  model: string,
  capabilities: Capabilities,
): SubmitRunBody {
  if (body.tasks !== undefined) {
    return { ...body, tasks: body.tasks.map((task) => withModelOfTask(task, model)) }
  }
  const { ensembles } = capabilities
  const chosen =
    body.ensemble === undefined
      ? ensembles[0]
      : ensembles.find(({ name }) => name === body.ensemble)
  // The server rejects an unknown ensemble, and lists the known ones.
  if (chosen === undefined) return body
  const given = body.taskOverrides ?? {}
  const named = chosen.tasks.map(({ name }) => [name, { model, ...given[name] }] as const)
  return { ...body, taskOverrides: { ...given, ...Object.fromEntries(named) } }
}

function withModelOfTask(task: TaskDefinitionBody, model: string): TaskDefinitionBody {
  return changeAddedTasks(withModelOfAgents(task, model), (added) => ({ model, ...added }))
}

function withModelOfAgents(task: TaskDefinitionBody, model: string): TaskDefinitionBody {
  // The tasks of an ensemble have its models, and a model of the task is that of all its agents without one.
  if (task.ensemble !== undefined || task.model !== undefined) return task
  // A model of the task would take precedence over that of its first agent.
  return task.agents === undefined
    ? { ...task, model }
    : { ...task, agents: task.agents.map((agent) => ({ model, ...agent })) }
}

/** Splits the arguments into the ensemble, which contains no `=`, and the inputs. */
function splitArguments(args: readonly string[]): readonly [string | undefined, ...string[]] {
  const [first, ...rest] = args
  if (first === undefined) return [undefined]
  return first.includes('=') ? [undefined, ...args] : [first, ...rest]
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
    const [key, value] = isSource ? ['', ''] : parsePair(given, '--input')
    Object.assign(read, isSource ? await source.object(given, '--input') : { [key]: value })
  }
  for (const given of inputFile) {
    const [key, path] = parsePair(given, '--input-file')
    read[key] = await source.file(path, '--input-file')
  }
  for (const pair of pairs) {
    const [key, value] = parsePair(pair, 'An input')
    read[key] = value
  }
  return read
}

async function readOverrides(
  { override = [], overrides }: SubmitCommandOptions,
  source: GivenValues,
): Promise<Json> {
  const read = overrides === undefined ? {} : await source.object(overrides, '--overrides')
  return override.map(parseTaskField).reduce(withTaskField, read)
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

function toRunOptions(options: SubmitCommandOptions): RunOptionsBody {
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

function toRunReview(options: SubmitCommandOptions): RunReviewBody {
  const { reviewTimeout, reviewOnTimeout, reviewRole } = options
  return {
    ...(reviewTimeout === undefined ? {} : { timeoutMs: reviewTimeout }),
    ...(reviewOnTimeout === undefined ? {} : { onTimeout: reviewOnTimeout }),
    ...(reviewRole === undefined ? {} : { requiredRole: reviewRole }),
  }
}

function toBudget(options: SubmitCommandOptions): RunBudgetBody {
  const { maxCost, maxTokens, maxTime, maxModelCalls, maxToolCalls } = options
  return {
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxTime === undefined ? {} : { maxDurationMs: Math.ceil(maxTime) }),
    ...(maxModelCalls === undefined ? {} : { maxModelCalls }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  }
}

function readPart(request: Json, name: string): Json {
  const part = request[name] ?? {}
  if (isJsonObject(part)) return part
  throw new CommandError('USAGE', `--request: "${name}" must be an object`)
}

function filled(name: string, part: Json): Json {
  return Object.keys(part).length === 0 ? {} : { [name]: part }
}
