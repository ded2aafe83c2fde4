/**
 * Handoffs: an agent passes its conversation to another agent, which runs as a separate task and answers instead.
 *
 *   turn with a handoff call ─▶ its other calls ─▶ delegation_started ─▶ filter ─▶ task of the next agent … ─▶ its answer
 *
 * ENS-H8 An agent hands off with a call of the tool of a handoff. All calls of the turn end first; then the next agent has the
 *    conversation, and the loop of the agent has ended.
 * ENS-H9 The next agent receives the conversation after the filter of the handoff, with its own system message, tools and model.
 * ENS-H10 The last agent gives the answer of the task. It is read by the schema of the task; guardrails, review,
 *    reflection and memory of the task apply to it once.
 * ENS-H11 Only the first handoff call of a turn takes place; the others fail and give the reason.
 * ENS-H12 After `maxHandoffs` handoffs of a task, a further call fails, and the agent must answer itself.
 * ENS-H13 A handoff emits the events of a delegation, marked as a handoff. Handoffs do not count for the limits of delegation.
 * ENS-H14 An interrupted handoff continues as the same task, with the conversation from the recorded turns. A replay hands off
 *    again, so that a frozen one checks the requests of every agent.
 * ENS-H15 Before anything runs, handoffs are checked: unknown agents, the agent itself, clashing names, schemas, filters and
 *    models. All problems are reported together.
 * ENS-H16 If the next agent fails, the attempt that handed off fails with the same error.
 * ENS-H17 Directives and model switches for a task reach the agent that has its conversation.
 */
import { TuttiError, type AgentTool, type ToolCall } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { resolveHandoff } from '../definition/check-handoffs.ts'
import { findConversationProblems } from '../definition/history.ts'
import {
  createHandoffTool,
  DEFAULT_MAX_HANDOFFS,
  toHandoff,
  toHandoffRole,
  toHandoffToolName,
  toTransferText,
  type Handoff,
} from '../definition/handoff.ts'
import { createHandoffTask } from '../definition/task.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { markDelegateTool } from './delegate-tool.ts'
import {
  beginWorker,
  findBegun,
  findFailure,
  findFreeName,
  findOwnBegun,
  isEndRecorded,
  runWorker,
  type WorkerHost,
} from './workers.ts'

import type { Agent } from '../definition/agent.ts'
import type { TaskText } from '../definition/task-text.ts'
import type { Message } from '../model/chat-model.ts'
import type { TaskResult } from '../scope/task-outcome.ts'
import type { ReceivedConversation, TaskScope } from '../scope/task-scope.ts'

interface HandoffsOptions {
  /** Texts of the task with its inputs filled in. */
  readonly text: TaskText
  readonly host: WorkerHost
}

/** The first handoff call of a turn. */
interface HandoffCall {
  readonly call: ToolCall
  readonly target: Handoff
  /** Idempotency key of the call. */
  readonly callKey: string
}

/** Returns the handoffs of the agent of a task; undefined if it has none. */
export function createHandoffs(scope: TaskScope, options: HandoffsOptions): Handoffs | undefined {
  const { handoffs = [] } = scope.task.agent
  return handoffs.length === 0 ? undefined : new Handoffs(scope, handoffs.map(toHandoff), options)
}

/** The handoffs of the agent of one attempt. */
export class Handoffs {
  readonly #scope: TaskScope
  readonly #options: HandoffsOptions
  readonly #root: ReceivedConversation['root']
  readonly #byTool: ReadonlyMap<string, Handoff>
  /** Tools with which the agent hands off. */
  readonly tools: readonly AgentTool[]
  /** First handoff call of the current turn. */
  #first: HandoffCall | undefined

  constructor(scope: TaskScope, handoffs: readonly Handoff[], options: HandoffsOptions) {
    this.#scope = scope
    this.#options = options
    const { task, identity, received } = scope
    this.#root = received?.root ?? {
      task: { ...task, ...options.text },
      taskName: identity.taskName,
    }
    this.#byTool = new Map(handoffs.map((target) => [toHandoffToolName(target), target]))
    this.tools = handoffs.map((target) => {
      const tool = createHandoffTool(target, (callKey) => this.#findRefusal(callKey))
      markDelegateTool(tool)
      return tool
    })
  }

  /** Selects the handoff call of a turn, before its calls are made. */
  beginTurn(iterationIndex: number, calls: readonly ToolCall[]): void {
    const { run, identity } = this.#scope
    const { taskName, attempt } = identity
    const call = calls.find(({ name }) => this.#byTool.has(name))
    const target = this.#byTool.get(call?.name ?? '')
    const callKey = `${run.runId}/${taskName}/${attempt}/${iterationIndex}/${call?.id}`
    this.#first = call && target && { call, target, callKey }
  }

  /** Returns the call with which the turn hands off; undefined if it has none, or its call failed. */
  find(results: readonly Message[]): HandoffCall | undefined {
    const first = this.#first
    if (first === undefined) return undefined
    const text = toTransferText(first.target)
    const isTaken = results.some(
      (result) =>
        result.role === 'tool' && result.toolCallId === first.call.id && result.content === text,
    )
    return isTaken ? first : undefined
  }

  /**
   * Runs the task of the next agent, or continues it. Returns its answer.
   *
   * @throws {TuttiError} its failure, or TASK_FAILED if the filter fails or returns an invalid conversation.
   */
  async perform(
    { target, callKey }: HandoffCall,
    messages: readonly Message[],
  ): Promise<Pick<TaskResult, 'output' | 'structured' | 'finishReason'>> {
    const scope = this.#scope
    const { host } = this.#options
    const agent = this.#findAgent(target)
    const received = {
      messages: filterConversation(target, messages),
      count: this.#count + 1,
      root: this.#root,
    }
    const task = createHandoffTask(this.#root.task, agent)
    const { run, signal } = scope
    const { parent } = run
    const known = findBegun(scope, callKey)
    // A replay hands off again, to the task of the recorded name.
    const own = run.log.replay === undefined ? known : findOwnBegun(scope, callKey)
    const begun =
      own ??
      beginWorker(scope, host, {
        callKey,
        handoff: true,
        workerRole: agent.role,
        taskDescription: task.description,
        workerTask: known?.workerTask ?? findFreeName(host, `${this.#root.taskName}/${agent.role}`),
        ...(parent === undefined
          ? {}
          : { parent: { taskName: parent.taskName, attempt: parent.attempt } }),
      })
    const isEnded = isEndRecorded(scope, begun.delegationId)
    const outcome = await runWorker(scope, host, { begun, isEnded, task, signal, received })
    const failure = findFailure(outcome)
    if (outcome.kind !== 'completed' || failure !== undefined) {
      throw failure ?? stoppedError(signal, 'Handoff')
    }
    const { output, structured, finishReason } = outcome.result
    return {
      output,
      ...(structured === undefined ? {} : { structured }),
      ...(finishReason === undefined ? {} : { finishReason }),
    }
  }

  /** Number of handoffs before that of this agent. */
  get #count(): number {
    return this.#scope.received?.count ?? 0
  }

  /** Returns the reason why a handoff call does not take place; undefined if it does. */
  #findRefusal(callKey: string): string | undefined {
    const first = this.#first
    const { maxHandoffs = DEFAULT_MAX_HANDOFFS } = this.#root.task
    if (this.#count >= maxHandoffs) {
      return `All ${maxHandoffs} handoffs of this task are used up: answer yourself`
    }
    if (first === undefined || first.callKey === callKey) return undefined
    return `Only the first handoff of a turn takes place, which is "${first.call.name}"`
  }

  #findAgent(target: Handoff): Agent {
    const { ensemble } = this.#scope.run
    const agent = resolveHandoff(target, this.#root.task, ensemble.tasks)
    if (agent !== undefined) return agent
    // Only a task that a handler adds is not checked with the ensemble.
    throw new TuttiError('CONFIG_INVALID', `No agent has the role "${toHandoffRole(target)}"`)
  }
}

/**
 * Returns what the next agent receives of a conversation.
 *
 * @throws {TuttiError} TASK_FAILED if the filter throws, or returns messages that a model would reject.
 */
function filterConversation(target: Handoff, messages: readonly Message[]): readonly Message[] {
  const { filter = 'all' } = target
  const all = messages.filter(({ role }) => role !== 'system')
  if (filter === 'all') return all
  if (filter === 'withoutTools') return removeTools(all)
  const role = toHandoffRole(target)
  let filtered: readonly Message[]
  try {
    filtered = filter(all)
  } catch (error) {
    const message = `The filter of the handoff to "${role}" failed: ${errorMessage(error)}`
    throw new TuttiError('TASK_FAILED', message, { cause: error })
  }
  const problems = findConversationProblems(filtered)
  if (problems.length === 0) return filtered
  throw new TuttiError(
    'TASK_FAILED',
    `The filter of the handoff to "${role}" returned an invalid conversation: ${problems.join('; ')}`,
    { details: { problems } },
  )
}

/** Returns the texts of a conversation, without tool calls and their results. */
function removeTools(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message): Message[] => {
    if (message.role === 'tool') return []
    if (message.role !== 'assistant' || message.toolCalls.length === 0) return [message]
    // Provider content may refer to the calls.
    const { role, content } = message
    return content === '' ? [] : [{ role, content, toolCalls: [] }]
  })
}
