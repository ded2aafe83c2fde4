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
 *    an agent to the other agents of its ensemble, and to tasks without an agent that `allowedWorkers` names.
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
  findBegun,
  findFailure,
  findFreeName,
  isEndRecorded,
  listBegunWorkers,
  runWorker,
  type BegunWorker,
  type WorkerHost,
  type WorkerTask,
} from './workers.ts'
import { task } from '../definition/define-task.ts'
import { MANAGER } from '../definition/plan.ts'
import { toWorkerRole, type Task } from '../definition/task.ts'
import {
  DEFAULT_MAX_DELEGATION_DEPTH,
  type DelegationPolicy,
  type DelegationRequest,
} from '../definition/delegation-limits.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Inputs } from '../definition/inputs.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { RunScope, TaskAttempt } from '../scope/run-scope.ts'
import type { StepLog } from '../scope/step-log.ts'
import type { TaskScope } from '../scope/task-scope.ts'

/** A tool call that adds a task. */
interface AddingCall {
  /** Key that is unique among the calls of the run and stays the same when the call is repeated. */
  readonly callKey: string
  readonly signal: AbortSignal
}

/** A call of the delegation tool. */
export interface DelegationCall extends AddingCall {
  readonly agentRole: string
  readonly taskDescription: string
}

export interface EnsembleToolCall extends AddingCall {
  readonly inputs: Inputs
}

export interface DelegationsOptions {
  readonly run: Pick<RunScope, 'ensemble' | 'inputs'>
  readonly log: StepLog
  readonly host: WorkerHost
}

/** A delegation that began; `taskName` is the task that delegates. */
type BegunDelegation = Pick<StepOf<'delegation_begun'>, 'taskName' | 'workerRole' | 'workerTask'>

/** The delegations of one run. */
export class Delegations {
  readonly #options: DelegationsOptions
  /** Delegations by the attempt that runs the ensemble; those in the ensemble of the run have no key. */
  readonly #begun = new Map<string | undefined, BegunDelegation[]>()

  constructor(options: DelegationsOptions) {
    this.#options = options
    for (const step of listBegunWorkers(options.log)) {
      if (isDelegation(step)) this.#listBegun(step.parent).push(step)
    }
  }

  /** Returns the delegated tasks that an earlier process began. */
  listEarlier(): readonly Omit<WorkerTask, 'signal'>[] {
    const { log, run } = this.#options
    return listBegunWorkers(log).flatMap((step) => {
      const made =
        isDelegation(step) && step.parent === undefined
          ? createWorkerTask(run, step.workerRole, step.taskDescription)
          : createRecordedTask(step)
      if (made === undefined) return []
      return { task: made, taskName: step.workerTask, taskIndex: step.workerTaskIndex }
    })
  }

  /** Returns the roles to which the task of `scope` may delegate. */
  rolesFor({ task: { agent }, run: { ensemble } }: TaskScope): readonly string[] {
    const allowed = ensemble.delegation?.allowedWorkers
    const isManaged = ensemble.plan.workflow === 'HIERARCHICAL'
    const roles = ensemble.tasks
      .filter(({ handler }) => isManaged || allowed !== undefined || handler === undefined)
      .map(toWorkerRole)
      .filter((role) => role !== agent.role && (allowed?.includes(role) ?? true))
    return [...new Set(roles)]
  }

  /** Returns the names of the tasks that the manager of an ensemble has delegated to a role. */
  listManaged({ parent }: Pick<RunScope, 'parent'>, role: string): readonly string[] {
    return this.#listBegun(parent)
      .filter(({ taskName, workerRole }) => {
        return workerRole === role && taskName === toManagerName(parent)
      })
      .map(({ workerTask }) => workerTask)
  }

  /** Delegates work to another agent. Returns its output, or a failure with the reason. */
  async delegate(scope: TaskScope, call: DelegationCall): Promise<ToolResult> {
    const begun = findBegun(scope, call.callKey)
    if (begun !== undefined) return this.#continue(scope, begun, call.signal)
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
    return this.#continue(scope, this.#begin(scope, asked, callKey), call.signal)
  }

  /** Runs the task of an ensemble for a call of its tool. Returns its output, or a failure with the reason. */
  call(scope: TaskScope, added: Task, call: EnsembleToolCall): Promise<ToolResult> {
    const { callKey, signal } = call
    const inputs = { ...scope.run.inputs, ...call.inputs }
    const made = { ...added, ...renderTask(added, inputs) }
    const { name, description: taskDescription } = made
    const begun =
      findBegun(scope, call.callKey) ??
      beginWorker(scope, this.#options.host, {
        callKey,
        toolName: name,
        workerRole: name,
        taskDescription,
        workerTask: findFreeName(this.#options.host, `${scope.identity.taskName}/${name}`),
      })
    return this.#run(scope, begun, { task: made, inputs, signal })
  }

  /**
   * Checks that a manager has made all required delegations when it answers.
   *
   * @throws {TuttiError} CONSTRAINT_VIOLATION naming every missing role.
   */
  assertComplete(scope: TaskScope): void {
    const { delegation } = scope.run.ensemble
    if (delegation === undefined || !isManagerScope(scope)) return
    const completed = this.#listCompleted(scope)
    const missing = (delegation.requiredWorkers ?? []).filter((role) => !completed.includes(role))
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
    const begun = this.#listBegun(scope.run.parent)
    const { maxDepth = DEFAULT_MAX_DELEGATION_DEPTH, maxDelegations = Infinity } = delegation
    const { maxCallsPerWorker = Infinity, requiredStages = [] } = delegation
    const roles = this.rolesFor(scope)
    if (!roles.includes(toRole)) {
      const known = tasks.some((one) => toWorkerRole(one) === toRole)
      const why = toRole === scope.task.agent.role ? 'is yourself' : 'cannot be delegated to'
      return known
        ? `Agent "${toRole}" ${why}. Available: [${roles.join(', ')}]`
        : `No agent has the role "${toRole}". Available: [${roles.join(', ')}]`
    }
    if (depth > maxDepth) return `Delegations may nest ${maxDepth} deep: do the work yourself`
    if (begun.length >= maxDelegations) {
      return `All ${maxDelegations} delegations are used up: work with what you have`
    }
    const max =
      typeof maxCallsPerWorker === 'number' ? maxCallsPerWorker : maxCallsPerWorker[toRole]
    if (max !== undefined && begun.filter((one) => one.workerRole === toRole).length >= max) {
      return `All ${max} delegations to "${toRole}" are used up: work with what you have`
    }
    const stage = requiredStages.findIndex((members) => members.includes(toRole))
    const completed = this.#listCompleted(scope)
    const waitsFor = requiredStages
      .slice(0, Math.max(0, stage))
      .flat()
      .filter((role) => !completed.includes(role))
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
    const { parent } = scope.run
    const { taskName } = scope.identity
    const workerTask = this.#nameWorkerTask(scope, workerRole)
    this.#listBegun(parent).push({ taskName, workerRole, workerTask })
    return beginWorker(scope, this.#options.host, {
      callKey,
      workerRole,
      taskDescription,
      workerTask,
      ...(parent === undefined
        ? {}
        : { parent: { taskName: parent.taskName, attempt: parent.attempt } }),
    })
  }

  /**
   * Returns the name of a delegated task. A manager's first delegation to a worker is the declared task; every other delegation
   * is a new task.
   */
  #nameWorkerTask(scope: TaskScope, role: string): string {
    const { host } = this.#options
    const { run, identity } = scope
    const declared = findWorker(run.ensemble, role)?.name ?? role
    const isManager = isManagerScope(scope)
    const base = isManager ? toRunName(run, declared) : `${identity.taskName}/${role}`
    // The tasks of the plan of a run exist before the manager delegates them.
    const isFree = isManager && run.parent === undefined ? !host.isTaken(base) : !host.hasTask(base)
    return isFree ? base : findFreeName(host, base)
  }

  /** Runs or continues a delegated task. */
  #continue(scope: TaskScope, begun: BegunWorker, signal: AbortSignal): Promise<ToolResult> {
    const { workerRole, workerTask, taskDescription } = begun
    const made = createWorkerTask(scope.run, workerRole, taskDescription)
    if (made === undefined) {
      const [recorded, asked] = ['its start', `no agent "${workerRole}"`]
      const difference = { taskName: workerTask, step: 'task_begun', recorded, asked }
      throw this.#options.host.stopMismatched(difference)
    }
    return this.#run(scope, begun, { task: made, signal })
  }

  async #run(
    scope: TaskScope,
    begun: BegunWorker,
    worker: Pick<WorkerTask, 'task' | 'signal' | 'inputs'>,
  ): Promise<ToolResult> {
    const { workerRole, delegationId } = begun
    const isEnded = isEndRecorded(scope, delegationId)
    const outcome = await runWorker(scope, this.#options.host, { ...worker, begun, isEnded })
    const failure = findFailure(outcome)
    if (failure?.code === 'EXIT_EARLY') throw failure
    return outcome.kind === 'completed'
      ? ToolResult.success(outcome.result.output)
      : ToolResult.failure(`${workerRole} failed: ${describeFailure(outcome)}`)
  }

  /** Returns the delegations in one run of an ensemble. */
  #listBegun(parent: TaskAttempt | undefined): BegunDelegation[] {
    const key = parent === undefined ? undefined : `${parent.taskName}#${parent.attempt}`
    const begun = this.#begun.get(key) ?? []
    this.#begun.set(key, begun)
    return begun
  }

  /** Returns the roles with a completed delegation. */
  #listCompleted({ run }: TaskScope): readonly string[] {
    const { host } = this.#options
    return this.#listBegun(run.parent)
      .filter(({ workerTask }) => host.isCompleted(workerTask))
      .map(({ workerRole }) => workerRole)
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

function findWorker({ tasks }: ResolvedEnsemble, role: string): Task | undefined {
  return tasks.find((one) => toWorkerRole(one) === role)
}

/**
 * Returns the task of a worker: for a manager and for a task without an agent, the declared task with another description and
 * the inputs filled in; for a peer, a plain task. Undefined if no task has that role.
 */
export function createWorkerTask(
  { ensemble, inputs }: Pick<RunScope, 'ensemble' | 'inputs'>,
  role: string,
  description: string,
): Task | undefined {
  const declared = findWorker(ensemble, role)
  if (declared === undefined) return undefined
  if (ensemble.plan.workflow === 'HIERARCHICAL' || declared.handler !== undefined) {
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

/** Whether the step is the start of a delegation to an agent, which its limits count. */
function isDelegation({ ordinal, toolName, handoff }: StepOf<'delegation_begun'>): boolean {
  return ordinal === undefined && toolName === undefined && handoff === undefined
}
