/**
 * Compares recorded steps with the code that replays them. Steps of a run that records none have no digests; they match any
 * code.
 *
 * ENS-E24 When the code asks for something else than what is recorded, or not for what is recorded, the run fails with
 *    REPLAY_MISMATCH, which names the task, the step, what was recorded and what the code asked for. It makes no call.
 */
import { TuttiError, type ToolCall } from '@tutti/core'
import {
  cachePerObject,
  computeDigest,
  computeJsonDigest,
  parseExactJson,
} from '@tutti/core/internal'

import type { OutputReader } from '../output/structured-output.ts'
import type { StepOf, TaskStep } from '../ports/run-step.ts'

/** A difference between a recorded step and the code. */
export interface ReplayDifference {
  readonly taskName: string
  /** Position of the step in its task, such as `tool_ended 0/1`. */
  readonly step: string
  readonly recorded: string
  readonly asked: string
}

/** Returns the error of a difference. */
export function replayMismatchError(difference: ReplayDifference): TuttiError {
  const { taskName, step, recorded, asked } = difference
  return new TuttiError(
    'REPLAY_MISMATCH',
    `Cannot replay step ${step} of task "${taskName}": ${recorded} was recorded, but the code asked for ${asked}`,
    { details: { ...difference } },
  )
}

/** Returns the digest of the input of a tool call: of its JSON value, else of its text. */
export function computeInputDigest(text: string): string {
  try {
    return computeJsonDigest(parseExactJson(text))
  } catch {
    return computeDigest(text)
  }
}

/** Returns the fields by which a step identifies its tool call. */
export function toStepToolCall({
  name,
  arguments: input,
}: Pick<ToolCall, 'name' | 'arguments'>): Required<
  Pick<StepOf<'tool_ended'>, 'toolName' | 'inputDigest'>
> {
  return { toolName: name, inputDigest: computeInputDigest(input) }
}

/**
 * Checks that a recorded tool call is the one that the code makes at its position.
 *
 * @throws {TuttiError} REPLAY_MISMATCH if the tool or its input differs.
 */
export function assertSameCall(
  step: StepOf<'tool_ended' | 'tool_begun'>,
  call: Pick<ToolCall, 'name' | 'arguments'>,
): void {
  const { taskName, toolName, inputDigest } = step
  if (toolName === undefined || inputDigest === undefined) return
  const asked = computeInputDigest(call.arguments)
  if (toolName === call.name && inputDigest === asked) return
  throw replayMismatchError({
    taskName,
    step: describeStep(step),
    recorded: `tool "${toolName}" with input ${inputDigest}`,
    asked: `tool "${call.name}" with input ${asked}`,
  })
}

/** Returns the digest of the schema of an output; null without one. */
export function digestOutput(reader: OutputReader | undefined): string | null {
  return reader === undefined ? null : digestSchema(reader)
}

const digestSchema = cachePerObject((reader: OutputReader) => computeJsonDigest(reader.schema))

/** Returns the position of a step in its task. */
export function describeStep(step: TaskStep): string {
  switch (step.kind) {
    case 'model_turn':
      return `${step.kind} ${step.iterationIndex}`
    case 'tool_begun':
    case 'tool_ended':
      return `${step.kind} ${step.iterationIndex}/${step.position}`
    case 'handler_step':
    case 'handler_step_failed':
      return step.isCompensation === true
        ? describeCompensation(step.ordinal)
        : describeOrdinal(step.ordinal)
    default:
      return step.kind
  }
}

/** Returns the position of an operation of a handler, for people. */
export function describeOrdinal(ordinal: number): string {
  return `operation ${ordinal}`
}

/** Returns the position of a compensation of a handler, for people. */
export function describeCompensation(ordinal: number): string {
  return `compensation ${ordinal}`
}

/** Returns the outcome in a step, for people. */
export function describeRecordedStep(step: TaskStep): string {
  switch (step.kind) {
    case 'model_turn':
      return 'a model turn'
    case 'tool_begun':
    case 'tool_ended':
      return step.toolName === undefined ? 'a tool call' : `a call of tool "${step.toolName}"`
    case 'handler_ended':
      return 'the output of a handler'
    case 'handler_step':
    case 'handler_step_failed':
      return `step "${step.name}"`
    default:
      return step.kind
  }
}
