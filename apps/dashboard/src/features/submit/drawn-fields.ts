/** Which places of the body have a field in the form, and what they are called. Pure. */
import { RunBudgetBody, type EnsembleInfo } from '@tutti/protocol'

import { keysOf, pointer } from '../../ui/schema-form/pointer.ts'
import { chosenEnsemble, chosenOverrides, taskTitle, type SubmissionDraft } from './draft.ts'
import { inputNames } from './variables.ts'

const ALWAYS = ['/ensemble', '/inputs', '/tags', '/webhooks', '/runId']

const OPTIONS = [
  'workflow',
  'reviewPolicy',
  'captureMode',
  'verbose',
  'maxToolOutputLength',
  'toolLogTruncateLength',
  'review/timeoutMs',
  'review/onTimeout',
  'review/requiredRole',
]

const BUDGET = Object.keys(RunBudgetBody.properties)

const TASK_FIELDS = [
  'name',
  'description',
  'expectedOutput',
  'tools',
  'model',
  'context',
  'outputSchema',
  'review',
  'beforeReview',
  'additionalContext',
  'maxIterations',
]

const OVERRIDE_FIELDS = [
  'description',
  'expectedOutput',
  'model',
  'maxIterations',
  'additionalContext',
  'review',
  'beforeReview',
  'tools/add',
  'tools/remove',
]

/** The pointers of all fields that the form has for a draft; the items of lists are fields of their own. */
export function drawnPointers(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): ReadonlySet<string> {
  const { needed, perhaps } = inputNames(draft, ensembles)
  return new Set([
    ...ALWAYS,
    ...OPTIONS.map((name) => `/options/${name}`),
    ...BUDGET.map((name) => `/budget/${name}`),
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
      ...TASK_FIELDS.map((field) => `${path}/${field}`),
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
      ...OVERRIDE_FIELDS.map((field) => `${path}/${field}`),
      ...add.map((_, at) => `${path}/tools/add/${at}`),
      ...remove.map((_, at) => `${path}/tools/remove/${at}`),
    ]
  })
  return ['/taskOverrides', ...all]
}
