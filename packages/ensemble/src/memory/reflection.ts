/**
 * Reflection: after a task a model is asked how the task could be put better, and the next run of the
 * same task is shown what it said.
 *
 *   output ─reflectionRequest─▶ model ─parseReflection─▶ store ─improvementNotes─▶ next prompt
 *
 * ENS-F1 A reflection is stored under the SHA-256 of the description, so that any process finds it.
 * ENS-F2 The sections of a reply are read in any order, case and Markdown; a reply without a usable one gives
 *    no reflection.
 * ENS-F3 Sections that a reply omits are taken from before: the texts of the task, the lists of the earlier
 *    reflection.
 * ENS-F4 A reflection has at most ten items per list and texts of limited length, however many runs it comes
 *    from.
 */
import { limitText } from '@tutti/core'

import type { Message } from '../model/chat-model.ts'

/** The reflection on a task, over all its runs. */
export interface Reflection {
  /** The description, as it would be put better. */
  readonly description: string
  /** The expected output, as it would be put better. */
  readonly expectedOutput: string
  /** Observations of the output. */
  readonly observations: readonly string[]
  /** Suggestions for the next run. */
  readonly suggestions: readonly string[]
  /** Runs that it comes from, at least 1. */
  readonly runs: number
}

/** Keeps what was learned, by {@link reflectionKey}. */
export interface ReflectionStore {
  get(key: string): Promise<Reflection | undefined>
  /** Takes the place of what was there. */
  put(key: string, reflection: Reflection): Promise<void>
}

/** The task that is reflected on. */
export interface ReflectedTask {
  readonly description: string
  readonly expectedOutput: string
  /** The reflection before this run. */
  readonly earlier?: Reflection
}

/** The key of a task in a store: the SHA-256 of its description in UTF-8, in hexadecimal. */
export async function reflectionKey(description: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(description))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** A store that lasts as long as the object. Mutable state: reflections by key, each a copy. */
export function inMemoryReflectionStore(): ReflectionStore {
  const stored = new Map<string, Reflection>()
  return {
    async get(key) {
      const found = stored.get(key)
      return found === undefined ? undefined : structuredClone(found)
    },
    async put(key, reflection) {
      stored.set(key, structuredClone(reflection))
    },
  }
}

/** The fields of a reflection, with the title that a reply has over each. */
const TITLES = {
  description: 'REFINED DESCRIPTION',
  expectedOutput: 'REFINED EXPECTED OUTPUT',
  observations: 'OBSERVATIONS',
  suggestions: 'SUGGESTIONS',
} as const

type Field = keyof typeof TITLES

/** Characters of an output that a model is shown to reflect on. */
const MAX_OUTPUT_LENGTH = 20_000

/** The messages of the one call that asks how a task could be put better. */
export function reflectionRequest({
  description,
  expectedOutput,
  output,
  earlier,
}: ReflectedTask & { readonly output: string }): readonly Message[] {
  const system =
    'You review how well a task was described, by what it led to. You do not do the task again. ' +
    'Be specific and brief, and suggest only what would make the next output better.'
  const sections = [
    `## Task\n${description}`,
    `## Expected Output\n${expectedOutput}`,
    `## Output\n${limitText(output, MAX_OUTPUT_LENGTH)}`,
    ...(earlier === undefined
      ? []
      : [
          `## Notes of Earlier Runs\n${improvementNotes(earlier, { description, expectedOutput })}`,
        ]),
    [
      '## Answer Format',
      'Answer with these four sections and nothing else:',
      `${TITLES.description}:\nthe task, as it should be put next time`,
      `${TITLES.expectedOutput}:\nthe expected output, as it should be put next time`,
      `${TITLES.observations}:\n- what you see in the output, one point a line, at most ${MAX_ITEMS}`,
      `${TITLES.suggestions}:\n- what to do better, one point a line, at most ${MAX_ITEMS}`,
    ].join('\n'),
  ]
  return [
    { role: 'system', content: system },
    { role: 'user', content: sections.join('\n\n') },
  ]
}

const MAX_ITEMS = 10
const MAX_ITEM_LENGTH = 500
const MAX_TEXT_LENGTH = 4_000

/**
 * The reflection in the reply of a model, one run older than the earlier one, or nothing when the reply
 * has no usable section.
 */
export function parseReflection(
  reply: string,
  { description, expectedOutput, earlier }: ReflectedTask,
): Reflection | undefined {
  const sections = readSections(reply)
  const observations = readItems(sections.observations)
  const suggestions = readItems(sections.suggestions)
  const texts = [sections.description, sections.expectedOutput].map(joinText)
  const [newDescription = '', newExpectedOutput = ''] = texts
  const isUsable = observations.length + suggestions.length > 0 || texts.join('') !== ''
  if (!isUsable) return undefined
  return {
    description: newDescription || (earlier?.description ?? description),
    expectedOutput: newExpectedOutput || (earlier?.expectedOutput ?? expectedOutput),
    observations: observations.length > 0 ? observations : (earlier?.observations ?? []),
    suggestions: suggestions.length > 0 ? suggestions : (earlier?.suggestions ?? []),
    runs: (earlier?.runs ?? 0) + 1,
  }
}

/** The lines below each title, without blank ones at the ends. */
function readSections(reply: string): Readonly<Record<Field, readonly string[]>> {
  const sections: Record<Field, string[]> = {
    description: [],
    expectedOutput: [],
    observations: [],
    suggestions: [],
  }
  let lines: string[] | undefined
  for (const line of reply.split(/\r?\n/)) {
    const title = readTitle(line)
    if (title === undefined) {
      lines?.push(line)
      continue
    }
    lines = sections[title.field]
    if (title.rest !== '') lines.push(title.rest)
  }
  return sections
}

/** Markup before a title: heading, emphasis, number. */
const BEFORE_TITLE = /^[\s#*_>]*(?:\d{1,2}[.)]\s*)?[*_]*/
const WORDS = /^(?:refined[ _-])?(description|expected[ _-]output|observations?|suggestions?)/i
/** Ends a title at the start of a line: a colon, or the end of the line. */
const AFTER_TITLE = /^[*_]*\s*(?::[*_]*\s*|$)/

function readTitle(line: string): { readonly field: Field; readonly rest: string } | undefined {
  const start = line.slice(BEFORE_TITLE.exec(line)?.[0].length ?? 0)
  const words = WORDS.exec(start)
  if (words === null) return undefined
  const behind = start.slice(words[0].length)
  const after = AFTER_TITLE.exec(behind)
  if (after === null) return undefined
  return { field: findField(words[1] ?? ''), rest: behind.slice(after[0].length).trim() }
}

function findField(words: string): Field {
  const initial = words.charAt(0).toLowerCase()
  if (initial === 'd') return 'description'
  if (initial === 'e') return 'expectedOutput'
  return initial === 'o' ? 'observations' : 'suggestions'
}

/** Text of a model for an empty section. */
const NOTHING = /^(?:none|n\/a|nothing|no changes?|unchanged|-+)?[.!]?$/i

function joinText(lines: readonly string[]): string {
  const text = lines.join('\n').trim()
  return NOTHING.test(text) ? '' : cut(text, MAX_TEXT_LENGTH)
}

const BULLET = /^\s*(?:[-*•–]|\d{1,3}[.)])\s+/

/** Reads one item per bullet; a line without one continues the item before, or is an item itself. */
function readItems(lines: readonly string[]): readonly string[] {
  const items: string[] = []
  const hasBullets = lines.some((line) => BULLET.test(line))
  for (const line of lines) {
    const text = line.replace(BULLET, '').trim()
    const isNew = !hasBullets || BULLET.test(line) || items.length === 0
    if (text === '') continue
    if (isNew) items.push(text)
    else items.push(`${items.pop()} ${text}`)
  }
  return items
    .filter((item) => !NOTHING.test(item))
    .slice(0, MAX_ITEMS)
    .map((item) => cut(item, MAX_ITEM_LENGTH))
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).trimEnd()}…`
}

/**
 * The body of the section "Task Improvement Notes" of a prompt. Texts that are those of the task as it
 * is put are left out.
 */
export function improvementNotes(
  reflection: Reflection,
  task?: Pick<ReflectedTask, 'description' | 'expectedOutput'>,
): string {
  const { description, expectedOutput, observations, suggestions, runs } = reflection
  const isNew = (field: 'description' | 'expectedOutput'): boolean =>
    reflection[field] !== task?.[field]
  return [
    `Learned from ${runs === 1 ? 'an earlier run' : `${runs} earlier runs`} of this task.`,
    ...(isNew('description') ? [`Better description: ${description}`] : []),
    ...(isNew('expectedOutput') ? [`Better expected output: ${expectedOutput}`] : []),
    ...listed('Observations', observations),
    ...listed('Suggestions', suggestions),
  ].join('\n')
}

function listed(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)]
}
