/**
 * Applies commands to a run that no process executes: returns the events and steps that a running engine
 * would have written.
 *
 *   steps so far ─▶ the same interpreter as in a run ─▶ events and steps ─▶ the caller stores them
 *
 * ENS-S4 A command for an unowned run is checked by the same rules as one for an executing run, and is part
 *    of the run when it continues.
 */
import { systemClock, type Clock, type TSchema } from '@tutti/core'
import { foreignSchema, schemaReader } from '@tutti/core/internal'

import { findHandoffAgent } from '../definition/check-handoffs.ts'
import { JUDGE_KEY } from '../definition/loop-variables.ts'
import { listAllTasks } from '../definition/manager.ts'
import { findEnsembleTool, findSubEnsemble, listRoles } from '../definition/sub-ensemble.ts'
import { createWorkerTask } from '../hierarchy/delegations.ts'
import { listBegunWorkers } from '../hierarchy/workers.ts'
import { readDecision } from '../reviews/read-decision.ts'
import { toAddedName } from '../scope/run-scope.ts'
import { StepLog } from '../scope/step-log.ts'
import { createFallbackModelLookup, createOwnModelLookup } from '../definition/model-of-task.ts'
import { Directives } from './directives.ts'
import {
  createDecidedEvent,
  findTextProblem,
  hasEndedRun,
  isSameDecision,
  findRecordedReview,
  reviewNotFoundError,
  reviewResolvedError,
} from '../reviews/review-end.ts'
import { ModelRules } from './model-rules.ts'
import { findBuiltInTier } from './model-steering.ts'
import { ModelSwitches } from './models.ts'
import { Steering } from './steering.ts'

import type { RunEvent, RunEventOf } from '@tutti/protocol'
import type {
  Problem,
  ReplyTo,
  ReviewVerdict,
  RunCommandKind,
  RunCommandOf,
} from '@tutti/protocol/internal'
import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { ChatModel } from '../model/chat-model.ts'
import type { ModelCatalog } from '../model/model-catalog.ts'
import type { RunStep, StepOf } from '../ports/run-step.ts'
import { createHandoffTask, type Task } from '../definition/task.ts'
import type { RunProfiles } from './profiles.ts'

/** A run that no process executes. */
export interface UnownedRun {
  readonly runId: string
  /** All stored steps, in order; empty if the run has not begun. */
  readonly steps: readonly RunStep[]
  /** Returns the event that requested a review; undefined for an unknown review. */
  readonly findRequest: (reviewId: string) => Promise<RunEventOf<'review_requested'> | undefined>
  /** Models to which the run can be switched by alias. */
  readonly models?: ModelCatalog
  /** Profiles that a directive can apply, by name. @default {} */
  readonly profiles?: RunProfiles
  /** Clock for the times of events. @default the system clock */
  readonly clock?: Clock
}

/** The reply to a command, and the events and steps that the caller must store atomically. */
export interface AppliedCommand<K extends RunCommandKind = RunCommandKind> {
  readonly reply: ReplyTo<K>
  /** Events to append; empty if the command changes nothing. */
  readonly events: readonly RunEvent[]
  readonly steps: readonly RunStep[]
}

/** Events and steps that a command writes. */
interface Written {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
}

/**
 * Applies a command to a run of `ensemble`. The result is valid only for these steps. A decision that was
 * already recorded under the same id, and a repeated cancel, write nothing.
 *
 * @throws {TuttiError} the errors of the methods of `RunHandle`; REVIEW_RESOLVED also if the review has timed
 * out or the run is ending.
 */
export async function applyToUnowned<K extends RunCommandKind>(
  ensemble: ResolvedEnsemble,
  run: UnownedRun,
  command: RunCommandOf<K>,
): Promise<AppliedCommand<K>> {
  const written: Written = { events: [], steps: [] }
  const steering = restoreSteering(ensemble, run, written)
  return { reply: await steering.send(command), ...written }
}

/** Returns the steering of a run with these steps. */
function restoreSteering(ensemble: ResolvedEnsemble, run: UnownedRun, written: Written): Steering {
  const { runId, steps, models, profiles = {}, clock = systemClock } = run
  const switches = new ModelSwitches(models)
  const tasks = listAllTasks(ensemble)
  const log = new StepLog(steps)
  const { runSteps } = log
  const workers = listBegunWorkers(log).map(({ workerTask }) => workerTask)
  const steering = new Steering({
    runId,
    clock,
    journal: {
      emit(event, step) {
        written.events.push(event)
        if (step !== undefined) written.steps.push(step)
      },
    },
    stopwatch: { elapsed: () => readWorkedMs(steps) },
    switches,
    ownModel: createOwnModelLookup(ensemble, tasks),
    fallbackModel: createFallbackModelLookup(ensemble, tasks),
    // The rules count the calls of the run when it continues.
    rules: new ModelRules(),
    profiles,
    directives: new Directives(),
    reviews: {
      // The reviews of a cancelled run close when it continues.
      closeAtBoundary: () => undefined,
      decide: (reviewId, verdict) => decide(ensemble, run, { reviewId, verdict, written }),
    },
    taskNames: () => [...new Set([...tasks.map(({ name }) => name), ...workers])],
    roles: () => listRoles(tasks),
  })
  steering.restore(runSteps.filter(({ kind }) => kind !== 'model_switched'))
  for (const step of runSteps) {
    if (step.kind !== 'model_switched') continue
    // Only the label is used, so the catalog need not have the model any longer.
    const tier = findBuiltInTier(step.tier, switches)
    switches.switch(tier ?? { label: step.model, model: UNUSED_MODEL }, step.taskName)
  }
  return steering
}

/** Placeholder for a model that is never called. */
const UNUSED_MODEL: ChatModel = {
  provider: 'none',
  name: 'none',
  stream() {
    throw new TypeError('An unowned run calls no model')
  },
}

/** Returns the working time of the run, which does not pass while the run is unowned. */
function readWorkedMs(steps: readonly RunStep[]): number {
  return steps.at(-1)?.runMs ?? 0
}

interface Deciding {
  readonly reviewId: string
  readonly verdict: ReviewVerdict
  readonly written: Written
}

/** Decides a review that was open when the run was released. */
async function decide(
  ensemble: ResolvedEnsemble,
  { steps, findRequest, clock = systemClock }: UnownedRun,
  { reviewId, verdict, written }: Deciding,
): Promise<void> {
  const log = new StepLog(steps)
  const known = findRecordedReview(log, reviewId)
  const request = known === undefined ? undefined : await findRequest(reviewId)
  if (known === undefined || request === undefined) {
    throw reviewNotFoundError(reviewId, listOpenReviews(steps))
  }
  const { opened, closed } = known
  const { taskName, attempt, timing, openedAt, answerSchema } = opened
  if (closed !== undefined && isSameDecision(verdict, closed.decision)) return
  const { timeoutMs, toolName, kind } = request
  const isOver = timeoutMs > 0 && clock.now() >= openedAt + timeoutMs
  if (closed !== undefined || isOver || isEnding(steps, opened)) throw reviewResolvedError(reviewId)
  const asked = findReviewedTask(ensemble, log, taskName)
  const checkEdit = (input: unknown): Promise<readonly Problem[]> =>
    answerSchema === undefined
      ? findInputProblems(asked, toolName, input)
      : findAnswerProblems(answerSchema, input)
  const inputSchema = answerSchema ?? {}
  const review = { reviewId, kind, timing, approval: { checkEdit, inputSchema } }
  const decision = await readDecision(review, verdict, (text) =>
    asked === undefined && timing === 'AFTER_EXECUTION' && hasSchema(log, opened)
      ? Promise.resolve(
          'cannot be checked while the run is unowned: its task is added by a handler',
        )
      : findTextProblem(asked ?? {}, text),
  )
  const times = { runMs: readWorkedMs(steps), taskMs: log.task(taskName).workedMs(attempt) }
  written.events.push(createDecidedEvent(clock, reviewId, decision))
  written.steps.push({
    kind: 'gate_closed',
    reviewId,
    decision,
    timedOut: false,
    taskName,
    attempt,
    ...times,
  })
}

/** Whether the run closes the review as soon as it continues, because it was cancelled or ended early. */
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

function listOpenReviews(steps: readonly RunStep[]): readonly string[] {
  const closed = new Set(
    steps.flatMap((step) => (step.kind === 'gate_closed' ? step.reviewId : [])),
  )
  return steps.flatMap((step) =>
    step.kind === 'gate_opened' && !closed.has(step.reviewId) ? step.reviewId : [],
  )
}

/** Returns the task under review: one of a plan, of an item or round of one, or a delegated one; undefined if code added it. */
function findReviewedTask(
  ensemble: ResolvedEnsemble,
  log: StepLog,
  taskName: string,
): Task | undefined {
  const tasks = listAllTasks(ensemble)
  const planned = tasks.find(({ name }) => name === taskName)
  if (planned !== undefined) return planned
  const begun = listBegunWorkers(log).find(({ workerTask }) => workerTask === taskName)
  if (begun === undefined) return undefined
  const { ordinal, parent, toolName, workerRole, taskDescription, handoff } = begun
  const findNested = (task: Task | undefined): ResolvedEnsemble | undefined =>
    task === undefined ? undefined : findSubEnsemble(task)?.definition
  if (toolName !== undefined) {
    const calling = findReviewedTask(ensemble, log, begun.taskName)
    const tool = calling?.tools.find(({ name }) => name === toolName)
    return tool && findEnsembleTool(tool)?.task
  }
  if (ordinal === undefined) {
    const own =
      parent === undefined ? ensemble : findNested(findReviewedTask(ensemble, log, parent.taskName))
    if (handoff !== undefined) return own && findReceivingTask(begun, { ensemble, own, log })
    return own && createWorkerTask({ ensemble: own, inputs: {} }, workerRole, taskDescription)
  }
  const adding = findReviewedTask(ensemble, log, begun.taskName)
  const nested = findNested(adding)
  if (nested !== undefined) {
    return listAllTasks(nested).find(({ name }) => toAddedName(begun, name) === taskName)
  }
  if (adding?.loop !== undefined) {
    const { judge, template } = adding.loop
    return taskName.startsWith(toAddedName(begun, JUDGE_KEY)) ? judge : template
  }
  // The handler maps the items first; its other operations are the levels of the reduction.
  const plan = adding?.forEach
  if (ordinal !== 0) return plan?.reduce?.task
  const children = [...(plan?.children ?? [])]
  const [, own] = children.find(([key]) => toAddedName(begun, key) === taskName) ?? []
  return own ?? plan?.template
}

/** Returns the task of an agent that received a conversation; undefined if the code does not have the agent. */
function findReceivingTask(
  received: StepOf<'delegation_begun'>,
  {
    ensemble,
    own,
    log,
  }: {
    readonly ensemble: ResolvedEnsemble
    /** Ensemble of the task that was handed off. */
    readonly own: ResolvedEnsemble
    readonly log: StepLog
  },
): Task | undefined {
  const workers = listBegunWorkers(log)
  let rootName = received.taskName
  for (;;) {
    const before = workers.find(({ workerTask }) => workerTask === rootName)
    if (before?.handoff === undefined) break
    rootName = before.taskName
  }
  const root = findReviewedTask(ensemble, log, rootName)
  const agent = root && findHandoffAgent(received.workerRole, root, own.tasks)
  return agent && createHandoffTask(root, agent)
}

/** Whether the task under review began with an output schema. */
function hasSchema(log: StepLog, { taskName, attempt }: StepOf<'gate_opened'>): boolean {
  return typeof log.task(taskName).find('task_begun', attempt)?.outputDigest === 'string'
}

/** Returns the problems of an answer; the tool later parses it again with its own schema. */
async function findAnswerProblems(
  answerSchema: TSchema,
  answer: unknown,
): Promise<readonly Problem[]> {
  // The question can come from an MCP server or an agent.
  const { schema } = foreignSchema(answerSchema)
  const { read } = schemaReader(schema, { action: 'Cannot check an answer:' })
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
    return [
      {
        path: '',
        message: `cannot be checked while the run is unowned: the task has no tool "${toolName}"`,
      },
    ]
  }
  const decoded = await tool.readInput(input)
  return decoded.ok ? [] : decoded.problems
}
