/**
 * Pure: builds the ensemble that a run executes from the operator's ensemble and the request. The operator's ensemble is
 * not changed.
 *
 *   template ─▶ tasks of the request, or its own ─▶ overrides ─▶ options ─▶ ensemble()
 *
 * RUNS-R1 A request can only name tools, models and ensembles of the catalogs. All unknown names are reported at once, with the
 *    available ones.
 * RUNS-R2 The same request gives the same ensemble in every process.
 * RUNS-R3 The operator's limits (model, budget, rate limits, delegation) also apply to tasks of a request.
 * RUNS-R6 A task that can never run is refused with its path: one that waits for itself or for a later task, and one that a
 *    manager may not delegate.
 * RUNS-R4 No part of a request is ignored: settings that have no effect on a task are refused.
 */
import { TuttiError } from '@tutti/core'
import { ensemble, type Ensemble, type Task } from '@tutti/ensemble'
import { assertModels, toWorkerRole, type DelegationLimits } from '@tutti/ensemble/internal'
import { shortList, shortText } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { applyOverrides } from './overridden-tasks.ts'
import { Refusals } from './refusals.ts'
import { buildRequestedTasks, assignOwnRoles } from './requested-tasks.ts'
import { toReviewDefaults } from './review-setting.ts'

import type { RequestedRun } from '../domain/run-record.ts'
import type { Catalogs } from './catalog-names.ts'
import type { RunOptionsBody, TaskDefinitionBody } from '@tutti/protocol/internal'

/** The ensemble of a request, and its tasks before the overrides. */
export interface BuiltRequest {
  readonly built: Ensemble
  readonly originals: readonly Task[]
}

/**
 * Returns the ensemble that a run with this request executes.
 *
 * @throws {TuttiError} as {@link buildRequest}.
 */
export function buildEnsemble(
  template: Ensemble,
  request: RequestedRun,
  catalogs: Catalogs,
): Ensemble {
  return buildRequest(template, request, catalogs).built
}

/**
 * Returns the ensemble that a run with this request executes, and its tasks before the overrides.
 *
 * @throws {TuttiError} INVALID_TOOL, INVALID_MODEL, INVALID_ENSEMBLE, INVALID_TASK_OVERRIDE, NOT_CONFIGURED or BAD_REQUEST with
 * every problem and its path in `details.problems`; CIRCULAR_DEPENDENCY naming the cycle; BAD_REQUEST when
 * the tasks do not form a valid ensemble.
 */
export function buildRequest(
  template: Ensemble,
  { tasks, taskOverrides, options = {} }: RequestedRun,
  catalogs: Catalogs,
): BuiltRequest {
  const settings = readSettings(template, options)
  if (tasks === undefined && taskOverrides === undefined) {
    const isSame = Object.keys(settings).length === 0
    const built = isSame ? template : defineRequested(template, settings)
    return { built, originals: template.tasks }
  }
  const refusals = new Refusals()
  assertCount('/tasks', tasks?.length ?? 0)
  assertCount('/taskOverrides', Object.keys(taskOverrides ?? {}).length)
  const { own, isRefused } = buildTasks(template, { tasks, options }, { catalogs, refusals })
  const changed = applyOverrides(own, taskOverrides ?? {}, { catalogs, refusals, isRefused })
  if (tasks === undefined) {
    refusals.throwIfAny()
    return {
      built: defineRequested(template, { ...settings, tasks: changed }),
      originals: own,
    }
  }
  const isLed = options.workflow === 'HIERARCHICAL'
  const requested = isLed ? assignOwnRoles(changed) : changed
  if (isLed) refuseUndelegated(tasks, requested, { template, refusals })
  refusals.throwIfAny()
  const built = defineRequested(settingsForOthers(template, requested), {
    ...settings,
    tasks: requested,
    ...field('captureMode', options.captureMode),
  })
  return { built, originals: own }
}

/** Returns the tasks of a request, or those of the template, and whether a key means a task that has problems. */
function buildTasks(
  template: Ensemble,
  { tasks, options }: { readonly tasks: RequestedRun['tasks']; readonly options: RunOptionsBody },
  parts: { readonly catalogs: Catalogs; readonly refusals: Refusals },
): { readonly own: readonly Task[]; readonly isRefused: (key: string) => boolean } {
  if (tasks === undefined) return { own: template.tasks, isRefused: () => false }
  const { workflow, captureMode = template.captureMode } = options
  const { made, names } = buildRequestedTasks(tasks, { ...parts, workflow, captureMode })
  const madeNames = new Set(made.map(({ name }) => name))
  const missing = tasks.flatMap(({ description = '' }, index) => {
    const name = names[index] ?? ''
    if (madeNames.has(name)) return []
    return [{ start: `${name.toLowerCase()}/`, description: description.toLowerCase() }]
  })
  const isRefused = (key: string): boolean => {
    const wanted = key.toLowerCase()
    return missing.some(
      ({ start, description }) => `${wanted}/`.startsWith(start) || description.startsWith(wanted),
    )
  }
  return { own: made, isRefused }
}

/** Refuses requested tasks that no agent may delegate, because the limits of the operator do not allow their roles. */
function refuseUndelegated(
  bodies: readonly TaskDefinitionBody[],
  tasks: readonly Task[],
  { template, refusals }: { readonly template: Ensemble; readonly refusals: Refusals },
): void {
  const allowed = template.delegation?.allowedWorkers
  if (allowed === undefined || tasks.length < bodies.length) return
  for (const [index, task] of tasks.entries()) {
    const role = toWorkerRole(task)
    if (allowed.includes(role)) continue
    const message = (): string =>
      `Task '${shortText(task.name)}' can never run: the manager may not delegate to its role '${role}'. Allowed: [${shortList(allowed)}]`
    refusals.add('BAD_REQUEST', `/tasks/${index}`, message)
  }
}

/** Maximum number of tasks, and of overrides, of one request: it takes milliseconds to check and plan as many. */
const MAX_TASKS = 1_000

function assertCount(path: string, count: number): void {
  if (count <= MAX_TASKS) return
  const message = `must be at most ${MAX_TASKS}, got ${count}`
  throw new TuttiError('BAD_REQUEST', `Invalid request body: ${path} ${message}`, {
    details: { problems: [{ path, message }] },
  })
}

type Definition = Parameters<typeof ensemble>[0]

type Settings = Partial<Definition>

/** Returns the settings of a template that apply to other tasks. */
function settingsForOthers(template: Ensemble, tasks: readonly Task[]): Definition {
  const { workflow: _workflow, manager: _manager, plan: _plan, delegation, ...rest } = template
  const roles = tasks.map(toWorkerRole)
  return {
    ...rest,
    ...(delegation === undefined ? {} : { delegation: delegationLimitsFor(delegation, roles) }),
  }
}

/**
 * Returns the limits that apply to agents of other roles. Only workers that the template allows may be delegated
 * to; requirements for workers that do not exist are dropped.
 */
function delegationLimitsFor(
  { requiredWorkers: _workers, requiredStages: _stages, ...limits }: DelegationLimits,
  roles: readonly string[],
): DelegationLimits {
  const { allowedWorkers, maxCallsPerWorker } = limits
  const known = new Set(roles)
  const isKnown = (role: string): boolean => known.has(role)
  return {
    ...limits,
    ...(allowedWorkers === undefined ? {} : { allowedWorkers: allowedWorkers.filter(isKnown) }),
    ...(typeof maxCallsPerWorker !== 'object'
      ? {}
      : {
          maxCallsPerWorker: Object.fromEntries(
            Object.entries(maxCallsPerWorker).filter(([role]) => isKnown(role)),
          ),
        }),
  }
}

function readSettings(
  template: Ensemble,
  { workflow, reviewPolicy, review, maxToolOutputLength }: RunOptionsBody,
): Settings {
  return {
    ...(review === undefined
      ? {}
      : { review: { ...template.review, ...toReviewDefaults(review) } }),
    ...field('workflow', workflow),
    ...field('reviewPolicy', reviewPolicy),
    ...field('maxToolOutputLength', maxToolOutputLength),
  }
}

/** Defines the ensemble. An error is an error of the request, because the template itself is valid. */
function defineRequested(base: Definition, settings: Settings): Ensemble {
  try {
    const requested = ensemble({ ...base, ...settings })
    assertModels(requested)
    return requested
  } catch (error) {
    if (!TuttiError.isInstance(error)) throw error
    if (error.code !== 'CONFIG_INVALID' && error.code !== 'CIRCULAR_DEPENDENCY') throw error
    const code = error.code === 'CONFIG_INVALID' ? 'BAD_REQUEST' : error.code
    // The details of the cause are for authors of ensembles, and have no paths into the request.
    throw new TuttiError(code, error.message, { cause: error })
  }
}
