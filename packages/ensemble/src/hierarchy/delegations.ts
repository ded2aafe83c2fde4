/**
 * Delegation: an agent gives work to another agent, which runs as a separate task.
 *
 *   tool call ─▶ limits, policies ─▶ delegation_started ─▶ task … ─▶ its output ─▶ result of the call
 *
 * ENS-H1 A delegation that a limit or a policy rejects emits one delegation_failed, and the agent receives
 *    the reason.
 * ENS-H2 A delegation that begins emits one delegation_started, then the events of its task, then one of
 *    delegation_completed and delegation_failed.
 * ENS-H3 A manager delegates to the tasks of its ensemble, with their tools, context, reviews and guardrails;
 *    an agent to the other agents of its ensemble.
 * ENS-H4 The delegating agent receives a worker's failure; a reviewer's early exit ends both.
 * ENS-H5 A manager that ends without the required delegations fails with CONSTRAINT_VIOLATION.
 * ENS-H6 An interrupted delegation continues as the same task.
 * ENS-H7 The limits of delegation count for one run of their ensemble: each attempt at a task with an ensemble begins to count
 *    from 0, also the depth.
 */
import { ToolResult, TuttiError } from '@tutti/core'
import { errorMessage, isoNow } from '@tutti/core/internal'

import { renderTask } from '../definition/task-text.ts'
import { toRunName } from '../scope/run-scope.ts'
import { untilStopped } from '../work/until-stopped.ts'
import {
  beginWorker,
  createRecordedTask,
  describeFailure,
  endWorker,
  listBegunWorkers,
  runWorker,
  type BegunWorker,
  type WorkerHost,
  type WorkerTask,
} from './workers.ts'
import { task } from '../definition/define-task.ts'
import { MANAGER } from '../definition/plan.ts'
import type { Task } from '../definition/task.ts'
import {
  DEFAULT_MAX_DELEGATION_DEPTH,
  type DelegationPolicy,
  type DelegationRequest,
} from '../definition/delegation-limits.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { RunScope, TaskAttempt } from '../scope/run-scope.ts'
import type { StepLog } from '../scope/step-log.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** A call of the delegation tool. */
export interface DelegationCall {
  readonly agentRole: string
  readonly taskDescription: string
  /** Key that is unique among the calls of the run and stays the same when the call is repeated. */
  readonly callKey: string
  readonly signal: AbortSignal
}

export interface DelegationsOptions {
  readonly run: Pick<RunScope, 'ensemble' | 'inputs'>
  readonly log: StepLog
  readonly host: WorkerHost
}

/** Delegations that began in one run of an ensemble. */
interface Tally {
  readonly begun: Pick<BegunWorker, 'workerRole' | 'workerTask'>[]
  /** Roles with a completed delegation. */
  readonly completed: Set<string>
  /** Names of the tasks that the manager has delegated, by role. */
  readonly byManager: Map<string, string[]>
}

/** The delegations of one run. */
export class Delegations {
  readonly #options: DelegationsOptions
  /** Tallies by the attempt that runs the ensemble; that of the run itself has no key. */
  readonly #tallies = new Map<string | undefined, Tally>()

  constructor(options: DelegationsOptions) {
    this.#options = options
    const { log } = options
    for (const step of listBegunWorkers(log)) {
      if (step.ordinal !== undefined) continue
      const tally = this.#count(step, step.taskName)
      const isCompleted = log.task(step.workerTask).of('task_completed').length > 0
      if (isCompleted) tally.completed.add(step.workerRole)
    }
  }

  /** Returns the delegated tasks that an earlier process began. */
  listEarlier(): readonly Omit<WorkerTask, 'signal'>[] {
    const { log, run } = this.#options
    return listBegunWorkers(log).flatMap((step) => {
      const made =
        step.ordinal === undefined && step.parent === undefined
          ? createWorkerTask(run, step.workerRole, step.taskDescription)
          : createRecordedTask(step)
      if (made === undefined) return []
      return { task: made, taskName: step.workerTask, taskIndex: step.workerTaskIndex }
    })
  }

  /** Returns the roles to which the task of `scope` may delegate. */
  rolesFor({ task: { agent }, run: { ensemble } }: TaskScope): readonly string[] {
    const allowed = ensemble.delegation?.allowedWorkers
    const roles = ensemble.tasks
      .filter(({ handler }) => handler === undefined)
      .map((known) => known.agent.role)
      .filter((role) => role !== agent.role && (allowed?.includes(role) ?? true))
    return [...new Set(roles)]
  }

  /** Returns the names of the tasks that the manager of an ensemble has delegated to a role. */
  listManaged({ parent }: Pick<RunScope, 'parent'>, role: string): readonly string[] {
    return this.#tallyOf(parent).byManager.get(role) ?? []
  }

  /** Delegates work to another agent. Returns its output, or a failure with the reason. */
  async delegate(scope: TaskScope, call: DelegationCall): Promise<ToolResult> {
    const wanted = withoutRun(call.callKey)
    const begun = scope.replay('delegation_begun', ({ callKey }) => withoutRun(callKey) === wanted)
    if (begun !== undefined) return this.#run(scope, begun, call.signal)
    const request: DelegationRequest = {
      fromRole: scope.task.agent.role,
      toRole: call.agentRole,
      taskDescription: call.taskDescription,
      depth: scope.depth - (scope.run.parent?.depth ?? 0) + 1,
    }
    const { signal } = call
    const asked = await untilStopped(askPolicies(scope.run.ensemble, request), {
      signal,
      clock: scope.run.clock,
      what: 'Delegation policy',
    })
    signal.throwIfAborted()
    const { callKey } = call
    if (typeof asked === 'string') {
      return this.#reject(scope, request, { reason: asked, callKey })
    }
    // No await from here to the start, so that concurrent delegations of one turn share the limits.
    const refusal = this.#findReachedLimit(scope, asked)
    if (refusal !== undefined) return this.#reject(scope, asked, { reason: refusal, callKey })
    return this.#run(scope, this.#begin(scope, asked, callKey), call.signal)
  }

  /**
   * Checks that a manager has made all required delegations when it answers.
   *
   * @throws {TuttiError} CONSTRAINT_VIOLATION naming every missing role.
   */
  assertComplete(scope: TaskScope): void {
    const { delegation } = scope.run.ensemble
    if (delegation === undefined || !isManagerScope(scope)) return
    const { completed } = this.#tallyOf(scope.run.parent)
    const missing = (delegation.requiredWorkers ?? []).filter((role) => !completed.has(role))
    if (missing.length === 0) return
    throw new TuttiError(
      'CONSTRAINT_VIOLATION',
      `The manager ended without a completed delegation to: ${missing.join(', ')}`,
      { details: { missing } },
    )
  }

  #findReachedLimit(
    scope: TaskScope,
    { toRole, taskDescription, depth }: DelegationRequest,
  ): string | undefined {
    if (taskDescription.trim() === '') return 'taskDescription must not be blank'
    const { delegation = {}, tasks } = scope.run.ensemble
    const { begun, completed } = this.#tallyOf(scope.run.parent)
    const { maxDepth = DEFAULT_MAX_DELEGATION_DEPTH, maxDelegations = Infinity } = delegation
    const { maxCallsPerWorker = Infinity, requiredStages = [] } = delegation
    const roles = this.rolesFor(scope)
    if (!roles.includes(toRole)) {
      const known = tasks.some(({ agent }) => agent.role === toRole)
      const why = toRole === scope.task.agent.role ? 'is yourself' : 'cannot be delegated to'
      return known
        ? `Agent "${toRole}" ${why}. Available: [${roles.join(', ')}]`
        : `No agent has the role "${toRole}". Available: [${roles.join(', ')}]`
    }
    if (depth > maxDepth) return `Delegations may nest ${maxDepth} deep: do the work yourself`
    if (begun.length >= maxDelegations) {
      return `All ${maxDelegations} delegations of the run are used up: work with what you have`
    }
    const max =
      typeof maxCallsPerWorker === 'number' ? maxCallsPerWorker : maxCallsPerWorker[toRole]
    if (max !== undefined && begun.filter((one) => one.workerRole === toRole).length >= max) {
      return `All ${max} delegations to "${toRole}" are used up: work with what you have`
    }
    const stage = requiredStages.findIndex((members) => members.includes(toRole))
    const waitsFor = requiredStages
      .slice(0, Math.max(0, stage))
      .flat()
      .filter((role) => !completed.has(role))
    if (waitsFor.length === 0) return undefined
    return `"${toRole}" belongs to a later stage: first delegate to ${waitsFor.join(', ')}`
  }

  #reject(
    scope: TaskScope,
    { toRole }: DelegationRequest,
    { reason, callKey }: { readonly reason: string; readonly callKey: string },
  ): ToolResult {
    if (isEndRecorded(scope, callKey)) return ToolResult.failure(reason)
    const { taskName, attempt } = scope.identity
    endWorker(scope, {
      type: 'delegation_failed',
      delegationId: callKey,
      delegatingAgentRole: scope.task.agent.role,
      workerRole: toRole,
      reason,
      taskName,
      attempt,
      failedAt: isoNow(scope.run.clock),
    })
    return ToolResult.failure(reason)
  }

  #begin(scope: TaskScope, request: DelegationRequest, callKey: string): BegunWorker {
    const { toRole: workerRole, taskDescription } = request
    const { host } = this.#options
    const { parent } = scope.run
    const workerTask = this.#nameWorkerTask(scope, workerRole)
    const worker = {
      callKey,
      workerRole,
      taskDescription,
      workerTask,
      workerTaskIndex: host.indexOf(workerTask),
      ...(parent === undefined
        ? {}
        : { parent: { taskName: parent.taskName, attempt: parent.attempt } }),
    }
    this.#count(worker, scope.identity.taskName)
    return beginWorker(scope, worker)
  }

  /**
   * Returns the name of a delegated task. A manager's first delegation to a worker is the declared task; every other delegation
   * is a new task.
   */
  #nameWorkerTask(scope: TaskScope, role: string): string {
    const { host } = this.#options
    const { run, identity } = scope
    const declared = run.ensemble.tasks.find(({ agent }) => agent.role === role)?.name ?? role
    const isManager = isManagerScope(scope)
    const base = isManager ? toRunName(run, declared) : `${identity.taskName}/${role}`
    // The tasks of the plan of a run exist before the manager delegates them.
    const isFree = isManager && run.parent === undefined ? !host.isTaken(base) : !host.hasTask(base)
    if (isFree) return base
    let number = 2
    while (host.hasTask(`${base}#${number}`)) number += 1
    return `${base}#${number}`
  }

  async #run(scope: TaskScope, begun: BegunWorker, signal: AbortSignal): Promise<ToolResult> {
    const { workerRole, workerTask, taskDescription, delegationId } = begun
    const made = createWorkerTask(scope.run, workerRole, taskDescription)
    if (made === undefined) {
      const [recorded, asked] = ['its start', `no agent "${workerRole}"`]
      const difference = { taskName: workerTask, step: 'task_begun', recorded, asked }
      throw this.#options.host.stopMismatched(difference)
    }
    const outcome = await runWorker(scope, this.#options.host, {
      task: made,
      signal,
      begun,
      isEnded: isEndRecorded(scope, delegationId),
    })
    if (outcome.kind === 'completed') {
      this.#tallyOf(scope.run.parent).completed.add(workerRole)
      if (outcome.exit !== undefined) throw outcome.exit
      return ToolResult.success(outcome.result.output)
    }
    const error = outcome.kind === 'failed' ? outcome.error : outcome.exit
    if (error?.code === 'EXIT_EARLY') throw error
    return ToolResult.failure(`${workerRole} failed: ${describeFailure(outcome)}`)
  }

  /** Counts a delegation by the task `by`, and returns the tally to which it belongs. */
  #count(
    { parent, workerRole, workerTask }: Pick<BegunWorker, 'parent' | 'workerRole' | 'workerTask'>,
    by: string,
  ): Tally {
    const tally = this.#tallyOf(parent)
    const { begun, byManager } = tally
    begun.push({ workerRole, workerTask })
    if (by === toManagerName(parent)) {
      byManager.set(workerRole, [...(byManager.get(workerRole) ?? []), workerTask])
    }
    return tally
  }

  #tallyOf(parent: TaskAttempt | undefined): Tally {
    const key = parent === undefined ? undefined : `${parent.taskName}#${parent.attempt}`
    const tally = this.#tallies.get(key) ?? {
      begun: [],
      completed: new Set(),
      byManager: new Map(),
    }
    this.#tallies.set(key, tally)
    return tally
  }
}

function toManagerName(parent: TaskAttempt | undefined): string {
  return toRunName(parent === undefined ? {} : { parent }, MANAGER)
}

/** Whether the scope is that of the manager of its ensemble. */
export function isManagerScope({ identity, run }: TaskScope): boolean {
  const isHierarchical = run.ensemble.plan.workflow === 'HIERARCHICAL'
  return isHierarchical && identity.taskName === toManagerName(run.parent)
}

/**
 * Returns the task of a worker: for a manager, the declared task with another description and the inputs filled in; for a peer,
 * a plain task. Undefined if no agent has that role.
 */
export function createWorkerTask(
  { ensemble: { tasks, plan }, inputs }: Pick<RunScope, 'ensemble' | 'inputs'>,
  role: string,
  description: string,
): Task | undefined {
  const declared = tasks.find(({ agent }) => agent.role === role)
  if (declared === undefined) return undefined
  if (plan.workflow === 'HIERARCHICAL') {
    const { expectedOutput } = renderTask({ ...declared, description: '' }, inputs)
    return { ...declared, description, expectedOutput }
  }
  const { agent, model } = declared
  return task({ name: role, description, agent, ...(model === undefined ? {} : { model }) })
}

/** Returns the request after all policies of an ensemble, or the reason why one rejected it. */
async function askPolicies(
  { delegation }: ResolvedEnsemble,
  request: DelegationRequest,
): Promise<DelegationRequest | string> {
  let asked = request
  for (const policy of delegation?.policies ?? []) {
    const verdict = await askPolicy(policy, asked)
    if (typeof verdict === 'string') return verdict
    asked = verdict
  }
  return asked
}

/** Returns the request after a policy, or the reason why the policy rejected it; an error rejects it. */
async function askPolicy(
  policy: DelegationPolicy,
  request: DelegationRequest,
): Promise<DelegationRequest | string> {
  try {
    const verdict: unknown = await policy(request)
    if (typeof verdict === 'string') return verdict
    if (verdict === true) return request
    if (typeof verdict === 'object' && verdict !== null) return { ...request, ...verdict }
    return `A delegation policy must return true, a reason or a change, got ${String(verdict)}`
  } catch (error) {
    return errorMessage(error)
  }
}

/** Whether an earlier process recorded the end of a delegation. */
function isEndRecorded({ log }: TaskScope, delegationId: string): boolean {
  return log.of('delegation_ended').some((step) => step.delegationId === delegationId)
}

/** Returns an idempotency key without the id of its run, which differs in a fork. */
function withoutRun(key: string): string {
  return key.slice(key.indexOf('/'))
}
