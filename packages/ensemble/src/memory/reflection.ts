/**
 * Reflection: after a task, a model is asked how to improve its description. The next run of the same task
 * receives the answer.
 *
 *   output ─createReflectionRequest─▶ model ─parseReflection─▶ store ─renderImprovementNotes─▶ next prompt
 *
 * ENS-F1 A reflection is stored under the SHA-256 of the description, so that any process finds it.
 * ENS-F2 The sections of a reply are read in any order, case and Markdown; a reply without a usable one gives
 *    no reflection.
 * ENS-F3 Sections that a reply omits are those of the earlier reflection; without one, the texts are those of
 *    the task and the lists are empty.
 * ENS-F4 A reflection has at most ten items per list and texts of limited length, however many runs it comes
 *    from.
 */
import { limitText } from '@tutti/core/internal'

import type { Message } from '../model/chat-model.ts'

/** Reflection on a task, over all its runs. */
export interface Reflection {
  /** Improved description. */
  readonly description: string
  /** Improved expected output. */
  readonly expectedOutput: string
  /** Observations of the output. */
  readonly observations: readonly string[]
  /** Suggestions for the next run. */
  readonly suggestions: readonly string[]
  /** Number of runs that contributed, at least 1. */
  readonly runs: number
}

/** Stores reflections by {@link computeReflectionKey}. */
export interface ReflectionStore {
  get(key: string): Promise<Reflection | undefined>
  /** Stores a reflection in place of the previous one. */
  put(key: string, reflection: Reflection): Promise<void>
}

export interface ReflectedTask {
  readonly description: string
  readonly expectedOutput: string
  /** Reflection from earlier runs. */
  readonly earlier?: Reflection
}

/** Returns the key of a task in a store: the SHA-256 of its description in UTF-8, in hexadecimal. */
export async function computeReflectionKey(description: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(description))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * Creates a store that lasts as long as the object. Mutable state: reflections by key, copied on each access.
 */
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

/** Fields of a reflection, with their titles in a reply. */
const TITLES = {
  description: 'REFINED DESCRIPTION',
  expectedOutput: 'REFINED EXPECTED OUTPUT',
  observations: 'OBSERVATIONS',
  suggestions: 'SUGGESTIONS',
} as const

type Field = keyof typeof TITLES

/** Maximum number of characters of an output in the request for a reflection. */
const MAX_OUTPUT_LENGTH = 20_000

/** Returns the messages of the call that asks how to improve a task. */
export function createReflectionRequest({
  description,
  expectedOutput,
  output,
  earlier,
}: ReflectedTask & { readonly output: string }): readonly Message[] {
  const system =
    'You review how well a task was described, based on its output. Do not perform the task again. ' +
    'Be specific and brief, and suggest only what would make the next output better.'
  const sections = [
    `## Task\n${description}`,
    `## Expected Output\n${expectedOutput}`,
    `## Output\n${limitText(output, MAX_OUTPUT_LENGTH)}`,
    ...(earlier === undefined
      ? []
      : [
          `## Notes of Earlier Runs\n${renderImprovementNotes(earlier, { description, expectedOutput })}`,
        ]),
    [
      '## Answer Format',
      'Answer with these four sections and nothing else:',
      `${TITLES.description}:\nthe task, as it should be described next time`,
      `${TITLES.expectedOutput}:\nthe expected output, as it should be described next time`,
      `${TITLES.observations}:\n- what you see in the output, one point per line, at most ${MAX_ITEMS}`,
      `${TITLES.suggestions}:\n- what to do better, one point per line, at most ${MAX_ITEMS}`,
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
 * Parses the reflection in a reply of the model and counts this run. Returns undefined if the reply has no
 * usable section.
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

/** Returns the lines below each title. */
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
  return NOTHING.test(text) ? '' : shortenText(text, MAX_TEXT_LENGTH)
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
    .map((item) => shortenText(item, MAX_ITEM_LENGTH))
}

function shortenText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1).trimEnd()}…`
}

/**
 * Returns the body of the prompt section "Task Improvement Notes", without texts that equal those of the
 * task.
 */
export function renderImprovementNotes(
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
    ...renderList('Observations', observations),
    ...renderList('Suggestions', suggestions),
  ].join('\n')
}

function renderList(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`${title}:`, ...items.map((item) => `- ${item}`)]
}
