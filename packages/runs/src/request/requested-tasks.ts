/**
 * Pure: tasks as a request defines them (level 3), made into tasks of the engine.
 *
 * RUNS-T1 A task that has no name gets one from its description; two never share one.
 * RUNS-T2 `$name` is the task of that name, else `$0`, `$1`, … the one at that place.
 * RUNS-T3 An output schema is a JSON Schema that is checked here and enforced by the engine.
 * RUNS-T4 Where a role stands for one task, as in HIERARCHICAL, two tasks never share one.
 */
import { errorMessage, TuttiError } from '@tutti/core'
import { task, type Task } from '@tutti/ensemble'
import { shortText, unknownName } from '@tutti/protocol'

import { field } from '../record-fields.ts'
import { boundedSchema, describeFault, newSchemaTime, type SchemaTime } from './bounded-schema.ts'
import { namedModel, namedTools } from './catalog-names.ts'
import { mergeReview } from './review-setting.ts'

import type { Catalogs } from './catalog-names.ts'
import type { Refusals } from './refusals.ts'
import type { StandardToolSchema } from '@tutti/core'
import type { TaskDefinitionBody } from '@tutti/protocol'

/** The tasks that a request defines; what is wrong with them is noted, and those are left out. */
export function requestedTasks(
  bodies: readonly TaskDefinitionBody[],
  catalogs: Catalogs,
  refusals: Refusals,
): readonly Task[] {
  const names = chooseNames(bodies, refusals)
  const places = { names, known: new Set(names) }
  const patience = newSchemaTime()
  return bodies.flatMap((body, index) => {
    const path = `/tasks/${index}`
    const tools = namedTools(body.tools ?? [], { catalogs, refusals, path: `${path}/tools` })
    const model = namedModel(body.model, { catalogs, refusals, path: `${path}/model` })
    const context = (body.context ?? []).flatMap((reference, place) =>
      referredName(reference, places, { refusals, path: `${path}/context/${place}` }),
    )
    const output = readOutputSchema(body, patience, { refusals, path })
    const { description, expectedOutput, maxIterations, additionalContext } = body
    return tryTask(path, refusals, () =>
      task({
        name: names[index] ?? '',
        description,
        tools,
        context,
        ...field('expectedOutput', expectedOutput),
        ...field('model', model),
        ...field('maxIterations', maxIterations),
        ...field('additionalContext', additionalContext),
        ...field('output', output),
        ...field('review', mergeReview(body.review)),
        ...field('beforeReview', mergeReview(body.beforeReview)),
      }),
    )
  })
}

/** RUNS-T1 */
function chooseNames(bodies: readonly TaskDefinitionBody[], refusals: Refusals): readonly string[] {
  const names: string[] = []
  const taken = new Set(bodies.flatMap(({ name }) => name ?? []))
  const seen = new Set<string>()
  for (const [index, { name: given, description }] of bodies.entries()) {
    const name = given ?? freeName(task({ description }).name, taken)
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

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name
  for (let number = 2; taken.has(free); number += 1) free = `${name}-${number}`
  return free
}

/** RUNS-T2 */
function referredName(
  reference: string,
  { names, known }: { readonly names: readonly string[]; readonly known: ReadonlySet<string> },
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): readonly string[] {
  const wanted = reference.slice(1)
  if (known.has(wanted)) return [wanted]
  const byPlace = /^\d{1,6}$/.test(wanted) ? names[Number(wanted)] : undefined
  if (byPlace !== undefined) return [byPlace]
  const choice = (): readonly string[] => names.map((name) => `$${name}`)
  refusals.add('BAD_REQUEST', path, () => unknownName('task', reference, choice()))
  return []
}

/** RUNS-T3 */
function readOutputSchema(
  { outputSchema }: TaskDefinitionBody,
  patience: SchemaTime,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): StandardToolSchema | undefined {
  if (outputSchema === undefined) return undefined
  try {
    return boundedSchema(outputSchema, patience)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    refusals.add(
      'BAD_REQUEST',
      `${path}/outputSchema`,
      () => `Output schema: ${describeFault(error)}`,
    )
    return undefined
  }
}

/** RUNS-T4 */
export function withOwnRoles(tasks: readonly Task[]): readonly Task[] {
  const roles = tasks.map(({ agent }) => agent.role)
  return tasks.map((one) => {
    const { role } = one.agent
    if (roles.indexOf(role) === roles.lastIndexOf(role)) return one
    return task({ ...one, agent: { ...one.agent, role: `${role} (${one.name})` } })
  })
}

/** Returns the task that `make` creates, or adds its problem at `path`. */
export function tryTask(path: string, refusals: Refusals, make: () => Task): readonly Task[] {
  try {
    return [make()]
  } catch (error) {
    if (!TuttiError.isInstance(error) && !(error instanceof TypeError)) throw error
    refusals.add('BAD_REQUEST', path, () => errorMessage(error))
    return []
  }
}
