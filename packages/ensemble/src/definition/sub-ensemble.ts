/** The ensembles that tasks run in their own run. */
import { listAllTasks } from './manager.ts'
import { listHandoffTasks, listParts, listWorkingTasks, type Task } from './task.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { Inputs } from './template.ts'
import type { AgentTool, ToolContext, ToolResult } from '@tutti/core'

/** Source of an input of a sub-ensemble: a text with template variables, or the output of an earlier task. */
export type MappedInput = string | OutputReference

/** The output of an earlier task, or one of its fields. */
export interface OutputReference {
  /** Name of the task. */
  readonly task: string
  readonly field?: string
}

/** An ensemble that a task runs, and the sources of its inputs by name. */
export interface SubEnsemble {
  readonly definition: ResolvedEnsemble
  readonly inputs: Readonly<Record<string, MappedInput>>
}

/** Sub-ensembles by the handlers that run them. A copy of a task has its handler. */
const subEnsembles = new WeakMap<object, SubEnsemble>()

/** Marks the handler of a task that runs an ensemble. */
export function markSubEnsemble(handler: object, subEnsemble: SubEnsemble): void {
  subEnsembles.set(handler, subEnsemble)
}

/** Returns the ensemble that a task runs; undefined if it does its work itself. */
export function findSubEnsemble({ handler }: Pick<Task, 'handler'>): SubEnsemble | undefined {
  return handler === undefined ? undefined : subEnsembles.get(handler)
}

/** Whether a construct of the task, such as `forEach` or `loop`, or its sub-ensemble adds tasks to the run. */
export function addsByPlan(task: Task): boolean {
  return listParts(task).length > 0 || findSubEnsemble(task) !== undefined
}

/** Returns an ensemble as a task of another one runs it: with that one's model if it has none itself. */
export function inheritModel(
  definition: ResolvedEnsemble,
  { model }: Pick<ResolvedEnsemble, 'model'>,
): ResolvedEnsemble {
  return definition.model !== undefined || model === undefined
    ? definition
    : { ...definition, model }
}

/** The tool of an ensemble, as a run calls it. */
export interface EnsembleTool {
  /** Task that a call adds to the run. */
  readonly task: Task
  /** Returns the tool with another body, whose limits are those of the task. */
  withBody(
    body: (
      inputs: Inputs,
      context: Pick<ToolContext, 'idempotencyKey' | 'signal'>,
    ) => Promise<ToolResult>,
  ): AgentTool
}

/** Tools of ensembles. A copy of a tool is another tool. */
const ensembleTools = new WeakMap<AgentTool, EnsembleTool>()

/** Registers a tool as that of an ensemble, so that a run recognizes it. */
export function markEnsembleTool(tool: AgentTool, ensembleTool: EnsembleTool): void {
  ensembleTools.set(tool, ensembleTool)
}

/** Returns how a run calls the tool of an ensemble; undefined for any other tool. */
export function findEnsembleTool(tool: AgentTool): EnsembleTool | undefined {
  return ensembleTools.get(tool)
}

/** Whether the output of an earlier task has the value of a variable: the input of that name, or a field of it. */
export function isMapped({ inputs }: SubEnsemble, variable: string): boolean {
  if (Object.hasOwn(inputs, variable)) return true
  return Object.entries(inputs).some(
    ([name, source]) => typeof source === 'object' && variable.startsWith(`${name}.`),
  )
}

/**
 * Returns the sub-ensembles of tasks, those of their items and tools included, without those of other sub-ensembles. The task of
 * a tool is named below the calling task.
 */
export function listSubEnsembles(
  tasks: readonly Task[],
): readonly (SubEnsemble & { readonly task: Task })[] {
  return tasks.flatMap(listWorkingTasks).flatMap((task) => {
    const called = task.tools.flatMap((tool) => findEnsembleTool(tool)?.task ?? [])
    const named = called.map((one) => ({ ...one, name: `${task.name}/${one.name}` }))
    return [task, ...named].flatMap((one) => {
      const subEnsemble = findSubEnsemble(one)
      return subEnsemble === undefined ? [] : [{ ...subEnsemble, task: one }]
    })
  })
}

/** Returns the roles of the agents of tasks, those in their sub-ensembles included. */
export function listRoles(tasks: readonly Task[]): readonly string[] {
  return [
    ...tasks.flatMap(listHandoffTasks).map(({ agent }) => agent.role),
    ...listSubEnsembles(tasks).flatMap(({ definition }) => listRoles(listAllTasks(definition))),
  ]
}
