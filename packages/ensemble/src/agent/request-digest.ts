/** Recognizes the request of a model turn, and the tools that its reply calls. */
import { cachePerObject, computeDigest, computeJsonDigest } from '@tutti/core/internal'

import { replayMismatchError, describeStep } from '../scope/replay.ts'

import type { ModelReply, ToolSpecification } from '../model/chat-model.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { ModelQuestion } from './ask-model.ts'

/** Parts of a request that its digest covers; the name of the model is not one of them. */
export type DigestedRequest = Pick<ModelQuestion, 'messages' | 'tools' | 'toolChoice' | 'output'>

/**
 * Returns the digest of a request. Each message and each list of tools is digested once, so that a turn costs only its
 * new messages.
 */
export function computeRequestDigest(request: DigestedRequest): string {
  const { messages, tools, toolChoice, output } = request
  const parts = [
    ...messages.map(digestOnce),
    digestOnce(tools),
    toolChoice,
    output === undefined ? '' : digestOnce(output.schema),
  ]
  return computeDigest(parts.join(' '))
}

const digestOnce = cachePerObject((value: object) => computeJsonDigest(value))

/** Returns the names that a reply calls and that are not tools; undefined if there are none. */
export function findMissingTools(
  { toolCalls }: ModelReply,
  tools: readonly ToolSpecification[],
): readonly string[] | undefined {
  if (toolCalls.length === 0) return undefined
  const unknown = toolCalls
    .map(({ name }) => name)
    .filter((name) => !tools.some((tool) => tool.name === name))
  return unknown.length === 0 ? undefined : unknown
}

/**
 * Checks that every tool that a recorded reply calls is still a tool of the task.
 *
 * @throws {TuttiError} REPLAY_MISMATCH with the first one that is not.
 */
export function assertToolsKnown(
  turn: StepOf<'model_turn'>,
  tools: readonly ToolSpecification[],
): void {
  if (turn.requestDigest === undefined) return
  const lost = findMissingTools(turn.reply, tools)?.find(
    (name) => turn.unknownTools?.includes(name) !== true,
  )
  if (lost === undefined) return
  throw replayMismatchError({
    taskName: turn.taskName,
    step: describeStep(turn),
    recorded: `a call of tool "${lost}"`,
    asked: `one of the tools [${tools.map(({ name }) => name).join(', ')}]`,
  })
}

/**
 * Checks that a recorded turn answered the request that the code makes.
 *
 * @throws {TuttiError} REPLAY_MISMATCH if the messages, the tools or the schema of the output differ.
 */
export function assertRequestUnchanged(turn: StepOf<'model_turn'>, request: DigestedRequest): void {
  const { taskName, requestDigest } = turn
  if (requestDigest === undefined) return
  const asked = computeRequestDigest(request)
  if (asked === requestDigest) return
  throw replayMismatchError({
    taskName,
    step: describeStep(turn),
    recorded: `the request ${requestDigest}`,
    asked: `the request ${asked}, with other messages, tools or another output schema`,
  })
}
