/**
 * What is wrong with a draft, and where it is told. Pure.
 *
 * The schema of the server decides; the rest is what it would refuse later: names that nobody has, inputs
 * that are missing, tasks in a circle.
 */
import { decode, SubmitRunBody, type Capabilities, type Problem } from '@tutti/protocol'

import { readJson } from '../../ui/schema-form/form-draft.ts'
import { pointer } from '../../ui/schema-form/pointer.ts'
import { chosenOverrides, type Row, type SubmissionDraft } from './draft.ts'
import { modelProblems, toolProblems, unknownName } from './name-problems.ts'
import { taskProblems } from './task-problems.ts'
import { inputNames } from './variables.ts'

/** Every problem of a draft that makes this body. */
export function submissionProblems(
  draft: SubmissionDraft,
  body: unknown,
  capabilities: Capabilities,
): readonly Problem[] {
  const own = [
    ...ensembleProblems(draft, capabilities),
    ...inputProblems(draft, capabilities),
    ...(draft.level === 'overrides' ? overrideProblems(draft, capabilities) : []),
    ...(draft.level === 'tasks' ? taskProblems(draft, capabilities) : []),
    ...rowProblems(draft.tags, '/tags'),
    ...rowProblems(draft.moreInputs, '/inputs'),
  ]
  // A text that is no JSON is told once.
  const told = new Set(own.map(({ path }) => path))
  return [...own, ...bodyProblems(body).filter(({ path }) => !told.has(path))]
}

/** What the schema of the server says of a body. */
function bodyProblems(body: unknown): readonly Problem[] {
  const decoded = decode(SubmitRunBody, body)
  return decoded.ok ? [] : decoded.problems
}

/** The text of a body, read and checked. */
export type ReadBody =
  | { readonly ok: true; readonly body: SubmitRunBody }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Reads a body that was typed as JSON. */
export function readBody(text: string): ReadBody {
  const read = readJson(text)
  if (!read.ok) return { ok: false, problems: [{ path: '', message: `is not JSON: ${read.why}` }] }
  const decoded = decode(SubmitRunBody, read.value)
  return decoded.ok ? { ok: true, body: decoded.value } : decoded
}

function ensembleProblems(
  { ensemble }: SubmissionDraft,
  { ensembles }: Capabilities,
): readonly Problem[] {
  const names = ensembles.map(({ name }) => name)
  if (ensemble === undefined || names.includes(ensemble)) return []
  return [{ path: '/ensemble', message: unknownName('ensemble', ensemble, names) }]
}

function inputProblems(draft: SubmissionDraft, { ensembles }: Capabilities): readonly Problem[] {
  return inputNames(draft, ensembles)
    .needed.filter((name) => !Object.hasOwn(draft.inputs, name))
    .filter((name) => !draft.moreInputs.some((row) => row.name === name))
    .map((name) => ({ path: pointer('/inputs', name), message: 'is required' }))
}

function overrideProblems(draft: SubmissionDraft, capabilities: Capabilities): readonly Problem[] {
  const known = capabilities.tools.map(({ name }) => name)
  const overrides = chosenOverrides(draft, capabilities.ensembles)
  return Object.entries(overrides).flatMap(([name, { model, tools }]) => {
    const path = pointer('/taskOverrides', name)
    return [
      ...modelProblems(model, `${path}/model`, capabilities),
      ...toolProblems(tools?.add, `${path}/tools/add`, known),
    ]
  })
}

function rowProblems(rows: readonly Row[], path: string): readonly Problem[] {
  const names = rows.map(({ name }) => name)
  const hasNameless = rows.some(({ name, value }) => name === '' && value !== '')
  const twice = new Set(names.filter((name, at) => name !== '' && names.indexOf(name) < at))
  return [
    ...(hasNameless ? [{ path, message: 'has a value without a name' }] : []),
    ...[...twice].map((name) => ({ path, message: `has "${name}" twice` })),
  ]
}
