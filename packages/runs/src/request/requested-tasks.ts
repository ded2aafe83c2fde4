/**
 * Pure: builds tasks of the engine from the tasks of a request.
 *
 * RUNS-T1 A task without a name gets a unique one from its ensemble or its description.
 * RUNS-T2 `$name` is the task of that name. Otherwise `$0`, `$1`, … is the task at that index.
 * RUNS-T3 An output schema is a JSON Schema that is validated here and enforced by the engine.
 * RUNS-T8 A task with `waitFor` has no field of an agent, such as a model. Its wait is that of the engine, with the same checks.
 *    Each problem is reported with its path.
 * RUNS-T4 Where a role identifies a task, as in HIERARCHICAL, each task gets a unique role. Tasks that add tasks have their
 *    names. The roles of agents with handoffs do not change, because other agents refer to them.
 */
import { task, type Task, type TaskWait } from '@tutti/ensemble'
import { findWaitLimitProblems, toWorkerRole } from '@tutti/ensemble/internal'
import { pointer, shortText, unknownName } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { RequestedConditions } from './conditions.ts'
import { compileSchema, newSchemaTime, type SchemaTime } from './bounded-schema.ts'
import { findModel, findTools } from './catalog-names.ts'
import { makeEnsembleTask, readInputSources, type OutputLookup } from './ensemble-tasks.ts'
import { makeItemTask } from './item-tasks.ts'
import { makeLoopTask } from './loop-tasks.ts'
import { findOutputSchema } from './output-schema.ts'
import {
  listReadReferences,
  refuseAddedTasks,
  refuseSwitches,
  refuseUnreachable,
  type ConditionalTask,
  type GraphReference,
} from './refuse-graph.ts'
import { refuseUnusedFields } from './refuse-unused.ts'
import { mergeReview } from './review-setting.ts'
import { makeTaskAgent, MAX_REQUEST_HANDOFFS, type TaskAgentParts } from './task-agents.ts'
import { tryTask } from './try-task.ts'

import type { Catalogs } from './catalog-names.ts'
import type { Refusals } from './refusals.ts'
import type {
  CaptureMode,
  ReduceTaskBody,
  TaskDefinitionBody,
  WaitForBody,
  Workflow,
} from '@tutti/protocol/internal'

/** Catalogs and settings of a request that its tasks need, and the list for their problems. */
export interface RequestedTaskParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  /** @default by the tasks */
  readonly workflow: Workflow | undefined
  /** Capture mode of the run. */
  readonly captureMode: CaptureMode | undefined
}

/** Tasks made from a request, and the names of all of them. */
export interface RequestedTasks {
  /** Those without problems. */
  readonly made: readonly Task[]
  /** Name of each requested task. */
  readonly names: readonly string[]
}

/** Builds the tasks of a request. Problems are added to the refusals, and their tasks are left out. */
export function buildRequestedTasks(
  bodies: readonly TaskDefinitionBody[],
  { catalogs, refusals, workflow, captureMode }: RequestedTaskParts,
): RequestedTasks {
  const names = chooseNames(bodies, refusals)
  const byName = new Map(names.map((name, index) => [name, bodies[index]]))
  const find = (wanted: string): string | undefined => {
    if (byName.has(wanted)) return wanted
    return /^\d{1,6}$/.test(wanted) ? names[Number(wanted)] : undefined
  }
  const lookup = {
    names,
    find,
    schemaOf: (name: string) => findOutputSchema(byName.get(name), catalogs),
    refusals,
  }
  const references: GraphReference[] = []
  const choices: ConditionalTask[] = []
  const making = { catalogs, refusals, ...newRequestRoom() }
  const isLed = workflow === 'HIERARCHICAL'
  refuseAddedTasks(bodies, { names, refusals })
  if (isLed) refuseSharedRoles(bodies, refusals)
  const conditions = new RequestedConditions({ bodies, names, refusals, isLed })
  const made = bodies.flatMap((body, index): readonly Task[] => {
    const path = `/tasks/${index}`
    const name = names[index] ?? ''
    const findTask = (reference: string, at: string): readonly string[] => {
      const found = find(reference.slice(1))
      if (found !== undefined) {
        references.push({ from: name, to: found, path: at })
        return [found]
      }
      const choice = (): readonly string[] => names.map((one) => `$${one}`)
      refusals.add('BAD_REQUEST', at, () => unknownName('task', reference, choice()))
      return []
    }
    const context = (body.context ?? []).flatMap((reference, position) =>
      findTask(reference, `${path}/context/${position}`),
    )
    const round = makeOne({ ...body, name }, context, {
      ...making,
      path,
      captureMode,
      lookup,
      references,
    })
    const conditional = conditions.read(body, path)
    const isUnread = body.when !== undefined && conditional.when === undefined
    choices.push({ name, ...conditional, path, isUnread })
    const makePart = (part: ReduceTaskBody, at: string): readonly Task[] =>
      makeTask(part, [], { ...making, path: at })
    const ofRound = body.forEach === undefined ? conditional : {}
    const one =
      body.loop === undefined
        ? round.map((made) => ({ ...made, ...ofRound }))
        : makeLoopTask(
            round[0],
            { loop: body.loop, conditional: ofRound },
            {
              refusals,
              path: `${path}/loop`,
              readCondition: (text, at) => conditions.readLoop(text, body, at),
              makeJudgeTask: makePart,
            },
          )
    if (body.forEach === undefined) return one
    return makeItemTask(
      one[0],
      { forEach: body.forEach, conditional },
      { lookup, refusals, path: `${path}/forEach`, findTask, makeReduceTask: makePart },
    )
  })
  if (!isLed) refuseSwitches(choices, references, refusals)
  const all = [...references, ...listReadReferences(choices)]
  refuseUnreachable(names, all, { refusals, workflow })
  return { made, names }
}

/** Returns the task of a body, for one item or round if it has `forEach` or `loop`; problems are added to the refusals. */
function makeOne(
  body: TaskDefinitionBody & { readonly name: string },
  context: readonly string[],
  {
    captureMode,
    lookup,
    references,
    ...making
  }: MakingParts &
    Pick<RequestedTaskParts, 'captureMode'> & {
      readonly lookup: OutputLookup
      readonly references: GraphReference[]
    },
): readonly Task[] {
  const { catalogs, refusals, path } = making
  const { inputs = {}, name } = body
  if (body.ensemble === undefined) {
    for (const unused of ['inputs', 'output'] as const) {
      if (body[unused] === undefined) continue
      const message = (): string =>
        `Task '${shortText(name)}' runs no ensemble, so ${unused} has no effect on it`
      refusals.add('BAD_REQUEST', `${path}/${unused}`, message)
    }
    return makeTask(body, context, making)
  }
  const sources = readInputSources(inputs, `${path}/inputs`, lookup)
  for (const [input, source] of sources) {
    if (typeof source !== 'object') continue
    references.push({ from: name, to: source.task, path: pointer(`${path}/inputs`, input) })
  }
  return makeEnsembleTask(body, { catalogs, refusals, path, context, captureMode, sources })
}

/** Parts of a request for one of its tasks. */
interface MakingParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  readonly time: SchemaTime
  readonly handoffs: TaskAgentParts['handoffs']
  readonly path: string
}

/** Returns the task of a body; problems are added to the refusals. */
function makeTask(
  body: ReduceTaskBody & Pick<TaskDefinitionBody, 'waitFor' | 'agents' | 'maxHandoffs'>,
  context: readonly string[],
  { catalogs, refusals, time, handoffs, path }: MakingParts,
): readonly Task[] {
  const tools = findTools(body.tools ?? [], { catalogs, refusals, path: `${path}/tools` })
  const model = findModel(body.model, { catalogs, refusals, path: `${path}/model` })
  const output = compileSchema(body.outputSchema, time, {
    refusals,
    path: `${path}/outputSchema`,
    what: 'output schema',
  })
  const waitFor = readWait(body.waitFor, time, { refusals, path: `${path}/waitFor` })
  const agent =
    body.agents &&
    makeTaskAgent(body.agents, { catalogs, refusals, time, handoffs, path: `${path}/agents` })
  if (body.waitFor === undefined) refuseUnusedLimit(body, { refusals, path })
  else if (refuseUnusedFields(body, 'waits for events', { refusals, path })) return []
  if (body.waitFor !== undefined && waitFor === undefined) return []
  if (body.agents !== undefined && agent === undefined) return []
  const { name, description, expectedOutput, maxIterations, additionalContext } = body
  const { instructions, maxOutputTokens, allowEmptyOutput, maxHandoffs } = body
  return tryTask(path, refusals, () => {
    const definition = {
      description,
      tools,
      context,
      ...field('name', name),
      ...field('agent', agent),
      ...field('maxHandoffs', maxHandoffs),
      ...field('expectedOutput', expectedOutput),
      ...field('model', model),
      ...field('maxIterations', maxIterations),
      ...field('additionalContext', additionalContext),
      ...field('instructions', instructions),
      ...field('maxOutputTokens', maxOutputTokens),
      ...field('allowEmptyOutput', allowEmptyOutput),
      ...field('output', output),
      ...field('review', mergeReview(body.review)),
      ...field('beforeReview', mergeReview(body.beforeReview)),
    }
    if (waitFor === undefined) return task(definition)
    return task({ ...definition, waitFor })
  })
}

/** Refuses a limit of handoffs for a task without them. */
function refuseUnusedLimit(
  { agents = [], maxHandoffs }: Pick<TaskDefinitionBody, 'agents' | 'maxHandoffs'>,
  { refusals, path }: Pick<MakingParts, 'refusals' | 'path'>,
): void {
  if (maxHandoffs === undefined || agents.some(({ handoffs = [] }) => handoffs.length > 0)) return
  refusals.add(
    'BAD_REQUEST',
    `${path}/maxHandoffs`,
    () => 'No agent of the task has handoffs, so maxHandoffs has no effect on it',
  )
}

/** Returns what all tasks of a request share: the time to compile schemas, and the number of handoffs. */
function newRequestRoom(): Pick<MakingParts, 'time' | 'handoffs'> {
  return { time: newSchemaTime(), handoffs: { left: MAX_REQUEST_HANDOFFS } }
}

/** Refuses tasks that begin with agents of the same role, by which their manager would delegate to them. */
function refuseSharedRoles(bodies: readonly TaskDefinitionBody[], refusals: Refusals): void {
  const known = new Set<string>()
  for (const [index, { agents: [first] = [], forEach, loop }] of bodies.entries()) {
    if (first === undefined || forEach !== undefined || loop !== undefined) continue
    const { role } = first
    if (known.has(role)) {
      refusals.add(
        'BAD_REQUEST',
        `/tasks/${index}/agents/0/role`,
        () => `Two tasks begin with the role '${shortText(role)}', by which a manager delegates`,
      )
    }
    known.add(role)
  }
}

/** Returns the wait of a task; undefined if it has none, or has problems, which are added to the refusals. */
function readWait(
  waitFor: WaitForBody | undefined,
  time: SchemaTime,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): TaskWait | undefined {
  if (waitFor === undefined) return undefined
  const { schema: _, ...wait } = waitFor
  const schema = compileSchema(waitFor.schema, time, {
    refusals,
    path: `${path}/schema`,
    what: 'schema of a wait',
  })
  const problems = findWaitLimitProblems(wait)
  for (const problem of problems) {
    const at = `${path}${problem.path}`
    refusals.add('BAD_REQUEST', at, () => `${at} ${problem.message}`)
  }
  return problems.length === 0 ? { ...wait, ...field('schema', schema) } : undefined
}

/** Returns the names of the tasks (RUNS-T1). */
function chooseNames(bodies: readonly TaskDefinitionBody[], refusals: Refusals): readonly string[] {
  const names: string[] = []
  const taken = new Set(bodies.flatMap(({ name }) => name ?? []))
  const numbers = new Map<string, number>()
  const seen = new Set<string>()
  for (const [index, { name: given, ensemble, description = '' }] of bodies.entries()) {
    const name = given ?? chooseFreeName(ensemble ?? task({ description }).name, { taken, numbers })
    if (given !== undefined && seen.has(name)) {
      const text = (): string => `Two tasks are named '${shortText(name)}'`
      refusals.add('BAD_REQUEST', `/tasks/${index}/name`, text)
    }
    seen.add(name)
    taken.add(name)
    names.push(name)
  }
  return names
}

/** @param parts names that are taken, and the number after the last one of each name, which is changed. */
function chooseFreeName(
  name: string,
  {
    taken,
    numbers,
  }: { readonly taken: ReadonlySet<string>; readonly numbers: Map<string, number> },
): string {
  if (!taken.has(name)) return name
  let number = numbers.get(name) ?? 2
  while (taken.has(`${name}-${number}`)) number += 1
  numbers.set(name, number + 1)
  return `${name}-${number}`
}

/** Makes the roles of tasks unique by appending the task name (RUNS-T4). */
export function assignOwnRoles(tasks: readonly Task[]): readonly Task[] {
  const byRole = Map.groupBy(tasks, toWorkerRole)
  return tasks.map((one) => {
    const { role } = one.agent
    const isUnique = (byRole.get(role)?.length ?? 0) < 2
    if (isUnique || one.handler !== undefined || one.agent.handoffs !== undefined) return one
    return task({ ...one, agent: { ...one.agent, role: `${role} (${one.name})` } })
  })
}
