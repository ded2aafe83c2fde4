/**
 * Attacks the reader of model streams: a generated service answers the model of a run, in this process.
 *
 * A run ends in time. If it fails, it fails with MODEL_FAILED and the reason of the service, or with OUTPUT_EMPTY after
 * an answer without text and calls. Totals are non-negative integers or -1. A tool gets only inputs whose
 * fragments were all sent. A run completes only if the answer was whole, and it does if the stream has no odd events.
 */
import { defineTool } from '@tutti/core'
import { ensemble, task, type RunResult } from '@tutti/ensemble'
import * as fc from 'fast-check'

import { langchainModel } from '../../../packages/langchain/src/index.ts'
import {
  planStream,
  startModelService,
  type AnswerPlan,
  type AnswerStyle,
} from '../lib/model-service.ts'

import type { Attempt, Target } from './target.ts'

/** Messages of errors that are bugs of the reader. */
const CRASH =
  /is not (?:defined|a function|iterable)|Cannot (?:read|set|convert)|undefined|different type|JSON at position/

/** Time limit of one run, in milliseconds. */
const MAX_RUN_MS = 30_000

/** Model streams. */
export function modelsTarget(): Target {
  return { name: 'models', attempts: plans().map(toAttempt) }
}

/** Result of a run against a planned answer. */
export interface PlannedRun {
  readonly result: Pick<RunResult, 'status' | 'output' | 'error' | 'metrics'>
  /** Inputs that the tool received. */
  readonly inputs: readonly unknown[]
}

/** Returns every violation of the rules. */
export function judgeRun(plan: AnswerPlan, { result, inputs }: PlannedRun): readonly string[] {
  const faults: string[] = []
  const stream = planStream(plan)
  const { status, output, error, metrics } = result
  const isPlain = plan.extras.length === 0
  for (const [name, count] of Object.entries(metrics)) {
    if (name.endsWith('Tokens') && !(Number.isSafeInteger(count) && Number(count) >= -1)) {
      faults.push(`${name} is ${JSON.stringify(count)}`)
    }
  }
  const isEmpty = stream.text.trim() === '' && stream.inputs.length === 0
  const isExpected = error?.code === 'MODEL_FAILED' || (error?.code === 'OUTPUT_EMPTY' && isEmpty)
  if (error !== undefined && (!isExpected || CRASH.test(error.message))) {
    faults.push(`The run failed with ${error.code}: ${error.message}`)
  }
  const sent = new Set(stream.inputs.map((input) => JSON.stringify(input)))
  for (const input of inputs) {
    if (!sent.has(JSON.stringify(input))) {
      faults.push(`The tool got ${JSON.stringify(input)}, which was not sent`)
    }
  }
  if (status === 'COMPLETED' && isPlain && !stream.isWhole) {
    faults.push(
      `The run completed with ${JSON.stringify(output)} after an answer that was not whole`,
    )
  }
  const hasContent = plan.calls.length > 0 || plan.texts.length > 0
  const isCut = plan.cutAfter !== undefined || plan.ending === 'drop'
  if (isPlain && stream.isWhole && hasContent && !isCut) {
    const expected = plan.calls.length > 0 ? 'done' : stream.text
    const isContradictory = plan.reason === 'tool_calls' && plan.calls.length === 0
    const hasReason = plan.ending === 'whole' || plan.ending === 'reason'
    if (isContradictory && hasReason) {
      if (status === 'COMPLETED') faults.push('The run completed after a contradictory answer')
    } else if (status !== 'COMPLETED' || output !== expected) {
      faults.push(
        `Expected ${JSON.stringify(expected)}, got ${status}: ${error?.message ?? output}`,
      )
    }
  }
  return faults
}

function toAttempt(plan: AnswerPlan): Attempt {
  return {
    label: JSON.stringify(plan),
    make: async () => judgeRun(plan, await run(plan)),
  }
}

async function run(plan: AnswerPlan): Promise<PlannedRun> {
  await using service = await startModelService(plan)
  const inputs: unknown[] = []
  const echo = defineTool({
    name: 'echo',
    description: 'Repeats its input',
    input: { type: 'object', properties: { words: {}, last: {} } },
    execute(input) {
      inputs.push(input)
      return 'ok'
    },
  })
  const [name, path] = plan.wire === 'completions' ? ['openai:fuzz', '/v1'] : ['anthropic:fuzz', '']
  const model = langchainModel(name, { apiKey: 'any', baseUrl: `${service.url}${path}` })
  const work = task({ name: 'work', description: 'Work', tools: [echo] })
  const team = ensemble({ name: 'team', tasks: [work], model, modelRetries: 0 })
  const signal = AbortSignal.timeout(MAX_RUN_MS)
  const result = await team.run({}, { signal })
  if (signal.aborted) throw new Error(`The run did not end within ${MAX_RUN_MS} ms`)
  return { result, inputs }
}

function plans(): fc.Arbitrary<AnswerPlan> {
  const wire = fc.constantFrom('completions' as const, 'anthropic' as const)
  const words = fc.constantFrom('one', ' two', ' <b>', ' {"a":', ' 👋', '\n\n', '0', ' [DONE]')
  const call = fc.record({
    input: fc.record({ words: fc.array(words, { maxLength: 3 }), last: fc.constant(true) }),
    fragment: fc.integer({ min: 1, max: 40 }),
  })
  return fc.record({
    wire,
    texts: fc
      .array(words, { maxLength: 5 })
      .filter((texts) => texts.join('').trim() !== '' || texts.length === 0),
    calls: fc.array(call, { maxLength: 3 }),
    usage: usages(),
    ending: fc.constantFrom(
      'whole',
      'whole',
      'whole',
      'reason',
      'done',
      'none',
      'error',
      'drop',
      'garbage',
    ),
    reason: fc.constantFrom('stop', 'end_turn', 'tool_calls', 'weird', 'STOP'),
    error: errors(),
    extras: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(fc.tuple(fc.nat(20), fc.jsonValue()), { maxLength: 3 }) },
    ),
    cutAfter: fc.option(fc.nat(20), { nil: undefined, freq: 3 }),
    style: styles(),
    bytesPerWrite: fc.constantFrom(1, 7, 64, 100_000),
  })
}

function styles(): fc.Arbitrary<AnswerStyle> {
  return (
    fc
      .record({
        hasRole: fc.boolean(),
        hasIndex: fc.boolean(),
        repeatsName: fc.boolean(),
        changesId: fc.boolean(),
        hasObjects: fc.boolean(),
        hasListContent: fc.boolean(),
        isReversed: fc.boolean(),
        lineEnd: fc.constantFrom('\n' as const, '\r\n' as const),
      })
      // With both, a fragment looks like a separate call.
      .filter(({ repeatsName, changesId }) => !(repeatsName && changesId))
  )
}

/** Usage objects: valid, with fields of any value, and values of other types. */
function usages(): fc.Arbitrary<unknown> {
  const count = fc.oneof(
    fc.nat(100_000),
    fc.constantFrom(-1, 1.5, '7', null, 1e308, 2 ** 53, true, {}, 'NaN'),
  )
  const counts = fc.record(
    {
      prompt_tokens: count,
      completion_tokens: count,
      total_tokens: count,
      input_tokens: count,
      output_tokens: count,
      cache_read_input_tokens: count,
      cache_creation_input_tokens: count,
      prompt_tokens_details: fc.record({ cached_tokens: count }),
      completion_tokens_details: fc.record({ reasoning_tokens: count }),
    },
    { requiredKeys: [] },
  )
  return fc.oneof({ weight: 5, arbitrary: counts }, { weight: 1, arbitrary: fc.jsonValue() })
}

function errors(): fc.Arbitrary<unknown> {
  return fc.constantFrom<unknown>(
    { error: 'an error was encountered' },
    { error: { code: 502, message: 'Provider disconnected' } },
    { error: { type: 'InternalServerError', code: 500, message: 'x' } },
    { type: 'error', error: { type: 'overloaded_error', message: 'x' } },
    { object: 'error', message: 'x', code: 400 },
    { detail: 'x' },
  )
}
