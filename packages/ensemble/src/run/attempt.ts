/**
 * One attempt at a task: the work of one agent or one handler, with its events.
 *
 *   guardrails ─▶ notes ─▶ agent or handler ─▶ guardrails ─▶ review ─▶ reflection ─▶ memory ─▶ completed
 *
 * ENS-T1 An attempt emits task_started, task_input, the events of the work, then exactly one of
 *    task_completed, task_attempt_failed and task_failed.
 * ENS-T2 task_completed is committed together with the step that prevents the task from running again.
 * ENS-T3 task_input shows the input of the agent; in the event, but not for the model, its context is cut
 *    after 8,000 characters.
 * ENS-T4 task_attempt_failed and task_failed give the reason and a code; another attempt follows the first.
 * ENS-T8 A completed task stays completed: a failure of its memory or its reflection is only logged.
 */
import { TuttiError, type AgentTool } from '@tutti/core'
import { isoNow, limitText } from '@tutti/core/internal'
import { totalTokens } from '@tutti/protocol/internal'

import { runAgentLoop, type AgentLoopInput, type TaskAnswer } from '../agent/loop.ts'
import { ModelChain, type RunModels } from '../agent/model-chain.ts'
import { readNotes, reflect, remember, type MemoryStores } from '../agent/notes.ts'
import { renderContext } from '../agent/prompt.ts'
import type { TaskText } from '../definition/task-text.ts'
import { listTaskTools } from '../hierarchy/delegate-tool.ts'
import { createHandoffs } from '../hierarchy/handoffs.ts'
import { renderOutputInstructions } from '../output/structured-output.ts'
import { digestOutput } from '../scope/replay.ts'
import { toStepError, type AttemptHistory } from '../scope/step-log.ts'
import { sumCostUsd, type Usage } from '../usage/usage.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { failAttempt, type AttemptFailure } from './attempt-failure.ts'
import { assertGuardrails } from './guardrails.ts'
import {
  findReviewAfter,
  RejectedAnswer,
  reviewAnswer,
  type AcceptedAnswer,
} from './review-answer.ts'
import { mustCompensate, runHandler } from './run-handler.ts'

import type { RunTooling } from '../agent/tool-call-options.ts'
import type { Guardrails } from '../definition/guardrail.ts'
import type { ContextOutput } from '../definition/handler.ts'
import type { Task } from '../definition/task.ts'
import type { Delegations } from '../hierarchy/delegations.ts'
import { endUnreached, type WorkerHost } from '../hierarchy/workers.ts'
import type { ResultGiven, StepError, TaskNotes } from '../ports/run-step.ts'
import type { Reviews } from '../reviews/reviews.ts'
import type { TaskResult } from '../scope/task-outcome.ts'
import type { NewTaskStep, TaskScope } from '../scope/task-scope.ts'
import type { Directives } from '../steering/directives.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Maximum length of the assembled context in `task_input`, in characters, as the wire defines it. */
const CONTEXT_SHOWN = 8_000

/** Parts of a run that its tasks use. */
export interface TaskServices {
  readonly models: RunModels
  readonly tooling: RunTooling
  readonly stores: MemoryStores
  readonly reviews: Reviews
  readonly directives: Directives
  readonly delegations: Delegations
  readonly host: WorkerHost
}

export interface AttemptInput {
  readonly scope: TaskScope
  readonly services: TaskServices
  readonly text: TaskText
  readonly context: readonly ContextOutput[]
  /** As in `RunTaskInput`. */
  readonly countTasks: () => number
  readonly progress: AttemptHistory
  /** Signal of the run, or of the call that delegates; no other attempt follows once it has aborted. */
  readonly signal: AbortSignal
  /** As in `RunTaskInput`. */
  readonly awaitRecorded: (recorded: Promise<void>) => Promise<void> | undefined
}

export type AttemptEnd =
  | { readonly kind: 'completed'; readonly result: TaskResult; readonly exit?: TuttiError }
  | AttemptFailure

/** Runs an attempt. Rejects only if this process may no longer write to the run. */
export async function runAttempt(input: AttemptInput): Promise<AttemptEnd> {
  const { scope, services } = input
  const { stores, reviews } = services
  try {
    start(input)
    const models = new ModelChain(scope, services.models)
    const working = work(input, models)
    const answer = working instanceof Promise ? await working : working
    const settings = findReviewAfter(scope)
    const accepted =
      settings === undefined
        ? { answer }
        : await reviewAnswer(scope, reviews, {
            answer,
            settings,
            description: input.text.description,
          })
    if (scope.task.reflection === true && answer.isGiven === undefined) {
      await reflect(scope, { models, stores }, accepted.answer)
    }
    const remembers = scope.run.log.replay === undefined
    if (remembers && scope.task.memory.length > 0) {
      await remember(scope, stores, accepted.answer.output)
    }
    scope.assertReplayed('the end of the task')
    scope.assertSameOutput(accepted.answer.output)
    reviews.closeUnopened(scope)
    const { result, recorded } = complete(input, accepted)
    const recording = recorded === undefined ? undefined : input.awaitRecorded(recorded)
    if (recording !== undefined) await recording
    const { exit } = accepted
    return exit === undefined ? { kind: 'completed', result } : { kind: 'completed', result, exit }
  } catch (thrown) {
    const reason = thrown instanceof RejectedAnswer ? thrown.error : thrown
    await endUnreached(scope, services.host, TuttiError.from(reason, 'TASK_FAILED'))
    return failAttempt(input, thrown, scope.stopwatch.startedAt)
  }
}

/**
 * Fails an attempt before its work, with a start event so that readers see the reason: a reviewer rejected it, or its start is
 * refused.
 */
export function failBeforeStart(
  input: AttemptInput,
  error: TuttiError,
  { isRefused = false }: { readonly isRefused?: boolean } = {},
): AttemptFailure {
  start(input, isRefused ? toStepError(error) : undefined)
  const final = new RejectedAnswer(error, { settings: {}, revision: undefined })
  return failAttempt(input, final, input.scope.run.clock.elapsed())
}

function start({ scope, countTasks, text, progress }: AttemptInput, refusal?: StepError): void {
  if (progress.begun) return
  const { taskIndex, taskName, taskDescription, agentRole, attempt } = scope.identity
  scope.emit(
    {
      type: 'task_started',
      taskIndex,
      totalTasks: countTasks(),
      taskDescription,
      agentRole,
      startedAt: isoNow(scope.run.clock),
      taskName,
      attempt,
    },
    {
      kind: 'task_begun',
      description: text.description,
      outputDigest: digestOutput(scope.task.outputReader),
      ...(refusal === undefined ? {} : { refusal }),
    },
  )
}

/**
 * Returns the answer of the agent or the handler after the guardrails have accepted it; not a promise if a
 * handler answers at once.
 */
function work(input: AttemptInput, models: ModelChain): TaskAnswer | Promise<TaskAnswer> {
  const { signal, task } = input.scope
  if (mustCompensate(input.scope)) return askForAnswer(input, models)
  if (signal.aborted) throw stoppedError(signal, 'Task')
  const { guardrails } = task
  return guardrails === undefined
    ? askForAnswer(input, models)
    : workWithGuardrails(input, models, guardrails)
}

function askForAnswer(input: AttemptInput, models: ModelChain): TaskAnswer | Promise<TaskAnswer> {
  const { taskName, attempt } = input.scope.identity
  const given = input.scope.run.log.findGiven(taskName, attempt)
  if (given !== undefined) return toGivenAnswer(given)
  const { handler } = input.scope.task
  if (handler === undefined) return askAgent(input, models)
  const { text, context, services } = input
  const { tooling, host } = services
  return runHandler(input.scope, handler, { text, context, tooling, host })
}

function toGivenAnswer({ output, structured }: ResultGiven): TaskAnswer {
  return {
    output,
    ...(structured === undefined ? {} : { structured }),
    iterationLimitReached: false,
    turns: 0,
    isGiven: true,
  }
}

async function workWithGuardrails(
  input: AttemptInput,
  models: ModelChain,
  guardrails: Guardrails,
): Promise<TaskAnswer> {
  const { scope, text, context } = input
  const { taskName, agentRole } = scope.identity
  if (guardrails.input !== undefined) {
    const outputs = Object.fromEntries(context.map((one) => [one.taskName, one.output]))
    const { description, expectedOutput } = text
    const value = { taskName, agentRole, description, expectedOutput, context: outputs }
    await assertGuardrails(scope, guardrails.input, { what: 'input', value })
  }
  const given = await askForAnswer(input, models)
  if (guardrails.output !== undefined) {
    const { description } = text
    const { output, structured } = given
    const value = { taskName, agentRole, description, output, structured }
    await assertGuardrails(scope, guardrails.output, { what: 'output', value })
  }
  return given
}

function askAgent(input: AttemptInput, models: ModelChain): Promise<TaskAnswer> {
  const { scope, services, text } = input
  const { tooling, delegations, host } = services
  const handoffs = createHandoffs(scope, { text, host })
  const own = listTaskTools(scope, delegations)
  const { clientTools } = tooling
  const added = [...(handoffs?.tools ?? []), ...clientTools]
  const tools = added.length === 0 ? own : [...own, ...added]
  const notes = takeNotes(input, tools)
  const parts = { models, tools, handoffs }
  return notes instanceof Promise
    ? notes.then((read) => runAgentLoop(createLoopInput(input, { ...parts, notes: read })))
    : runAgentLoop(createLoopInput(input, { ...parts, notes }))
}

function createLoopInput(
  { scope, services, text, context, progress }: AttemptInput,
  {
    models,
    tools,
    handoffs,
    notes,
  }: Pick<AgentLoopInput, 'models' | 'tools' | 'handoffs'> & { readonly notes: TaskNotes },
): AgentLoopInput {
  const { task } = scope
  const { outputReader } = task
  const { tooling, directives, delegations } = services
  return {
    scope,
    models,
    tools,
    tooling,
    directives,
    handoffs,
    endsWithAnswer: endsWithAnswer(scope),
    assertMayAnswer() {
      delegations.assertComplete(scope)
    },
    prompt: {
      agent: task.agent,
      text,
      instructions: task.instructions ?? task.agent.instructions,
      received: scope.received?.messages,
      history: scope.run.history,
      context,
      additionalContext: task.additionalContext,
      notes,
      attempt: progress.attempt,
      revision: progress.revision,
      outputFormat:
        outputReader === undefined ? undefined : renderOutputInstructions(outputReader.schema),
    },
  }
}

/** Whether the attempt ends after an answer of the agent, without a correction, call or review. */
function endsWithAnswer(scope: TaskScope): boolean {
  const { outputReader, guardrails, reflection, memory } = scope.task
  return (
    outputReader === undefined &&
    guardrails?.output === undefined &&
    reflection !== true &&
    memory.length === 0 &&
    findReviewAfter(scope) === undefined
  )
}

/** Returns the outputs of earlier tasks and the additional context as one text. */
function assembleContext(
  context: readonly ContextOutput[],
  { additionalContext }: Pick<Task, 'additionalContext'>,
): string {
  const parts = [renderContext(context), additionalContext ?? '']
  return parts.filter((part) => part !== '').join('\n\n')
}

/**
 * Reads the notes of the task and records them with the event that shows the input of the agent. Returns no
 * promise if the task has no notes to read.
 */
function takeNotes(
  input: AttemptInput,
  tools: readonly AgentTool[],
): TaskNotes | Promise<TaskNotes> {
  const { scope, services, text } = input
  const recorded = scope.replay('notes_read')
  if (recorded !== undefined) return recorded.notes
  const known = scope.run.log.record.findNotes(scope.identity.taskName)
  if (known !== undefined) return recordInput(input, tools, known.notes)
  const reading = readNotes(scope, services.stores, text)
  return reading instanceof Promise
    ? reading.then((notes) => recordInput(input, tools, notes))
    : recordInput(input, tools, reading)
}

/** Records notes with the event that shows the input of the agent, and returns them. */
function recordInput(
  { scope, text, context }: AttemptInput,
  tools: readonly AgentTool[],
  notes: TaskNotes,
): TaskNotes {
  const { identity, task, run } = scope
  scope.emit(
    {
      type: 'task_input',
      taskIndex: identity.taskIndex,
      taskDescription: identity.taskDescription,
      expectedOutput: text.expectedOutput,
      agentRole: identity.agentRole,
      agentGoal: task.agent.goal ?? text.description,
      agentBackground: task.agent.background ?? null,
      toolNames: tools.map((tool) => tool.name),
      assembledContext: limitText(assembleContext(context, task), CONTEXT_SHOWN),
      sentAt: isoNow(run.clock),
      taskName: identity.taskName,
      attempt: identity.attempt,
    },
    { kind: 'notes_read', notes },
  )
  return notes
}

/** A completed task, and a promise that resolves when that is durable. */
interface Completion {
  readonly result: TaskResult
  readonly recorded: Promise<void> | undefined
}

function complete(
  { scope, countTasks }: AttemptInput,
  { answer, exit }: AcceptedAnswer,
): Completion {
  const { identity, run, stopwatch } = scope
  const { taskIndex, taskName, taskDescription, agentRole, attempt } = identity
  const { output, structured, parts, iterationLimitReached, finishReason } = answer
  const used = scope.totals.usage()
  const { inputTokens, outputTokens, toolCallCount, cost } = used
  const { cachedInputTokens, reasoningTokens } = used
  const durationMs = Math.round(run.clock.elapsed() - stopwatch.startedAt)
  const event: RunEventOf<'task_completed'> = {
    type: 'task_completed',
    taskIndex,
    totalTasks: countTasks(),
    taskDescription,
    agentRole,
    completedAt: isoNow(run.clock),
    durationMs,
    tokenCount: totalTokens(used),
    taskName,
    attempt,
    output,
    inputTokens,
    outputTokens,
    toolCallCount,
    iterationLimitReached,
  }
  if (parts !== undefined) event.parts = [...parts]
  if (cost !== undefined) event.costUsd = sumCostUsd(cost)
  if (cachedInputTokens !== undefined) event.cachedInputTokens = cachedInputTokens
  if (reasoningTokens !== undefined) event.reasoningTokens = reasoningTokens
  if (finishReason !== undefined) event.finishReason = finishReason
  if (structured !== undefined) event.structuredOutput = structured
  if (answer.isGiven !== undefined) event.outputGiven = true
  let result: TaskResult = { ...used, taskName, attempt, output, durationMs }
  if (structured !== undefined) result = { ...result, structured }
  if (finishReason !== undefined) result = { ...result, finishReason }
  if (!run.recordsSteps) {
    scope.emit(event)
    return { result, recorded: undefined }
  }
  return { result, recorded: scope.commit(createEndStep(result, used, exit), event) }
}

function createEndStep(
  { output, durationMs, structured, finishReason }: TaskResult,
  used: Usage,
  exit: TuttiError | undefined,
): NewTaskStep {
  return {
    kind: 'task_completed',
    output,
    used,
    durationMs,
    ...(structured === undefined ? {} : { structured }),
    ...(finishReason === undefined ? {} : { finishReason }),
    ...(exit === undefined ? {} : { exit: toStepError(exit) }),
  }
}
