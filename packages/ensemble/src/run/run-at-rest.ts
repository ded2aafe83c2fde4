/**
 * Wishes for a run that nobody executes: what a running engine would have written for them.
 *
 *   steps so far ─▶ the same checks as in a run ─▶ events and steps ─▶ whoever keeps the run writes them
 *
 * S4 A wish for a run at rest is checked by the same rules as one for a run that executes, and is a part of
 *    the run when it goes on.
 */
import { schemaReader, systemClock, type Clock, type TSchema } from '@tutti/core'

import { allTasks } from '../definition/manager.ts'
import { workerTask } from '../hierarchy/delegations.ts'
import { StepLog } from '../scope/step-log.ts'
import { Directives, type DirectiveInput } from '../steering/directives.ts'
import { assertDecision, type GateDecision } from '../ports/run-reviewer.ts'
import {
  decidedEvent,
  findTextProblem,
  hasEndedRun,
  isSameDecision,
  knownGate,
  reviewNotFound,
  reviewResolved,
} from '../reviews/review-end.ts'
import { fallbackModelIn, ownModelIn } from '../definition/model-of-task.ts'
import { ModelRules } from '../steering/model-rules.ts'
import { ModelSwitches } from '../steering/models.ts'
import { builtInTierOf, type ModelChoice } from './model-steering.ts'
import { Steering } from './steering.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { ChatModel } from '../model/chat-model.ts'
import type { ModelCatalog } from '../model/model-catalog.ts'
import type { Directive, RunStep, StepOf } from '../ports/run-step.ts'
import type { RunProfiles } from '../steering/profiles.ts'
import type { Task } from '../definition/task.ts'
import type { CancelOptions, ModelSwitch } from './run-handle.ts'
import type { Problem, RunEvent, RunEventOf } from '@tutti/protocol'

/** A run that nobody executes. */
export interface AtRestOptions {
  readonly runId: string
  /** All steps that were kept, in order; none when the run has not begun. */
  readonly steps: readonly RunStep[]
  /** Models that a switch may name by alias. */
  readonly models?: ModelCatalog
  /** Profiles that a directive may apply, by name. @default {} */
  readonly profiles?: RunProfiles
  /** @default the system's clock */
  readonly clock?: Clock
}

/** What a wish came to, and what is to be written in one piece so that it counts. */
export interface Wished<T> {
  readonly value: T
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
}

/** Takes wishes for a run at rest. Each answer is for the steps that were given: ask anew for later ones. */
export interface RunAtRest {
  /** Asks the run to end; nothing is to be written when it was asked so already. */
  cancel(options?: CancelOptions): Wished<void>
  /**
   * Sends the next model calls of the run, or of one task, to another model or `{ tier }`.
   *
   * @throws {TuttiError} INVALID_MODEL, BAD_REQUEST for an unknown task.
   */
  switchModel(
    model: Exclude<ModelChoice, ChatModel>,
    options?: { readonly task?: string; readonly actor?: string },
  ): Wished<ModelSwitch>
  /**
   * Tells the agents something.
   *
   * @throws {TuttiError} BAD_REQUEST, naming every problem.
   */
  inject(input: DirectiveInput | string): Wished<Directive>
  /**
   * Decides a gate that was open when the run was let go; `request` is the event that told of it. Nothing
   * is to be written when that very decision was taken already.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND, REVIEW_RESOLVED, also when its time is over or the run is
   * ending, BAD_REQUEST when the decision does not fit.
   */
  decide(request: RunEventOf<'review_requested'>, decision: GateDecision): Promise<Wished<void>>
}

/** Makes what takes wishes for a run of `ensemble` that nobody executes. It executes nothing either. */
export function runAtRest(ensemble: ResolvedEnsemble, options: AtRestOptions): RunAtRest {
  return {
    cancel: (how) =>
      steer(ensemble, options, (steering) => {
        steering.cancel(how)
      }),
    switchModel: (model, how) =>
      steer(ensemble, options, (steering) => steering.switchModel(model, how)),
    inject: (input) =>
      steer(ensemble, options, (steering) =>
        steering.inject(typeof input === 'string' ? { content: input } : input),
      ),
    decide: (request, decision) => decide(ensemble, options, { request, decision }),
  }
}

/** Takes a wish as a run does that knows these steps. */
function steer<T>(
  ensemble: ResolvedEnsemble,
  { runId, steps, models, profiles = {}, clock = systemClock }: AtRestOptions,
  wish: (steering: Steering) => T,
): Wished<T> {
  const written: { readonly events: RunEvent[]; readonly steps: RunStep[] } = {
    events: [],
    steps: [],
  }
  const switches = new ModelSwitches(models)
  const tasks = allTasks(ensemble)
  const { runSteps } = new StepLog(steps)
  const steering = new Steering({
    runId,
    clock,
    journal: {
      emit(event, step) {
        written.events.push(event)
        if (step !== undefined) written.steps.push(step)
      },
    },
    stopwatch: { elapsed: () => workedMs(steps) },
    switches,
    ownModel: ownModelIn(ensemble, tasks),
    fallbackModel: fallbackModelIn(ensemble, tasks),
    // The rules of a run that nobody executes look at its calls when it goes on.
    rules: new ModelRules(),
    profiles,
    directives: new Directives(),
    // The gates of a run that is cancelled close when it goes on.
    gates: { closeBefore: () => undefined },
    taskNames: () => tasks.map(({ name }) => name),
    roles: () => tasks.map(({ agent }) => agent.role),
  })
  steering.restore(runSteps.filter(({ kind }) => kind !== 'model_switched'))
  for (const step of runSteps) {
    if (step.kind !== 'model_switched') continue
    // Only the name is asked for, also of a model that the catalog does not have any more.
    const tier = builtInTierOf(step.tier, switches)
    switches.switch(tier ?? { label: step.model, model: NOT_ASKED }, step.taskName)
  }
  return { value: wish(steering), ...written }
}

/** Stands for a model where nobody is asked. */
const NOT_ASKED: ChatModel = {
  provider: 'none',
  name: 'none',
  stream() {
    throw new TypeError('A run at rest asks no model')
  },
}

/** Working time of the run so far: it stands still while nobody executes the run. */
function workedMs(steps: readonly RunStep[]): number {
  return steps.at(-1)?.runMs ?? 0
}

interface DecisionAtRest {
  readonly request: RunEventOf<'review_requested'>
  readonly decision: GateDecision
}

async function decide(
  ensemble: ResolvedEnsemble,
  { steps, clock = systemClock }: AtRestOptions,
  { request, decision }: DecisionAtRest,
): Promise<Wished<void>> {
  const { reviewId, timeoutMs, toolName } = request
  const log = new StepLog(steps)
  const known = knownGate(log, reviewId)
  if (known === undefined) throw reviewNotFound(reviewId, openGates(steps))
  const { opened, closed } = known
  const { taskName, attempt, timing, openedAt } = opened
  if (closed !== undefined && isSameDecision(decision, closed.decision)) {
    return { value: undefined, events: [], steps: [] }
  }
  const isOver = timeoutMs > 0 && clock.now() >= openedAt + timeoutMs
  if (closed !== undefined || isOver || isEnding(steps, opened)) throw reviewResolved(reviewId)
  const asked = taskOf(ensemble, log, taskName)
  const { answerSchema } = opened
  const checkEdit = (input: unknown): Promise<readonly Problem[]> =>
    answerSchema === undefined
      ? findInputProblems(asked, toolName, input)
      : findAnswerProblems(answerSchema, input)
  const approval = { checkEdit }
  await assertDecision({ reviewId, timing, approval }, decision, (text) =>
    findTextProblem(asked ?? {}, text),
  )
  const times = { runMs: workedMs(steps), taskMs: log.task(taskName).workedMs(attempt) }
  return {
    value: undefined,
    events: [decidedEvent(clock, reviewId, decision)],
    steps: [
      { kind: 'gate_closed', reviewId, decision, timedOut: false, taskName, attempt, ...times },
    ],
  }
}

/** Whether the run closes the gate as soon as it goes on, because it was cancelled or ended early. */
function isEnding(steps: readonly RunStep[], { timing }: StepOf<'gate_opened'>): boolean {
  return steps.some((step) => {
    switch (step.kind) {
      case 'cancel_asked':
        return step.mode === 'abort' || timing === 'BEFORE_EXECUTION'
      case 'gate_closed':
        return hasEndedRun(step)
      case 'task_completed':
        return step.exit !== undefined
      default:
        return false
    }
  })
}

function openGates(steps: readonly RunStep[]): readonly string[] {
  const closed = new Set(
    steps.flatMap((step) => (step.kind === 'gate_closed' ? step.reviewId : [])),
  )
  return steps.flatMap((step) =>
    step.kind === 'gate_opened' && !closed.has(step.reviewId) ? step.reviewId : [],
  )
}

/** The task that asks: one of the plan, or one that was delegated. */
function taskOf(ensemble: ResolvedEnsemble, log: StepLog, taskName: string): Task | undefined {
  const planned = allTasks(ensemble).find(({ name }) => name === taskName)
  if (planned !== undefined) return planned
  for (const delegator of log.taskNames) {
    const begun = log
      .task(delegator)
      .of('delegation_begun')
      .find(({ workerTask: name }) => name === taskName)
    if (begun !== undefined) return workerTask(ensemble, begun.workerRole, begun.taskDescription)
  }
  return undefined
}

/** The problems of an answer; the tool reads it again with the schema that it asked with. */
async function findAnswerProblems(
  answerSchema: TSchema,
  answer: unknown,
): Promise<readonly Problem[]> {
  const { read } = schemaReader(answerSchema, { action: 'Cannot check an answer:' })
  const decoded = await read(answer)
  return decoded.ok ? [] : decoded.problems
}

async function findInputProblems(
  asking: Task | undefined,
  toolName: string | undefined,
  input: unknown,
): Promise<readonly Problem[]> {
  const tool = asking?.tools.find(({ name }) => name === toolName)
  if (tool === undefined) {
    return [{ path: '', message: `cannot be checked at rest: the task has no tool "${toolName}"` }]
  }
  const decoded = await tool.readInput(input)
  return decoded.ok ? [] : decoded.problems
}
