/** Determines the inputs that a draft needs from the texts of its tasks. Pure. */
import { TEMPLATE_VARIABLE } from '@tutti/protocol/internal'

import {
  findChosenEnsemble,
  findChosenOverrides,
  type OverrideDraft,
  type SubmissionDraft,
} from './draft.ts'

import type { EnsembleInfo } from '@tutti/protocol'
import type { PreconfiguredTask } from '@tutti/protocol/internal'

/** Names of template variables. */
export interface InputNames {
  readonly needed: readonly string[]
  /** Variables that a text unknown to the page may contain. */
  readonly perhaps: readonly string[]
}

/** Returns the variables for the chosen level and ensemble. */
export function findInputNames(
  draft: SubmissionDraft,
  ensembles: readonly EnsembleInfo[],
): InputNames {
  if (draft.level === 'tasks') {
    const needed = draft.tasks.map((task) => findVariables(task.description, task.expectedOutput))
    return { needed: flattenDistinct(needed), perhaps: [] }
  }
  const ensemble = findChosenEnsemble(draft, ensembles)
  if (ensemble === undefined) return { needed: [], perhaps: Object.keys(draft.inputs) }
  if (draft.level === 'inputs') return { needed: ensemble.variables, perhaps: [] }
  const overrides = findChosenOverrides(draft, ensembles)
  const names = ensemble.tasks.map((task) => findTaskVariables(task, overrides[task.name] ?? {}))
  const needed = flattenDistinct(names.map((one) => one.needed))
  const perhaps = flattenDistinct(names.map((one) => one.perhaps))
  return { needed, perhaps: perhaps.filter((name) => !needed.includes(name)) }
}

/**
 * Returns the variables of a task. The server reports its description, but of its expected output
 * only the variables.
 */
function findTaskVariables(
  task: PreconfiguredTask,
  { description, expectedOutput }: OverrideDraft,
): InputNames {
  const own = findVariables(task.description)
  const ofOutput = task.variables.filter((name) => !own.includes(name))
  const output = expectedOutput === undefined ? ofOutput : findVariables(expectedOutput)
  const isHidden = description !== undefined && expectedOutput === undefined
  const needed = flattenDistinct([
    description === undefined ? own : findVariables(description),
    output,
  ])
  return { needed, perhaps: isHidden ? own.filter((name) => !needed.includes(name)) : [] }
}

function flattenDistinct(lists: readonly (readonly string[])[]): readonly string[] {
  return [...new Set(lists.flat())]
}

type TemplatePart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string }

/** Splits a template into its parts, in order. */
export function splitTemplate(text: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of text.matchAll(TEMPLATE_VARIABLE)) {
    const [whole, literal, name] = match
    if (match.index > end) parts.push({ kind: 'text', text: text.slice(end, match.index) })
    if (name === undefined) parts.push({ kind: 'text', text: `{${literal ?? ''}}` })
    else parts.push({ kind: 'variable', name })
    end = match.index + whole.length
  }
  if (end < text.length) parts.push({ kind: 'text', text: text.slice(end) })
  return parts
}

/** Returns the distinct variables of some texts, in order of appearance. */
export function findVariables(...texts: readonly (string | undefined)[]): readonly string[] {
  const parts = texts.flatMap((text) => splitTemplate(text ?? ''))
  return [...new Set(parts.flatMap((part) => (part.kind === 'variable' ? part.name : [])))]
}
