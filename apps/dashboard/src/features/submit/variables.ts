/** The inputs that a draft needs, by the texts of the tasks that it would run. Pure. */
import {
  chosenEnsemble,
  chosenOverrides,
  type OverrideDraft,
  type SubmissionDraft,
} from './draft.ts'

import type { EnsembleInfo, PreconfiguredTask } from '@tutti/protocol'

/** Names of template variables. */
export interface InputNames {
  readonly needed: readonly string[]
  /** Those that a text which the server does not tell may still have. */
  readonly perhaps: readonly string[]
}

/** The names for the level and the ensemble that are chosen. */
export function inputNames(draft: SubmissionDraft, ensembles: readonly EnsembleInfo[]): InputNames {
  if (draft.level === 'tasks') {
    const needed = draft.tasks.map((task) => variablesIn(task.description, task.expectedOutput))
    return { needed: distinct(needed), perhaps: [] }
  }
  const ensemble = chosenEnsemble(draft, ensembles)
  if (ensemble === undefined) return { needed: [], perhaps: Object.keys(draft.inputs) }
  if (draft.level === 'inputs') return { needed: ensemble.variables, perhaps: [] }
  const overrides = chosenOverrides(draft, ensembles)
  const names = ensemble.tasks.map((task) => namesOf(task, overrides[task.name] ?? {}))
  const needed = distinct(names.map((one) => one.needed))
  const perhaps = distinct(names.map((one) => one.perhaps))
  return { needed, perhaps: perhaps.filter((name) => !needed.includes(name)) }
}

/** The server tells the description of a task, and of its expected output the variables alone. */
function namesOf(
  task: PreconfiguredTask,
  { description, expectedOutput }: OverrideDraft,
): InputNames {
  const own = variablesIn(task.description)
  const ofOutput = task.variables.filter((name) => !own.includes(name))
  const output = expectedOutput === undefined ? ofOutput : variablesIn(expectedOutput)
  const isHidden = description !== undefined && expectedOutput === undefined
  const needed = distinct([description === undefined ? own : variablesIn(description), output])
  return { needed, perhaps: isHidden ? own.filter((name) => !needed.includes(name)) : [] }
}

function distinct(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())]
}

/** A piece of a text. */
type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }

const VARIABLE = /\{\{(\w+)\}\}|\{(\w+)\}/g

/** The pieces of a text, in order. */
export function templateParts(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(VARIABLE)) {
    const [whole, literal, name] = match
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) })
    if (name === undefined) parts.push({ kind: 'text', text: `{${literal ?? ''}}` })
    else parts.push({ kind: 'variable', name })
    end = match.index + whole.length
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) })
  return parts
}

/** The names of the variables of some texts, each once, in order of appearance. */
export function variablesIn(...texts: readonly (string | undefined)[]): readonly string[] {
  const parts = texts.flatMap((text) => templateParts(text ?? ''))
  return [...new Set(parts.flatMap((part) => (part.kind === 'variable' ? part.name : [])))]
}
