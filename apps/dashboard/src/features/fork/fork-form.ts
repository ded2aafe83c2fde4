/** The form of a fork: its start, its fields and its request. Pure. */
import { SubmitRunBody } from '@tutti/protocol'
import { InjectBody, TaskOverrideBody, TEMPLATE_VARIABLE } from '@tutti/protocol/internal'

import { toChildPointer } from '../../ui/schema-form/pointer.ts'

import type { ForkBody } from '@tutti/client/internal'
import type { LoggedRunEvent } from '@tutti/protocol'
import type { ForkAction, TaskState } from '@tutti/protocol/internal'

/** Event or task of a run at which a fork starts. */
export interface ForkStart {
  readonly taskName: string
  /** Attempt and model turn; absent for the whole task. */
  readonly turn?: { readonly attempt: number; readonly iterationIndex: number }
}

/** Prompt of a task, as the form shows it. */
export interface ForkPrompt {
  readonly text: string
  /** Whether braces in the text are template variables; otherwise they are literal. */
  readonly isTemplate: boolean
}

/** Fields of the form. */
export interface ForkForm {
  readonly prompt: string
  readonly directive: string
  /** Inputs by name. */
  readonly inputs: Readonly<Record<string, string>>
  readonly allowSideEffects: boolean
}

/** Schema of the form. */
export const FORK_FORM = {
  type: 'object',
  properties: {
    prompt: TaskOverrideBody.properties.description,
    directive: InjectBody.properties.content,
    inputs: SubmitRunBody.properties.inputs,
  },
}

/** Form without any text. */
const EMPTY: ForkForm = { prompt: '', directive: '', inputs: {}, allowSideEffects: false }

/** Returns the fields of a form that differ from `before`; an absent field is empty. */
export function findForkEdits(before: ForkForm, value: Readonly<Record<string, unknown>>) {
  const edited = Object.keys(EMPTY).filter((key) => Reflect.get(before, key) !== value[key])
  return Object.fromEntries(edited.map((key) => [key, value[key] ?? Reflect.get(EMPTY, key)]))
}

/** Returns the form field that shows a problem of the request, by the pointer of the problem. */
export function listForkAliases(taskName: string): Readonly<Record<string, string>> {
  return {
    [`${toChildPointer('/taskOverrides', taskName)}/description`]: '/prompt',
    '/directives/0/content': '/directive',
  }
}

/** Values that a form begins with. */
export interface ForkOrigin {
  readonly start: ForkStart
  readonly prompt: ForkPrompt
  readonly inputs: Readonly<Record<string, string>>
  /** `seq` of the last event before the turn; undefined for a whole task, and if the log does not have the turn. */
  readonly beforeTurn: number | undefined
}

/** Returns the form before any edit. */
export function createForkForm({ prompt, inputs }: ForkOrigin): ForkForm {
  return { prompt: prompt.text, directive: '', inputs, allowSideEffects: false }
}

/**
 * Returns the prompt of a task: its template if the run used it, otherwise its description with all inputs filled in.
 */
export function findForkPrompt(
  { description }: Pick<TaskState, 'description'>,
  template: string | undefined,
  inputs: Readonly<Record<string, string>>,
): ForkPrompt {
  const filled = template?.replaceAll(TEMPLATE_VARIABLE, (whole, literal?: string, name = '') =>
    literal === undefined ? (inputs[name] ?? whole) : `{${literal}}`,
  )
  if (template === undefined || filled !== description) {
    return { text: description, isTemplate: false }
  }
  return { text: template, isTemplate: true }
}

/** Returns the `seq` of the event before the last start of a turn; undefined if the log does not have it. */
export function findSeqBeforeTurn(
  events: readonly LoggedRunEvent[],
  { taskName, turn }: ForkStart,
): number | undefined {
  if (turn === undefined) return undefined
  const start = events.findLast(
    (event) =>
      event.type === 'llm_iteration_started' &&
      event.taskName === taskName &&
      event.attempt === turn.attempt &&
      event.iterationIndex === turn.iterationIndex,
  )
  return start === undefined ? undefined : start.seq - 1
}

/** Whether the form changes the prompt, so that the fork has to begin at the start of the task. */
export function changesPrompt({ prompt }: ForkForm, origin: ForkOrigin): boolean {
  return prompt !== origin.prompt.text
}

/** Returns the request for the fork. Fields without a change are omitted. */
export function buildForkBody(form: ForkForm, origin: ForkOrigin): ForkBody {
  const { start, prompt, beforeTurn } = origin
  const { taskName } = start
  const isNewPrompt = changesPrompt(form, origin)
  const description = prompt.isTemplate ? form.prompt : escapeBraces(form.prompt)
  const inputs = Object.entries(origin.inputs).flatMap(([name, value]) => {
    const { [name]: edited = '' } = form.inputs
    return edited === value ? [] : [[name, edited] as const]
  })
  const directive = form.directive.trim()
  return {
    at: isNewPrompt || beforeTurn === undefined ? { task: taskName } : beforeTurn,
    ...(isNewPrompt ? { taskOverrides: { [taskName]: { description } } } : {}),
    ...(inputs.length === 0 ? {} : { inputs: Object.fromEntries(inputs) }),
    ...(directive === '' ? {} : { directives: [{ content: directive, target: taskName }] }),
    ...(form.allowSideEffects ? { allowSideEffects: true } : {}),
  }
}

/** Returns a template for a text that has no variables. */
function escapeBraces(text: string): string {
  return text.replaceAll(TEMPLATE_VARIABLE, '{$&}')
}

/** Labels of what a fork does with a task. */
export const FORK_ACTIONS: Readonly<Record<ForkAction, string>> = {
  REUSED: 'Reused',
  ENDED: 'Stays ended',
  CONTINUED: 'Continues',
  EXECUTED: 'Executed',
  GIVEN: 'Output provided',
}
