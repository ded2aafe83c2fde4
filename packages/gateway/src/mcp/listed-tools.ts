/**
 * Pure: lists the tools for MCP clients: the shared tools of the catalog, then the shared ensembles, in configured
 * order.
 */
import type { Ensemble } from '@tutti/ensemble'
import { inputVariables, namedInputs } from '@tutti/ensemble/internal'

import { sharedEnsembles, sharedTools } from '../service/sharing.ts'
import { embedNamedSchema, toInputSchema, toOutputSchema } from './object-schema.ts'
import { assignToolNames } from './tool-names.ts'

import type { Sharing } from '../gateway-options.ts'
import type { Tool } from '@modelcontextprotocol/server'
import type { AgentTool } from '@tutti/core'

/** A tool that a client may call. */
export type ListedTool = { readonly definition: Tool } & (
  | { readonly kind: 'tool'; readonly tool: AgentTool }
  | { readonly kind: 'ensemble'; readonly ensemble: Ensemble }
)

/** Returns the tools that a client may call, with unique names. */
export function listTools(sharing: Sharing): readonly ListedTool[] {
  const tools = sharedTools(sharing)
  const ensembles = sharedEnsembles(sharing)
  const taken = tools.map(({ name }) => name)
  const names = assignToolNames(
    ensembles.map(({ name }) => name),
    taken,
  )
  return [
    ...tools.map((tool): ListedTool => ({ kind: 'tool', tool, definition: toolDefinition(tool) })),
    ...ensembles.map((ensemble): ListedTool => {
      const name = names.get(ensemble.name) ?? ensemble.name
      return { kind: 'ensemble', ensemble, definition: ensembleDefinition(name, ensemble) }
    }),
  ]
}

function toolDefinition({
  name,
  description,
  inputSchema,
  outputSchema,
  idempotent,
}: AgentTool): Tool {
  return {
    name,
    title: name,
    description,
    inputSchema: toInputSchema(inputSchema),
    ...(outputSchema === undefined
      ? {}
      : { outputSchema: toOutputSchema(outputSchema, schemaId(name)) }),
    // `idempotent` is the default of tools, which is too weak to promise it to clients.
    ...(idempotent ? {} : { annotations: { idempotentHint: false } }),
  }
}

/** Annotations of ensembles: a run has costs and calls arbitrary tools. */
const RUN_HINTS = { readOnlyHint: false, idempotentHint: false, openWorldHint: true } as const

function ensembleDefinition(name: string, ensemble: Ensemble): Tool {
  const { tasks } = ensemble
  return {
    name,
    title: ensemble.name,
    description: describeEnsemble(ensemble),
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        namedInputs(ensemble).map((input) => [
          input,
          { type: 'string', description: describeInput(input, ensemble) },
        ]),
      ),
      required: [...inputVariables(tasks)],
      additionalProperties: false,
    },
    outputSchema: runSchema(name, findStructuredTask(ensemble)?.schema),
    annotations: RUN_HINTS,
  }
}

function describeEnsemble({ name, description, tasks }: Ensemble): string {
  const does = description === '' ? `Runs the ensemble "${name}"` : description
  const count = tasks.length === 1 ? '1 task' : `${tasks.length} tasks`
  return `${does}\n\nThe run has ${count} and can take minutes.`
}

/** Describes the use of an input for the model that provides its value. */
function describeInput(input: string, { tasks }: Ensemble): string {
  if (!inputVariables(tasks).includes(input)) return 'Optional input of the run'
  const text = tasks
    .flatMap(({ description, expectedOutput }) => [description, expectedOutput])
    .find((one) => one.includes(`{${input}}`))
  const start = text === undefined ? '' : `: ${text.slice(0, MAX_USE)}`
  return `Replaces {${input}} in the task${start}`
}

/** Maximum number of characters of a task's text in the description of a variable. */
const MAX_USE = 200

/** Returns the schema of the result of a run. */
function runSchema(
  name: string,
  structured: object | undefined,
): NonNullable<Tool['outputSchema']> {
  return {
    type: 'object',
    properties: {
      output: { type: 'string', description: 'Output of the last completed task' },
      runId: { type: 'string', description: 'Id of the run on this server' },
      status: { type: 'string', enum: ['COMPLETED', 'FAILED', 'CANCELLED'] },
      ...(structured === undefined
        ? {}
        : { structured: embedNamedSchema(structured, schemaId(name)) }),
      error: { type: 'string', description: 'Reason why the run did not complete' },
      completedTasks: {
        type: 'array',
        description: 'Completed tasks of a run that did not complete',
        items: {
          type: 'object',
          properties: { taskName: { type: 'string' }, output: { type: 'string' } },
          required: ['taskName', 'output'],
        },
      },
    },
    required: ['output', 'runId', 'status'],
  }
}

/** Returns the task whose structured output is that of the run: the output task, if it has an output schema. */
export function findStructuredTask({
  tasks,
  plan,
}: Pick<Ensemble, 'tasks' | 'plan'>):
  | { readonly name: string; readonly schema: object }
  | undefined {
  const task = tasks.find(({ name }) => name === plan.outputTask)
  const schema = task?.outputReader?.schema
  return task === undefined || schema === undefined ? undefined : { name: task.name, schema }
}

function schemaId(name: string): string {
  return `urn:tutti:mcp:${encodeURIComponent(name)}:output`
}
