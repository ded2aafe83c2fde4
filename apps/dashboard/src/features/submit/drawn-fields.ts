/** Which places of the body have a field in the form, and what they are called. Pure. */
import {
  type EnsembleInfo,
  isJsonObject,
  RunBudgetBody,
  RunOptionsBody,
  TaskDefinitionBody,
  TaskOverrideBody,
} from '@tutti/protocol'

import { keysOf, pointer } from '../../ui/schema-form/pointer.ts'
import { partsOf, type SchemaNode } from '../../ui/schema-form/schema.ts'
import { chosenEnsemble, chosenOverrides, taskTitle, type SubmissionDraft } from './draft.ts'
import { inputNames } from './variables.ts'

const ALWAYS = ['/ensemble', '/inputs', '/tags', '/webhooks', '/runId']

/** The pointers of the fields of an object, and of the objects in it. */
function fieldPointers(schema: SchemaNode, path: string): readonly string[] {
  return partsOf(schema.properties).flatMap(([name, part]) => {
    const place = `${path}/${name}`
    return isJsonObject(part) && isJsonObject(part['properties'])
      ? fieldPointers(part, place)
      : place
  })
}

/** The pointers of all fields that the form has for a draft; the items of lists are fields of their own. */
export function drawnPointers(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): ReadonlySet<string> {
  const { needed, perhaps } = inputNames(draft, ensembles)
  return new Set([
    ...ALWAYS,
    ...fieldPointers(RunOptionsBody, '/options'),
    ...fieldPointers(RunBudgetBody, '/budget'),
    ...[...needed, ...perhaps].map((name) => pointer('/inputs', name)),
    ...(draft.level === 'tasks' ? taskPointers(draft) : []),
    ...(draft.level === 'overrides' ? overridePointers(draft, ensembles) : []),
  ])
}

/** What a place is called, from the outside in: `Task 2 › tools`. */
export function placeWords(path: string, draft: SubmissionDraft): string {
  const [part = '', name, ...rest] = keysOf(path)
  switch (part) {
    case '':
      return 'The request'
    case 'tasks': {
      const task = draft.tasks[Number(name)]
      if (name === undefined || task === undefined) return 'Tasks'
      return [taskTitle(task, Number(name)), ...rest.slice(0, 1)].join(' › ')
    }
    case 'taskOverrides':
      return [name ?? 'Tasks', ...rest.filter((key) => !/^\d+$/.test(key))].join(' › ')
    default:
      return name === undefined ? part : `${part} › ${name}`
  }
}

function taskPointers({ tasks }: SubmissionDraft): readonly string[] {
  const all = tasks.flatMap(({ tools = [], context = [] }, index) => {
    const path = `/tasks/${index}`
    return [
      ...fieldPointers(TaskDefinitionBody, path),
      ...tools.map((_, at) => `${path}/tools/${at}`),
      ...context.map((_, at) => `${path}/context/${at}`),
    ]
  })
  return ['/tasks', ...all]
}

function overridePointers(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): readonly string[] {
  const overrides = chosenOverrides(draft, ensembles)
  const names = chosenEnsemble(draft, ensembles)?.tasks.map(({ name }) => name) ?? []
  const all = [...new Set([...names, ...Object.keys(overrides)])].flatMap((name) => {
    const path = pointer('/taskOverrides', name)
    const { add = [], remove = [] } = overrides[name]?.tools ?? {}
    return [
      path,
      ...fieldPointers(TaskOverrideBody, path),
      ...add.map((_, at) => `${path}/tools/add/${at}`),
      ...remove.map((_, at) => `${path}/tools/remove/${at}`),
    ]
  })
  return ['/taskOverrides', ...all]
}
