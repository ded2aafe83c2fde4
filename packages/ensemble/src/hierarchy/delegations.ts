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
 */
import { ToolResult, TuttiError } from '@tutti/core'
import { errorMessage, isoNow } from '@tutti/core/internal'

import { renderTask } from '../definition/task-text.ts'
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
import type { Inputs } from '../definition/inputs.ts'
import type { StepOf } from '../ports/run-step.ts'
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
  readonly ensemble: ResolvedEnsemble
  readonly inputs: Inputs
  readonly log: StepLog
  readonly host: WorkerHost
}

/** The delegations of one run. */
export class Delegations {
  readonly #options: DelegationsOptions
  /** Number of delegations that began, by role. */
  readonly #begun = new Map<string, number>()
  /** Roles with a completed delegation. */
  readonly #completed = new Set<string>()

  constructor(options: DelegationsOptions) {
    this.#options = options
    const { log } = options
    for (const { workerRole, workerTask } of this.#listEarlierSteps()) {
      this.#count(workerRole)
      if (log.task(workerTask).of('task_completed').length > 0) this.#completed.add(workerRole)
    }
  }

  /** Returns the delegated tasks that an earlier process began. */
  listEarlier(): readonly Omit<WorkerTask, 'signal'>[] {
    return listBegunWorkers(this.#options.log).flatMap((step) => {
      const made =
        step.ordinal === undefined
          ? this.#createWorkerTask(step.workerRole, step.taskDescription)
          : createRecordedTask(step)
      if (made === undefined) return []
      return { task: made, taskName: step.workerTask, taskIndex: step.workerTaskIndex }
    })
  }

  /** Returns the roles to which the task of `scope` may delegate. */
  rolesFor({ task: { agent } }: TaskScope): readonly string[] {
    const { ensemble } = this.#options
    const allowed = ensemble.delegation?.allowedWorkers
    const roles = ensemble.tasks
      .filter(({ handler }) => handler === undefined)
      .map((known) => known.agent.role)
      .filter((role) => role !== agent.role && (allowed?.includes(role) ?? true))
    return [...new Set(roles)]
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
      depth: scope.depth + 1,
    }
    const { signal } = call
    const asked = await untilStopped(this.#askPolicies(request), {
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
    const { delegation } = this.#options.ensemble
    if (delegation === undefined || !isManagerScope(scope)) return
    const missing = (delegation.requiredWorkers ?? []).filter((role) => !this.#completed.has(role))
    if (missing.length === 0) return
    throw new TuttiError(
      'CONSTRAINT_VIOLATION',
      `The manager ended without a completed delegation to: ${missing.join(', ')}`,
      { details: { missing } },
    )
  }

  /** Returns the request after all policies, or the reason why one rejected it. */
  async #askPolicies(request: DelegationRequest): Promise<DelegationRequest | string> {
    let asked = request
    for (const policy of this.#options.ensemble.delegation?.policies ?? []) {
      const verdict = await askPolicy(policy, asked)
      if (typeof verdict === 'string') return verdict
      asked = verdict
    }
    return asked
  }

  #findReachedLimit(
    scope: TaskScope,
    { toRole, taskDescription, depth }: DelegationRequest,
  ): string | undefined {
    if (taskDescription.trim() === '') return 'taskDescription must not be blank'
    const { delegation = {}, tasks } = this.#options.ensemble
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
    const all = [...this.#begun.values()].reduce((sum, count) => sum + count, 0)
    if (all >= maxDelegations) {
      return `All ${maxDelegations} delegations of the run are used up: work with what you have`
    }
    const max =
      typeof maxCallsPerWorker === 'number' ? maxCallsPerWorker : maxCallsPerWorker[toRole]
    if (max !== undefined && (this.#begun.get(toRole) ?? 0) >= max) {
      return `All ${max} delegations to "${toRole}" are used up: work with what you have`
    }
    const stage = requiredStages.findIndex((members) => members.includes(toRole))
    const waitsFor = requiredStages
      .slice(0, Math.max(0, stage))
      .flat()
      .filter((role) => !this.#completed.has(role))
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
    this.#count(workerRole)
    const named = this.#nameWorkerTask(scope, workerRole)
    return beginWorker(scope, { callKey, workerRole, taskDescription, ...named })
  }

  /**
   * Returns the name and the index of a delegated task. A manager's first delegation to a worker is the
   * declared task; every other delegation is a new task.
   */
  #nameWorkerTask(
    scope: TaskScope,
    role: string,
  ): Pick<StepOf<'delegation_begun'>, 'workerTask' | 'workerTaskIndex'> {
    const { ensemble, host } = this.#options
    const declared = ensemble.tasks.findIndex(({ agent }) => agent.role === role)
    const declaredName = ensemble.tasks[declared]?.name ?? role
    const base = isManagerScope(scope) ? declaredName : `${scope.identity.taskName}/${role}`
    if (!host.isTaken(base)) {
      const isPlanned = base === declaredName && isManagerScope(scope)
      return { workerTask: base, workerTaskIndex: isPlanned ? declared + 1 : host.nextTaskIndex }
    }
    let number = 2
    while (host.isTaken(`${base}#${number}`)) number += 1
    return { workerTask: `${base}#${number}`, workerTaskIndex: host.nextTaskIndex }
  }

  async #run(scope: TaskScope, begun: BegunWorker, signal: AbortSignal): Promise<ToolResult> {
    const { workerRole, taskDescription, delegationId } = begun
    const made = this.#createWorkerTask(workerRole, taskDescription)
    if (made === undefined) throw new TuttiError('CONFIG_INVALID', `No agent "${workerRole}"`)
    const outcome = await runWorker(scope, this.#options.host, {
      task: made,
      signal,
      begun,
      isEnded: isEndRecorded(scope, delegationId),
    })
    if (outcome.kind === 'completed') {
      this.#completed.add(workerRole)
      if (outcome.exit !== undefined) throw outcome.exit
      return ToolResult.success(outcome.result.output)
    }
    const error = outcome.kind === 'failed' ? outcome.error : outcome.exit
    if (error?.code === 'EXIT_EARLY') throw error
    return ToolResult.failure(`${workerRole} failed: ${describeFailure(outcome)}`)
  }

  /** Returns the task of a worker, with the inputs of the run filled in. */
  #createWorkerTask(role: string, description: string): Task | undefined {
    const { ensemble, inputs } = this.#options
    const made = createWorkerTask(ensemble, role, description)
    if (made === undefined || ensemble.plan.workflow !== 'HIERARCHICAL') return made
    const { expectedOutput } = renderTask({ ...made, description: '' }, inputs)
    return { ...made, expectedOutput }
  }

  #count(role: string): void {
    this.#begun.set(role, (this.#begun.get(role) ?? 0) + 1)
  }

  /** Returns the delegations by agents. */
  #listEarlierSteps(): readonly StepOf<'delegation_begun'>[] {
    return listBegunWorkers(this.#options.log).filter(({ ordinal }) => ordinal === undefined)
  }
}

/** Whether the scope is that of the manager of its run. */
function isManagerScope({ identity, depth, run }: TaskScope): boolean {
  return (
    depth === 0 && identity.taskName === MANAGER && run.ensemble.plan.workflow === 'HIERARCHICAL'
  )
}

/**
 * Returns the task of a worker: for a manager, the declared task with another description; for a peer, a
 * plain task. Undefined if no agent has that role.
 */
export function createWorkerTask(
  { tasks, plan }: ResolvedEnsemble,
  role: string,
  description: string,
): Task | undefined {
  const declared = tasks.find(({ agent }) => agent.role === role)
  if (declared === undefined) return undefined
  if (plan.workflow === 'HIERARCHICAL') return { ...declared, description }
  const { agent, model } = declared
  return task({ name: role, description, agent, ...(model === undefined ? {} : { model }) })
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
