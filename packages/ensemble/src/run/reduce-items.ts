/**
 * Reduces many texts to one, level by level, so that no task gets more than fits into its prompt.
 *
 *   texts ─pack─▶ groups ─a task for each─▶ texts ─pack─▶ … ─▶ one group ─▶ the result
 *
 * ENS-P13 A reduce works in levels. Each of its tasks gets as many texts as fit into `maxTokens`, estimated with 4 characters
 *    per token, or a longer text alone. The last level has one task, whose output is the result. A level whose outputs are
 *    neither fewer nor shorter ends it with an error.
 */
import { TuttiError } from '@tutti/core'
import { findOptionProblems, formatExactJson, type OptionNames } from '@tutti/core/internal'
import { previewOf } from '@tutti/protocol/internal'

import { DEFAULT_TEXTS_VARIABLE } from '../definition/map-settings.ts'
import { CHARACTERS_PER_TOKEN } from '../usage/budget.ts'

import type { ChildTask, MapItems, ReduceOptions } from '../definition/operations.ts'

/** Maximum number of levels: bounds reductions whose outputs get only a little shorter. */
const MAX_LEVELS = 10

/** Text between two texts of a group. */
const SEPARATOR = '\n\n---\n\n'

const REDUCE_NAMES = {
  maxTokens: true,
  as: true,
  key: true,
} as const satisfies OptionNames<ReduceOptions>

/** Reduces items with tasks that `map` adds; see `HandlerOperations.reduce`. */
export async function reduceItems<Output>(
  map: MapItems,
  items: readonly unknown[],
  { template, options }: { readonly template: ChildTask<Output>; readonly options: ReduceOptions },
): Promise<Output> {
  const { maxTokens, as = DEFAULT_TEXTS_VARIABLE, key = template.name } = options
  const problems = [
    ...findOptionProblems(options, REDUCE_NAMES),
    ...(maxTokens >= 1 ? [] : [`maxTokens must be a number >= 1, got ${maxTokens}`]),
    ...(Array.isArray(items) ? [] : [`the items must be a list, got ${previewOf(items)}`]),
    ...(Array.isArray(items) && items.length === 0 ? ['there are no items'] : []),
  ]
  if (problems.length > 0) {
    throw new TuttiError('CONSTRAINT_VIOLATION', `Cannot reduce: ${problems.join('; ')}`)
  }
  let texts = items.map(toText)
  for (let level = 1; level <= MAX_LEVELS; level += 1) {
    const groups = packTexts(texts, maxTokens * CHARACTERS_PER_TOKEN)
    const outputs = await map(groups, template, {
      as,
      key: (_, index) => `${key}-${level}-${index}`,
      maxItems: groups.length,
    })
    const [first] = outputs
    if (outputs.length === 1 && first !== undefined) return first
    const next = outputs.map(toText)
    const [before, after] = [countTokens(texts), countTokens(next)]
    if (next.length >= texts.length && after >= before) {
      throw new TuttiError(
        'CONSTRAINT_VIOLATION',
        `Cannot reduce: level ${level} got ${texts.length} texts of ${before} tokens and returned ${next.length} of ${after}, ` +
          `neither fewer texts nor fewer tokens; more than maxTokens ${maxTokens} cannot be combined`,
      )
    }
    texts = next
  }
  throw new TuttiError(
    'CONSTRAINT_VIOLATION',
    `Cannot reduce: ${texts.length} texts are left after ${MAX_LEVELS} levels with maxTokens ${maxTokens}`,
  )
}

/** Returns the estimated number of tokens of texts together. */
function countTokens(texts: readonly string[]): number {
  const characters = texts.reduce((sum, text) => sum + text.length, 0)
  return Math.ceil(characters / CHARACTERS_PER_TOKEN)
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : (formatExactJson(value) ?? '')
}

/**
 * Returns the texts in as few groups as the first-fit-decreasing rule finds, each of at most `maxLength` characters or one longer
 * text. Texts and groups stay in their order.
 */
export function packTexts(texts: readonly string[], maxLength: number): readonly string[] {
  const groups: { length: number; readonly members: number[] }[] = []
  const bySize = [...texts.keys()].toSorted(
    (a, b) => (texts[b]?.length ?? 0) - (texts[a]?.length ?? 0),
  )
  // A group that has no room for the shortest text is full.
  let firstOpen = 0
  const least = (texts[bySize.at(-1) ?? 0]?.length ?? 0) + SEPARATOR.length
  for (const index of bySize) {
    const added = (texts[index]?.length ?? 0) + SEPARATOR.length
    while (firstOpen < groups.length && (groups[firstOpen]?.length ?? 0) + least > maxLength) {
      firstOpen += 1
    }
    let group = groups.slice(firstOpen).find(({ length }) => length + added <= maxLength)
    if (group === undefined) {
      group = { length: -SEPARATOR.length, members: [] }
      groups.push(group)
    }
    group.length += added
    group.members.push(index)
  }
  return groups
    .map(({ members }) => members.toSorted((a, b) => a - b))
    .toSorted(([a = 0], [b = 0]) => a - b)
    .map((members) => members.map((index) => texts[index] ?? '').join(SEPARATOR))
}
