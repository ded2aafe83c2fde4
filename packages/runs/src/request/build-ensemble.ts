/**
 * Pure: the ensemble that a run executes, made of the one that its operator wrote and of what its request
 * says. The one that was written is never changed.
 *
 *   template ─▶ tasks of the request, or its own ─▶ overrides ─▶ options ─▶ ensemble()
 *
 * RUNS-R1 A request names tools and models of the catalogs, and nothing else; every name that is not there is told
 *    at once, with those that are.
 * RUNS-R2 The same request gives the same ensemble in every process.
 * RUNS-R3 What the operator limits (model, budget, rate limits, delegation) stays in force for tasks of a request.
 * RUNS-R4 Nothing of a request is ignored: what has no effect on a task is refused.
 */
import { TuttiError } from '@tutti/core'
import { ensemble, type DelegationLimits, type Ensemble, type Task } from '@tutti/ensemble'

import { field } from '../record-fields.ts'
import { inBoundedTime } from './bounded-schema.ts'
import { overriddenTasks } from './overridden-tasks.ts'
import { Refusals } from './refusals.ts'
import { requestedTasks, withOwnRoles } from './requested-tasks.ts'
import { toReviewDefaults } from './review-setting.ts'

import type { RequestedRun } from '../run-record.ts'
import type { Catalogs } from './catalog-names.ts'
import type { RunOptionsBody } from '@tutti/protocol'

/**
 * The ensemble that a run with this request executes.
 *
 * @throws {TuttiError} INVALID_TOOL, INVALID_MODEL, INVALID_TASK_OVERRIDE, NOT_CONFIGURED or BAD_REQUEST with
 * every problem and its path in `details.problems`; CIRCULAR_DEPENDENCY naming the circle; BAD_REQUEST when
 * the tasks do not fit together.
 */
export function buildEnsemble(
  template: Ensemble,
  { tasks, taskOverrides, options = {} }: RequestedRun,
  catalogs: Catalogs,
): Ensemble {
  const settings = readSettings(template, options)
  if (tasks === undefined && taskOverrides === undefined) {
    return Object.keys(settings).length === 0 ? template : made(template, settings)
  }
  const refusals = new Refusals()
  assertCount('/tasks', tasks?.length ?? 0)
  assertCount('/taskOverrides', Object.keys(taskOverrides ?? {}).length)
  const own = tasks === undefined ? template.tasks : requestedTasks(tasks, catalogs, refusals)
  refusals.throwIfAny()
  const changed =
    taskOverrides === undefined ? own : overriddenTasks(own, taskOverrides, { catalogs, refusals })
  refusals.throwIfAny()
  if (tasks === undefined) return made(template, { ...settings, tasks: changed })
  const isLed = options.workflow === 'HIERARCHICAL'
  const done = (isLed ? withOwnRoles(changed) : changed).map(inBoundedTime)
  return made(settingsForOthers(template, done), { ...settings, tasks: done })
}

/** Tasks, and overrides, of one request: what is a matter of milliseconds to check and to plan. */
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
  const roles = tasks.map(({ agent }) => agent.role)
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
  const isKnown = (role: string): boolean => roles.includes(role)
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

/** A mistake in how the parts fit together is one of the request: the template alone was checked before. */
function made(base: Definition, settings: Settings): Ensemble {
  try {
    return ensemble({ ...base, ...settings })
  } catch (error) {
    if (!TuttiError.isInstance(error)) throw error
    if (error.code !== 'CONFIG_INVALID' && error.code !== 'CIRCULAR_DEPENDENCY') throw error
    const code = error.code === 'CONFIG_INVALID' ? 'BAD_REQUEST' : error.code
    // Its details are for the author of an ensemble; those of a request have paths.
    throw new TuttiError(code, error.message, { cause: error })
  }
}
