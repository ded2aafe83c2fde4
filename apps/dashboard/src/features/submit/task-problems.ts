/** What is wrong with the tasks of a request's own, beyond their schema. Pure. */
import { readJson } from '../../ui/schema-form/form-draft.ts'
import { findCircle } from './cycle.ts'
import { taskTitle, type SubmissionDraft, type TaskDraft } from './draft.ts'
import { modelProblems, toolProblems } from './name-problems.ts'
import { referenceTo } from './submission.ts'

import type { Capabilities, Problem } from '@tutti/protocol'

/** Every problem of the tasks of a draft. */
export function taskProblems(
  draft: SubmissionDraft,
  capabilities: Capabilities,
): readonly Problem[] {
  const { tasks } = draft
  const known = capabilities.tools.map(({ name }) => name)
  return [
    ...tasks.flatMap((task, index) => {
      const path = `/tasks/${index}`
      return [
        ...nameProblems(task, tasks, path),
        ...modelProblems(task.model, `${path}/model`, capabilities),
        ...toolProblems(task.tools, `${path}/tools`, known),
        ...schemaTextProblems(task, path),
        ...(draft.options.workflow === 'SEQUENTIAL' ? orderProblems(task, tasks, path) : []),
      ]
    }),
    ...circleProblems(tasks),
  ]
}

function nameProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  const { name } = task
  if (name !== undefined) {
    const isTwice = tasks.findIndex((other) => other.name === name) < at
    return isTwice ? [{ path: `${path}/name`, message: `is the name of two tasks: "${name}"` }] : []
  }
  // A reference by place would mean the task that has the number for a name.
  const isWanted = tasks.some((other) => other.context?.includes(task.key) === true)
  const isTaken = tasks.some((other) => other.name === String(at))
  if (!isWanted || !isTaken) return []
  return [{ path: `${path}/name`, message: `is required: another task is named "${at}"` }]
}

function schemaTextProblems({ outputSchema }: TaskDraft, path: string): readonly Problem[] {
  if (outputSchema === undefined) return []
  const read = readJson(outputSchema)
  return read.ok ? [] : [{ path: `${path}/outputSchema`, message: `is not JSON: ${read.why}` }]
}

function orderProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  return (task.context ?? []).flatMap((key, place) => {
    const other = tasks.findIndex((one) => one.key === key)
    if (other < at) return []
    const message = `"${referenceTo(key, tasks)}" does not come before it, as a sequential run needs`
    return [{ path: `${path}/context/${place}`, message }]
  })
}

function circleProblems(tasks: readonly TaskDraft[]): readonly Problem[] {
  const circle = findCircle(new Map(tasks.map(({ key, context = [] }) => [key, context])))
  if (circle === undefined) return []
  const titleOf = (key: string): string => {
    const at = tasks.findIndex((task) => task.key === key)
    const task = tasks[at]
    return task === undefined ? key : taskTitle(task, at)
  }
  const [first, second] = circle
  const at = tasks.findIndex(({ key }) => key === first)
  const place = tasks[at]?.context?.indexOf(second ?? '') ?? 0
  const message = `tasks wait for each other in a circle: ${circle.map(titleOf).join(' › ')}`
  return [{ path: `/tasks/${at}/context/${place}`, message }]
}
